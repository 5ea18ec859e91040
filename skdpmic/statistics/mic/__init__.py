"""MICr, MICe, and noisy tables to estimate MICr from."""
