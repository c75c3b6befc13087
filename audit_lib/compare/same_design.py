"""Whether runs have one design: the same applications in the same versions, judged by the same rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import IncompleteRunError, InputError
from audit_lib.records import VARIATION
from audit_lib.run import Run

_COMPARED: Final = (
    "audit", "title", "description", "schedule", "model", "prompt", "task", "robustness", "score", "generation",
    "report", "use", "framework", "leakage",
)  # fmt: skip
"""Sections of a spec in which runs of one design may differ."""

_DRAWN: Final = ("source", "demographics")
"""Sections that say where data come from: what was drawn is compared itself."""

_MEASURED: Final = ("metrics", "quotas")
"""Keys of `measure` that say which numbers there are, and change none."""

_FILES: Final = ("prompt.", "robustness.")
_PROMPTS: Final = ("prompt_id", "application_id", "position", "qualified")
_VARIANTS: Final = (
    "variant_id",
    "prompt_id",
    "application_id",
    "position",
    "perturbation",
    "edits",
    "qualified",
)
_SHOWN: Final = 5


def check_same_design(runs: Sequence[Run]) -> str:
    """Return the digest of what the runs have in common.

    Raises
    ------
    InputError
        If there are fewer than two, one is there twice, or they differ; says in what.
    IncompleteRunError
        If one is not sealed.
    """
    if len(runs) < 2:
        raise InputError(f"{len(runs)} run: a comparison needs two or more")
    for number, run in enumerate(runs):
        if not run.stage("evidence").is_complete() or not run.stage("metrics").is_complete():
            raise IncompleteRunError(
                f"{run.uri}: not a sealed run with metrics; finish it with `audit run`, or leave it out"
            )
        if run.key in [other.key for other in runs[:number]]:
            raise InputError(f"{run.uri}: the same run is listed twice")
    return design_of(runs)


def design_of(runs: Sequence[Run]) -> str:
    """Return the digest of what runs have in common, of which the versions are made and perhaps no more.

    Raises
    ------
    InputError
        If they differ in more than model, prompt and task; says in what.
    """
    first, *others = runs
    digest = _digest(first)
    for run in others:
        found = list(_differences(_rules(first), _rules(run), ""))
        if found:
            more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise InputError(
                f"{run.uri}: not the design of {first.uri}; they differ in {'; '.join(found[:_SHOWN])}{more}. Only "
                "model, prompt and task may differ"
            )
        if _digest(run) != digest:
            raise InputError(
                f"{run.uri}: not the design of {first.uri}; the rules are the same, but not the applications and their "
                "versions (another sample, other texts, or other names were dealt)"
            )
    return digest


def _rules(run: Run) -> dict[str, Any]:
    """What a spec says in addition to what is compared, and the digests of the files that it names."""
    spec = run.spec.model_dump(mode="json")
    kept = {key: value for key, value in spec.items() if key not in (*_COMPARED, *_DRAWN)}
    kept["measure"] = {key: value for key, value in spec["measure"].items() if key not in _MEASURED}
    for key in kept["perturb"] or {}:
        # Names of files: their contents are compared.
        if key in ("names", "pronouns", "titles", "signals", "terms"):
            kept["perturb"][key] = None
    if kept["manipulation"] is not None:
        kept["manipulation"]["questions"] = sorted(kept["manipulation"]["questions"])
    files = {key: run.design_file(key) for key in run.spec.design_files() if not key.startswith(_FILES)}
    return kept | {"files": {key: sha256(content)[:12] for key, content in sorted(files.items())}}


def _differences(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in [*one, *(key for key in other if key not in one)]:
            where = f"{path}.{key}" if path else str(key)
            yield from _differences(one.get(key), other.get(key), where)
    elif one != other:
        yield f"{path} ({json.dumps(one)}, here {json.dumps(other)})"


def _digest(run: Run) -> str:
    """Digest of the texts that were drawn and of the ordinary versions made of them; not of the prompts around them."""
    axes = run.spec.groups.axes
    drawn = _rows(run, "sample", "prompts.parquet", (*_PROMPTS, *axes), "prompt_id")
    fields = _rows(run, "sample", "prompts.parquet", ("prompt_id", "fields"), "prompt_id")
    # A source may hold more than a prompt shows, such as another tool's answers: shared fields count.
    shown = [{**row, "fields": _shared(json.loads(row["fields"]), run)} for row in fields]
    versions = _rows(run, "variants", "variants.parquet", (*_VARIANTS, *axes), "variant_id")
    return sha256(canonical_json([drawn, shown, versions]))


def _shared(fields: Mapping[str, Any], run: Run) -> dict[str, Any]:
    own = run.spec.decision.class_field
    return {key: value for key, value in sorted(fields.items()) if key != own}


def _rows(run: Run, stage: str, name: str, columns: Sequence[str], key: str) -> list[dict[str, Any]]:
    source = run.stage(stage).parquet(name)
    there = pq.read_schema(source).names
    wanted = [column for column in (*columns, VARIATION) if column in there]
    table = pq.read_table(source, columns=wanted)
    if VARIATION in wanted:
        table = table.filter(pc.is_null(table[VARIATION])).drop_columns([VARIATION])
    rows: list[dict[str, Any]] = table.sort_by(key).to_pylist()
    return rows
