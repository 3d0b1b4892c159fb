"""Results: estimates, display, saving, LaTeX."""
