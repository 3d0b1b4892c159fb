"""Published data sets in the formats they are published in."""
