"""The indices, one a module: correlation, precision and recall, normalised rank, uniformity."""
