"""Measure how much of what people value a system captures, with intervals."""
