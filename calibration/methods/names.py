"""The methods by name; apart from what computes them, so that a command's help waits for nothing."""

METHODS = ("pooled", "crossed", "shrunk", "zscore", "mean", "none", "ordinal")
