"""The commands of `relstudy hash`."""
