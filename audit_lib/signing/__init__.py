"""The signatures of a run's own key: over its plan before the model is asked, and over its result after.

An auditor's sign-off (`audit_lib.signoff`) is another thing: a person's statement about a sealed run.
"""
