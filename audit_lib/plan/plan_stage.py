"""The stage ``plan``: the audit's design, written before the model is asked anything.

It fixes what will be measured, with which thresholds, and how small an effect the audit can detect,
so that none of it can be chosen after the results are known. It also archives the design files, so
that the run can be recomputed without the folder it was planned in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.plan import NamesRule, Plan, PolicyVersion, Thresholds
from audit_lib.errors import SpecError
from audit_lib.plan.earlier_reports import EARLIER, earlier_reports
from audit_lib.plan.hypotheses import planned_verdicts
from audit_lib.plan.journal_before import JOURNAL, journal_before
from audit_lib.plan.names import FEW_NAMES, LEAST_NAMES, RULE
from audit_lib.plan.power_limits import of_names
from audit_lib.policies import gates, pack_of, policy_of
from audit_lib.run import Run, StageOutput
from audit_lib.spec import AuditSpec, unasked


def plan(
    run: Run,
    inputs: Mapping[str, bytes] | None = None,
    earlier: bytes | None = None,
    journal: bytes | None = None,
) -> StageOutput:
    """Write the plan.

    Parameters
    ----------
    run : Run
        The run to plan.
    inputs : mapping of str to bytes, optional
        The design files, key in the spec -> content. Default: read where the spec says; verification
        hands over the archived ones.
    earlier : bytes, optional
        Headlines of earlier reports. Default: read from the store; verification hands over the archived ones.
    journal : bytes, optional
        What the journal of attempts holds. Default: read from the store; verification hands over what was archived.

    Returns
    -------
    StageOutput
        ``plan.json``, ``spec.json`` (defaults filled in), ``journal.json``, the design files as ``inputs/<key>``,
        and, where there are earlier audits, ``earlier.json``.

    Raises
    ------
    GateError
        If the law of the policy does not let such an audit pass. Every other stage needs the plan.
    EvidenceError
        If the journal of attempts is no chain.
    SpecError
        If a design file cannot be read, the policy does not exist, or recorded decisions would answer what nobody
        was asked.
    """
    # Here, since scoring reads names of this package, and a process of its own need not load what simulates power.
    from audit_lib.plan.power.table import power_basis, power_table

    spec = run.spec
    if (fault := unasked(spec)) is not None:
        raise SpecError(fault)
    inputs = spec.read_design_files() if inputs is None else inputs
    policy = policy_of(spec)
    gates.check_spec(policy, spec)
    # As archived: a later version of the spec has further keys, and an old plan comes out as it was.
    written = json.loads(spec.canonical())
    document = Plan(
        audit=spec.audit,
        window=run.key.window.label,
        window_start=run.key.window.start.isoformat(),
        window_end=run.key.window.end.isoformat(),
        spec_digest=run.key.spec_digest,
        seed=spec.seed,
        design=_design(spec, written),
        decision={key: value for key, value in written["decision"].items() if value is not None},
        metrics=tuple(spec.measure.metrics),
        quotas=tuple(spec.measure.quotas),
        thresholds=Thresholds(
            guidance_ratio=str(policy.guidance.threshold),
            alpha=spec.measure.alpha,
            power=spec.measure.power,
            level=spec.measure.level,
            small_cell=spec.measure.small_cell,
            minimum_answered_share=spec.checks.minimum_answered_share,
            maximum_answered_gap=spec.checks.maximum_answered_gap,
            minimum_label_mass=spec.checks.minimum_label_mass,
        ),
        policy=PolicyVersion(name=policy.name, version=policy.version),
        policy_digest=pack_of(spec).digest,
        inputs={key: sha256(content) for key, content in sorted(inputs.items())},
        power=power_table(spec, inputs, run.notify),
        power_basis=None if spec.decision.rule == "none" else power_basis(spec, inputs),
        verdicts=planned_verdicts(spec, policy),
        names=_names_rule(spec),
    )
    artefacts = {"plan.json": pretty_json(document.as_dict()), "spec.json": spec.canonical()}
    if earlier := earlier_reports(run) if earlier is None else earlier:
        artefacts[EARLIER] = earlier
    if journal := journal_before(run) if journal is None else journal:
        artefacts[JOURNAL] = journal
    artefacts |= {f"inputs/{key}": content for key, content in inputs.items()}
    return StageOutput(artefacts, {"groups": len(spec.groups.cells()), "design_files": len(inputs)})


def _names_rule(spec: AuditSpec) -> NamesRule | None:
    if not of_names(spec) or "standardised_effect" not in spec.measure.metrics:
        return None
    own = spec.measure.names
    return NamesRule(
        rule=RULE.format(few=FEW_NAMES, least=LEAST_NAMES),
        few_names=FEW_NAMES,
        smallest_effect=own.smallest_effect,
        name_sd=own.name_sd,
        version_sd=own.version_sd,
        prompt_sd=own.prompt_sd,
    )


def _design(spec: AuditSpec, written: Mapping[str, Any]) -> dict[str, Any]:
    per_group = _planned_per_group(spec)
    return {
        "task": spec.task,
        "groups": spec.groups.cells(),
        "reference": spec.groups.reference,
        "provenance": spec.groups.provenance,
        "strata": spec.sample.strata,
        "planned_prompts": spec.sample.size,
        "variants_per_prompt": spec.perturb.names_per_cell * len(spec.groups.cells()) if spec.perturb else 1,
        "planned_per_group": per_group,
        "model": {key: value for key, value in written["model"].items() if key != "options"},
    }


def _planned_per_group(spec: AuditSpec) -> int | None:
    """Rows of each group, where the design fixes them: every prompt gets every group."""
    if spec.perturb is None or spec.sample.size is None:
        return None
    return spec.sample.size * spec.perturb.names_per_cell
