"""Asking over a network: conversation, limits, budget, credentials, faults, and batches at a provider."""
