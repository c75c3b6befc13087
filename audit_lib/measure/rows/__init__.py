"""The rows of a run: what was decided, scored and answered, loaded as arrays."""
