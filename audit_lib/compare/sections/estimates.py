"""How a compared estimate is printed: its setting, its contrast, and the estimate as its own run has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from audit_lib.documents.comparison import ComparedEstimate, Comparison, PairedContrast
from audit_lib.documents.parameters import ATTRIBUTE, CLASSIFIER, THRESHOLD, VARIATION, K
from audit_lib.report.blocks import Column
from audit_lib.report.exact_tables import group_in_words
from audit_lib.report.sections.estimates import variation_in_words
from audit_lib.results import Estimate
from audit_lib.translation import t

_STACKED: Final = 4


def plain(e: ComparedEstimate) -> Estimate:
    """Return the estimate as its own run has it, less what the comparison does not keep."""
    return Estimate(
        metric=e.metric,
        value=e.value,
        interval=e.interval,
        intervals=e.intervals,
        n=e.n,
        n_group=e.n_group,
        n_reference=e.n_reference,
        clusters=e.clusters,
        flags=e.flags,
        remark=e.remark,
        method=e.method,
        stratum=e.stratum,
        group=e.group,
        reference=e.reference,
    )


def setting(e: ComparedEstimate | PairedContrast) -> str:
    """Say under which of the spec's settings an estimate holds; nothing where there is one only."""
    said = []
    if (k := e.parameters.get(K)) is not None:
        said.append(t("best {k}", k=k))
    if (threshold := e.parameters.get(THRESHOLD)) is not None:
        said.append(t("rated {threshold} or more", threshold=f"{float(threshold):g}"))
    if (attribute := e.parameters.get(ATTRIBUTE)) is not None:
        said.append(str(attribute))
    if (classifier := e.parameters.get(CLASSIFIER)) is not None:
        said.append(str(classifier))
    if (variation := e.parameters.get(VARIATION)) is not None:
        said.append(variation_in_words(str(variation)))
    return ", ".join(said)


def contrast(e: ComparedEstimate | PairedContrast) -> str:
    """Say which group is compared with which."""
    group, reference = group_in_words(e.group), group_in_words(e.reference)
    if reference:
        return t("{group} against {reference}", group=group, reference=reference)
    return group or t("everybody")


def in_headline(document: Comparison, e: ComparedEstimate | PairedContrast) -> bool:
    """Whether it belongs to the stratum that leads; the others are in the files."""
    return tuple(e.stratum) == document.headline


def fits_stacked(columns: Sequence[Column]) -> bool:
    """Whether a row fits below its header on a phone; a table that does not is moved sideways."""
    return len(columns) <= _STACKED


def in_order(words: Iterable[str]) -> list[str]:
    """Return each of them once, in the order of their first."""
    return list(dict.fromkeys(words))
