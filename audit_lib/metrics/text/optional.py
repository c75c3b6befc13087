"""The optional libraries of the text metrics, imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

from audit_lib.errors import AuditError


def text_extra(module: str) -> Any:
    """Import a module of the extra ``text``.

    Raises
    ------
    AuditError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise AuditError(f"text metrics need {package}; pip install 'audit-lib[text]'") from None
