"""What a comparison comes to: who leads, who is tied, how good, what is not known, what would settle it."""
