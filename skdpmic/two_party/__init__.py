"""Two parties who hold different columns of the same records: one reports hers with noise, the other scores them."""
