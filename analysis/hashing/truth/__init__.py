"""What counts as relevant, and how data are split to train and to test."""
