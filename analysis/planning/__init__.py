"""The size that a study needs."""
