"""A badge (SVG) and a card (HTML fragment, JSON) for somebody else's page: no claim beyond the evidence.

Neither runs a script, so neither can know the day: the last day on which the audit may be relied on stands on both.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.card import Card
from audit_lib.documents.earlier import Smallest, Span
from audit_lib.report.content import Content
from audit_lib.report.html import readable, rendered_template
from audit_lib.report.numbers import count
from audit_lib.report.readings import facts
from audit_lib.report.readings.facts import ShownRatios
from audit_lib.report.readings.names import REPORT, SUMMARY, in_language
from audit_lib.report.table_names import category_name
from audit_lib.translation import speaking, spoken, t, tn
from audit_lib.typed_json import as_json
from audit_lib.web_page import is_address

_SHOWN: Final = 16
"""Characters of the digest on the badge; all of it is in its description and on the card."""
_WIDE: Final = 46
"""Characters of a line of the badge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardWords:
    """What card and badge say, in the page's language."""

    title: str
    tool: str
    facts: tuple[str, ...]
    digest: str
    link: str


def card_json(content: Content, manifest: str) -> bytes:
    """Return ``card.json``; parameters as of `summary`. It is in English, whatever language the page is in."""
    with speaking("en"):
        audited, until = facts.audited_on(content), facts.last_day(content)
        told = _told(content)
        best = told.smallest
        top = None if best is None else best.table.row(str(best.table.comparator))
        document = Card(
            title=content.title,
            tool=content.spec.model.name,
            audit=content.spec.audit,
            run=content.key.prefix,
            window=Span(start=content.plan.window_start, end=content.plan.window_end),
            status=content.status,
            auditor=None if content.signature is None else facts.auditor(content),
            computed=content.measured_at.isoformat(),
            audited=None if audited is None else audited.isoformat(),
            valid_until=None if until is None else until.isoformat(),
            why_no_audit=content.why_no_audit,
            smallest=None
            if best is None or top is None
            else Smallest(
                label=best.row.label,
                selected=best.row.selected,
                n=best.row.n,
                comparator_selected=top.selected,
                comparator_n=top.n,
            ),
            too_few_people=told.few is not None,
            hidden=told.tally.hidden,
            link=_link(content),
            annex=f"{REPORT}.html",
            evidence_sha256=manifest,
        )
    return pretty_json(as_json(document))


def card_html(content: Content, manifest: str) -> bytes:
    """Return the card as a piece of HTML to put into a page; it brings its own style and no script."""
    return _made("card.html.j2", content, manifest)


def badge_svg(content: Content, manifest: str) -> bytes:
    """Return the badge as SVG."""
    return _made("badge.svg.j2", content, manifest)


def _made(template: str, content: Content, manifest: str) -> bytes:
    said = _lines(content, manifest)
    broken = [
        (role, line)
        for role, words in (
            ("title", said.title),
            ("tool", said.tool),
            *(("fact", one) for one in said.facts),
        )
        for line in textwrap.wrap(words, _WIDE) or [""]
    ]
    broken.append(("link", said.link))
    broken.append(
        ("digest", t("Evidence {digest}", digest=f"SHA-256 {said.digest[:_SHOWN]}\N{HORIZONTAL ELLIPSIS}"))
    )
    return rendered_template(
        template,
        said=said,
        broken=broken,
        language=spoken(),
        more=t("Read the summary"),
        evidence=t("Evidence, SHA-256 of the manifest:"),
    )


def _told(content: Content) -> ShownRatios:
    """The headline's tables of all kinds together."""
    return facts.found(content, content.headline)


def _link(content: Content) -> str:
    """Where the summary is posted; where nobody says, next to the card."""
    website = content.spec.use.website
    stated = website.summary.strip() if website else ""
    return stated if is_address(stated) else in_language(SUMMARY, spoken())


def _lines(content: Content, manifest: str) -> CardWords:
    audited, until = facts.audited_on(content), facts.last_day(content)
    said = []
    if audited is None:
        said.append(
            t("Computed on {day}. Nobody may rely on it as an audit.", day=f"{content.measured_at:%Y-%m-%d}")
        )
    elif until is None:
        said.append(t("Audit of {day}.", day=audited.isoformat()))
    else:
        said.append(
            t(
                "Audit of {day}. Valid until {until}, and not after it.",
                day=audited.isoformat(),
                until=until.isoformat(),
            )
        )
    said.append(_ratio(content))
    return CardWords(
        title=readable(t(content.title)),
        tool=readable(content.spec.model.name),
        facts=tuple(map(readable, said)),
        digest=manifest,
        link=_link(content),
    )


def _ratio(content: Content) -> str:
    told = _told(content)
    if told.smallest is None:
        words = t("No impact ratio is printed.")
    else:
        best = told.smallest
        words = t(
            "Smallest printed impact ratio: {ratio} ({category}, {selected} of {n}).",
            ratio=facts.ratio_words(content, best),
            category=category_name(best.row.label),
            selected=count(best.row.selected),
            n=count(best.row.n),
        )
        if told.few is not None:
            words += " " + t("It rests on too few people to tell.")
    if told.tally.hidden:
        words += " " + tn(
            "{n} more is hidden, and may be smaller.",
            "{n} more are hidden, and may be smaller.",
            told.tally.hidden,
            n=count(told.tally.hidden),
        )
    return words
