"""The bootstrap: how much each judged pair counts in each replicate."""
