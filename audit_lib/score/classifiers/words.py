"""``words``: a text as counts of its words, without a model."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from audit_lib.languages import SPACED, Reads
from audit_lib.options import Options
from audit_lib.score.classifiers import DIGITS, Judgement, classifier, parse_options
from audit_lib.spec import TextClassifier, TextMeasure
from audit_lib.words import tokenise

_PLACES: Final = 1024


@classifier("words")
class HashedWords:
    """Give 1,024 numbers of a text: log(1 + count) of the words at each place, scaled to length 1.

    A word's place is its CRC-32, so the list of words need not be known beforehand; some words share a place.
    """

    Options: ClassVar[type[Options]] = Options
    measures: ClassVar[TextMeasure | None] = "embedding"
    label: ClassVar[str | None] = "embedding"

    def __init__(self, section: TextClassifier, words: bytes | None) -> None:
        parse_options(self.Options, section)

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Nothing can be lacking."""

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return scripts with spaces: words are split at them."""
        return SPACED

    def describe(self) -> dict[str, Any]:
        """Return how many places there are."""
        return {"kind": "words", "places": _PLACES}

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield the vector of each text; all 0 for a text without words."""
        for text in texts:
            places = Counter(zlib.crc32(word.encode()) % _PLACES for word in tokenise(text))
            weights = {place: math.log1p(n) for place, n in places.items()}
            length = math.sqrt(math.fsum(w * w for w in weights.values())) or 1.0
            yield Judgement(
                vector=tuple(round(weights.get(place, 0.0) / length, DIGITS) for place in range(_PLACES))
            )
