"""Binary codes: packed, read and kept."""
