"""Days that contradict each other: several dates of one audit, and use of the tool before its audit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from audit_lib.check.dates import DATE, is_month, read_date
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.stated_fields import OTHER_DAY, dates_after, reach, sentences, short, words_of
from audit_lib.policies import Policy
from audit_lib.policies.clocks import valid_until

# Words before "audit" that make its date another audit's, or none of an audit that was.
_OTHER_AUDIT: Final = re.compile(
    r"\b(?:previous|prior|earlier|preceding|former|first|initial|second|third|next|future|following|planned|scheduled|"
    r"last year's|financial|security|replac(?:es|ed|ing)|supersed(?:es|ed|ing))\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
# "Previous audit - January 9, 2024" heads what is said of it.
_EARLIER: Final = re.compile(
    r"\b(?:previous|prior|earlier|preceding|former)\s+(?:\w+\s+){0,2}audit\b[^.\n\w]{0,5}(?:of |on |dated )?",
    re.IGNORECASE,
)
# Not "Halvorsen Audit Partners", nor "by Halvorsen, an independent auditor, on May 2".
_ANOTHER: Final = re.compile(r"audit(?!or,)|AUDIT|Audit(?! [A-Z])")
# "Before this one, bias audits were conducted on May 3, 2024 and May 6, 2025."
_HISTORY: Final = re.compile(
    r"\bbefore (?:this|that|the (?:present|current|latest)) (?:one|audit|bias audit)\b|"
    r"(?<!as )\bpreviously\b(?! (?:announced|stated|published|reported|said|posted))|"
    r"\b(?:earlier|previous|prior|past) (?:\w+ )?audits\b",
    re.IGNORECASE,
)
_THIS_AUDIT: Final = re.compile(
    r"\b(?:this|the (?:present|current|latest|most recent)|(?:present|current|latest|most recent))"
    r"(?: (?:19|20)\d\d)?(?: (?:independent|annual|bias|impact)){0,3} audit\b",
    re.IGNORECASE,
)
# "The 2024 bias audit was completed on May 1, 2024" is of an earlier one where a page has one of 2025.
_OF_YEAR: Final = re.compile(
    r"\bthe ((?:19|20)\d\d) (?:(?:independent|annual|bias|impact) ){0,3}audit\b[^.\n]*$", re.IGNORECASE
)
_BEFORE: Final = 30  # characters
_BEGINNING: Final = re.compile(r"\b(?:between|from|started|began|beginning)\s*$", re.IGNORECASE)
_FIRST: Final = re.compile(
    r"\b(?:first|initial)\b(?: ever)?(?: (?:independent|annual))*(?: bias)? audit\b", re.IGNORECASE
)
_NONE_BEFORE: Final = re.compile(
    r"\bnever (?:been )?audited before\b|\bno (?:earlier|previous|prior) (?:bias )?audits?\b(?![^.]*\bin the store\b)|"
    r"\bnot (?:been )?audited before\b",
    re.IGNORECASE,
)
# A page that names the gap itself, as ours do in the line of F15.
_GAP_SAID: Final = re.compile(r"\bno (?:bias )?audit covers the use\b", re.IGNORECASE)
_NO_AUDIT_DAY: Final = re.compile(
    r"\b(?:until|expires?|valid|next|scheduled|planned|data|applica\w+|period|window|covers?|covering|used?|deployed|"
    r"posted|published|effective|enforce\w*|in force|took effect)\b",
    re.IGNORECASE,
)


def days(text: str, policy: Policy) -> Iterator[SummaryFinding]:
    """Yield dates of the audit that differ, and use of the tool from before every audit that the page names.

    A tool that was in use before the law was enforced had to be audited by the day it was.
    """
    audited, before = _audit_days(text)
    if len(audited) > 1:
        yield SummaryFinding(
            id="audit_dates_differ",
            column="F01",
            printed="; ".join(day.isoformat() for day in sorted(audited)),
            message="several dates of the audit, and none is said to be of another audit: which one counts?",
        )
    used = min((day for found in dates_after("F08", text) if (day := read_date(found))), default=None)
    if used is not None:
        enforced = policy.clock("validity").enforced
        yield from _unaudited(text, used, audited | before, max(used, enforced or used), policy)


def _unaudited(
    text: str, used: date, audited: set[date], by: date, policy: Policy
) -> Iterator[SummaryFinding]:
    named = {day for s in sentences(text) if re.search(r"audit", s, re.IGNORECASE) for day in _days_in(s)}
    days_named = audited | named
    first = min(days_named, default=None)
    if first is not None and first <= used == by:
        yield from _stale_at_use(used, max(day for day in days_named if day <= used), policy)
    if first is None or first <= by:
        return
    said = next((s for s in sentences(text) if _FIRST.search(s) or _NONE_BEFORE.search(s)), "")
    message = (
        f"in use since {used.isoformat()}, and the first audit that the page names is of {first.isoformat()}"
    )
    if said:
        yield SummaryFinding(
            id="use_before_first_audit", printed=short(said), message=f"{message}, which no audit came before"
        )
    elif not _GAP_SAID.search(text):
        message += "; a tool may be used only within a year after an audit: ask for the one before"
        yield SummaryFinding(id="use_before_audit", column="F08", printed=used.isoformat(), message=message)


def _stale_at_use(used: date, audited: date, policy: Policy) -> Iterator[SummaryFinding]:
    """Yield a use that began when the latest audit before it was too old to allow it."""
    until = valid_until(policy, audited)
    if used > until:
        message = (
            f"in use since {used.isoformat()}, and the latest audit before it that the page names is of "
            f"{audited.isoformat()}: it allowed a use until {until.isoformat()}"
        )
        yield SummaryFinding(
            id="audit_too_old_at_use", column="F08", printed=used.isoformat(), message=message
        )


def audit_days(text: str) -> set[date]:
    """Return the days that the page gives for its audit; a month counts only where no day of it is given.

    Examples
    --------
    >>> [str(day) for day in audit_days("The bias audit was completed on May 2, 2026. Previous audit: May 9, 2025.")]
    ['2026-05-02']
    """
    return _audit_days(text)[0]


def _audit_days(text: str) -> tuple[set[date], set[date]]:
    """Return the days of this audit, and those of earlier years' audits."""
    exact: set[date] = set()
    months: set[date] = set()
    own: set[date] = set()  # said of this audit, in these words
    named: dict[int, set[date]] = {}  # said of the audit of a year
    for words in re.finditer(words_of("F01"), text, re.IGNORECASE):
        line = text[text.rfind("\n", 0, words.start()) + 1 : words.start()]
        if _HISTORY.search(_clause_before(line)):
            continue
        if _OTHER_AUDIT.search(line) or _OTHER_AUDIT.search(f"{words[0].partition('audit')[0]}"):
            continue
        end = reach(text, words.end())
        if (stop := re.search(words_of("F08"), text[words.end() : end], re.IGNORECASE)) is not None:
            end = words.end() + stop.start()
        found = DATE.search(text, words.end(), end)
        if found is None or (day := read_date(found)) is None:
            continue
        between = text[words.end() : found.start()]
        if OTHER_DAY.search(between) or _BEGINNING.search(between) or _ANOTHER.search(between):
            continue
        (months if is_month(found) else exact).add(day)
        if _THIS_AUDIT.search(text, max(0, words.start() - _BEFORE), words.end()):
            own.add(day)
        if (said := _OF_YEAR.search(text, max(0, words.start() - _BEFORE), found.start())) is not None:
            named.setdefault(int(said[1]), set()).add(day)
    earlier = {
        read_date(found) for words in _EARLIER.finditer(text) if (found := DATE.match(text, words.end()))
    }
    yearly = {day for year, days in named.items() if len(days) == 1 for day in days if day.year == year}
    before = {day for day in yearly - own if any(other.year > day.year for other in exact)}
    exact = exact - ((earlier | before) - own) or exact
    given = {(day.year, day.month) for day in exact}
    return exact | {day for day in months if (day.year, day.month) not in given}, before


def _clause_before(line: str) -> str:
    """Return of the words before the audit those of its own sentence."""
    return re.split(r"(?<=[a-z0-9)]{2})[.!?;]\s+", line)[-1]


def _days_in(sentence: str) -> Iterator[date]:
    for found in DATE.finditer(sentence):
        clause = sentence[: found.start()].rpartition(";")[2]
        if (day := read_date(found)) is not None and not _NO_AUDIT_DAY.search(clause):
            yield day
