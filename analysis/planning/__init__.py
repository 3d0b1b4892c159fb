"""How large a study must be."""
