"""What arguments and data have to be, and how they are refused without quoting data."""
