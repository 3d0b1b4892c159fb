"""A scoring run: systems against the judgments, with intervals and comparisons."""
