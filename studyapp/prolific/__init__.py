"""Prolific: submissions there beside raters here, and its webhook events."""
