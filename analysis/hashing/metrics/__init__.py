"""The Hamming metrics, all from the count table."""
