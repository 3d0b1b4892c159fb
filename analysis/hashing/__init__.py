"""Hamming metrics for systems that retrieve by binary hash codes."""
