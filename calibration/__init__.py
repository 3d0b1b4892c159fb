"""Put people on one scale: ratings in, judgments and rater profiles out.

This is the leftmost package: the others build on it, so what all of them share at the edge
(tables, errors, console, figures) also lives here.
"""
