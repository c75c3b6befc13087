"""Estimates that several registered metrics share."""
