"""Asking an automatic judge: which pairs, what it is asked, what it said, and the table that comes of it."""
