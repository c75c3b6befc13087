"""What the answers about pairs look like: how many name a winner, call both equal, or turn with the order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from audit_lib.documents.metrics import PairwiseAnswers
from audit_lib.report.blocks import Block, Cell, Column, Fold, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, percent
from audit_lib.translation import mark, t

_TITLE: Final = mark("Answers about pairs")
_WORDS: Final = mark(
    "Each pair of candidates is asked about twice, in both orders. A pair is flipped where the model names one "
    "candidate in the one order and the other in the other: it then follows the order, not the candidates. It is not "
    "consistent where the two answers do not name the same winner, for whatever reason: flipped, called equal, or not "
    "readable."
)
_MOST_STRATA: Final = 50


def pairwise_answers(content: Content) -> Section | None:
    """Make the section, or none where no pairs were asked about."""
    if not content.metrics.pairwise_answers:
        return None
    headline = set(content.spec.measure.strata[0])
    by_stratum: dict[tuple[tuple[str, str], ...], list[PairwiseAnswers]] = {}
    for one in content.metrics.pairwise_answers:
        by_stratum.setdefault(tuple(one.stratum.items()), []).append(one)
    blocks: list[Block] = [Paragraph(text(t(_WORDS)))]
    folds: list[Block] = []
    for where, found in by_stratum.items():
        if {key for key, _ in where} == headline:
            blocks.append(_table(content, in_words(dict(where)), found))
        else:
            words = in_words(dict(where))
            folds.append(Fold(f"{t(_TITLE)}: {words}", (_table(content, words, found),)))
    return Section("pairs", t(_TITLE), (*blocks, *folds[:_MOST_STRATA]))


def _table(content: Content, where: str, found: Sequence[PairwiseAnswers]) -> Table:
    digits = content.policy.rounding.rate_percent

    def share(part: int, whole: int) -> Cell:
        return Cell(percent(Fraction(part, whole), digits) if whole else t(UNDEFINED), note=count(part))

    names = (
        t("Pairs between"), t("Questions"), t("One named"), t("Both equal"), t("Not readable"), t("Pairs"),
        t("Flipped"), t("Not consistent"),
    )  # fmt: skip
    rows = tuple(
        Row(
            _between(one),
            (
                Cell(count(one.prompts)),
                share(one.regular, one.prompts),
                share(one.tie, one.prompts),
                share(one.unparsed, one.prompts),
                Cell(count(one.pairs)),
                share(one.flipped, one.pairs),
                share(one.inconsistent, one.pairs),
            ),
        )
        for one in found
    )
    columns = tuple(Column(name, numeric=name != names[0]) for name in names)
    return Table(f"{t(_TITLE)}{f', {where}' if where else ''}", columns, rows)


def _between(one: PairwiseAnswers) -> str:
    if one.group is None or one.reference is None:
        return t("all candidates")
    return t("{group} and {reference}", group=in_words(one.group), reference=in_words(one.reference))
