"""Redaction: the parts of ``perturb.redact``, one kind of span a file."""
