"""What stands between a table as it is and a model: numbers by public facts, without learning from data."""
