"""The pictures and texts that a study is about."""
