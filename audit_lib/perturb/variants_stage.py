"""The stage ``variants``: the design matrix of the experiment, one row for each text that is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

import msgspec

from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.documents.design import Design, GroupVariants, ProtectedMentions, Unawareness
from audit_lib.errors import SpecError, UnknownSlotError
from audit_lib.framework import needs_mentions
from audit_lib.ftu import ftu_conflict, measured_ftu
from audit_lib.large_file import Content
from audit_lib.perturb.allocation import Allocation
from audit_lib.perturb.change import Perturbation, Survey
from audit_lib.perturb.counts import VariantCounts
from audit_lib.perturb.formats import FORMATS
from audit_lib.perturb.names_needed import NamesDealt
from audit_lib.perturb.persona import Persona
from audit_lib.perturb.pools import VariantRecord, ask_lists, pair_rows, read_block
from audit_lib.perturb.prompts import Prompts
from audit_lib.perturb.recorded_variants import are_recorded, recorded_variants
from audit_lib.perturb.robustness import Further, asks_further
from audit_lib.perturb.substitution import SubstitutedVariants, terms_outside_slots
from audit_lib.perturb.template import Template, read_template, render, slots, turn_slots
from audit_lib.perturb.template_changes import task_changes
from audit_lib.perturb.unawareness import unawareness
from audit_lib.records import (
    CONTROL,
    FORMAT,
    PAIR_SCHEMA,
    VARIATION,
    stream_parquet,
    to_parquet,
    variant_schema,
)
from audit_lib.registry import Registry
from audit_lib.run import Run, StageOutput
from audit_lib.spec import AuditSpec

PERTURBATIONS: Final[Registry[Callable[[Run], Perturbation]]] = Registry("perturbations", "audit_lib.perturb")
PERTURBATIONS("persona")(Persona.from_run)
PERTURBATIONS("lexicon")(SubstitutedVariants.from_run)

ROW_GROUP: Final = 4096
"""Variants held at a time while they are written."""

_PASSED_ON: Final = (
    "prompt_id", "application_id", "position", "round_id", "order_shown", "qualified", "outcome", "provenance",
)  # fmt: skip
_NOT_RECORDED: Final = dict.fromkeys(
    ("recorded_model", "recorded_response", "recorded_score", "recorded_selected")
)
"""What a row has that a live model is asked about: an answer in the source is to another question, or another one's."""


def perturb(run: Run) -> StageOutput:
    """Make the variants of every sampled prompt.

    Returns
    -------
    StageOutput
        ``variants.parquet`` and ``design.json`` (rows and requests for each group; pools; how groups, names and
        words were dealt); ``design.parquet``, the groups of each application; for pairwise audits ``pairs.parquet``,
        what is asked about each pair.

    Raises
    ------
    UnknownSlotError
        If a text or the template has a slot that nothing fills.
    SpecError
        If metrics are asked for that need mentions of groups, and no prompt has one.
    LexiconError
        If a lexicon is empty or lacks a group, or no text has a slot to put a persona into or a word to exchange.
    InputError
        If candidates of a pool cannot be compared or told apart.
    """
    spec = run.spec
    records = Prompts(run)
    template = read_template(run.design_file("prompt.template")) if spec.prompt is not None else None
    pooled = not spec.model.answers_are_recorded and spec.task in ("pairwise", "listwise")
    own = None if pooled else template  # what is asked about one candidate alone
    survey, dealt = Survey(), None
    words = unawareness(run, records) if spec.framework is not None else None
    artefacts: dict[str, Content] = {}
    further = Further.from_run(run)
    made: Iterable[list[VariantRecord]]
    if spec.perturb is None:
        recorded = spec.model.answers_are_recorded
        if not recorded:
            _check_slots(records, None if pooled else [*(own or []), *chain(*further.templates.values())])
        made = (_as_it_is(record, own, spec.groups.axes, further, recorded=recorded) for record in records)
    else:
        perturbation = PERTURBATIONS.get(spec.perturb.kind)(run)
        survey = perturbation.survey(_texts(records))
        if spec.perturb.terms and survey.ftu is None:
            survey = replace(survey, ftu=terms_outside_slots(run, _texts(records)))
        _check_needed_mentions(spec, spec.perturb.kind, survey.ftu, words)
        allocation = Allocation.of(
            run, records.column("application_id"), records.column("position"), perturbation.each
        )
        dealt = allocation.report()
        artefacts |= allocation.artefacts()
        made = _varied(run, records, perturbation, allocation, own, further)
    kind = spec.perturb.kind if spec.perturb else "none"
    warning = ftu_conflict(spec, kind, survey.ftu, words)
    counts = VariantCounts()
    named = NamesDealt(spec)
    rows = counts.watch(named.watch(_finished(run, made)))
    schema = variant_schema(spec.groups.axes, _asks_again(spec) or asks_further(spec))
    if pooled or not records.come_sorted:
        held = list(rows)
        artefacts |= _asked_together(run, held, template if pooled else None, counts)
        content = to_parquet(
            ({name: value for name, value in row.items() if name != "_shown"} for row in held),
            schema,
            ["variant_id"],
        )
    elif are_recorded(spec):
        content, counts = recorded_variants(spec, records, ROW_GROUP)
    else:
        content = stream_parquet(rows, schema, ROW_GROUP)
    design = Design(
        perturbation=kind,
        groups=tuple(GroupVariants(group=cell, variants=counts.of(cell)) for cell in spec.groups.cells()),
        unknown_group=counts.unknown(spec.groups.axes),
        rounds=counts.competitions(),
        requests=counts.requests(),
        names=survey.names,
        personas=survey.personas,
        ftu=survey.ftu,
        protected_words=words,
        substitution=survey.substitution,
        warnings=None if warning is None else (warning,),
        design=dealt,
        names_needed=named.needed(),
        variations=counts.variations(spec.perturb.formats)
        if spec.perturb is not None and _asks_again(spec)
        else None,
        tasks=task_changes(spec, run.design_file) or None,
    )
    return StageOutput(
        {"variants.parquet": content, "design.json": pretty_json(design.as_dict()), **artefacts},
        {"variants": counts.rows, "requests": counts.requests()},
    )


def _check_needed_mentions(
    spec: AuditSpec, perturbation: str, ftu: Unawareness | None, words: ProtectedMentions | None
) -> None:
    """Refuse metrics that need mentions where there are none."""
    needing = needs_mentions(spec.measure.metrics) if measured_ftu(perturbation, ftu, words) else ()
    if needing:
        raise SpecError(
            f"measure.metrics has {', '.join(needing)}, and no prompt mentions a protected word (fairness through "
            "unawareness): leave them out, or give perturb.terms the words of your prompts"
        )


def _asks_again(spec: AuditSpec) -> bool:
    """Tell whether variants are asked besides those that groups are compared by."""
    return spec.perturb is not None and (spec.perturb.controls or bool(spec.perturb.formats))


def _texts(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    return (msgspec.json.decode(record["fields"]) for record in records)


def _as_it_is(
    record: Mapping[str, Any],
    template: Template | None,
    axes: Sequence[str],
    further: Further,
    *,
    recorded: bool,
) -> list[VariantRecord]:
    fields = msgspec.json.decode(record["fields"])
    row = {name: record[name] for name in (*_PASSED_ON, *axes)}
    row |= {name: record[name] for name in _NOT_RECORDED} if recorded else _NOT_RECORDED
    row |= {"variant_id": record["prompt_id"], "perturbation": "none", "edits": "{}"}
    row["candidate"] = fields.get("name")
    try:
        row["messages"] = _messages(template, fields)
        row["_shown"] = fields
        return [row, *sorted(further.rows(row, fields), key=lambda one: str(one["variant_id"]))]
    except UnknownSlotError as error:
        raise UnknownSlotError(f"prompt {record['prompt_id']}: {error}") from None


def _check_slots(records: Iterable[Mapping[str, Any]], templates: Template | None) -> None:
    """Refuse slots that the model would be shown as they are, in the fields that templates show (None: all)."""
    shown = None if templates is None else {slot for part in templates for slot in turn_slots(part)}
    for record in records:
        for field, text in msgspec.json.decode(record["fields"]).items():
            if (shown is None or field in shown) and (found := slots(text)):
                raise UnknownSlotError(
                    f"prompt {record['prompt_id']}: field {field} has the slot {{{{{found[0]}}}}}, and without a "
                    "perturb section nothing fills it: the model would be shown it. Add the section, or put neutral "
                    "words in its place (redact(text).template_with(()))"
                )


def _varied(
    run: Run,
    records: Iterable[Mapping[str, Any]],
    perturbation: Perturbation,
    allocation: Allocation,
    template: Template | None,
    further: Further,
) -> Iterator[list[VariantRecord]]:
    """Yield the variants of each prompt, sorted by their ids."""
    settings, axes = run.spec.perturb, run.spec.groups.axes
    for index, record in enumerate(records):
        fields: dict[str, str] = msgspec.json.decode(record["fields"])
        rows: list[VariantRecord] = []
        try:
            for change in perturbation.changes(index, fields, allocation.groups(record)):
                row = {name: record[name] for name in _PASSED_ON} | _NOT_RECORDED
                row |= {axis: change.cell.get(axis) for axis in axes}
                group = ".".join(change.cell.get(axis, "-") for axis in axes)
                varied = bool(change.cell)
                place = f"/{group}/{change.replicate}" if varied else ""
                row["variant_id"] = f"{record['prompt_id']}{place}"
                row["perturbation"] = settings.kind if settings is not None and varied else "none"
                row["edits"] = canonical_json(dict(change.values)).decode()
                row["candidate"] = change.candidate
                row["messages"] = _messages(template, change.fields)
                if (pool := allocation.pool(index, change)) is not None:
                    row["round_id"] = pool
                if template is None:  # what is shown of a candidate beside others
                    row["_shown"] = {**change.values, **change.fields}
                rows.append(row)
                if settings is not None and template is not None:
                    rows += _again(row, change.fields, template, settings.controls, settings.formats)
                rows += further.rows(row, change.fields)
        except UnknownSlotError as error:
            raise UnknownSlotError(f"prompt {record['prompt_id']}: {error}") from None
        yield sorted(rows, key=lambda row: str(row["variant_id"]))


def _again(
    row: VariantRecord, fields: Mapping[str, str], template: Template, control: bool, formats: Sequence[str]
) -> Iterator[VariantRecord]:
    """Yield the rows that ask a variant again: unchanged, and in other formats. They compete with nobody."""
    alone = {"round_id": None}
    if control:
        yield row | alone | {"variant_id": f"{row['variant_id']}/{CONTROL}", VARIATION: CONTROL}
    for name in formats:
        set_out = {field: FORMATS[name](text) for field, text in fields.items()}
        if set_out != fields:
            variation = f"{FORMAT}{name}"
            messages = render(template, set_out)
            yield row | alone | {
                "variant_id": f"{row['variant_id']}/{variation}", VARIATION: variation, "messages": messages,
            }  # fmt: skip


def _finished(run: Run, prompts: Iterable[list[VariantRecord]]) -> Iterator[VariantRecord]:
    """Yield rows with the pool that they compete in and the request that they are asked in."""
    axes, task = run.spec.groups.axes, run.spec.task
    by_application = run.spec.decision.round == "application_id"
    for rows in prompts:
        for row in rows:
            if row.get(VARIATION) is None:
                row["_cell"] = tuple((axis, row[axis]) for axis in axes)
                if by_application:
                    row["round_id"] = row["application_id"]
            row["request_id"] = row["variant_id" if task not in ("pairwise", "listwise") else "round_id"]
            yield row


def _asked_together(
    run: Run, rows: list[VariantRecord], template: Template | None, counts: VariantCounts
) -> dict[str, Content]:
    """Return what is asked about several candidates at once, and count the questions."""
    if template is None:
        return {}
    if run.spec.task == "listwise":
        ask_lists(rows, template, read_block(run.design_file("prompt.template")), run.spec)
        counts.asked = len({row["request_id"] for row in rows})
        return {}
    sizes = Counter(row["round_id"] for row in rows)
    counts.asked = sum(size * (size - 1) for size in sizes.values())
    return {"pairs.parquet": stream_parquet(pair_rows(rows, template, run.spec), PAIR_SCHEMA)}


def _messages(template: Template | None, fields: Mapping[str, str]) -> str | None:
    if template is None:
        return None
    try:
        return render(template, fields)
    except UnknownSlotError as error:
        raise UnknownSlotError(f"the template's {error}; list it in source.fields") from None
