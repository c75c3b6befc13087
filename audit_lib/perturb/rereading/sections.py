"""Sections of a dossier that are about the person: what is left of them is shown, whatever its words are.

A list of words ends where its author's knowledge ends; a heading says what its lines are about.
"""

# ruff: noqa: E501  (one pattern a line)

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage

_PERSONAL: Final = re.compile(
    r"(?i)\b(?:personal|interests?|hobbies|pastimes|leisure|affiliations?|memberships?|member of|volunteer\w*|community|activities|"
    r"extracurricular|co-curricular|military|veteran|service|armed forces|additional|other information|miscellaneous|about me|family|"
    r"languages?|education|academic|schooling|schools?|training|references?|referees|outside work|clubs|societies|civic|leadership|"
    r"awards|honou?rs|diversity|equal opportunit\w+|monitoring|declaration|emergency|next of kin|health|faith|union|remarks|notes|who|"
    r"persönlich\w*|hobbys|interessen|sprachen|ausbildung|bildung\w*|ehrenamt|familie|wehrdienst|centres d'intérêt|langues|formation|"
    r"loisirs|intereses|idiomas|formación|voluntariado|interessi|lingue|istruzione|interesses|formação|talen|opleiding|intressen|språk|"
    r"zainteresowania|języki|wykształcenie|diller|eğitim|hobiler|minat|bahasa|pendidikan|lugha|elimu)\b"
)
_WORKING: Final = re.compile(
    r"(?i)\b(?:experience|employment|work|career|profession\w*|skills?|summary|profile|projects?|publications?|patents?|technical|"
    r"competenc\w+|objective|history|positions?|qualifications and skills|berufserfahrung|kenntnisse|expérience|experiencia|esperienza|"
    r"experiência|werkervaring|erfarenhet|doświadczenie|deneyim|pengalaman|uzoefu)\b"
)


def find_sections(left: str) -> Iterator[LeftPassage]:
    """Yield the lines under a heading that is about the person.

    A heading is a line of a few words in capitals, or ending with a colon, or between empty lines.
    """
    at, inside = 0, False
    lines = left.split("\n")
    for number, line in enumerate(lines):
        if _is_heading(lines, number):
            inside = bool(_PERSONAL.search(line)) and not _WORKING.search(line)
        elif inside and line.strip(f" \t\r{GONE}"):
            bare = line.strip()
            start = at + line.index(bare)
            why = "under a heading that is about the person"
            yield LeftPassage(start=start, end=start + len(bare), kind="personal", why=why)
        at += len(line) + 1


def _is_heading(lines: list[str], number: int) -> bool:
    shown = lines[number].strip(" \t\r*_#=:-–|")
    if (
        not shown
        or len(shown) > 48
        or len(shown.split()) > 6
        or GONE in shown
        or re.search(r"[\d@,;.]", shown)
    ):
        return False
    if shown.isupper() or lines[number].rstrip().endswith(":") or lines[number].lstrip().startswith("#"):
        return True
    above = number == 0 or not lines[number - 1].strip()
    listed = _PERSONAL.search(shown) or _WORKING.search(shown)
    return bool(above and listed and shown[0].isupper())
