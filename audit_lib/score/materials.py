"""The material of each version as numbers: what leakage is measured from (section ``leakage`` of the spec).

Vectors are archived beside the scores, so that whoever verifies the run needs no model.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import SpecError
from audit_lib.large_file import Content
from audit_lib.perturb.template import fill
from audit_lib.records import VARIATION, parquet_source, to_parquet
from audit_lib.registry import did_you_mean
from audit_lib.run import Run
from audit_lib.score.classifiers import Classifier, classifier
from audit_lib.spec import AuditSpec, TextClassifier

MATERIAL_SCHEMA: Final = pa.schema(
    [
        pa.field("variant_id", pa.string(), nullable=False),
        pa.field("material", pa.string(), nullable=False),
        pa.field("redacted", pa.bool_(), nullable=False),
        pa.field("vector", pa.list_(pa.float32()), nullable=False),
        pa.field(
            "parts", pa.int32(), nullable=False
        ),  # 1 unless the text is longer than the classifier reads
    ]
)

TEXT_SCHEMA: Final = pa.schema(
    [pa.field(name, pa.bool_() if name == "redacted" else pa.string(), nullable=False)
     for name in ("variant_id", "material", "redacted", "text")]
)  # fmt: skip

TABLE: Final = "materials.parquet"
DESCRIPTION: Final = "materials.json"

_PART: Final = 150
"""Words in a part of a text that the classifier cannot read as a whole."""


def check_leakage(spec: AuditSpec) -> None:
    """Check the section `leakage`. Nothing is loaded.

    Raises
    ------
    SpecError
        If a field, an attribute or the classifier is not known, or the classifier gives no vectors.
    """
    asked = spec.leakage
    if asked is None:
        return
    for name, material in asked.materials.items():
        for field in (*material.unredacted, *material.redacted):
            if field not in spec.source.fields:
                raise SpecError(
                    f"leakage.materials.{name}: {field!r} is not in source.fields"
                    f"{did_you_mean(field, spec.source.fields)}"
                )
    for axis in asked.attributes or ():
        if axis not in spec.groups.attributes:
            raise SpecError(
                f"leakage.attributes: {axis!r} is not an attribute"
                f"{did_you_mean(axis, list(spec.groups.attributes))}"
            )
    check_shown(spec)
    kind = classifier.get(asked.embedding)
    if kind.measures != "embedding":
        raise SpecError(f"leakage.embedding: {asked.embedding} gives no vectors; `minilm` and `words` do")
    kind.check(_section(asked.embedding))


def check_shown(spec: AuditSpec) -> None:
    """Refuse versions whose fields cannot be read back: a lexicon changes the prompt, not the fields.

    Raises
    ------
    SpecError
        If the spec's perturbation is no persona's.
    """
    if spec.perturb is not None and spec.perturb.kind != "persona":
        raise SpecError(
            f"leakage: reads fields as they are or as a persona fills them; perturb.kind is {spec.perturb.kind}, "
            "whose versions would all be read alike; measure leakage of the material without the section perturb"
        )


def shard_texts(run: Run, variants: Content, asked_by: Mapping[str, Collection[int]]) -> dict[str, Content]:
    """Return the texts that each shard turns into vectors, as artefacts of the stage ``variants``.

    Parameters
    ----------
    run : Run
        With its sample.
    variants : bytes or LargeFile
        ``variants.parquet``.
    asked_by : mapping of str to collection of int
        Variant -> the shards that ask about it: several where its repeats are cut.
    """
    if run.spec.leakage is None:
        return {}
    texts: dict[int, list[dict[str, Any]]] = {shard: [] for shards in asked_by.values() for shard in shards}
    for row in _texts(run.spec, run.stage("sample").content("prompts.parquet"), variants, asked_by):
        for shard in asked_by[row["variant_id"]]:
            texts[shard].append(row)
    return {
        _texts_of(shard): to_parquet(rows, TEXT_SCHEMA, ["variant_id", "material", "redacted"])
        for shard, rows in texts.items()
    }


def embed_materials(run: Run, shard: int, variants: Iterable[str]) -> dict[str, Content]:
    """Turn the material of a shard's variants into vectors; each different text once.

    A text that is longer than the classifier reads is cut into parts of 150 words, and their mean taken. Where the
    shards were planned, the shard's own texts are read (`shard_texts`), and else those of the whole run.

    Returns
    -------
    dict of str to bytes or LargeFile
        ``materials.parquet`` (MATERIAL_SCHEMA) and ``materials.json`` (what made them); empty if the spec has no
        section `leakage`.
    """
    if run.spec.leakage is None:
        return {}
    judge = classifier.get(run.spec.leakage.embedding)(_section(run.spec.leakage.embedding), None)
    wanted, planned = set(variants), run.stage("variants")
    if _texts_of(shard) in planned.success().artefacts:
        rows_of_shard = pq.read_table(planned.parquet(_texts_of(shard))).to_pylist()
        texts = [row for row in rows_of_shard if row["variant_id"] in wanted]
    else:
        prompts = run.stage("sample").content("prompts.parquet")
        texts = list(_texts(run.spec, prompts, planned.content("variants.parquet"), wanted))
    run.notify(f"leakage: {len({row['text'] for row in texts})} texts by {run.spec.leakage.embedding}")
    known: dict[str, tuple[list[float], int]] = {}
    rows = []
    for row in texts:
        text = row.pop("text")
        if text not in known:
            known[text] = embedded(judge, text)
        vector, parts = known[text]
        rows.append({**row, "vector": vector, "parts": parts})
    described = judge.describe()
    return {
        TABLE: to_parquet(rows, MATERIAL_SCHEMA, ["variant_id", "material", "redacted"]),
        DESCRIPTION: pretty_json({**described, "fingerprint": sha256(canonical_json(described))}),
    }


def materials_again(run: Run, shard: int) -> dict[str, Content]:
    """Make the vectors of a complete shard again where no model is needed for it; else nothing."""
    if run.spec.leakage is None or run.spec.leakage.embedding != "words":
        return {}
    source = run.stage(f"scores/{shard}").parquet("scores.parquet")
    variants = pq.read_table(source, columns=["variant_id"])["variant_id"].to_pylist()
    return embed_materials(run, shard, variants)


def _section(kind: str) -> TextClassifier:
    return TextClassifier(name=kind, kind=kind)


def _texts_of(shard: int) -> str:
    return f"shards/{shard}.{TABLE}"


def _texts(
    spec: AuditSpec, prompts: Content, variants: Content, wanted: Container[str]
) -> Iterator[dict[str, Any]]:
    asked = spec.leakage
    texts_of = dict(zip(*_columns(prompts, ("prompt_id", "fields")), strict=True))
    named = ("variant_id", "prompt_id", "perturbation", "edits", VARIATION)
    for variant, prompt, perturbation, edits, variation in zip(*_columns(variants, named), strict=True):
        if variation is not None or variant not in wanted or asked is None:
            continue
        values, fields_of_prompt = json.loads(edits), json.loads(texts_of[prompt])
        for name, material in asked.materials.items():
            for redacted, fields in ((False, material.unredacted), (True, material.redacted)):
                if fields:
                    parts = [str(fields_of_prompt.get(field, "")) for field in fields]
                    shown = [fill(part, values) for part in parts] if perturbation == "persona" else parts
                    yield {
                        "variant_id": variant, "material": name, "redacted": redacted, "text": "\n\n".join(shown),
                    }  # fmt: skip


def _columns(content: Content, columns: Sequence[str]) -> list[list[Any]]:
    source = parquet_source(content)
    there = [column for column in columns if column in pq.read_schema(source).names]
    table = pq.read_table(source, columns=there)
    none = [None] * len(table)
    return [table[column].to_pylist() if column in there else none for column in columns]


def embedded(judge: Classifier, text: str) -> tuple[list[float], int]:
    """Return a text's vector, and the number of parts that it was read in."""
    (whole,) = judge.classify([text])
    words = text.split()
    if not whole.truncated or len(words) <= _PART:
        return list(whole.vector or ()), 1
    parts = [" ".join(words[start : start + _PART]) for start in range(0, len(words), _PART)]
    vectors = [one.vector or () for one in judge.classify(parts)]
    return [sum(at) / len(parts) for at in zip(*vectors, strict=True)], len(parts)
