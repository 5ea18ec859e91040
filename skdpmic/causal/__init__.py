"""Causal structure under differential privacy: independence tests on noisy releases, and the PC algorithm on them."""
