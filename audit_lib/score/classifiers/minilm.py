"""``minilm``: sentence embeddings by all-MiniLM-L6-v2, from the weights that a package brings; English."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from audit_lib.errors import SpecError
from audit_lib.languages import ENGLISH, Reads
from audit_lib.options import Options
from audit_lib.score.classifiers import DIGITS, Judgement, classifier, parse_options
from audit_lib.score.local.encoder import MINILM, Encoder, minilm_folder
from audit_lib.score.local.weights import folder_digest
from audit_lib.spec import TextClassifier, TextMeasure

_MAX_TOKENS = 256  # what the model was trained to read


@classifier("minilm")
class MiniLM:
    """Give an embedding of 384 numbers: the mean of the last layer over the tokens, scaled to length 1.

    The package is found, never imported: its own dependencies are not needed. Only the first 256 tokens
    of a text are read; longer ones are marked.
    """

    Options: ClassVar[type[Options]] = Options
    measures: ClassVar[TextMeasure | None] = "embedding"
    label: ClassVar[str | None] = "embedding"

    def __init__(self, section: TextClassifier, words: bytes | None) -> None:
        parse_options(self.Options, section)
        self._encoder: Encoder | None = None  # loaded once, for the first text

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Check that the weights and what reads them are installed."""
        require(section, "torch", "transformers")
        minilm_folder()

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return English: the sentences that it was trained on are."""
        return ENGLISH

    def describe(self) -> dict[str, Any]:
        """Return the digest of the weights."""
        return {
            "kind": "minilm",
            "model": "all-MiniLM-L6-v2",
            "max_tokens": _MAX_TOKENS,
            "weights_sha256": folder_digest(minilm_folder()),
        }

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield the embedding of each text; alone, so that no other text changes its digits."""
        if self._encoder is None:
            self._encoder = Encoder(MINILM, None)
        for text in texts:
            found = self._encoder.embed(text)
            yield Judgement(vector=tuple(round(x, DIGITS) for x in found.vector), truncated=found.truncated)


def require(section: TextClassifier, *packages: str) -> None:
    """Check that packages are installed.

    Raises
    ------
    SpecError
        If one is not.
    """
    if lacking := [name for name in packages if importlib.util.find_spec(name) is None]:
        raise SpecError(
            f"classifiers.{section.name}: {section.kind} needs {' and '.join(lacking)}; install "
            "torch, then audit-lib[local]"
        )
