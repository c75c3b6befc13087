"""Correspondence experiments: effects of what was assigned, noise, and whether it was perceived."""
