"""What scores of features that have nothing to do with the target can be, and the p-values that follow from it."""
