"""study.toml and the words of the interface."""
