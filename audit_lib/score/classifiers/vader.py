"""``vader``: sentiment by a lexicon and rules (Hutto and Gilbert 2014); English."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from audit_lib.errors import SpecError, UndefinedMetricError
from audit_lib.languages import ENGLISH, Reads
from audit_lib.metrics.text.sentiment import vader_sentiment
from audit_lib.options import Options
from audit_lib.score.classifiers import Judgement, classifier, parse_options
from audit_lib.spec import TextClassifier, TextMeasure


@classifier("vader")
class Vader:
    """Give VADER's compound sentiment, brought from [-1, 1] to [0, 1] by (compound + 1) / 2."""

    Options: ClassVar[type[Options]] = Options
    measures: ClassVar[TextMeasure | None] = "sentiment"
    label: ClassVar[str | None] = "sentiment"

    def __init__(self, section: TextClassifier, words: bytes | None) -> None:
        parse_options(self.Options, section)

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Check that the package is installed."""
        if importlib.util.find_spec("vaderSentiment") is None:
            raise SpecError(
                f"classifiers.{section.name}: vader needs vaderSentiment; pip install 'audit-lib[text]'"
            )

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return English: the lexicon is."""
        return ENGLISH

    def describe(self) -> dict[str, Any]:
        """Return the package's version, which holds the lexicon."""
        from importlib.metadata import version

        return {"kind": "vader", "vaderSentiment": version("vaderSentiment")}

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield the sentiment of each English text, and nothing of any other: the metrics refuse those by name."""
        for text in texts:
            try:
                yield Judgement(scores={"sentiment": float(vader_sentiment([text])[0])})
            except UndefinedMetricError:
                yield Judgement()  # what a lexicon of another language would say is no sentiment
