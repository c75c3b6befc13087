"""Parts for audit_lib from outside it."""
