"""Passages marked by hand, and how much of the marks redaction finds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from audit_lib.perturb.redact import Applicant, Redacted, redact
from audit_lib.perturb.redaction.labelled import FIELDS

UNMARKED = frozenset({*FIELDS, "graduation_year"})
"""Kinds that the passages do not mark: they were written before redaction knew these; the dossiers measure them."""

FOLDER = Path(__file__).parent / "dossiers"
_MARK = re.compile(r"\[\[(?P<kind>[a-z_.]+):(?P<text>[^\]]+)\]\]")


@dataclass(frozen=True)
class Mark:
    """A span marked by hand."""

    start: int
    end: int
    kind: str
    part: str


@dataclass(frozen=True)
class Passage:
    """A passage, its applicant and its marks."""

    id: str
    text: str
    applicant: Applicant
    marks: tuple[Mark, ...]

    def redacted(self, **options: Any) -> Redacted:
        return redact(self.text, self.applicant, **options)


def passages(name: str = "passages") -> list[Passage]:
    read = []
    for entry in yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")):
        fields = {k: tuple(v) if isinstance(v, list) else v for k, v in entry["applicant"].items()}
        text, marks, at = "", [], 0
        for match in _MARK.finditer(entry["text"]):
            text += entry["text"][at : match.start()]
            kind, _, part = match["kind"].partition(".")
            marks.append(Mark(len(text), len(text) + len(match["text"]), kind, part))
            text += match["text"]
            at = match.end()
        read.append(Passage(entry["id"], text + entry["text"][at:], Applicant(**fields), tuple(marks)))
    return read


@dataclass(frozen=True)
class Score:
    """Marks, those found whole, spans redacted, those inside a mark of their kind."""

    marked: int
    found: int
    redacted: int
    right: int

    @property
    def recall(self) -> float:
        return self.found / self.marked if self.marked else float("nan")

    @property
    def precision(self) -> float:
        return self.right / self.redacted if self.redacted else float("nan")


def scores(read: list[Passage], results: list[Redacted]) -> dict[str, Score]:
    """Score each kind, and `all`.

    A mark is found if redacted spans of its kind cover every letter and digit of it; a span is right if it lies
    inside a mark of its kind.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for passage, result in zip(read, results, strict=True):
        for kind, found in _found(passage, result):
            counts.update(
                {(kind, "marked"): 1, (kind, "found"): found, ("all", "marked"): 1, ("all", "found"): found}
            )
        for kind, right in _right(passage, result):
            counts.update(
                {
                    (kind, "redacted"): 1,
                    (kind, "right"): right,
                    ("all", "redacted"): 1,
                    ("all", "right"): right,
                }
            )
    kinds = sorted({kind for kind, _ in counts} - {"all"})
    return {
        k: Score(*(counts[k, what] for what in ("marked", "found", "redacted", "right")))
        for k in [*kinds, "all"]
    }


def pronoun_cases(read: list[Passage], results: list[Redacted]) -> tuple[int, int]:
    """Return how many pronouns that were found have the case that was marked, and of how many."""
    right = of = 0
    for passage, result in zip(read, results, strict=True):
        slots = {(s.start, s.end): s.slot for s in result.spans if s.kind == "pronoun"}
        for mark in passage.marks:
            if mark.kind == "pronoun" and (mark.start, mark.end) in slots:
                of += 1
                right += slots[mark.start, mark.end] == f"pronoun.{mark.part}"
    return right, of


def faults(passage: Passage, result: Redacted) -> list[str]:
    """Return what was missed and what was redacted wrongly, for people to read."""
    missed = [
        f"missed {mark.kind}: {passage.text[mark.start : mark.end]!r}"
        for mark, (_, found) in zip(passage.marks, _found(passage, result), strict=True)
        if not found
    ]
    marked = [span for span in result.spans if span.kind not in UNMARKED]
    wrong = [
        f"wrong {span.kind}: {passage.text[span.start : span.end]!r} ({span.rule})"
        for span, (_, right) in zip(marked, _right(passage, result), strict=True)
        if not right
    ]
    return missed + wrong


def _found(passage: Passage, result: Redacted) -> Iterator[tuple[str, bool]]:
    for mark in passage.marks:
        covered = {i for s in result.spans if s.kind == mark.kind for i in range(s.start, s.end)}
        yield mark.kind, all(i in covered for i in range(mark.start, mark.end) if passage.text[i].isalnum())


def _right(passage: Passage, result: Redacted) -> Iterator[tuple[str, bool]]:
    for span in result.spans:
        if span.kind in UNMARKED:
            continue
        inside = [
            m for m in passage.marks if m.kind == span.kind and m.start <= span.start and span.end <= m.end
        ]
        yield span.kind, bool(inside)
