"""Figures and pictures.

Other rooms use `figures` and `pictures`.
"""
