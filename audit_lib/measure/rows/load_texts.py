"""The answers of a run as `TextRows`: variants, score rows and classified rows of all shards, joined."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.errors import EvidenceError
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.rows.texts import ClassifiedAnswers, TextRows
from audit_lib.measure.rows.word_lists import Words
from audit_lib.run import Run
from audit_lib.score.classifiers import classifier, resolved
from audit_lib.score.reading.thinking import without_thinking
from audit_lib.spec import AuditSpec

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


def load_texts(run: Run, shards: Sequence[int], rows: Rows, ids: pa.ChunkedArray) -> TextRows:
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
        source = run.stage(stage).parquet(name)
        return pq.read_table(source, columns=None if columns is None else list(columns))

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
) -> TextRows:
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
                said = without_thinking(row["text"])
                found.append((int(row_of[place]), int(row["repeat"]), place, said, row["items"]))
    found.sort(key=lambda answer: answer[:2])
    text, items = (np.empty(len(found), dtype=object) for _ in range(2))
    text[:] = [answer[3] for answer in found]
    for number, answer in enumerate(found):
        items[number] = _keys(answer[4])
    repeat = np.array([answer[1] for answer in found], dtype=np.int64)
    family = _families(variants, rows, row_of)[[answer[2] for answer in found]] if found else repeat
    number_of = {(answer[2], answer[1]): number for number, answer in enumerate(found)}
    return TextRows(
        row=np.array([answer[0] for answer in found], dtype=np.int64),
        sibling=family * spec.score.repeats + repeat,
        text=text,
        items=items,
        judged=_judged(classified, spec, number_of, id_of),
        words=replace(words, inserted=_inserted(variants)),
    )


def _keys(items: str | None) -> tuple[str, ...]:
    from audit_lib.score.tasks.recommendation import item_key

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
) -> tuple[ClassifiedAnswers, ...]:
    kinds = {section.name: resolved(section) for section in spec.classifiers}
    section_of = {section.name: section for section in spec.classifiers}
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
        kind = section_of[name].kind
        reads = classifier.get(kind).reads(section_of[name])
        judged.append(
            ClassifiedAnswers(name=name, label=label, measures=measures, values=flat, kind=kind, reads=reads)
        )
    return tuple(judged)
