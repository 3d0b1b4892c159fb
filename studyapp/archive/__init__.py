"""A study as one anonymised folder or zip file, for a paper's reviewers and the next system."""
