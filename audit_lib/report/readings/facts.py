"""What the short readings say of a run: facts that the employer stated, days, and what was found, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import reduce
from typing import Final

from audit_lib.policies.clocks import valid_until
from audit_lib.report.blocks import Paragraph, Text, filled, link, strong, text
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.exact_tables import Tally, tally
from audit_lib.report.leading import Best, convincing, leading, least, rests_on
from audit_lib.report.numbers import count, guarded
from audit_lib.report.table_names import category_name, kind_name
from audit_lib.results import Undefined
from audit_lib.spec.outcome import StatedText
from audit_lib.translation import STATED, Filled, mark, named, spoken, t, tn

KINDS: Final = ("selection", "scoring")
_ROW: Final = {
    "selection": mark("{category}: {selected} of {n} were selected."),
    "scoring": mark("{category}: {selected} of {n} scored above the median."),
}
_TOP: Final = mark("Of the group with the highest rate, {category}, it was {selected} of {n}.")


def stated(content: Content, key: StatedText, english: str) -> Text:
    """Return a text of the employer's in the page's language; that it is not stated, or stated in English only.

    Parameters
    ----------
    content : Content
        The report's.
    key : str
        Key of the text in the spec.
    english : str
        Name of the page in English, where the text is to be read.
    """
    said = _at(content, key)
    if not said:
        return text(t("not stated"))
    if spoken() == "en":
        return text(named(said, STATED))
    if translated := _translated(content, key):
        return text(named(translated, STATED))
    return filled(
        t("stated in English only: see {page}", page="{page}"), page=link(t("the page in English"), english)
    )


def title(content: Content) -> str:
    """Return the audit's title in the page's language; where nobody gave one, the audit's name."""
    if spoken() == "en":
        return content.spec.title
    return _translated(content, "title") or content.spec.audit


def _translated(content: Content, key: StatedText) -> str:
    """What the spec says in the page's language; empty where it says nothing in it."""
    of = content.spec.report.translations or {}
    return next((texts.get(key, "").strip() for language, texts in of.items() if language == spoken()), "")


def _at(content: Content, key: str) -> str:
    """What the spec says at a key; empty where it says nothing."""
    found = reduce(
        lambda part, name: None if part is None else getattr(part, name), key.split("."), content.spec
    )
    return str(found or "").strip()


def audited_on(content: Content) -> date | None:
    """Return the date of the audit; None where it is none."""
    return content.measured_at.date() if content.is_audit else None


def last_day(content: Content) -> date | None:
    """Return the last day on which the law lets anybody rely on the audit; None where there is no such day."""
    audited = audited_on(content)
    if audited is None or content.policy.gate("validity") is None:
        return None
    return valid_until(content.policy, audited)


def used_since(content: Content) -> str:
    """Say since when the tool is used: its distribution date."""
    stated_day = content.spec.report.distribution_date
    if stated_day:
        return stated_day
    return t("never used") if content.spec.use.months == 0 else t("not stated")


def auditor(content: Content) -> str:
    """Say who signed, or that nobody did."""
    if content.rejected is not None:
        return t(
            "{auditor}, {organisation}: rejected it",
            auditor=content.rejected.auditor,
            organisation=content.rejected.organisation,
        )
    if content.signature is None:
        return t("nobody has signed this")
    return f"{content.signature.auditor}, {content.signature.organisation}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRatios:
    """What the headline tables of one kind show.

    Parameters
    ----------
    tally : Tally
        Impact ratios: below the guideline, compared, hidden.
    smallest : Best or None
        The smallest ratio that is printed, of equal ones that of most people; None where there is none.
    few : ExactRow or None
        The group of too few people that this ratio rests on; None where both have enough.
    leads : Best or None
        The ratio with the most evidence; None where none can lead.
    shown : int
        Ratios below the guideline that are shown to differ by more than chance.
    """

    tally: Tally
    smallest: Best | None
    few: ExactRow | None
    leads: Best | None
    shown: int


def found(content: Content, tables: Iterable[ExactTable]) -> ShownRatios:
    """Return what tables show."""
    given = tuple(tables)
    compared = [
        Best(table, row, row.ratio)
        for table in given
        for row in table.rows
        if not isinstance(row.ratio, Undefined) and row.label != table.comparator
    ]
    smallest = min(compared, key=lambda one: (one.ratio, -one.row.n), default=None)
    return ShownRatios(
        tally=tally(given),
        smallest=smallest,
        few=None if smallest is None else rests_on(content, smallest.table, smallest.row),
        leads=leading(content, given).best,
        shown=sum(convincing(content, one.table, one.row) for one in compared),
    )


def headline(content: Content, kind: str) -> tuple[ExactTable, ...]:
    """Return the headline's tables of a kind."""
    return tuple(table for table in content.headline if table.kind == kind)


def ratio_words(content: Content, best: Best) -> str:
    """Return a ratio as it prints."""
    return guarded(best.ratio, content.policy.rounding.ratio, content.policy.guidance.threshold)


def line(content: Content) -> str:
    """Return the guideline's ratio as it prints."""
    return f"{float(content.policy.guidance.threshold):g}"


def paragraphs(content: Content) -> Iterable[Paragraph]:
    """Say in words what the headline's tables show, a paragraph for each kind of table."""
    kinds = [kind for kind in KINDS if headline(content, kind)]
    for kind in kinds:
        named = (strong(f"{kind_name(content.policy, kind)}. "),) if len(kinds) > 1 else ()
        yield Paragraph(text(*named, Filled(" ").join(sentences(content, kind))))


def sentences(content: Content, kind: str) -> list[str]:
    """Say in words what the headline's tables of a kind show."""
    told = found(content, headline(content, kind))
    if told.smallest is None:
        if told.tally.hidden:
            return [t("No impact ratio is printed here, so that small numbers reveal nobody.")]
        return [t("There is no impact ratio here: no two groups can be compared.")]
    said = [*_below(content, told), *_smallest(content, kind, told)]
    if told.tally.hidden:
        said += [
            tn(
                "{n:,} more ratio is hidden, so that small numbers reveal nobody.",
                "{n:,} more ratios are hidden, so that small numbers reveal nobody.",
                told.tally.hidden,
            ),
            t("A smaller one may be among them."),
        ]
    return said


def _below(content: Content, told: ShownRatios) -> list[str]:
    below, compared = told.tally.below, told.tally.compared
    if not below:
        return [
            t("No printed impact ratio is below {line}.", line=line(content)),
            t("That does not show that people are treated alike."),
        ]
    said = [
        tn(
            "{n:,} of {compared:,} printed impact ratios is below {line}.",
            "{n:,} of {compared:,} printed impact ratios are below {line}.",
            below,
            compared=compared,
            line=line(content),
        )
    ]
    if told.shown:
        said.append(
            tn(
                "For {n:,} of them chance alone is an unlikely cause.",
                "For {n:,} of them chance alone is an unlikely cause.",
                told.shown,
            )
        )
    if told.shown < below:
        said.append(
            t("For the others these numbers cannot rule out chance.")
            if told.shown
            else t("These numbers cannot rule out chance for any of them.")
        )
        said.append(t("That is no sign of equal treatment."))
    return said


def _smallest(content: Content, kind: str, told: ShownRatios) -> list[str]:
    assert told.smallest is not None
    said = [
        t("The smallest printed ratio is {ratio}.", ratio=ratio_words(content, told.smallest)),
        *_groups(kind, told.smallest)[: 2 if told.few is None else 1],
    ]
    if told.few is not None:
        said.append(
            t(
                "One of its two groups has fewer than {least} people, so it says little.",
                least=least(content),
            )
        )
    if told.leads is not None and told.leads.row is not told.smallest.row:
        said += [
            t("The ratio with the most evidence is {ratio}.", ratio=ratio_words(content, told.leads)),
            *_groups(kind, told.leads),
        ]
    return said


def _groups(kind: str, best: Best) -> list[str]:
    top = best.table.row(str(best.table.comparator))
    return [
        t(template, category=category_name(row.label), selected=count(row.selected), n=count(row.n))
        for template, row in ((_ROW[kind], best.row), (_TOP, top))
    ]
