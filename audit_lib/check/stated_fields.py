"""What a summary says in words: required fields and dates.

Words are searched for, so a field is "not found", never "absent": a person has to look before saying so.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

from audit_lib.check.dates import DATE, is_month, read_date
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.published_numbers import SEPARATORS, WHOLE, whole
from audit_lib.check.published_tables import PublishedTable
from audit_lib.policies import Policy
from audit_lib.policies.clocks import valid_until

_UNKNOWN: Final = (
    r"unknown|undisclosed|unreported|unspecified|not (?:disclosed?|reported?|specified|provided?|"
    r"self-identified|stated?|identify)|declined? to|(?:did|do) not (?:disclose|"
    r"report|identify|self-identify|provide|state|answer)|missing (?:demographic|data|sex|race)|prefer(?:red)? not|"
    r"\b(?:is|are|was|were) not known|"
    r"(?:not|nothing) to (?:self-identify|identify|disclose|report|say|state|answer|provide|specify)"
)
_NO_RATIO: Final = (
    r"(?:left (?:\w+ ){0,3}out|leav(?:es?|ing) (?:\w+ ){0,3}out|no (?:impact )?ratio|omit\w*|"
    r"not (?:calculated|computed|compared|included|given|printed|shown|reported)|without (?:an? )?(?:impact )?ratio)"
)
_FOR_SIZE: Final = (
    r"(?:2 ?%|two percent|fewer than|less than|under|below|too few|so few|few people|too small|small)"
)
# Words that speak of a field. F01 and F08 need a date after them.
_SPACED: Final[Mapping[str, str]] = {
    "F01": r"dates? of (?:the |this |its |our )?(?:most recent |last |latest )?(?:bias )?audit|"
    r"audit (?:completion )?date|audit (?:[a-z]+ ){0,2}(?:was |has been )?(?:last |most recently )?(?:conducted|"
    r"completed|performed|carried out|finali[sz]ed|finished|concluded|dated|done|issued|made|signed)|"
    r"(?:most recent|latest|last) (?:\w+ )?audit|"
    r"last audited|audited (?:for bias )?on|when (?:was|did)[^?\n]{0,40}audit[^?\n]{0,20}\?|audit (?:done|finished) on|"
    r"audit of [^.\n]{1,60} (?:was|is) (?:last )?(?:concluded|completed|conducted|performed|finished|carried out|dated|"
    r"done)(?: on)?|"
    r"audit\b[^.\n]{0,120}[;,] (?:it |and |which )?(?:was|is) (?:issued|completed|concluded|finished|signed|dated)|"
    r"(?:conducted|performed|completed|carried out|finished|concluded) (?:(?:the|a|an|its|our|this) )"
    r"(?:\w+ ){0,3}?audit\b(?! (?:report|summary|log|trail|plan))",
    "F02": r"source of (?:the |this )?data|data sources?|sources? of (?:the )?(?:historical|test)|historical data|"
    r"test data|data (?:used |set |sets )?(?:was|were|came|come|is|are) (?:provided|supplied|collected|obtained|drawn|"
    r"taken|extracted|sourced|from|historical)|(?:the )?data[^.\n]{0,30} com(?:es|ing)? from|"
    r"(?:hiring|applicant|application|personnel|selection|recruit\w+) records|records (?:of|from|held)|"
    r"applicant tracking|data\W{1,3}(?:historical|pooled|from)\b|which data (?:was|were)",
    "F03": r"explanation of (?:the |this )?data|why these data|data used|data ?sets? (?:used|covers?|consists?|"
    r"includes?|comprises?|contains?)|(?:the |these |this )?data (?:covers?|consists?|includes?|comprises?|spans?|"
    r"represents?|was limited|were limited|analy[sz]ed)|(?:audit|review|observation|"
    r"data|analysis) (?:period|window)|window audited",
    "F08": r"distribution dates?|in use since|use began|(?:began|begin|started|start|first) (?:using|used|use|deployed|"
    r"deploying)|dates? of (?:first use|distribution|deployment|implementation)|(?:deployed|implemented|introduced|"
    r"launched) (?:on|in|since)|"
    r"used (?:since|(?:on|in) (?:\w{3,9}\.? )?\d)|deployment date|since when[^?\n]{0,40}\b(?:use|used)\b|"
    r"go(?:es|ing)?[- ]live|"
    r"went live|first used|us(?:ed?|ing)(?: \w+){0,4} since|in use (?:since|from)|"
    r"first use|use (?:of (?:the|this) tool )?(?:began|started|since)",
    "F09": r"exclu\w+[^.]{0,160}(?:because|justif|due to|2 ?%|two percent|fewer than|less than|small|(?:too|so) few|"
    r"unstable|un?reliab\w+)|"
    r"(?:because|justif|due to|2 ?%|two percent|fewer than|less than|small|too few)[^.]{0,160}exclu\w+|"
    rf"{_NO_RATIO}[^.]{{0,200}}{_FOR_SIZE}|{_FOR_SIZE}[^.]{{0,200}}{_NO_RATIO}",
    "F10": r"(?:historical data|history)[^.]{0,120}(?:not|insufficient|unavailable|too few|no\b)|"
    r"(?:no|insufficient|not enough|lack of|too little) historical data|new to us|first time",
}  # fmt: skip
# A reader of scans loses spaces: "Distributiondate of the tool". A line's end still parts: "Bias audit", "Date: ...".
_WORDS: Final = {field: words.replace(" ", r"[^\S\n]*") for field, words in _SPACED.items()}
# "Of the 12,530 individuals assessed, 560 had an unknown sex", but not "Of the 560 people of unknown sex, ...".
_EVERYBODY: Final = re.compile(
    rf"\bof (?:(?:the|all|a|total|of) )*{WHOLE} (?:applicants|candidates|individuals|people|persons)\b"
    rf"(?!(?: [a-z/]+){{0,4}} (?:{_UNKNOWN}))",
    re.IGNORECASE,
)
# Whose data, from when to when: "The data was collected by the employer from 1 March through 31 August 2025."
_OF_PEOPLE: Final = re.compile(
    r"\b(?:data(?: ?sets?)?|records|applications|requisitions|assessments|applicants|candidates|employees|"
    r"individuals|people|persons)\b",
    re.IGNORECASE,
)
_YEAR_ALONE: Final = re.compile(r"(?<![\d/.,-])(?:19|20)\d\d(?![\d/,%-])")
TO: Final = re.compile(r",?\s*(?:to|through|thru|until|till|and|[-\u2013\u2014])\s*", re.IGNORECASE)
_OF_VALIDITY: Final = re.compile(r"\b(?:valid|expires?|posted|retained|kept)\b", re.IGNORECASE)
_NAMING: Final = ("F01", "F02", "F03", "F08")
_REACH: Final = 120
_SENTENCE_REACH: Final = 240  # in one line of words, up to where its sentence ends
# A sentence that ends says nothing of the next one's date; a short form ends none.
_STOP: Final = re.compile(
    r"(?<=[a-z0-9)]{2})(?<!\bInc)(?<!\bLtd)(?<!\bCo)(?<!\bCorp)"
    r"(?:[.!](?=\s+[A-Z\u201c\"(]|\s*\n)|\?(?=[^\S\n]+[A-Z\u201c\"(]))"  # an answer follows
)
# A day that something ends or begins on is not the day of the audit.
OTHER_DAY: Final = re.compile(r"\b(?:until|expires?|valid|use (?:after|from)|before)\b", re.IGNORECASE)
_TO_COME: Final = re.compile(
    r"\b(?:next|future|planned|scheduled|upcoming|coming)\s+(?:\w+\s+)?$", re.IGNORECASE
)
_BEFORE: Final = 30
_TEST_DATA: Final = re.compile(
    r"\b(?:test data|synthetic (?:data|applicants|candidates|resumes))\b", re.IGNORECASE
)
# A checklist asks why test data were used, and a rule says when they may be; neither says that they were.
_ASKED: Final = re.compile(
    r"\b(?:why|whether|if|unless|when|where|may|can)\b.*\btest data\b|\btest data (?:may|can|only)\b",
    re.IGNORECASE,
)
_MADE: Final = (
    r"(?:generat|creat|construct|obtain|simulat|written by|drawn from|collected|recruit|asked|invited|volunteer|panel|"
    r"took the|taken by)"
)
_HOW_MADE: Final = re.compile(
    rf"{_TEST_DATA.pattern}[^\n]{{0,250}}{_MADE}|{_MADE}[^.]{{0,200}}{_TEST_DATA.pattern}", re.IGNORECASE
)
_NEVER_USED: Final = re.compile(
    r"(?<!\bhad )(?:never (?:been )?used|not yet (?:been )?(?:used|in use|deployed))(?! (?:for|to|as)\b)",
    re.IGNORECASE,
)
_NOW: Final = re.compile(r"\b(?:now|while|when|during|at the time|before|until)\b", re.IGNORECASE)
# As a title or a notice says it; that one number "is not a bias audit" says nothing about the page.
_NO_AUDIT: Final = re.compile(
    r"\b(?:experiment|calculation|exercise|demonstration|study)\b[^.]{0,120}\bnot a bias audit\b",
    re.IGNORECASE,
)
NEGATED: Final = re.compile(r"\b(?:not?|never|nor|neither|without|cannot|none)\b|n't\b", re.IGNORECASE)
_COUNT: Final = re.compile(
    rf"(?<![\d.,/(\u00a7-])(?<!\d[{SEPARATORS}])({WHOLE})(?![\d%/-]|[.{SEPARATORS}]\d| ?%| percent)"
)
_LONGEST_NAME: Final = 80
_VALUE: Final = re.compile(
    rf"({WHOLE})(?: (?:applicants|candidates|people|persons|individuals|employees)(?: in all)?)?\W*"
)
_BELOW: Final = (
    "names and dates stand on lines of their own, and this date may be of another name; look at the page"
)
# "in 2025", but not "in 2025 cases".
_YEAR: Final = re.compile(
    r"\b(?:in|of|for|from|to|during|since|until|through|between|and|year) (?:19|20)\d\d\b(?!(?: other| unknown)? "
    r"(?:individuals|people|persons|applica|candidates|employees|participants|respondents|cases|records))",
    re.IGNORECASE,
)
# A sentence may begin with a number, unless what ends before it is a short form.
_SHORT: Final = "".join(rf"(?<!\b{month[:3]}\.)" for month in calendar.month_name if len(month) > 3)
_SENTENCE: Final = re.compile(
    r"\n|(?<=[.!?]) +(?=[A-Z\u201c\"(])|"
    r"(?<=[.!?])(?<!\b[Nn]o\.)(?<!\b[Nn]os\.)(?<!\bapprox\.)(?<!\bca\.)(?<!\b[Ss]ec\.)(?<!\b[Aa]rt\.)"
    rf"{_SHORT} +(?=[0-9])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the words of a page say.

    Parameters
    ----------
    audited : date or None
        The latest date that follows words about the audit's date; a month without a day is its last day.
    only_month : bool
        Whether that date has no day.
    unknown : int or None
        The largest number of people in a sentence about unknown categories.
    is_below : bool
        Whether that date is known only as the first of several below several names, which a page may have in another
        order.
    no_audit : str
        The sentence in which the page says of itself that it is an experiment and no bias audit, or empty.
    """

    audited: date | None
    only_month: bool = False
    is_below: bool = False
    unknown: int | None
    no_audit: str = ""


def read_words(text: str) -> Said:
    """Read the audit's date and the number of people of unknown category.

    Examples
    --------
    >>> read_words("Date of the audit: June 29, 2023. 1,250 individuals had an unknown sex.")
    Said(audited=datetime.date(2023, 6, 29), only_month=False, is_below=False, unknown=1250, no_audit='')
    """
    beside, below = list(dates_after("F01", text)), list(_dates_below("F01", text))
    dates = [(day, is_month(found)) for found in beside or below if (day := read_date(found))]
    exact = {(day.year, day.month) for day, no_day in dates if not no_day}
    dates = [(day, no_day) for day, no_day in dates if not (no_day and (day.year, day.month) in exact)]
    audited, only_month = max(dates, default=(None, False))
    no_audit = next((s for s in sentences(text) if _NO_AUDIT.search(s)), "")
    return Said(
        audited=audited,
        only_month=only_month,
        is_below=not beside,
        unknown=_unknown(text),
        no_audit=no_audit,
    )


def fields(
    text: str, said: Said, unknown: int | None, tables: Sequence[PublishedTable], policy: Policy
) -> Iterator[SummaryFinding]:
    """Yield the required fields for which no words were found; `unknown` is what words or tables give.

    A page that calls itself no bias audit has no date of one (F01); that it does is a finding of its own.
    """
    if said.no_audit:
        message = "it fulfils no duty of the law, whatever its numbers; these are checked all the same"
        yield SummaryFinding(id="no_bias_audit", printed=said.no_audit, message=message)
    duties = {field.id: field for field in policy.required_fields}
    test_data = [s for s in sentences(text) if _uses_test_data(s)]
    for name, pattern in _WORDS.items():
        words = re.search(pattern, text, re.IGNORECASE)
        found, missing = words is not None, "no words for it"
        if name == "F01":
            if said.no_audit:
                continue
            found, missing = said.audited is not None, "no date beside words for it" if words else missing
        elif name == "F08":
            used = any(_NEVER_USED.search(s) and not _NOW.search(s) for s in sentences(text)) or any(
                map(read_date, (*dates_after("F08", text), *_dates_below("F08", text)))
            )
            found, missing = used, "no date beside words for it" if words else missing
        elif name == "F03":
            found |= any(map(_says_which_data, sentences(text)))
        elif name == "F09":
            found |= not any(has_excluded(table) for table in tables)
        elif name == "F10":
            joined = text.replace("\n", " ")  # a label on paper goes over lines
            why = re.search(pattern, joined, re.IGNORECASE)
            found = not test_data or (why is not None and _HOW_MADE.search(joined) is not None)
            missing = "test data are named; why, or how they were made, was not found"
        if not found:
            yield _not_found(duties[name].id, duties[name].duty, duties[name].cite, missing)
    if said.audited is not None and said.only_month:
        message = "a month without a day: the year that the audit serves has no day to begin on"
        printed = f"{said.audited:%Y-%m}"
        yield SummaryFinding(id="audit_day_not_found", column="F01", printed=printed, message=message)
    if unknown is None:
        yield _not_found("F04", duties["F04"].duty, duties["F04"].cite, "no number beside words for it")


def validity(said: Said, as_of: date | None, policy: Policy) -> Iterator[SummaryFinding]:
    """Yield an audit date that is too old on the day asked about, or lies after it."""
    if said.audited is None or as_of is None:
        return
    duty = next(field for field in policy.required_fields if field.id == "F15")
    if as_of > valid_until(policy, said.audited):
        yield SummaryFinding(
            id="audit_too_old",
            printed=said.audited.isoformat(),
            message=f"more than {policy.validity_days} days before {as_of.isoformat()}",
            rule=duty.cite,
            unsure=_BELOW if said.is_below else "",
        )
    elif said.audited > as_of:
        message = f"after {as_of.isoformat()}"
        yield SummaryFinding(id="audit_after_as_of", printed=said.audited.isoformat(), message=message)


def _says_which_data(sentence: str) -> bool:
    """Whether a sentence speaks of people or their data, and of the time from which these are."""
    if not _OF_PEOPLE.search(sentence) or _OF_VALIDITY.search(sentence):
        return False
    dated = [found.span() for found in DATE.finditer(sentence)]
    years = [found.span() for found in _YEAR_ALONE.finditer(DATE.sub(lambda m: "x" * len(m[0]), sentence))]
    return any(TO.fullmatch(sentence, a[1], b[0]) for a, b in pairwise(sorted(dated + years)))


def _uses_test_data(sentence: str) -> bool:
    """Whether a sentence says that test data were used, as far as words tell."""
    if not _TEST_DATA.search(sentence) or NEGATED.search(sentence):
        return False
    return _ASKED.search(sentence) is None


def _not_found(field: str, duty: str, cite: str, missing: str) -> SummaryFinding:
    return SummaryFinding(id="field_not_found", column=field, message=f"{duty}: {missing}", rule=cite)


def has_excluded(table: PublishedTable) -> bool:
    """Whether a category with a rate has no ratio while another one has."""
    rows = table.of("category")
    without = any(row.cell("ratio").is_none and row.cell("applicants").count for row in rows)
    return "ratio" in table.headers and without and any(row.cell("ratio").number for row in rows)


def words_of(field: str) -> str:
    """Return the pattern of words that speak of a field."""
    return _WORDS[field]


def names_fields(text: str) -> bool:
    """Whether words name at least two of the fields that a summary must have: then it is one, and not tables alone.

    Examples
    --------
    >>> names_fields("Date of the audit: May 2, 2026. Distribution date: May 9, 2026."), names_fields("Results by sex")
    (True, False)
    """
    return sum(re.search(_WORDS[name], text, re.IGNORECASE) is not None for name in _NAMING) > 1


def dates_after(field: str, text: str) -> Iterator[re.Match[str]]:
    """Yield the first date after each mention of a dated field, unless the other one is mentioned before it."""
    for _, found in mentions(field, text):
        yield found


def mentions(field: str, text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield each mention of a dated field with the first date after it, unless the other one is mentioned before it."""
    other = re.compile(_WORDS["F08" if field == "F01" else "F01"], re.IGNORECASE)
    for words in re.finditer(_WORDS[field], text, re.IGNORECASE):
        if field == "F01" and _TO_COME.search(text, max(0, words.start() - _BEFORE), words.start()):
            continue
        end = reach(text, words.end())
        end = min([end, *(stop.start() for stop in _stops(other, text, words.end(), end))])
        found = DATE.search(text, words.end(), end)
        if found is None or (field == "F01" and OTHER_DAY.search(text, words.end(), found.start())):
            continue
        if "?" not in text[words.end() : found.start()].removeprefix("?"):  # of another question
            yield words, found


def _dates_below(field: str, text: str) -> Iterator[re.Match[str]]:
    """Yield dates below names side by side, as over the columns of a table: the first name has the first date."""
    names = sorted(
        (found.start(), found.end(), name)
        for name in ("F01", "F08")
        for found in re.finditer(_WORDS[name], text, re.IGNORECASE)
    )
    for (start, end, name), (after, last, other) in pairwise(names):
        between = text[end:after]
        if (
            name == other
            or "\n" in text[start:last]
            or re.search(r"[.;:]|\d", between)
            or after - end > _REACH
        ):
            continue
        dates = list(DATE.finditer(text, last, last + 2 * _REACH))[:2]
        if len(dates) == 2 and ":" not in text[last : dates[0].start()].split("\n")[0]:
            yield dates[(name, other).index(field)]


def reach(text: str, start: int) -> int:
    """Return how far words at a place may have their date: a line of words further than over lines."""
    line = text.find("\n", start, start + _SENTENCE_REACH)
    return start + (_SENTENCE_REACH if line < 0 else max(_REACH, line - start))


def _stops(other: re.Pattern[str], text: str, start: int, end: int) -> list[re.Match[str]]:
    found = (pattern.search(text, start, end) for pattern in (other, _STOP))
    return [one for one in found if one is not None]


def _unknown(text: str) -> int | None:
    counts: list[int] = []
    said = sentences(text)
    for sentence, after in pairwise([*said, ""]):
        if not re.search(_UNKNOWN, sentence, re.IGNORECASE):
            continue
        if len(sentence) <= _LONGEST_NAME and (value := _VALUE.fullmatch(after)) is not None:
            counts.append(whole(value[1]))  # a name, and its number on the next line
        bare = re.sub(r"local law 144|ll ?-?144", " ", DATE.sub(" ", sentence), flags=re.IGNORECASE)
        bare = _YEAR.sub(" ", bare)
        parts = [_COUNT.findall(words) for words in (_EVERYBODY.sub(" ", bare), bare)]
        counts += [whole(number) for number in parts[0] or parts[1]]
        if re.search(r"\b(?:no|none|zero) (?:\w+ ){0,6}", bare, re.IGNORECASE) and not counts:
            counts.append(0)
    return max(counts, default=None)


def sentences(text: str) -> list[str]:
    """Cut a text into sentences; a line ends one."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def short(sentence: str) -> str:
    """Return a sentence, or its beginning where it is long."""
    return sentence if len(sentence) <= 160 else f"{sentence[:157].rstrip()}..."
