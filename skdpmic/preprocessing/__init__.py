"""Preprocessing between a raw table and a model, by public facts only, without learning from data."""
