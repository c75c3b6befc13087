"""The stage ``evidence``: a manifest of everything that a run made, and its verification.

``archive`` seals a run, ``audit_lib.archive.verify`` checks a sealed one.
"""

from audit_lib.archive.manifest import archive

__all__ = ["archive"]
