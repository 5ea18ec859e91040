"""Privacy cards: what was released and what the guarantee covers, for people and for programs."""
