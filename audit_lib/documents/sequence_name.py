"""What is followed over windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.typed_json import Typed

Quantity = Literal["selection_rate", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceName(Typed):
    """What is followed: the mean difference of a quantity between a group and its reference."""

    quantity: Quantity
    group: CategoryLevels
    reference: CategoryLevels
