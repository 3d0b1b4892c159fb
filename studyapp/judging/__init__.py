"""Automatic judges: their pairs, their questions, their answers, and the table of grades."""
