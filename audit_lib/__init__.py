"""Audits of how language models allocate opportunities: plan, sample, perturb, score, validate,
measure, report, archive, monitor.

``import audit_lib`` is light; each stage imports what it needs when it runs.
"""

from audit_lib.errors import AuditError
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec

__version__ = "0.2.0"
__all__ = ["AuditError", "AuditSpec", "Estimate", "Interval", "TestResult", "Undefined", "__version__"]
