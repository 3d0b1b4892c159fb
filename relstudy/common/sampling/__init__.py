"""Draws with known inclusion probabilities, and what a design can estimate."""
