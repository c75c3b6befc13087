"""Classifiers: what looks at a generated text. One file each, registered with ``@classifier(name)``.

They run in the stage ``scores``, over the texts of a shard, one text at a time: what a text gets depends
on nothing but the text and the classifier. None runs that the spec does not name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import pyarrow as pa

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import SpecError
from audit_lib.languages import Reads
from audit_lib.large_file import Content
from audit_lib.options import Options, parse
from audit_lib.records import to_parquet
from audit_lib.registry import Registry
from audit_lib.score.reading.thinking import without_thinking
from audit_lib.spec import TextClassifier, TextMeasure

if TYPE_CHECKING:
    from audit_lib.run import Run
    from audit_lib.score.requests import AnswerRecord

CLASSIFIED_SCHEMA = pa.schema(
    [
        pa.field("variant_id", pa.string(), nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("classifier", pa.string(), nullable=False),  # its name in the spec
        pa.field("label", pa.string(), nullable=False),
        pa.field("score", pa.float64()),  # null for an embedding
        pa.field("vector", pa.list_(pa.float32())),  # an embedding
        pa.field("truncated", pa.bool_(), nullable=False),  # longer than the classifier reads
    ]
)

DIGITS = 6
"""Decimals that neural classifiers keep: their last digits differ between processors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a classifier says of one text.

    Attributes
    ----------
    scores : mapping of str to float
        By label.
    vector : tuple of float or None
        An embedding.
    truncated : bool
        Whether the text was longer than the classifier reads.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    vector: tuple[float, ...] | None = None
    truncated: bool = False


class Classifier(Protocol):
    """Looks at texts.

    Attributes
    ----------
    Options : type
        What `options` of the spec's entry may hold.
    measures : str or None
        What its score is; None: the spec must say it.
    label : str or None
        The label whose score the metrics take; None: the spec must say it.
    """

    Options: ClassVar[type[Options]]
    measures: ClassVar[TextMeasure | None]
    label: ClassVar[str | None]

    def __init__(self, section: TextClassifier, words: bytes | None) -> None: ...

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Raise SpecError or BackendError for what is wrong and can be seen without loading anything."""
        ...

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return the languages that it was made for: it is not asked about a text in another one."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what classifies: names, versions, digests of weights; no times."""
        ...

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield one judgement for each text, in their order."""
        ...


classifier: Registry[type[Classifier]] = Registry("classifiers", "audit_lib.score.classifiers")

Some = TypeVar("Some", bound=Options)


def parse_options(kind: type[Some], section: TextClassifier) -> Some:
    """Return `section.options` as the classifier's own type.

    Raises
    ------
    SpecError
        If one is unknown (the nearest known one is named), missing, or of another type.
    """
    return parse(kind, section.options, f"classifiers.{section.name}.options", section.kind)


def resolved(section: TextClassifier) -> tuple[TextMeasure, str]:
    """Return what a classifier of the spec measures, and the label whose score the metrics take.

    Raises
    ------
    SpecError
        If neither the spec nor its kind says so.

    Examples
    --------
    >>> resolved(TextClassifier(name="mood", kind="vader"))
    ('sentiment', 'sentiment')
    """
    kind = classifier.get(section.kind)
    measures, label = section.measures or kind.measures, section.label or kind.label
    if measures is None or label is None:
        key = "measures" if measures is None else "label"
        raise SpecError(
            f"classifiers.{section.name}.{key}: {section.kind} does not say it of itself; write it down"
        )
    return measures, label


def check_classifiers(sections: Sequence[TextClassifier]) -> None:
    """Check the section `classifiers` of a spec. Nothing is loaded or fetched.

    Raises
    ------
    SpecError
        If a kind is not registered, an option is wrong, or its package is not installed.
    ModelNotFoundError
        If a model's folder is not one.
    """
    for section in sections:
        kind = classifier.get(section.kind)
        parse_options(kind.Options, section)
        resolved(section)
        kind.check(section)


def classify(run: Run, rows: Sequence[AnswerRecord]) -> tuple[dict[str, Content], dict[str, int]]:
    """Run the spec's classifiers over the texts of score rows.

    Returns
    -------
    dict of str to bytes or LargeFile
        ``classified.parquet`` (CLASSIFIED_SCHEMA) and ``classifiers.json`` (descriptions with their
        fingerprints); empty if the spec names no classifier.
    dict of str to int
        Counts.
    """
    if not run.spec.classifiers:
        return {}, {}
    answered = [row for row in rows if row["status"] == "ok" and row["text"] is not None]
    texts = [without_thinking(str(row["text"])) for row in answered]
    found: list[dict[str, object]] = []
    descriptions = []
    for section in run.spec.classifiers:
        words = run.design_file(f"classifiers.{section.name}") if "words" in section.options else None
        judge = classifier.get(section.kind)(section, words)
        run.notify(f"classify: {len(texts)} texts by {section.name}")
        reads = classifier.get(section.kind).reads(section)
        known = [not reads.unread(text) for text in texts]
        judged = judge.classify(list(compress(texts, known)))
        for row, judgement in zip(compress(answered, known), judged, strict=True):
            key = {name: row[name] for name in ("variant_id", "repeat")}
            shared = {**key, "classifier": section.name, "truncated": judgement.truncated}
            if judgement.vector is not None:
                found.append({**shared, "label": "embedding", "vector": judgement.vector})
            found += [{**shared, "label": label, "score": s} for label, s in judgement.scores.items()]
        described = {"name": section.name, **judge.describe()}
        descriptions.append({**described, "fingerprint": sha256(canonical_json(described))})
    content = to_parquet(found, CLASSIFIED_SCHEMA, ["variant_id", "repeat", "classifier", "label"])
    truncated = len({(r["variant_id"], r["repeat"], r["classifier"]) for r in found if r["truncated"]})
    return (
        {"classified.parquet": content, "classifiers.json": pretty_json(descriptions)},
        {"classified": len(texts) * len(run.spec.classifiers), "truncated": truncated},
    )
