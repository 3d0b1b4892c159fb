"""Which pairs are rated: drawn from systems' rankings with known inclusion probabilities."""
