"""How an experiment allows for its names: the rule, fixed before anything is asked."""

from __future__ import annotations

from typing import Final

FEW_NAMES: Final = 20
"""Names of a group, or of its reference, below which one variance is estimated for the names of all groups."""
