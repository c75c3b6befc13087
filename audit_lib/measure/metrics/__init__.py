"""Registered metrics: one file each, from a stratum's rows to estimates and tables."""
