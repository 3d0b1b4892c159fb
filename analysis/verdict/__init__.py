"""The verdict of a comparison: leaders, ties, quality, gaps, and the ratings that would settle it."""
