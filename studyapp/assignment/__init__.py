"""Assignment of pages to raters: the pool of pages, the pages each rater was given, and their answers."""
