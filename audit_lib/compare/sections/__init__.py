"""The sections of the comparison's page: each makes one of the typed comparison, or none where it has nothing to say.

To add one, write it in a file of its own and list it here; what it needs has to be in `Comparison`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from audit_lib.compare.sections.answers import answers
from audit_lib.compare.sections.between_models import between_models
from audit_lib.compare.sections.manipulation import manipulation
from audit_lib.compare.sections.metrics import metrics
from audit_lib.compare.sections.rates import rates
from audit_lib.compare.sections.reading import reading
from audit_lib.compare.sections.runs import cost, runs
from audit_lib.documents.comparison import Comparison
from audit_lib.report.blocks import Section

SECTIONS: Final[tuple[Callable[[Comparison], list[Section]], ...]] = (
    runs,
    rates,
    metrics,
    between_models,
    manipulation,
    answers,
    cost,
    reading,
)
"""In the order of the page."""
