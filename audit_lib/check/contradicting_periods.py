"""Times that contradict each other: of the data, of the audit that used them, and of the tool's use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

from audit_lib.check.company_names import users
from audit_lib.check.contradicting_dates import audit_days
from audit_lib.check.dates import DATE, is_month, read_date
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.published_tables import PublishedTable
from audit_lib.check.stated_fields import TO, mentions, sentences, short, words_of

_I: Final = re.IGNORECASE
_OF_DATA: Final = re.compile(
    r"\b(?:data(?: ?sets?)?|records|(?:audit|observation|review|analysis|study) (?:period|window)|window audited)\b"
    r"|\b(?:applica\w+|candidates|people|persons|individuals|employees|resumes)\b[^.;]{0,80}"
    r"\b(?:audit\w*|assessed|evaluated|screened|scored|analy[sz]ed|collected)\b"
    r"|\b(?:assessed|evaluated|screened|scored|analy[sz]ed|collected)\b[^.;]{0,80}"
    r"\b(?:applica\w+|candidates|people|persons|individuals|employees|resumes)\b",
    _I,
)
# Data of the next audit, data that are kept, and people assessed since this one.
_OTHER_TIME: Final = re.compile(
    r"\b(?:next|future|upcoming|planned|scheduled|will|valid|expires?|posted|published|retain\w*|retention|kept|keeps?|"
    r"stored|deleted|monitor\w*|notices?|requests?|"
    r"licen[sc]\w+|repeated)\b|\b(?:since|after|following) (?:the|this|that|our)(?: \w+){0,3} audit\b",
    _I,
)
_THROUGH: Final = re.compile(r"\b(?:through|thru|up to|until|till)\s*$", _I)
_LONGEST_NAME: Final = 80
# Two versions, places or positions may each have a day of their own.
_OF_A_PART: Final = re.compile(
    r"\b(?:(?i:versions?|releases?|v\d[\d.]*|pilots?|trials?|positions?|roles?|vendors?|previous|former|earlier)|updat\w+|"
    r"upgrad\w+|offices?|locations?|sites?|stores?|branch(?:es)?|country|regions?|states?|jobs?|departments?|divisions?|"
    r"tests?|old|original|planned|expected|scheduled|will|market|other employers?|again|resum\w+|paus\w+|"
    r"new [a-z]\w+|renew\w*|extend\w*|expan\w+|sister|affiliates?|(?:page|notice|website) (?:has|is|was)|"
    r"(?:in|at|for) (?:our |the )?(?!New York)[A-Z]\w+ (?:since|from|on))\b",
)
_PARENTHESIS: Final = re.compile(r"\s*(?:\([^)]*\))?\s*:?\s*\n\s*")
_BESIDE: Final = 60  # characters after a date that may say of what it is
_END: Final = re.compile(r"[.;](?:\s|$)|\n")
_ARTICLE: Final = re.compile(r"^\W*(?:the|our|this|its|date of)\b", _I)
_OWN: Final = re.compile(
    r"\b(?:(?:its|our|their|the employer's|the company's) own (?:use|historical|data|applica\w+|candidates|hiring|"
    r"records|users?)|our (?:historical |hiring |applicant |recruit\w+ )(?:data|records)|"
    r"our (?:applicants|candidates))\b",
    _I,
)
_NOT_OWN: Final = re.compile(
    r"\b(?:had|has|have)(?: not|n't| never)(?: yet| ever)? (?:been )?(?:used|using|deployed|in use)\b|"
    r"\b(?:not yet|never) (?:been )?(?:used|in use|deployed)\b|\bnew to us\b|"
    r"\bbefore (?:we|it|the employer) (?:used|began)\b|\btest data\b",
    _I,
)


@dataclass(frozen=True, slots=True)
class _Window:
    """A time from which the data are, by the sentence that says so."""

    end: date
    earliest_end: date  # the first day of a month without a day
    sentence: str


def periods(text: str, tables: Sequence[PublishedTable]) -> Iterator[SummaryFinding]:
    """Yield data from after the audit, data of a use that had not begun, and several days of the first use."""
    windows = list(_windows(text))
    audits = audit_days(text)
    late = [window for window in windows if audits and window.earliest_end > max(audits)]
    if late:
        last = max(late, key=lambda window: window.end)
        yield SummaryFinding(
            id="data_after_audit",
            printed=short(last.sentence),
            message=f"the data run to {last.end.isoformat()}, and the latest audit is of "
            f"{max(audits).isoformat()}",
        )
    used = _first_uses(text)
    places = {table.place for table in tables if table.place}
    if len(used) > 1 and len(used) > len(places):
        yield SummaryFinding(
            id="use_dates_differ",
            column="F08",
            printed="; ".join(day.isoformat() for day in sorted(used)),
            message="several distribution dates, and none is said to be of a part: since when is the tool in use?",
        )
    end = max((window.end for window in windows), default=None)
    if used and end is not None and end < min(used) and (sentence := _own_data(text)):
        yield SummaryFinding(
            id="data_before_use",
            printed=short(sentence),
            message=f"the data end on {end.isoformat()}, and the use that they are said to be of began on "
            f"{min(used).isoformat()}",
        )


def _windows(text: str) -> Iterator[_Window]:
    """Yield the times that sentences about data give: "from May 1, 2025 to April 30, 2026", "through June 30, 2026"."""
    before = ""
    for sentence in sentences(text):
        dates = list(DATE.finditer(sentence))
        # "Period of the data" and, on the next line, its days
        is_value = bool(dates) and dates[0].start() < 6 and len(before) <= _LONGEST_NAME
        about = f"{before} {sentence}" if is_value else sentence
        before = sentence
        if not dates or not _OF_DATA.search(about) or _OTHER_TIME.search(about):
            continue
        ends = [b for a, b in pairwise(dates) if TO.fullmatch(sentence, a.end(), b.start())]
        ends += [one for one in dates if _THROUGH.search(sentence, 0, one.start())]
        for found in ends:
            if (end := read_date(found)) is not None:
                yield _Window(end, end.replace(day=1) if is_month(found) else end, about)


def _first_uses(text: str) -> set[date]:
    """Return the days on which the page says that the use began; a month counts only where no day of it is given."""
    said = list(_uses_said(text))
    users: dict[str, set[str]] = {}
    for words, user, _ in said:
        users.setdefault(words, set()).add(user)
    # A vendor's list of employers has a day for each: "Acme - distribution date May 2, 2024".
    listed = {words for words, named in users.items() if len(named - {""}) > 1}
    found = [date_ for words, user, date_ in said if not (user and words in listed)]
    kept: set[date] = set()
    for day in sorted(day for one in found if not is_month(one) and (day := read_date(one))):
        if _turned(day) not in kept:  # 03/04/2024 and 4 March 2024
            kept.add(day)
    given = {(day.year, day.month) for day in kept}
    months = {day for one in found if is_month(one) and (day := read_date(one))}
    return kept | {day for day in months if (day.year, day.month) not in given}


def _uses_said(text: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Yield words for the use's beginning, what stands before them in their sentence, and the date after them."""
    for words, found in mentions("F08", text):
        between = text[words.end() : found.start()]
        if "\n" in between and not _PARENTHESIS.fullmatch(between):
            continue
        line = text[text.rfind("\n", 0, words.start()) + 1 : words.start()]
        before = re.split(r"[.;]\s", line)[-1]
        after = "" if "\n" in between else text[found.end() : found.end() + _BESIDE]
        beside = f"{before} {words[0]} {between} {_END.split(after)[0]}"
        if not (_OF_A_PART.search(beside) or re.search(words_of("F01"), between, _I)):
            user = _ARTICLE.sub("", before).strip(" -:,\u2013\u2014")
            yield words[0].lower(), user if re.search(r"[A-Z]", user) else "", found


def _turned(day: date) -> date | None:
    """Return the day that the other order of day and month would give."""
    try:
        return date(day.year, day.day, day.month)
    except ValueError:
        return None


def _own_data(text: str) -> str:
    """Return the sentence by which the data are of the employer's own use, unless the page says that they are not."""
    if any(_NOT_OWN.search(sentence) for sentence in sentences(text)):
        return ""
    of_users = [
        re.compile(
            rf"\b(?:for|of|by|at|from) (?:the )?{re.escape(name)}(?![\w])|{re.escape(name)} among them"
        )
        for name in set(users(text))
        if len(name) > 2
    ]
    for sentence in sentences(text):
        if not _OF_DATA.search(sentence) or _OTHER_TIME.search(sentence):
            continue
        if _OWN.search(sentence) or any(one.search(sentence) for one in of_users):
            return sentence
    return ""
