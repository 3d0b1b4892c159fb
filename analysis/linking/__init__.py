"""Judgments given on different scales, put on one."""
