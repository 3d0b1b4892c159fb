"""Calibration methods: how each rater is put on the common scale."""
