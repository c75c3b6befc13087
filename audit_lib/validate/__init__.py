"""Whether the tables are fit to be measured: expectations, and completeness by group."""

from audit_lib.validate.validation_stage import require_valid, validate, validate_again

__all__ = ["require_valid", "validate", "validate_again"]
