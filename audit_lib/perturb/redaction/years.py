"""Years of schools and degrees, which tell an age."""

from __future__ import annotations

import re
from typing import Final

from audit_lib.perturb.redaction.spans import FoundSpans, RedactedSpan

_HEADING: Final = re.compile(
    r"^[ \t*_#]*(?P<school>(?i:(?:\w\.[ \t]+)?(?:education(?:al)?|academic|qualifications?|schooling|studies|"
    r"schools?|degrees?|ausbildung|bildung|schulbildung|studium|formation|éducation|formación|educación|istruzione|opleiding|utbildning|wykształcenie|eğitim|"
    r"pendidikan|elimu|学歴|학력)(?:[ \t/&,]+[^\n.:;]{1,40})?)[ \t*_:]*\r?$)"
)
_OTHER_HEADING: Final = re.compile(
    r"^[ \t*_#]*(?:[A-Z][A-Z &/,'-]{3,40}|(?:[A-Z][a-z]+[ &]*){1,4}:?)[ \t*_:]*\r?$"
)
_DEGREE: Final = re.compile(
    r"\b(?:B\.?[AS]\.?(?:c\.?)?|M\.?[AS]\.?(?:c\.?)?|MBA|Ph\.?D\.?|B\.?Eng|M\.?Ed|Bachelor|Master of|Diploma|"
    r"Associate of|GCSEs?|A-levels?|KCSE|KCPE|Leaving Certificate|Abitur|High School|Secondary School|University|"
    r"College|Universität|Université|Universidad)\b"
)
_YEARS: Final = re.compile(
    r"(?<![\d/.\-])(?:19|20)\d{2}(?:[ \t]?[-–—][ \t]?(?:(?:19|20)\d{2}|\d{2}(?!\d)|[Pp]resent|[Nn]ow))?"
    r"(?:[./][ ]?(?:0[1-9]|1[0-2]))?(?![\d/.]\d|\d)"
)
_WORKING: Final = re.compile(
    r"(?i)\b(?:manager|engineer|teacher|assistant|officer|tutor|employ\w+|intern\w*|work\w*|lecturer|"
    r"volunteer\w*)\b"
)


def find_years(text: str, found: FoundSpans) -> None:
    """Add years under a heading of education, and beside a degree: the former for sure only where both agree."""
    inside, at = False, 0
    for line in text.split("\n"):
        if _HEADING.match(line):
            inside = True
        elif _OTHER_HEADING.match(line) and not _YEARS.search(line) and not _DEGREE.search(line):
            inside = False
        degree = bool(_DEGREE.search(line))
        if inside or (degree and not _WORKING.search(line)):
            for match in _YEARS.finditer(line):
                start, end = match.span()
                if line[start - 1 : start] == "(" and line[end : end + 1] == ")":
                    start, end = start - 1, end + 1
                found.add(
                    RedactedSpan(start=at + start, end=at + end, kind="graduation_year", slot="graduation_year",
                         rule="year of a school or degree", sure=inside and degree)
                )  # fmt: skip
        at += len(line) + 1
