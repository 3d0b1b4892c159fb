"""Sampling of the pairs to be rated: drawn from systems' rankings with known inclusion probabilities."""
