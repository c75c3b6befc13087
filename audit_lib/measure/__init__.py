"""The stage ``metrics``: which kernel of `audit_lib.metrics` over which rows, with its uncertainty."""
