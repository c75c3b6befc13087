"""The optional libraries of the text metrics, imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

from audit_lib.errors import AuditError


def text_extra(module: str) -> Any:
    """Import a module of the extra ``text``.

    Parameters
    ----------
    module : str
        Its full name.

    Raises
    ------
    AuditError
        If it is not installed; the message says how to install it.

    Examples
    --------
    >>> text_extra("no_such_module")
    Traceback (most recent call last):
    audit_lib.errors.AuditError: text metrics need no_such_module; pip install 'audit-lib[text]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise AuditError(f"text metrics need {package}; pip install 'audit-lib[text]'") from None
