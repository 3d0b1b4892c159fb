"""A collection of rendered pictures whose true relevance is known: what the demo and `relstudy new` start from."""
