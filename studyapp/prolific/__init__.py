"""Prolific: submissions there beside raters here, and what Prolific tells by webhook."""
