"""Seconds that a rating takes."""

LEAST_SECONDS = 0.3
"""Nobody reads a query and its results in less: a shorter median is a program's, and says nothing of a person."""
