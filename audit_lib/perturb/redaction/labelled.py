"""Values of labelled fields: ``Gender: F``, ``Date of birth<tab>1 May 1990``, a label on the line above."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from audit_lib.perturb.redaction.folding import Folded, fold
from audit_lib.perturb.redaction.lexicons import honorifics, rows
from audit_lib.perturb.redaction.spans import FoundSpans, RedactedSpan

FIELDS: Final = (
    "sex", "birth_date", "age", "marital_status", "children", "nationality", "birth_place", "religion", "disability",
    "military", "id_number", "visa", "orientation", "photo", "union",
)  # fmt: skip
"""Kinds that only a labelled field has; each is a slot of the same name."""

_LONGEST: Final = 120
_HEADINGS: Final = frozenset(
    {"community", "clan", "union", "trade union", "contact", "day", "evening", "health", "military", "military service",
     "national service", "armed forces", "service militaire", "photo", "picture", "children", "residence", "faith"}
)  # fmt: skip
"""Labels that are headings of sections too: the line below one is no value of it for sure."""

_TITLE: Final = re.compile(
    r"(?im)^[ \t]*(?:title|anrede|civilité|tratamiento|salutation)[ \t]*[:：][ \t]*"
    r"(?P<value>[^\W\d_]{2,12})\.?[ \t]*\r?$"
)
_PHONE: Final = re.compile(r"[+(]?\d[\d ().\-/–]{5,}\d")


def find_labelled(text: str, folded: Folded, found: FoundSpans) -> None:
    """Add the values of labelled fields, whatever they look like.

    A value ends with its cell: at a tab, a bar, three spaces, the end of its line, or the next label.
    """
    for match in _fields().finditer(folded.text):
        kind = _kinds()[" ".join(match["label"].split())]
        start, end = folded.span(match, "value")
        shown = text[start:end]
        below = "\n" in match["gap"]
        if below and " ".join(match["label"].split()) in _HEADINGS:
            continue
        if below and (_label_alone(fold(shown).text) or len(shown) > 60):
            continue
        bare = shown.strip(" \t\r*_,;")
        if not bare or len(bare) > _LONGEST:
            continue
        start += shown.index(bare)
        slot = kind
        if kind == "phone":
            number = _PHONE.search(bare)
            if number is None:
                continue
            start, bare = start + number.start(), number.group()
        found.add(
            RedactedSpan(
                start=start,
                end=start + len(bare),
                kind=kind,
                slot=slot,
                rule="labelled field",
                sure=not below,
            )
        )
    for match in _TITLE.finditer(text):
        if honorifics().get(fold(match["value"]).text):
            found.add(
                RedactedSpan(start=match.start("value"), end=match.end("value"), kind="title", slot="title",
                     rule="labelled field")
            )  # fmt: skip


def _label_alone(shown: str) -> bool:
    return " ".join(shown.strip(" \t\r:：*_").split()) in _kinds() or bool(re.match(r"[^:\n]{1,30}:", shown))


@cache
def _kinds() -> dict[str, str]:
    return {" ".join(fold(row["label"]).text.split()): row["kind"] for row in rows("fields", "label", "kind")}


@cache
def _fields() -> re.Pattern[str]:
    ordered = sorted(_kinds(), key=lambda label: (-len(label), label))
    labels = "|".join(re.escape(label).replace(r"\ ", r"[ \t]+") for label in ordered)
    aside = r"(?:[ \t]*\([^)\n]{1,30}\))?"
    return re.compile(
        rf"(?m)(?:^|(?<=[\t|,;(])|(?<=[ ]{{2}}))[ \t*_#>•·-]*(?:\d{{1,2}}[.)][ ]*)?(?P<label>{labels})[ \t*_]*{aside}"
        r"(?P<gap>[ \t]*[:：=|\t][ \t*_:|]*|[ ]{2,}|[ \t]*[:：]?[ \t]*\r?\n[ \t]*)"
        r"(?P<value>[^\n\t|]+?)"
        rf"(?=[ ]{{3,}}|[\t|]|[,;.][ ]+(?:{labels})[ \t]*[:=]|[ ]{{2,}}(?:{labels})[ \t]*[:=]|[ \t]*\r?$)"
    )
