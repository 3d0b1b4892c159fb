"""Relevance of codes to queries, and splits of data to train and to test."""
