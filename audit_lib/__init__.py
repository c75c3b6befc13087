"""Audits of how language models allocate opportunities: plan, sample, perturb, score, validate,
measure, report, archive, monitor.

``import audit_lib`` is light: a name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from audit_lib.dataframe import frame
    from audit_lib.errors import AuditError
    from audit_lib.results import Estimate, Interval, TestResult, Undefined
    from audit_lib.spec import AuditSpec

__version__ = "0.2.0"
__all__ = [
    "AuditError",
    "AuditSpec",
    "Estimate",
    "Interval",
    "TestResult",
    "Undefined",
    "__version__",
    "frame",
]

_HOME: Final = {
    "AuditError": "audit_lib.errors",
    "AuditSpec": "audit_lib.spec",
    "Estimate": "audit_lib.results",
    "Interval": "audit_lib.results",
    "TestResult": "audit_lib.results",
    "Undefined": "audit_lib.results",
    "frame": "audit_lib.dataframe",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
