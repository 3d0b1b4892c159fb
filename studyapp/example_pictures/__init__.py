"""Example pictures whose true relevance to one another is known."""
