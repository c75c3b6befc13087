"""``huggingface``: any text classification model of the hub or in a folder, pinned by its revision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from audit_lib.errors import BackendError, InputError, SpecError
from audit_lib.languages import Reads
from audit_lib.options import Options
from audit_lib.score.classifiers import DIGITS, Judgement, classifier, parse_options
from audit_lib.score.classifiers.minilm import require
from audit_lib.score.local.weights import Weights, check_folder, quiet, resolve
from audit_lib.spec import TextClassifier, TextMeasure


class HuggingFaceOptions(Options):
    """Options of the classifier."""

    model: str = Field(description="Hub id (owner/model) or a folder.")
    max_tokens: int = Field(512, ge=8, description="Tokens of a text that are read; longer ones are marked.")
    languages: list[str] = Field(
        default=["English"],
        min_length=1,
        description="Languages that the model was made for, by their English names, or `any`. A text in another one is "
        "not scored, and the metrics say so.",
    )
    activation: Literal["softmax", "sigmoid"] | None = Field(
        None,
        description="How logits become scores. Null: sigmoid if the model's configuration says that labels do not "
        "exclude each other, or it has one label; else softmax.",
    )


@classifier("huggingface")
class HuggingFace:
    """Give the model's score for each of its labels. Code of the model's own is never run."""

    Options: ClassVar[type[Options]] = HuggingFaceOptions
    measures: ClassVar[TextMeasure | None] = None
    label: ClassVar[str | None] = None

    def __init__(self, section: TextClassifier, words: bytes | None) -> None:
        self._section = section
        self._options = parse_options(HuggingFaceOptions, section)
        self._weights: Weights | None = None

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Check that the model is a folder, or a hub id with a revision."""
        require(section, "torch", "transformers")
        try:
            cls.reads(section)
        except InputError as error:
            raise SpecError(f"classifiers.{section.name}.options.{error}") from None
        name = parse_options(HuggingFaceOptions, section).model
        if (folder := Path(name).expanduser()).is_dir():
            check_folder(folder)
        elif name.startswith(("/", ".", "~")) or name.count("/") != 1:
            raise SpecError(
                f"classifiers.{section.name}.options.model: {name!r} is no folder and no hub id (owner/model)"
            )
        elif section.revision is None:
            raise SpecError(
                f"classifiers.{section.name}.revision: a model of the hub needs its commit, or it can change "
                "under the audit"
            )

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return what the spec says of the model."""
        return Reads(names=tuple(parse_options(HuggingFaceOptions, section).languages))

    def describe(self) -> dict[str, Any]:
        """Return the model and the digest of its weights."""
        weights = self._resolved()
        return {
            "kind": "huggingface",
            "options": self._options.model_dump(),
            "revision": weights.revision,
            "weights_sha256": weights.digest,
        }

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield the scores of each text; alone, so that no other text changes its digits."""
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        quiet()
        folder = self._resolved().folder
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32
        ).eval()
        labels = [str(model.config.id2label[i]) for i in range(model.config.num_labels)]
        if self._section.label not in labels:
            raise BackendError(
                f"classifiers.{self._section.name}.label: the model has no label {self._section.label!r}; "
                f"it has {', '.join(labels)}"
            )
        several = model.config.problem_type == "multi_label_classification" or len(labels) == 1
        sigmoid = several if self._options.activation is None else self._options.activation == "sigmoid"
        for text in texts:
            asked = tokenizer(text, return_tensors="pt", truncation=True, max_length=self._options.max_tokens)
            whole = len(tokenizer(text, verbose=False)["input_ids"])
            with torch.inference_mode():
                logits = model(**asked).logits[0].double()
            scores = logits.sigmoid() if sigmoid else logits.softmax(dim=0)
            yield Judgement(
                scores=dict(zip(labels, (round(x, DIGITS) for x in scores.tolist()), strict=True)),
                truncated=whole > self._options.max_tokens,
            )

    def _resolved(self) -> Weights:
        if self._weights is None:
            self._weights = resolve(self._options.model, self._section.revision)
        return self._weights
