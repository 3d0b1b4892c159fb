"""Score tables and TREC runs, and which of their scores are better."""
