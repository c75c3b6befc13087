"""Which checker reads a snapshot: its code, the policy, and the libraries that read files, as one digest.

Facts of another checker are never compared with each other: a number that a better reader sees is no change of a page.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Final

from audit_lib.canonical import canonical_json
from audit_lib.policies import policy_named

_READERS: Final = ("pdfplumber", "pdfminer.six", "pypdfium2", "openpyxl", "rapidocr", "onnxruntime", "numpy")


def checker_digest(policy: str) -> str:
    """Return the digest of all that decides what a snapshot is read as.

    Raises
    ------
    SpecError
        If there is no such policy.
    """
    sources = {
        f"{package}/{one.name}": hashlib.sha256(one.read_bytes()).hexdigest()
        for package in ("audit_lib.check", "audit_lib.corpus")
        for one in files(package).iterdir()
        if one.name.endswith(".py")
        and (package == "audit_lib.check" or one.name in ("page_facts.py", "checker.py"))
    }
    installed = {name: _version(name) for name in _READERS}
    law = policy_named(policy).model_dump_json()
    return hashlib.sha256(
        canonical_json({"sources": sources, "readers": installed, "policy": law})
    ).hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
