"""Colleges, their places, and the places of jobs held during college."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from audit_lib.perturb.redaction.applicant import Applicant
from audit_lib.perturb.redaction.contact import PLACE
from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.lexicons import rows
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans, RedactedSpan
from audit_lib.perturb.redaction.states import STATES

_CAPITAL: Final = r"(?:St\.|U\.S\.|(?<![\w.])[A-Z]\.(?![A-Z])|[A-Z][\w'’&-]*)"
_SHAPE: Final = re.compile(
    rf"\b(?:(?:The )?University of (?:the )?{_CAPITAL}(?:[ ]{_CAPITAL}){{0,2}}(?:(?:,[ ]| at | in "
    rf")(?!and\b){_CAPITAL}(?:[ ]{_CAPITAL}){{0,2}})?"
    rf"|(?:{_CAPITAL}[ ]){{1,4}}(?:State[ ])?(?:University|College|Institute of Technology|"
    rf"Polytechnic|Community College)"
    rf"(?:[ ]of[ ]{_CAPITAL}(?:[ ]{_CAPITAL})?|,[ ]{_CAPITAL}(?:[ ]{_CAPITAL})?(?=[ ]*(?:\n|$|[|(])))?)"
)
_TOWN_AFTER: Final = re.compile(rf",[ ](?P<town>{_CAPITAL}(?:[ ]{_CAPITAL})?)(?=[.;)])")
_NO_COLLEGE: Final = re.compile(r"^(?:The |My |Our |Your |A |In |At |From |Some |Dual |After |During |When |Since )?"
                                r"(?:College|University|Community College|State University|State "
                                r"College|Graduate College)$"
                                r"|University Press|College (?:Prep|Board)|\b(?:High|Middle|"
                                r"Elementary|Charter|Prep)\b")  # fmt: skip
_DATE: Final = re.compile(
    r"(?P<from>(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?[ ,]+|(?:Spring|Summer|"
    r"Fall|Autumn|Winter)[ ]+"
    r"|\d{1,2}/)?(?:19|20)\d{2})"
    r"[ \t]*(?:[-–—]|to|until|through)[ \t]*"
    r"(?P<to>(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?[ ,]+|(?:Spring|Summer|"
    r"Fall|Autumn|Winter)[ ]+"
    r"|\d{1,2}/)?(?:19|20)\d{2}|[Pp]resent|[Cc]urrent|[Nn]ow|[Tt]oday|(?P<short>\d{2})(?!\d))"
)
_YEAR: Final = re.compile(r"(?<![\d/])(?:19|20)\d{2}(?![\d/])")
_MONTHS: Final = {
    m: i
    for i, m in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1
    )
}
_SEASONS: Final = {"spring": (1, 5), "summer": (6, 8), "fall": (8, 12), "autumn": (9, 12), "winter": (1, 3)}
_SECTION: Final = re.compile(r"(?m)^[ \t#*_]*(?P<head>[A-Z][A-Za-z &/,]{2,40})[ \t:*_]*$")
_WORK: Final = re.compile(
    r"(?i)experience|employment|work|career|positions|volunteer|jobs?\b|leadership|activities"
)


@dataclass(frozen=True, slots=True)
class _College:
    names: tuple[str, ...]
    city: str
    state: str


@cache
def _colleges() -> tuple[_College, ...]:
    listed = rows("colleges", "name", "also", "city", "state")
    return tuple(
        _College((row["name"], *(n for n in row["also"].split(";") if n)), row["city"], row["state"])
        for row in listed
    )


@cache
def _listed() -> tuple[re.Pattern[str], dict[str, int]]:
    """Return one pattern for all names of colleges, the longest first, and which college each name means."""
    by_name = {fold(name).text: n for n, college in enumerate(_colleges()) for name in college.names}
    ordered = sorted(by_name, key=lambda name: (-len(name), name))
    return re.compile(r"(?<![\w])(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)"), by_name


def find_colleges(text: str, folded: Folded, applicant: Applicant, found: FoundSpans) -> None:
    """Add colleges: known ones, listed ones, and what has a college's shape; then their places."""
    ours: dict[str, int] = {}
    spans: list[tuple[int, int, str, str, bool]] = []
    for known in applicant.colleges:
        for start, end, _ in folded.finditer(r"(?<!\w)" + re.escape(fold(known).text) + r"(?!\w)"):
            spans.append((start, end, f"known {fold(known).text}", "known", True))
    pattern, by_name = _listed()
    for start, end, match in folded.finditer(pattern):
        shown = text[start:end]
        if not shown[0].isupper() or re.match(r"[ ](?:(?:University[ ])?Press|High|Street|St\b|Ave|"
                                              r"Road|Hospital|Library|Medical Center|Review)",
                                              text[end : end + 20]):  # fmt: skip
            continue
        name = _colleges()[by_name[match.group()]].names[0]
        # "Brown", "Pitt" and the like are names and words: a short name counts next to a degree, year or preposition.
        single = " " not in shown and not shown.isupper() and not re.match(r"UC|UN|UM|UT", shown)
        if single and not _speaks_of_study(text, start, end):
            found.doubt(
                Doubt(
                    start=start, end=end, kind="college", why="may be a college's short name", slot="college"
                )
            )
            continue
        if (
            shown.isupper()
            and len(shown) <= 4
            and text[start:end].isupper()
            and not _speaks_of_study(text, start, end)
        ):
            found.doubt(
                Doubt(start=start, end=end, kind="college", why="may be a college's initials", slot="college")
            )
            continue
        spans.append((start, end, name, "listed college", True))
    for match in _SHAPE.finditer(text):
        start, end = match.span()
        shown = match.group()
        lead = re.match(
            r"(?:(?:At|In|From|While|When|During|After|Attended|Graduated|Since|Both|Education|Studied|The|My|As) )+",
            shown,
        )
        if lead and not shown.startswith("The University"):
            start += lead.end()
            shown = text[start:end]
        shown = shown.rstrip(".")
        if "," in shown and re.match(rf",[ ]?(?:{STATES})(?!\w)", text[start + len(shown) :]):
            shown = shown.rpartition(",")[0]  # the town of "University of Toledo, Toledo, OH" is its place
        longer = any(s == start and text[e:end].startswith(",") for s, e, *_ in spans)
        if longer or text[end:].startswith(" Press"):
            continue
        if not _NO_COLLEGE.search(shown):
            spans.append((start, start + len(shown), shown, "shaped like a college", False))
    kept: list[tuple[int, int, str, str, bool]] = []
    for span in sorted(spans, key=lambda s: (s[0] - s[1], not s[4], s[0])):
        if found.free(span[0], span[1]) and all(span[1] <= k[0] or k[1] <= span[0] for k in kept):
            kept.append(span)
    for start, end, key, rule, sure in sorted(kept):
        number = ours.setdefault(key, len(ours) + 1)
        slot = "college" if number == 1 else f"college.{number}"
        found.add(RedactedSpan(start=start, end=end, kind="college", slot=slot, rule=rule, sure=sure))
    _college_places(text, found)


def _speaks_of_study(text: str, start: int, end: int) -> bool:
    """Return whether a short name stands where a college would: after *at*, or beside a degree or a year."""
    line = text[text.rfind("\n", 0, start) + 1 : (text.find("\n", end) + 1 or len(text) + 1) - 1]
    if line.strip(" \t*_|-") == text[start:end]:
        return True
    within = text[start - 45 if start > 45 else 0 : end + 45]
    line = max(
        (part for part in re.split(r"\n|\.\s+(?=[A-Z])", within) if text[start:end] in part),
        key=len,
        default=line,
    )
    return bool(
        re.search(r"\b(?:at|from|attend(?:ed|ing)?|to|of|entered|left|joined|"
                  r"through)[ ](?:the[ ])?$", text[:start][-16:])
        or re.search(r"\b(?:B\.?[AS]\.?|M\.?[AS]\.?|Ed\.?[MD]\.?|M\.?Ed|M\.?A\.?T|Ph\.?D|Bachelor|"
                     r"Master|Degree|degree|GPA|graduat)",
                     line)
        or _YEAR.search(line)
    )  # fmt: skip


def _college_places(text: str, found: FoundSpans) -> None:
    """Add towns that stand beside a college: on its line, or at the start or end of the next."""
    colleges = [span for span in found.spans if span.kind == "college"]
    for match in PLACE.finditer(text):
        for college in colleges:
            between = text[min(college.end, match.end()) : max(college.start, match.start())]
            near = len(between) <= 60 and between.count("\n") <= 1 and not re.search(r"\w.*\n.*\w", between)
            if near and found.free(*match.span()):
                found.add(
                    RedactedSpan(start=match.start(), end=match.end(), kind="college_place", slot="college_place",
                         rule="town beside a college")
                )  # fmt: skip
    for college in colleges:
        if town := _TOWN_AFTER.match(text, college.end):
            found.doubt(
                Doubt(start=town.start("town"), end=town.end(), kind="college_place",
                      why="after a college: may be its town", slot="college_place")
            )  # fmt: skip
    towns = {fold(c.city).text for c in _colleges() for s in colleges if fold(text[s.start : s.end]).text in
             {fold(n).text for n in c.names}}  # fmt: skip
    if towns:
        for start, end, _ in fold(text).finditer(
            r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(towns))) + r")(?!\w)"
        ):
            if found.free(start, end) and text[start].isupper():
                found.doubt(
                    Doubt(
                        start=start,
                        end=end,
                        kind="college_place",
                        why="the town of a college named here",
                        slot="college_place",
                    )
                )


def find_jobs(text: str, found: FoundSpans) -> None:
    """Add places of jobs whose dates overlap the years at college; where dates do not tell, report them."""
    studies = _years_at_college(text, found)
    sections = [(m.start(), m.group("head")) for m in _SECTION.finditer(text)]
    for place in PLACE.finditer(text):
        if not found.free(*place.span()):
            continue
        section = next((head for at, head in reversed(sections) if at < place.start()), "")
        dates = _dates_near(text, place.start())
        if not _WORK.search(section):
            # Without a heading that says work, dates on the place's own line must tell.
            line = text[text.rfind("\n", 0, place.start()) + 1 :].partition("\n")[0]
            if not _DATE.search(line) or any(s.kind == "college" and s.start >= place.start() - len(line) and
                                             s.end <= place.end() + len(line) and "\n" not in
                                             text[min(s.start, place.start()) : max(s.end, place.end())]
                                             for s in found.spans):  # fmt: skip
                continue
        if dates is None or not studies:
            what = "a job without dates" if dates is None else "no college years"
            found.doubt(
                Doubt(start=place.start(), end=place.end(), kind="job_place",
                      why=f"cannot tell whether the job was during college: {what}", slot="job_place")
            )  # fmt: skip
            continue
        if any(dates[0] <= last and first <= dates[1] for first, last, _ in studies):
            sure = any(dates[0] <= last and first <= dates[1] and stated for first, last, stated in studies)
            sure = sure and _WORK.search(section) is not None
            found.add(
                RedactedSpan(start=place.start(), end=place.end(), kind="job_place", slot="job_place",
                     rule="dates overlap the college's", sure=sure)
            )  # fmt: skip


def _years_at_college(text: str, found: FoundSpans) -> list[tuple[int, int, bool]]:
    """Return first and last month at each college, and whether both are stated: one year counts as the last of four."""
    years = []
    for college in (span for span in found.spans if span.kind == "college"):
        near = list(_lines_around(text, college.start, 2))
        block = next((found_ for line in near if (found_ := _DATE.search(line))), None)
        if block is not None:
            years.append((*_months(block), True))
            continue
        single = next((year for line in near if (year := _YEAR.search(line))), None)
        if single is not None:
            last = int(single.group()) * 12 + 6
            years.append((last - 46, last, False))
    return years


def _lines_around(text: str, at: int, below: int) -> Iterable[str]:
    """Yield the line of a place, those below it up to an empty one, and the one above."""
    start = text.rfind("\n", 0, at) + 1
    lines = text[start:].split("\n")[: below + 1]
    for line in lines:
        if not line.strip():
            break
        yield line
    if start > 0:
        above = text[:start].rstrip("\n").rpartition("\n")[2] if not text[:start].endswith("\n\n") else ""
        yield above


def _dates_near(text: str, at: int) -> tuple[int, int] | None:
    for line in _lines_around(text, at, 2):
        if match := _DATE.search(line):
            return _months(match)
    return None


def _months(match: re.Match[str]) -> tuple[int, int]:
    """Return the first and the last month, counted from year 0."""
    first = _month(match.group("from"), last=False)
    if match.group("short"):
        return first, (first // 1200 * 100 + int(match.group("short"))) * 12 + 11
    return first, _month(match.group("to"), last=True)


def _month(shown: str, *, last: bool) -> int:
    year = _YEAR.search(shown.replace("/", " "))
    if year is None:
        return 9999 * 12
    word = shown[:3].lower()
    if word in _MONTHS:
        month = _MONTHS[word]
    elif shown.split()[0].lower() in _SEASONS:
        month = _SEASONS[shown.split()[0].lower()][last]
    elif "/" in shown:
        month = int(shown.partition("/")[0])
    else:
        month = 12 if last else 1
    return int(year.group()) * 12 + month - 1
