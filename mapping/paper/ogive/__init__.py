"""Cubic ogives: their spline, their coefficients within the shape, the chain that samples them, and the mapping."""
