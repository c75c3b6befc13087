"""What a report is about: the artefacts of a run, read once, checked, and typed.

Rates and ratios are made again from the whole numbers of the tables. A report whose numbers do not
follow from its own counts is not written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.canonical import sha256
from audit_lib.documents.design import Design
from audit_lib.documents.earlier import EarlierAudit
from audit_lib.documents.journal import JournalAtPlan
from audit_lib.documents.metrics import Metrics, PrintedMetrics
from audit_lib.documents.plan import Plan, PolicyVersion
from audit_lib.documents.sample import Sample
from audit_lib.documents.store_lock import StoreLock
from audit_lib.documents.validation import Validation
from audit_lib.measure.scores_csv import SCORES_CSV
from audit_lib.plan.power_limits import scope_of_names
from audit_lib.policies import Policy, policy_of
from audit_lib.policies.audit_claim import why_no_audit
from audit_lib.policies.contradictions import contradictions
from audit_lib.policies.timeline import Timeline, timeline_of
from audit_lib.report.exact_tables import ExactRow, ExactTable, in_words, read_table
from audit_lib.report.plan_signature import PlanSignature, read_plan_signature
from audit_lib.report.rejected import RejectedBy
from audit_lib.report.signature import Signature
from audit_lib.report.store_lock import read_store_lock
from audit_lib.report.suppress import StratumCell, masked, printable, redacted_sample, redacted_validation
from audit_lib.results import Estimate
from audit_lib.run import SUCCESS, Run, RunKey
from audit_lib.spec import AuditSpec, Provenance
from audit_lib.translation import mark, t
from audit_lib.typed_json import decode

__all__ = ["Content", "ExactRow", "ExactTable", "gather", "in_words", "read_table"]

T = TypeVar("T")
_OTHER: Final = mark("other")
WithDemographics = TypeVar("WithDemographics", Metrics, Sample)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Everything a report says, before it is put into words."""

    spec: AuditSpec
    key: RunKey
    policy: Policy
    plan: Plan
    sample: Sample
    design: Design
    validation: Validation
    metrics: PrintedMetrics
    tables: tuple[ExactTable, ...]
    models: tuple[Mapping[str, Any], ...]
    prompt_digest: str | None
    planned_at: datetime
    scored_at: datetime
    measured_at: datetime
    inputs: Mapping[str, str]
    score_methods: Mapping[str, int]
    served: Mapping[str, int]
    earlier: tuple[EarlierAudit, ...]
    hidden: frozenset[StratumCell]
    signature: Signature | None = None
    rejected: RejectedBy | None = None
    plan_signature: PlanSignature | None = None
    journal: JournalAtPlan | None = None
    """None where the plan did not archive it, as before there was a journal."""
    store_lock: StoreLock | None = None
    archived_metrics: bytes | None = None
    """``metrics.json`` as it lies there, where all of it may be printed."""
    planned_under: PolicyVersion | None = None
    """The pack of the plan, where the page is of another one (`audit_lib.report.under_pack`)."""

    @property
    def status(self) -> Literal["signed", "not signed"]:
        """Whether an auditor signed."""
        return "not signed" if self.signature is None else "signed"

    @property
    def tool_version(self) -> str:
        """What tells versions of the tool apart: the models that answered, and the prompt."""
        models = sorted(
            str(m["name"]) + (f" @ {m['revision']}" if m.get("revision") else "") for m in self.models
        ) or [self.spec.model.name]
        prompt = f", prompt {self.prompt_digest[:12]}" if self.prompt_digest else ""
        return " and ".join(dict.fromkeys(models)) + prompt

    @property
    def caveats(self) -> list[str]:
        """What the numbers do not say."""
        return [
            *self.policy.caveats,
            *(self.policy.experiment_caveats if self.is_experiment else ()),
            *((scope,) if (scope := scope_of_names(self.spec)) is not None else ()),
        ]

    @property
    def provenance(self) -> Provenance:
        """How the demographics are known."""
        return self.spec.groups.provenance

    @property
    def is_experiment(self) -> bool:
        """Whether the demographics were assigned."""
        return self.provenance in self.policy.provenance.experiment

    @property
    def is_refused(self) -> bool:
        """Whether the policy's law does not accept the demographics."""
        return self.provenance in self.policy.provenance.refused

    @property
    def headline(self) -> tuple[ExactTable, ...]:
        """The tables of the spec's first stratum: the whole audit, unless it says otherwise."""
        return self.of_strata(self.tables, first=True)

    @property
    def by_stratum(self) -> tuple[ExactTable, ...]:
        """The tables of every further stratum."""
        return self.of_strata(self.tables, first=False)

    def of_strata(self, tables: tuple[ExactTable, ...], *, first: bool) -> tuple[ExactTable, ...]:
        """Keep the tables split by the first set of columns in the spec, or by the others."""
        columns = sorted(self.spec.measure.strata[0]) if self.spec.measure.strata else []
        return tuple(table for table in tables if (sorted(table.stratum) == columns) == first)

    def estimates(self, metric: str) -> list[Estimate]:
        """Return the estimates of a metric that go beyond the statutory tables."""
        return [estimate for estimate in self.metrics.estimates if estimate.metric == metric]

    @property
    def attested(self) -> list[str]:
        """Ids of the policy's attestations that the signature holds."""
        said = set() if self.signature is None else {sentence for sentence, _ in self.signature.attestations}
        return [one.id for one in self.policy.attestations if one.text in said]

    @property
    def last_day(self) -> date:
        """The last day of the window: whether a law was in force is asked of it."""
        return (self.key.window.end - timedelta(microseconds=1)).date()

    @property
    def timeline(self) -> Timeline:
        """The facts of law: first use, audits, data, notice, posting and signature."""
        occurred, signed = self.sample.occurred, self.signature
        return timeline_of(
            self.policy,
            self.spec,
            self.measured_at,
            window=self.key.window,
            decided=None if occurred is None else (occurred.first, occurred.last),
            signed_at=None if signed is None else signed.signed_at,
            signer=None if signed is None else (signed.auditor, signed.organisation),
        )

    @property
    def why_no_audit(self) -> str | None:
        """Why its law does not call this an audit, such as that nobody signed it; None where it does."""
        if self.rejected is not None:
            return t("its auditor rejected it on {day}", day=f"{self.rejected.rejected_at:%Y-%m-%d}")
        return why_no_audit(self.timeline, self.attested)

    @property
    def is_audit(self) -> bool:
        """Whether it is what its law calls an audit."""
        return self.why_no_audit is None

    @property
    def title(self) -> str:
        """What the page may be called."""
        words = self.policy.wording
        if self.is_experiment or self.is_refused:
            return words["title_experiment" if self.is_experiment else "title_refused"]
        if self.is_audit:
            return words["title_audit"]
        unsigned = words.get("title_unsigned", words["title_audit"])
        contradicted = self.signature is not None and bool(contradictions(self.timeline))
        return words.get("title_contradicted", unsigned) if contradicted else unsigned


def gather(
    run: Run,
    earlier: Sequence[EarlierAudit] = (),
    signature: Signature | None = None,
    *,
    metrics: bytes | None = None,
) -> Content:
    """Read what the report needs from the run's complete stages.

    Where the policy hides small cells, they are gone from what is given back: no output can print them.
    `metrics` are those of the spec's policy where it is another than the one that the run was planned under.

    Raises
    ------
    IncompleteRunError
        If a stage before the report is not complete.
    EvidenceError
        If an artefact is not what its stage wrote, or a number does not follow from its counts.
    """
    policy = policy_of(run.spec)
    shards = _complete_shards(run)
    archived = run.stage("metrics").read("metrics.json") if metrics is None else metrics
    measured = decode(Metrics, archived, f"{run.uri}/metrics/metrics.json")
    kinds = {kind.name for kind in policy.tables}
    tables = tuple(read_table(table, policy) for table in measured.tables if table.kind in kinds)
    told = _without_rare_values(measured, policy.cells.small)
    printed, hidden = printable(told, run.spec, policy, run.notify)
    sample = _without_rare_values(_read(run, Sample, "sample", "sample.json"), policy.cells.small)
    validation = _read(run, Validation, "validation", "validation.json")
    if hidden:
        tables = tuple(masked(table, hidden) for table in tables)
        sample, validation = redacted_sample(sample, run.spec), redacted_validation(validation)
    prompt = run.design_file("prompt.template") if run.spec.prompt is not None else None
    return Content(
        spec=run.spec,
        key=run.key,
        policy=policy,
        plan=_read(run, Plan, "plan", "plan.json"),
        sample=sample,
        design=_read(run, Design, "variants", "design.json"),
        validation=validation,
        metrics=printed,
        tables=tables,
        models=_models(run, shards),
        prompt_digest=None if prompt is None else sha256(prompt),
        planned_at=_finished(run, "plan"),
        scored_at=max((_finished(run, shard) for shard in shards), default=_finished(run, "validation")),
        measured_at=_finished(run, "metrics"),
        inputs=_inputs(run, hidden=bool(hidden)),
        score_methods=_score_methods(run, shards),
        served=_served(run, shards, sample),
        earlier=tuple(earlier),
        hidden=hidden,
        signature=signature,
        plan_signature=read_plan_signature(run),
        journal=_journal(run),
        store_lock=read_store_lock(run),
        archived_metrics=archived if printed is measured else None,
    )


def _inputs(run: Run, *, hidden: bool) -> dict[str, str]:
    """Digests of the artefacts that the report reads. Where counts are hidden, of the plan alone.

    Whoever guesses a hidden count could make ``metrics.json`` with it, and see by the digest if it is right.
    """
    return {
        f"{stage}/{name}": entry.sha256
        for stage in (("plan",) if hidden else ("plan", "sample", "variants", "validation", "metrics"))
        for name, entry in sorted(run.stage(stage).success().artefacts.items())
        if stage != "variants" or name == "design.json"  # of the variants the report reads the counts alone
        if name != SCORES_CSV  # it reads the tables
    }


def _journal(run: Run) -> JournalAtPlan | None:
    name = "journal.json"
    return _read(run, JournalAtPlan, "plan", name) if name in run.stage("plan").success().artefacts else None


def _read(run: Run, kind: type[T], stage: str, name: str) -> T:
    folder = run.stage(stage)
    return decode(kind, folder.read(name), folder.store.uri(f"{folder.prefix}/{name}"))


def _without_rare_values(document: WithDemographics, small: int) -> WithDemographics:
    """Free text in a demographics column may tell who someone is: values of few people are counted together."""
    demographics = document.demographics
    if demographics is None or demographics.unknown_values is None:
        return document
    shown = {}
    for attribute, values in demographics.unknown_values.items():
        rare = sum(n for n in values.values() if n < small)
        kept = {value: n for value, n in values.items() if n >= small}
        if rare:
            kept[_OTHER] = kept.get(_OTHER, 0) + rare
        shown[attribute] = kept
    if shown == demographics.unknown_values:
        return document
    return cast(
        WithDemographics,
        replace(cast(Any, document), demographics=replace(demographics, unknown_values=shown)),
    )


def _score_methods(run: Run, shards: list[str]) -> dict[str, int]:
    """How the scores were read (``logits``, ``sampled``, ...), and how many rows each way."""
    counted: Counter[str] = Counter()
    for shard in shards:
        # One column only: the texts and probabilities beside it can be large.
        column = pq.read_table(run.stage(shard).parquet("scores.parquet"), columns=["method"])
        counted.update(_tally(column.column(0)))
    return dict(sorted(counted.items()))


def _served(run: Run, shards: list[str], sample: Sample) -> dict[str, int]:
    """Which models answered, by the names that they answered under, and how many rows each; not those that failed.

    Of recorded decisions: as the data name them; rows that name none are not the named model's by that.
    """
    if sample.models is not None:
        audited = [one for one in sample.models if one.audited and one.sampled]
        return {one.model: one.sampled for one in audited if one.model is not None}
    counted: Counter[str] = Counter()
    for shard in shards:
        table = pq.read_table(run.stage(shard).parquet("scores.parquet"), columns=["model", "status"])
        answered = table.filter(pc.not_equal(table.column("status").cast(pa.string()), "error"))
        counted.update(_tally(answered.column("model")))
    return dict(sorted(counted.items()))


def _tally(column: pa.ChunkedArray) -> dict[str, int]:
    values, counts = column.value_counts().flatten()
    return dict(zip(values.to_pylist(), counts.to_pylist(), strict=True))


def _complete_shards(run: Run) -> list[str]:
    return [key.removesuffix(f"/{SUCCESS}") for key in run.list("scores") if key.endswith(f"/{SUCCESS}")]


def _models(run: Run, shards: list[str]) -> tuple[Mapping[str, Any], ...]:
    """Descriptions of the models that answered, each once: shards of one run should agree."""
    found: dict[str, Mapping[str, Any]] = {}
    for shard in shards:
        content = run.stage(shard).read("model.json")
        found.setdefault(sha256(content), run.stage(shard).read_json("model.json"))
    return tuple(found.values())


def _finished(run: Run, stage: str) -> datetime:
    # Times come from the stages' own records, so that rendering again gives the same bytes.
    return run.stage(stage).success().finished
