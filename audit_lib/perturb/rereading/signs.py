"""What can be told by its shape: e-mail, phones, links, handles, numbers, years of school, addresses, cut words."""

# ruff: noqa: E501  (one pattern a line)

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage

_DIGIT: Final = r"[\dOol٠-٩۰-۹]"
_SHAPES: Final = (
    ("email", re.compile(r"[^\s<>()\[\],;:\"']+\s?(?:@|\(at\)|\[at\])\s?[^\s<>()\[\],;:\"']+"), "an e-mail address"),
    ("link", re.compile(r"(?i)\b(?:https?://|www\.)[^\s<>\"]+"), "a link"),
    ("link", re.compile(r"(?i)(?<![\w@])(?:[a-z0-9-]+\.)+(?:com|org|net|io|me|dev|edu|info|example|co|uk|de|fr|es|it|nl|eu|ca|"
                        r"au|in|jp|kr|cn|br|mx|pl|se|no|dk|fi|ie|ch|at|be|pt|ru|tr|za|ng|ke|id|my|sg|ph|ae|tech|app|blog|site)"
                        r"\b(?:/[^\s<>\"]*)?"), "a link"),
    ("link", re.compile(r"(?<![\w.])@[\w.]{2,}(?:@[\w.]+)?"), "a handle"),
    ("phone", re.compile(rf"(?<![\w$€£¥.])[+(]?{_DIGIT}(?:[ \t().\-–/\u00a0]{{0,3}}{_DIGIT}){{6,18}}(?!\w)"), "a phone or another number"),
    ("id_number", re.compile(r"(?<![\w/.])(?=[\w./-]*\d)(?=[\w./-]*[A-Za-zX*])(?:[A-Za-z]{1,6}[-/ ]?)?\d{2,}(?:[-/]?[\dA-Za-zX*]+)*(?![\w])"), "a number with letters"),
    ("id_number", re.compile(r"(?<![\w$€£¥.,])(?:[xX*]{2,}[- ]?)+\d{2,}(?!\w)"), "a number, partly hidden"),
    ("id_number", re.compile(r"(?<![\w$€£¥.,%])\d{5,}(?:-\d+)*(?![\w%])"), "a long number"),
    ("birth_date", re.compile(r"(?<![\w/.-])\d{1,2}(?:st|nd|rd|th)?[./\- ](?:\d{1,2}|[^\W\d_]{3,9}\.?),?[./\- ]+(?:19|20)\d{2}(?!\d)"), "a day"),
    ("birth_date", re.compile(r"(?<!\d)(?:19|20)\d{2}\s?[.\-/年년]\s?\d{1,2}\s?[.\-/月월]\s?\d{1,2}\s?[.日일]?"), "a day"),
    ("birth_date", re.compile(r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d{2}"), "a day"),
    ("birth_date", re.compile(r"(?i)\b(?:born|b\.|c\.)[^.\n]{0,30}(?:19|20)\d{2}"), "a year of birth"),
    ("age", re.compile(r"(?i)\b(?:(?:at|of|age|aged|am|is|was|turned|turning|until|i'm|since)\s)"
                       r"(?P<it>(?:1[4-9]|[2-8]\d)(?![\d%/-]|[.,]\d|\s*(?:%|k\b|people|staff|months|hours|weeks|days|minutes|to\b))|(?:four|fif|six|seven|eigh|nine)teen|"
                       r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?)\b"), "an age"),
    ("age", re.compile(r"(?i)\b\d{2}\s?(?:years?[ -]old|yrs?[ -]old|y/?o|jahre|ans|años|anni|歳|岁|세|years of age)(?!\w)"), "an age"),
    ("age", re.compile(r"(?i)\bage[sd]?:?\s(?P<it>\d{2}\s?[-–]\s?\d{2})"), "an age"),
    ("id_number", re.compile(r"\b[A-Z]{1,4}[ -]\d{2,}(?:[- ]\d+)+(?!\w)"), "a number with letters"),
    ("birth_place", re.compile(r"(?P<it>[A-ZÀ-Þ][\w'’-]+)(?=,? where \w+ (?:is |was |am )?from)"), "a place of birth, maybe"),
    ("name", re.compile(r"[\"“](?P<it>[A-ZÀ-Þ][\w'’-]+)[\"”]"), "a word in quotes: maybe a nickname"),
    ("age", re.compile(r"(?i)\b(?:[2-5]\d|(?:twenty|thirty|forty|fifty)(?:-\w+)?|two decades|three decades|four decades|five decades)\+?(?:\s(?:plus\s)?years?)?(?=\s(?:of\s(?:\w+\s)?experience|in\s(?:the\s)?\w+))"), "long experience tells an age"),
    ("age", re.compile(r"(?<![\d/.-])19[3-9]\d(?![\d/])"), "an early year tells an age"),
    ("military", re.compile(r"(?i)\b(?:served|tours?|stationed|posted)\b[^.\n]{0,20}\b(?:in|to|of)\s(?P<it>(?-i:[A-Z]\w+))"), "maybe a military service"),
    ("age", re.compile(r"[満만]\s?\d{1,3}\s?[歳세]?"), "an age"),
    ("age", re.compile(r"(?i),\s(?P<it>(?:1[5-9]|[2-7]\d)),(?=\s[a-z])"), "a number by itself: maybe an age"),
    ("age", re.compile(r"(?i)\b(?:twenty|thirty|forty|fifty|sixty|seventy)-(?:one|two|three|four|five|six|seven|eight|nine)\b"), "a number in words"),
    ("age", re.compile(r"(?i)\b\w+ in the room by \w+ years|\bby (?:ten|twenty|thirty|forty|fifty) years\b"), "an age"),
    ("parental", re.compile(r"(?i)\b(?:(?:a|one|two|three|four|five|six|seven|eight|no|\d{1,2})\s)(?:\w+\s)?"
                            r"(?:child(?:ren)?|kids?|boys?|girls?|sons?|daughters?|twins|dependants?|dependents?)\b"), "children"),
    ("parental", re.compile(r"(?i)\b(?:\d{1,2}|\w+)\s(?:anak|hij[oa]s|enfants|kinder|figli|filh[oa]s|çocuk|barn|dzieci|kinderen|watoto|lasta|деті|детей)\b"), "children"),
    ("parental", re.compile(r"(?i)\b(?:\d{1,2}|\w+) (?:weeks?|months?) (?:pregnant|along)\b"), "a pregnancy"),
    ("address", re.compile(r"(?i)\b(?:p\.?\s?o\.?\s?|rr\s?\d+,?\s)?box\s\d[\d-]*(?:,[^\n|]*)?"), "a postal box"),
    ("address", re.compile(r"(?<![\w$€£])\d{1,5}[A-Za-z]?(?:[/-]\d+)?,?\s(?:[A-ZÀ-Þ][\w'.’-]*\s){1,4}(?:St|Street|Ave|Avenue|Rd|Road|Row|Lane|Ln|"
                           r"Drive|Dr|Court|Ct|Way|Place|Pl|Close|Crescent|Cres|Terrace|Square|Sq|Gardens|Grove|Hill|Yard|Loop|Blvd|"
                           r"Boulevard|Parkway|Hwy|Highway|Trail|Mews|Walk|Park|View|Heights)\b[^\n|•·]*"), "a street"),
    ("address", re.compile(r"(?<![\w-])[A-Z]{1,2}\d[\dA-Z]?\s\d[A-Z]{2}(?!\w)|(?<!\w)[A-Z]\d[A-Z]\s?\d[A-Z]\d(?!\w)|(?<!\w)\d{4}\s?[A-Z]{2}(?:\s[A-Z][\w-]+)?(?!\w)|"
                           r"(?<!\w)[A-Z]\d{2}\s[A-Z0-9]{4}(?!\w)|〒?\d{3}-\d{4}|\b[A-Z]{2}\s\d{5}(?:-\d{4})?\b"), "a postal code"),
    ("address", re.compile(r"(?<![\w])(?:Jl\.|Sitio|Brgy\.?|Blk|Flat|Apt|Apartment|Unit|Mah\.|Sok\.|Cad\.|Rue|Calle|Via|Rua|Av\.|Avenida|ul\.|Straße|Str\.|Plot|House No\.?|Hno)"
                           r"[ \t][^\n|]{3,80}"), "an address"),
    ("address", re.compile(r"\b(?:I |i )?(?:live|living|reside|based|home is|lives|resides)\b(?:\s\w+){0,2}\s(?:at|in|near|on|outside)\s(?P<it>[A-Z0-9][^\n,.;]*(?:,\s[A-Z0-9][^\n,.;]*)*)"), "where somebody lives"),
    ("birth_place", re.compile(r"(?i)\b(?:born|raised|grew up|from|native of|hometown|hails from|where \w+ from)\b[^\S\n]*(?:and raised[^\S\n]+)?(?:(?:in|of|is|at|near)[^\S\n]+)?(?P<it>(?-i:[A-ZÀ-Þ][\w'’.-]*(?:[ ,]+(?:and |of )?[A-ZÀ-Þ][\w'’.-]*)*))"), "a place of birth, maybe"),
    ("name", re.compile(rf"(?<![^\W_])(?:[^\W\d_{GONE}][ \u00a0]){{3,}}[^\W\d_{GONE}](?:[ \u00a0]{{1,4}}(?:[^\W\d_{GONE}][ \u00a0])*[^\W\d_{GONE}](?![^\W_]))*"), "letter by letter: no rule reads it"),
    ("name", re.compile(r"[^\W\d_]+[-\u00ad‐](?=[ \t]*\r?\n)|(?<=\w)[^\W\d_]+[-‐](?=[ \t]{2,}\S)"), "cut by a hyphen: the other part is elsewhere"),
    ("name", re.compile(r"(?m)(?:(?<=-\n)|(?<=-\r\n))[ \t]*(?P<it>[^\W\d_]+)"), "the rest of a word that is cut"),
)  # fmt: skip
_TOWN: Final = re.compile(
    r"(?:^|[|•·\t:]|[ ]{2,})[ ]*(?P<it>[A-ZÀ-Þ][\w'’.-]*(?:[ ][A-ZÀ-Þ][\w'’.-]*){0,3}(?:,[ ][A-ZÀ-Þ][\w'’.-]*(?:[ ][\w'’.-]+){0,2}){1,4})[ ]*(?=$|[|•·\t\r(]|[ ]{2,})"
)
_SCHOOL: Final = re.compile(
    r"(?i)universit|college|school|academy|institut|lycée|lycee|lise|gymnasium|polytechni|seminary|madras|bachelor|master of|"
    r"\bb\.?\s?(?:a|s|sc|eng|ed|com|tech)\b|\bm\.?\s?(?:a|s|sc|ba|ed|eng|phil)\b|ph\.?\s?d|diploma|degree|graduat|alumn|gcse|"
    r"a-level|leaving cert|kcse|kcpe|waec|ssce|abitur|matric|high\b|certificate|licence|apprentic|journeyman|nvq|hnd|btec|"
    r"class of|cert\b|학|大学|高校|高等学校|卒業|学校|école|facult|escuela|universidad|university|escola|szkoł|üniv|sekolah|kolej"
)
_HEAD: Final = re.compile(
    r"(?i)^\W*(?:\w\W+)?(?:education|academic|qualification|schooling|studies|training|schools?|degrees|éducation|formation|"
    r"ausbildung|bildung|schulbildung|studium|formación|educación|istruzione|formazione|opleiding|utbildning|wykształcenie|eğitim|"
    r"pendidikan|学歴|학력|educação|elimu|apprenticeship)\b[^.]{0,40}$"
)
_OTHER_HEAD: Final = re.compile(
    r"(?i)^\W*(?:experience|employment|work|professional|career|skills|summary|profile|languages?|interests|references?|referees|"
    r"awards|publications|projects|volunteer\w*|activities|personal|service|jobs|history|經|経歴|職歴|경력)\b[^.]{0,40}$"
)
_YEARS: Final = re.compile(
    r"\(?(?<![\d/.])(?:(?:\d{1,2}[./]\s?)?(?:19|20)[\dOo]{2}(?:\s?[./]\s?\d{1,2})?)(?:\s?[-–—]\s?(?:(?:\d{1,2}[./])?(?:19|20)[\dOo]{2}))?(?!\d)\)?"
    r"|(?:平成|昭和|令和)\s?\d{1,2}|['’]\d{2}(?!\d)|(?<!\w)[2l][O0][OlI\d]{2}(?!\w)"
)


def find_signs(left: str) -> Iterator[LeftPassage]:
    """Yield what has the shape of a personal datum."""
    for kind, shape, why in _SHAPES:
        for match in shape.finditer(left):
            group = "it" if "it" in shape.groupindex else 0
            start, end = match.span(group)
            if re.search(r"\w", match.group(group)):
                yield LeftPassage(start=start, end=end, kind=kind, why=why)
    yield from _places_at_the_head(left)
    yield from _school_years(left)


def _places_at_the_head(left: str) -> Iterator[LeftPassage]:
    """Yield what looks like a town among the first lines: where the applicant lives."""
    at = seen = 0
    for line in left.split("\n"):
        seen += bool(line.strip())
        alone = _TOWN.fullmatch(line.strip()) if len(line) < 60 else None
        for match in _TOWN.finditer(line) if seen <= 12 or alone else ():
            start = at + match.start("it")
            yield LeftPassage(
                start=start,
                end=start + len(match["it"]),
                kind="address",
                why="maybe a town, at the head or alone on its line",
            )
        at += len(line) + 1


def _school_years(left: str) -> Iterator[LeftPassage]:
    """Yield years near a school or a degree, and all under a heading of education: they tell an age."""
    at, lines = 0, left.split("\n")
    under, starts = [], []
    inside = False
    for line in lines:
        starts.append(at)
        at += len(line) + 1
        if line.strip() and _HEAD.match(line.strip()):
            inside = True
        elif line.strip() and _OTHER_HEAD.match(line.strip()):
            inside = False
        under.append(inside)
    school = [bool(_SCHOOL.search(line)) for line in lines]
    for number, line in enumerate(lines):
        near = under[number] or any(school[max(0, number - 1) : number + 2])
        if near:
            for match in _YEARS.finditer(line):
                start = starts[number] + match.start()
                yield LeftPassage(start=start, end=start + len(match.group()), kind="graduation_year",
                              why="a year near a school or a degree")  # fmt: skip
