"""The study's database."""
