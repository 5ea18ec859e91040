"""Exact noise, mechanisms and composition."""
