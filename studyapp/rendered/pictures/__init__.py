"""The painters of the demo's pictures."""
