"""A demonstration on pictures that come with scikit-learn."""
