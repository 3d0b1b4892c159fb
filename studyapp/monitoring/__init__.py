"""Collected ratings: progress, statistics, export."""
