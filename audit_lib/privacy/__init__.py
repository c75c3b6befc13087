"""What of a run may be handed on: the levels, what each withholds, and what lies in place of it."""
