"""Options declared once, for commands, Python arguments and the documentation."""
