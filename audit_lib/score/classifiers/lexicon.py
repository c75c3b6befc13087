"""``lexicon``: whether, and how much, a text holds words of a list."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from pydantic import Field

from audit_lib.canonical import sha256
from audit_lib.errors import LexiconError
from audit_lib.languages import SPACED, Reads
from audit_lib.options import Options
from audit_lib.score.classifiers import Judgement, classifier, parse_options
from audit_lib.spec import TextClassifier, TextMeasure


class LexiconOptions(Options):
    """Options of the classifier."""

    words: str = Field(description="CSV with the column `word`, relative to the spec; single words.")


@classifier("lexicon")
class LexiconClassifier:
    """Give ``presence`` (1 if a word of the list is in the text, else 0) and ``share`` (of the text's words).

    Words are split and compared as by all text metrics: runs of letters and digits, in lower case.
    """

    Options: ClassVar[type[Options]] = LexiconOptions
    measures: ClassVar[TextMeasure | None] = "terms"
    label: ClassVar[str | None] = "presence"

    def __init__(self, section: TextClassifier, words: bytes | None) -> None:
        parse_options(LexiconOptions, section)
        self._content = words or b""
        key = f"classifiers.{section.name}"
        self._words = set(read_words(self._content, key))

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Nothing more can be wrong: the file is read with the other design files."""

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return scripts with spaces: words of the list are split at them."""
        return SPACED

    def describe(self) -> dict[str, Any]:
        """Return the digest of the list."""
        return {"kind": "lexicon", "words": len(self._words), "sha256": sha256(self._content)}

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield presence and share for each text."""
        from audit_lib.words import tokenise

        for text in texts:
            found = tokenise(text)
            hits = sum(word in self._words for word in found)
            yield Judgement(
                scores={"presence": float(hits > 0), "share": hits / len(found) if found else 0.0}
            )


def read_words(content: bytes, key: str) -> list[str]:
    """Read the column ``word`` of a CSV.

    Raises
    ------
    LexiconError
        If there is no such column, no word, or an entry that is not one word.
    """
    from audit_lib.words import single_words

    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    if not rows or "word" not in rows[0]:
        raise LexiconError(f"{key}: needs a CSV with the column `word` and at least one row")
    return single_words([row["word"] or "" for row in rows], key)
