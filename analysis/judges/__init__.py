"""Automatic judges beside people: what a judge's grades are worth, and indices from people assisted by a judge."""
