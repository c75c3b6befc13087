"""The answers of an audit as texts and lists, and which of them are counterfactuals of each other."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.errors import EvidenceError, LexiconError
from audit_lib.registry import did_you_mean
from audit_lib.score.classifiers import resolved
from audit_lib.score.classifiers.lexicon import read_words
from audit_lib.spec import AuditSpec, Measured

if TYPE_CHECKING:
    from audit_lib.measure.rows import Rows
    from audit_lib.run import Run

_VARIANTS: Final = (
    "variant_id",
    "prompt_id",
    "application_id",
    "position",
    "perturbation",
    "edits",
    "round_id",
)
_SCORES: Final = ("variant_id", "repeat", "text", "items", "status")

Lexicon = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Attribute -> level -> words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Word lists of the audit.

    Parameters
    ----------
    protected : mapping of str to mapping of str to tuple of str
        Attribute -> level -> words that name it.
    targets : tuple of str
        Words whose company is looked at.
    inserted : tuple of str
        Names, titles and pronouns that the perturbation put into prompts, sorted.
    """

    protected: Lexicon
    targets: tuple[str, ...]
    inserted: tuple[str, ...] = ()

    @classmethod
    def read(cls, spec: AuditSpec, design_file: Callable[[str], bytes]) -> Words:
        """Read the lists that the spec names."""
        protected: Lexicon = {}
        if spec.texts.protected is not None:
            protected = read_protected(design_file("texts.protected"), spec.groups.attributes)
        targets: tuple[str, ...] = ()
        if spec.texts.targets is not None:
            targets = tuple(read_words(design_file("texts.targets"), "texts.targets"))
        return cls(protected=protected, targets=targets)

    def masked(self) -> list[str]:
        """All words that are masked before texts are compared."""
        lists = (words for levels in self.protected.values() for words in levels.values())
        return sorted({word for words in lists for word in words} | set(self.inserted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a classifier says of each answer.

    Parameters
    ----------
    name, label : str
        The classifier's name in the spec, and the label whose score is taken.
    measures : str
        What the score is.
    values : ndarray of float, shape (answers,) or (answers, dimensions)
        Scores, or embeddings; NaN where the classifier said nothing.
    """

    name: str
    label: str
    measures: Measured
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Counterfactual pairs: answer ``group[i]`` and answer ``reference[i]``.

    Parameters
    ----------
    group, reference : ndarray of int
        Places among the answers.
    unpaired : int
        Answers of both groups without a counterpart.
    """

    group: NDArray[np.int64]
    reference: NDArray[np.int64]
    unpaired: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Texts:
    """Answers that hold a text, in the order of their rows and, within a row, of their repeats.

    Parameters
    ----------
    row : ndarray of int64, shape (answers,)
        The row of `Rows` that each answer belongs to.
    sibling : ndarray of int64, shape (answers,)
        Answers with the same number answer versions of one prompt: same prompt, replicate and repeat.
    text : ndarray of str
        The answers.
    items : ndarray of tuples of str
        The recommended items, in the form in which they are compared; empty unless the task is recommendation.
    judged : tuple of Judged
        What the spec's classifiers say.
    words : Words
        Word lists of the audit.
    """

    row: NDArray[np.int64]
    sibling: NDArray[np.int64]
    text: NDArray[Any]
    items: NDArray[Any]
    judged: tuple[Judged, ...]
    words: Words

    def __len__(self) -> int:
        return int(self.row.size)

    def take(self, index: NDArray[Any], rows: int) -> Texts:
        """Return the answers of some of `rows` rows, numbered as they stand in `index`."""
        place = np.full(rows, -1, dtype=np.int64)
        place[index] = np.arange(index.size)
        kept = np.flatnonzero(place[self.row] >= 0)
        return Texts(
            row=place[self.row[kept]],
            sibling=self.sibling[kept],
            text=self.text[kept],
            items=self.items[kept],
            judged=tuple(replace(one, values=one.values[kept]) for one in self.judged),
            words=self.words,
        )

    def pairs(self, rows: Rows, group: Mapping[str, str], reference: Mapping[str, str]) -> Pairs:
        """Pair the answers of a group with those of its reference.

        A pair answers versions of one prompt (same replicate, same repeat) that differ in the compared
        attributes alone: all others are known and the same.
        """
        key = self.sibling.copy()
        known = np.ones(len(self), dtype=bool)
        for axis, levels in rows.attributes.items():
            if axis in group:
                continue
            places = {level: number for number, level in enumerate(levels)}
            own = np.array([*(places.get(label, -1) for label in rows.columns[axis].labels), -1])
            codes = own[rows.columns[axis].codes][self.row]
            known &= codes >= 0
            key = key * len(levels) + codes
        sides = [np.flatnonzero(rows.members(cell)[self.row] & known) for cell in (group, reference)]
        _, a, b = np.intersect1d(key[sides[0]], key[sides[1]], return_indices=True)
        unpaired = sum(side.size for side in sides) - 2 * a.size
        return Pairs(group=sides[0][a], reference=sides[1][b], unpaired=unpaired)


def load_texts(run: Run, shards: Sequence[int], rows: Rows, ids: pa.ChunkedArray) -> Texts:
    """Read the answers of all shards, and what the classifiers said of them.

    Parameters
    ----------
    run : Run
        The run.
    shards : sequence of int
        Those that hold scores.
    rows : Rows
        All rows of the audit.
    ids : ChunkedArray of str
        The variant ids, sorted.
    """

    def table(stage: str, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        content = run.stage(stage).read(name)
        return pq.read_table(pa.BufferReader(content), columns=None if columns is None else list(columns))

    def own(found: pa.Table) -> pa.Table:
        return found.filter(pc.is_in(found["variant_id"], ids.combine_chunks()))

    judged = [own(table(f"scores/{s}", "classified.parquet")) for s in shards] if run.spec.classifiers else []
    return make_texts(
        own(table("variants", "variants.parquet", _VARIANTS)),
        [own(table(f"scores/{shard}", "scores.parquet", _SCORES)) for shard in shards],
        judged,
        rows,
        ids,
        run.spec,
        Words.read(run.spec, run.design_file),
    )


def make_texts(
    variants: pa.Table,
    scores: Iterable[pa.Table],
    classified: Iterable[pa.Table],
    rows: Rows,
    ids: pa.ChunkedArray,
    spec: AuditSpec,
    words: Words,
) -> Texts:
    """Join variants, score rows and classified rows, from any number of shards in any order.

    Raises
    ------
    EvidenceError
        If they are not those of the variants.
    """
    variants = variants.sort_by("variant_id")
    row_of = np.empty(len(rows), dtype=np.int64)
    row_of[rows.place] = np.arange(len(rows))
    id_of = {name: place for place, name in enumerate(ids.to_pylist())}
    if variants["variant_id"].to_pylist() != list(id_of):
        raise EvidenceError("variants: not those that the rows were made of")
    found = []
    for table in scores:
        for row in table.to_pylist():
            if row["status"] == "ok" and row["text"] is not None:
                place = id_of[row["variant_id"]]
                found.append((int(row_of[place]), int(row["repeat"]), place, row["text"], row["items"]))
    found.sort(key=lambda answer: answer[:2])
    text, items = (np.empty(len(found), dtype=object) for _ in range(2))
    text[:] = [answer[3] for answer in found]
    for number, answer in enumerate(found):
        items[number] = _keys(answer[4])
    repeat = np.array([answer[1] for answer in found], dtype=np.int64)
    family = _families(variants, rows, row_of)[[answer[2] for answer in found]] if found else repeat
    number_of = {(answer[2], answer[1]): number for number, answer in enumerate(found)}
    return Texts(
        row=np.array([answer[0] for answer in found], dtype=np.int64),
        sibling=family * spec.score.repeats + repeat,
        text=text,
        items=items,
        judged=_judged(classified, spec, number_of, id_of),
        words=replace(words, inserted=_inserted(variants)),
    )


def _keys(items: str | None) -> tuple[str, ...]:
    from audit_lib.score.recommendation import item_key

    return () if items is None else tuple(item_key(item) for item in json.loads(items))


def _families(variants: pa.Table, rows: Rows, row_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the families of each variant: its prompt and replicate, or what an unperturbed one shares.

    Without a perturbation, versions of one prompt share application, position and round. Where one group has
    several there, nothing says which belongs to which: each is then a family of its own, and unpaired.
    """
    numbers: dict[tuple[object, ...], int] = {}
    out = np.empty(len(variants), dtype=np.int64)
    profile = rows.profile[row_of].tolist()
    table = variants.select([*_VARIANTS[:5], "round_id"]).to_pylist()
    shared = [(row["application_id"], row["position"], row["round_id"]) for row in table]
    members = Counter(zip(shared, profile, strict=True))
    unclear = {one for (one, _), count in members.items() if count > 1}
    for place, row in enumerate(table):
        if row["perturbation"] == "none":
            key: tuple[object, ...] = ("none", *shared[place])
            if shared[place] in unclear:
                key = ("alone", row["variant_id"])
        else:
            key = ("perturbed", row["prompt_id"], row["variant_id"].rpartition("/")[2])
        out[place] = numbers.setdefault(key, len(numbers))
    return out


def _inserted(variants: pa.Table) -> tuple[str, ...]:
    edits = variants["edits"].unique().to_pylist()
    words = {str(value).strip() for text in edits for value in json.loads(text).values()}
    return tuple(sorted(word for word in words if any(letter.isalnum() for letter in word)))


def _judged(
    classified: Iterable[pa.Table],
    spec: AuditSpec,
    number_of: Mapping[tuple[int, int], int],
    id_of: Mapping[str, int],
) -> tuple[Judged, ...]:
    kinds = {section.name: resolved(section) for section in spec.classifiers}
    values: dict[str, dict[int, Any]] = {name: {} for name in kinds}
    for table in classified:
        for row in table.to_pylist():
            if row["classifier"] not in kinds or row["label"] != kinds[row["classifier"]][1]:
                continue
            key = (id_of.get(row["variant_id"], -1), row["repeat"])
            if key not in number_of:
                raise EvidenceError("classified: a row of an answer that was never made")
            value = row["score"] if row["vector"] is None else row["vector"]
            values[row["classifier"]][number_of[key]] = value
    judged = []
    for name, (measures, label) in kinds.items():
        width = next((np.size(v) for v in values[name].values()), 1)
        array = np.full((len(number_of), width), np.nan)
        for number, value in values[name].items():
            array[number] = value
        flat = array if measures == "embedding" else array[:, 0]
        judged.append(Judged(name=name, label=label, measures=measures, values=flat))
    return tuple(judged)


def read_protected(content: bytes, attributes: Mapping[str, Sequence[str]]) -> Lexicon:
    r"""Read the words that name groups: a CSV with ``word`` and a column for each attribute it has words of.

    Raises
    ------
    LexiconError
        If a column or a level is unknown, a cell is missing, or there is no word.

    Examples
    --------
    >>> read_protected(b"word,sex\nshe,female\nhe,male\n", {"sex": ["female", "male"]})
    {'sex': {'female': ('she',), 'male': ('he',)}}
    """
    key = "texts.protected"
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    if not rows or "word" not in rows[0]:
        raise LexiconError(f"{key}: needs a CSV with the column `word` and at least one row")
    axes = [column for column in rows[0] if column != "word"]
    for axis in axes:
        if axis not in attributes:
            raise LexiconError(
                f"{key}: column {axis!r} is no attribute{did_you_mean(axis, list(attributes))}"
            )
    found: dict[str, dict[str, dict[str, None]]] = {axis: {} for axis in axes}
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values() or not row["word"].strip():
            raise LexiconError(f"{key}: line {number} lacks a cell or its word")
        levels = {axis: row[axis].strip() for axis in axes if row[axis].strip()}
        if not levels:
            raise LexiconError(f"{key}: line {number} names no level of any attribute")
        for axis, level in levels.items():
            if level not in attributes[axis]:
                near = did_you_mean(level, list(attributes[axis]))
                raise LexiconError(f"{key}: line {number}: {level!r} is no level of {axis!r}{near}")
            found[axis].setdefault(level, {})[row["word"].strip()] = None
    return {axis: {level: tuple(words) for level, words in levels.items()} for axis, levels in found.items()}
