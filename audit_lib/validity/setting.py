"""One task, gap and quota: what a correlation is of, over all jobs and groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from audit_lib.documents.validity import Gap

SEED: Final = 20_240_307
"""Draws are the same for every study: a panel has one answer."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A task, a gap and a quota."""

    task: str
    gap: Gap
    k: int
