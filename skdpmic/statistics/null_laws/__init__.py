"""What scores of independent columns are, as far as public numbers tell: for p-values."""
