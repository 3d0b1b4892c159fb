"""Who rates what next: the pool of pages, what each rater has been given, and what became of it."""
