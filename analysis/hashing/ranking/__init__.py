"""Rankings by distances that are real numbers: asymmetric distance, product quantisation, the vectors themselves."""
