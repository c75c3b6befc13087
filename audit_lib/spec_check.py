"""Whether the parts that a spec names exist, accept their options and agree: what the spec's types cannot check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audit_lib.backends import BACKENDS
from audit_lib.errors import SpecError
from audit_lib.registry import did_you_mean
from audit_lib.spec import AuditSpec, unasked

_OF_ONE_OUTCOME: Final = ("auc_gap", "calibration_gap", "equal_opportunity_gap", "theil_index")
"""Metrics that ask who is qualified, and have no number for each class."""


def check_parts(spec: AuditSpec) -> None:
    """Check each part that the spec names, and its options.

    Raises
    ------
    SpecError
        If a part is not registered, an option is wrong, a column is not known, or a file cannot be read.
    GateError
        If the law of the policy does not let such an audit pass.
    LexiconError
        If a lexicon of the perturbation cannot be used.
    """
    from audit_lib.measure.requirements import check_metrics
    from audit_lib.measure.statutory.categories import category_of
    from audit_lib.perturb.check import check_perturb
    from audit_lib.perturb.pools import slots_asked_for
    from audit_lib.perturb.robustness import check_further
    from audit_lib.perturb.template import is_reply, read_template
    from audit_lib.policies import policy_of
    from audit_lib.policies.gates import check_spec
    from audit_lib.sample.places import check_places
    from audit_lib.sample.sample_stage import check_strata
    from audit_lib.sample.sources import source_of
    from audit_lib.score import check_decision, check_model, check_read, check_replies, check_texts
    from audit_lib.score.local.noise_floor import check_tolerance
    from audit_lib.score.materials import check_leakage
    from audit_lib.score.requests import elicitation, kinds_asked
    from audit_lib.validate.named_suites import check_suites

    if (fault := unasked(spec)) is not None:
        raise SpecError(fault)
    _check_attributes(spec)
    source = source_of(spec)
    check_strata(spec)
    check_places(spec)
    _check_measure_strata(spec)
    elicitation.get(spec.task)
    check_model(spec.model, spec.task, kinds_asked(spec))
    check_read(spec)
    check_decision(spec)
    check_tolerance(spec)
    check_texts(spec)
    category_of(spec.groups, policy := policy_of(spec))
    check_spec(policy, spec)
    files = spec.read_design_files()
    check_perturb(spec, files)
    check_further(spec, files)
    check_leakage(spec)
    check_metrics(spec, files)
    check_suites(spec, files)
    if "prompt.template" in files:
        _check_slots(spec, slots_asked_for(files["prompt.template"], spec))
        if any(map(is_reply, read_template(files["prompt.template"]))):
            if spec.model.answers_are_recorded:
                raise SpecError(
                    "prompt.template: {{reply}} asks a live model; recorded decisions have one answer"
                )
            check_model(spec.model, spec.task, ["text"])
            check_replies(spec)
    source.check()
    _check_true_classes(spec)
    _check_demographics(spec)


def _check_attributes(spec: AuditSpec) -> None:
    from audit_lib.records import SCORE_SCHEMA, prompt_schema, variant_schema

    taken = {*prompt_schema(()).names, *variant_schema(()).names, *SCORE_SCHEMA.names}
    for axis in spec.groups.axes:
        if axis in taken:
            raise SpecError(
                f"groups.attributes: {axis!r} is the name of a column of ours; give the attribute another name"
            )


def _check_measure_strata(spec: AuditSpec) -> None:
    known = ["position", "model", "application_id", "round_id", "qualified"]
    known += [*spec.groups.axes, *spec.source.fields]
    for column in (column for columns in spec.measure.strata for column in columns):
        if column not in known:
            raise SpecError(
                f"measure.strata: {column!r} is not a column to split by{did_you_mean(column, known)}"
            )
    for mask in spec.groups.masks:
        if mask not in spec.source.fields:
            raise SpecError(
                f"groups.masks: {mask!r} is not in source.fields{did_you_mean(mask, spec.source.fields)}"
            )
        if any(mask in columns for columns in spec.measure.strata):
            raise SpecError(
                f"measure.strata: {mask!r} is one of groups.masks, whose sides are compared already"
            )
    if spec.groups.masks and "auc_gap" not in spec.measure.metrics:
        raise SpecError(
            "groups.masks: only the metric auc_gap compares them, and measure.metrics does not name it"
        )
    decision = spec.decision
    if decision.class_field is not None and decision.class_field not in spec.source.fields:
        raise SpecError(
            f"decision.class_field: {decision.class_field!r} is not in source.fields"
            f"{did_you_mean(decision.class_field, spec.source.fields)}"
        )
    if decision.classes and decision.class_field is None and spec.task != "pointwise":
        raise SpecError(
            f"decision.classes: task {spec.task} gives no candidate a label; leave classes out, or choose task "
            "pointwise"
        )
    wordless = BACKENDS.get(spec.model.backend).no_text(spec.model)
    if decision.classes and decision.class_field is None and wordless is not None:
        raise SpecError(
            f"decision.classes: the class is the answer's most probable label, and {wordless}; leave classes out, or "
            "choose a backend that gives labels"
        )
    labels = [] if spec.prompt is None or spec.model.answers_are_recorded else spec.prompt.labels
    for name in decision.classes if decision.class_field is None else ():
        if name not in labels:
            raise SpecError(
                f"decision.classes: {name!r} is no label that a live model is asked for{did_you_mean(name, labels)}; "
                "name the column of recorded groups in decision.class_field"
            )


def _check_true_classes(spec: AuditSpec) -> None:
    """Refuse metrics of one outcome where the true classes alone are known: they would be undefined after the run."""
    from audit_lib.sample.read import first_columns

    outcome = spec.source.outcome
    asked = [name for name in spec.measure.metrics if name in _OF_ONE_OUTCOME]
    if not asked or outcome is None or not outcome.classes or "qualified" in spec.source.columns:
        return
    if "qualified" not in (first_columns(spec) or ()):
        raise SpecError(
            f"measure.metrics: {', '.join(asked)}: a run keeps one score a person, not one a class, and "
            "source.outcome.classes says of no class that it means qualified. Say which do in source.outcome "
            f"(positive: [{outcome.classes[-1]}], negative: the others), map a column `qualified` in source.columns, "
            "or take the gaps that have a number for each class: false_negative_rate_gap, false_positive_rate_gap, "
            "false_discovery_rate_gap, false_omission_rate_gap"
        )


def _check_slots(spec: AuditSpec, slots: Sequence[str]) -> None:
    from audit_lib.sample.columns import NAME

    known = [*spec.source.fields, NAME]
    pooled = spec.perturb is not None and spec.task in ("pairwise", "listwise")
    for slot in slots:
        by_persona = pooled and slot.split(".")[0] in ("first_name", "last_name", "title", "pronoun")
        if slot not in known and not by_persona:
            raise SpecError(
                f"prompt.template: slot {{{{{slot}}}}} is not in source.fields{did_you_mean(slot, known)}"
            )


def _check_demographics(spec: AuditSpec) -> None:
    """Look for the file that is read later; what is at a URI shows when it is read."""
    if spec.demographics is None:
        return
    path = spec.path(spec.demographics.path)
    if "://" not in path and not Path(path).is_file():
        raise SpecError(
            f"demographics.path: {spec.demographics.path} is not a file; it is looked for at {path}"
        )
