"""Monotone mappings of greatest correlation: splines, exactly; steps, by a local optimiser."""
