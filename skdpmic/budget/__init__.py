"""Budget ledgers: what has been spent, and what remains."""
