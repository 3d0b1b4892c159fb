"""The rater's pages, in the order in which they are met."""
