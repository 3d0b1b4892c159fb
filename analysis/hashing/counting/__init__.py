"""The count table: how many codes lie within each radius, and how many of them are relevant."""
