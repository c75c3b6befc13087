"""The stage ``variants``: the design matrix of the experiment, one row for each text that is scored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.errors import LexiconError, UnknownSlotError
from audit_lib.perturb.persona import Persona
from audit_lib.perturb.template import fill, read_template, render
from audit_lib.records import to_parquet, variant_schema
from audit_lib.registry import Registry
from audit_lib.run import Run, StageOutput
from audit_lib.seeds import generator

if TYPE_CHECKING:
    from audit_lib.perturb.persona import Edit

PERTURBATIONS: Final[Registry[Callable[[Run], Any]]] = Registry("perturbation", "audit_lib.perturb")
PERTURBATIONS("persona")(Persona.from_run)

_PASSED_ON: Final = (
    "prompt_id", "application_id", "position", "round_id", "order_shown", "qualified", "outcome", "provenance",
    "recorded_model", "recorded_response", "recorded_score", "recorded_selected",
)  # fmt: skip


def perturb(run: Run) -> StageOutput:
    """Make the variants of every sampled prompt.

    Returns
    -------
    StageOutput
        ``variants.parquet`` and ``design.json`` (rows and requests for each group; pools).

    Raises
    ------
    UnknownSlotError
        If a text or the template has a slot that nothing fills.
    LexiconError
        If a lexicon is empty or lacks a group, or no text has a slot to put a persona into.
    """
    axes = run.spec.groups.axes
    prompts = run.stage("sample").read_table("prompts.parquet").sort_values("prompt_id")
    records = [
        {str(name): value for name, value in record.items()}
        for record in prompts.astype(object).where(prompts.notna(), None).to_dict("records")
    ]
    template = read_template(run.design_file("prompt.template")) if run.spec.prompt is not None else None
    rows: list[dict[str, Any]] = []
    if run.spec.perturb is None:
        for record in records:
            fields = json.loads(record["fields"])
            row = {name: record[name] for name in (*_PASSED_ON, *axes)}
            row |= {"variant_id": record["prompt_id"], "perturbation": "none", "edits": "{}"}
            row["candidate"] = fields.get("name")
            row["messages"] = _messages(template, fields, record["prompt_id"])
            rows.append(row)
    else:
        personas = PERTURBATIONS.get(run.spec.perturb.kind)(run)
        for index, record in enumerate(records):
            rows.extend(_variants(record, personas.edits(index), template, run.spec.perturb.kind))
        touched = [row.pop("_touched") for row in rows]
        if rows and not any(touched):
            raise LexiconError(
                "no prompt has a slot such as {{name}}: every variant would be the same text. "
                "Put slots into the fields, or leave out the perturb section."
            )
    if run.spec.decision.round == "one_per_group":
        _pool_one_per_group(run, rows)
    elif run.spec.decision.round == "application_id":
        for row in rows:
            row["round_id"] = row["application_id"]
    for row in rows:
        row["request_id"] = row["round_id"] if run.spec.task == "listwise" else row["variant_id"]
    content = to_parquet(rows, variant_schema(axes), ["variant_id"])
    requests = len({row["request_id"] for row in rows})
    design = {
        "perturbation": run.spec.perturb.kind if run.spec.perturb else "none",
        "groups": [
            {"group": cell, "variants": sum(all(row[a] == cell[a] for a in axes) for row in rows)}
            for cell in run.spec.groups.cells()
        ],
        "unknown_group": sum(any(row[a] is None for a in axes) for row in rows),
        "rounds": len({row["round_id"] for row in rows if row["round_id"] is not None}),
        "requests": requests,
    }
    return StageOutput(
        {"variants.parquet": content, "design.json": pretty_json(design)},
        {"variants": len(rows), "requests": requests},
    )


def _variants(
    record: dict[str, Any], edits: Iterator[Edit], template: list[dict[str, str]] | None, kind: str
) -> Iterator[dict[str, Any]]:
    fields: dict[str, str] = json.loads(record["fields"])
    for edit in edits:
        try:
            filled = {name: fill(text, edit.values) for name, text in fields.items()}
        except UnknownSlotError as error:
            raise UnknownSlotError(f"prompt {record['prompt_id']}: {error}") from None
        row = {name: record[name] for name in _PASSED_ON}
        row |= dict(edit.cell)
        group = ".".join(edit.cell.values())
        row["variant_id"] = f"{record['prompt_id']}/{group}/{edit.replicate}"
        row["perturbation"] = kind
        row["edits"] = canonical_json(dict(edit.values)).decode()
        row["candidate"] = edit.values["name"]
        row["messages"] = _messages(template, filled, record["prompt_id"])
        row["_touched"] = filled != fields
        yield row


def _messages(template: list[dict[str, str]] | None, fields: dict[str, str], prompt_id: str) -> str | None:
    if template is None:
        return None
    try:
        return render(template, fields)
    except UnknownSlotError as error:
        raise UnknownSlotError(
            f"prompt {prompt_id}: the template's {error}; list it in source.fields"
        ) from None


def _pool_one_per_group(run: Run, rows: list[dict[str, Any]]) -> None:
    """Deal the variants of a position into pools with one of each group, in seeded order."""
    axes = run.spec.groups.axes
    decks: dict[tuple[str, tuple[str, ...]], list[dict[str, Any]]] = {}
    for row in rows:
        decks.setdefault((row["position"], tuple(row[a] for a in axes)), []).append(row)
    for (position, cell), deck in sorted(decks.items()):
        order = generator(run.spec.seed, "pools", position, *cell).permutation(len(deck))
        for place, index in enumerate(order):
            deck[index]["round_id"] = f"{position}/{place:05d}"
