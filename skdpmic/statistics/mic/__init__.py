"""MICr, MICe, and noisy tables for estimating MICr."""
