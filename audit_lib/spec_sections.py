"""The sections of a spec: what a user may write, key by key, and what each refuses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from audit_lib.registry import did_you_mean
from audit_lib.spec_text import check_cron

Provenance = Literal["self_reported", "observer_coded", "assigned", "inferred"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Share = Annotated[float, Field(ge=0, le=1)]


def _no_repeats(values: Sequence[Any]) -> None:
    repeated = next((value for place, value in enumerate(values) if value in values[:place]), None)
    if repeated is not None:
        raise ValueError(f"{repeated!r} is listed twice")


class Section(BaseModel):
    """A part of the spec: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Schedule(Section):
    """When the audit runs. Each run audits the interval between two ticks of the schedule."""

    cron: str = Field("0 6 * * 1", description="Five-field cron expression of the runs.")
    timezone: str = Field("UTC", description="IANA time zone of the cron expression.")
    start: datetime = Field(
        datetime.fromisoformat("2026-01-05T00:00:00+00:00"),
        description="No run before this instant (ISO 8601).",
    )

    @field_validator("cron")
    @classmethod
    def _cron(cls, value: str) -> str:
        return check_cron(value)

    @field_validator("timezone")
    @classmethod
    def _zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError):
            raise ValueError(f"{value!r} is not an IANA time zone such as America/New_York") from None
        return value

    @field_validator("start")
    @classmethod
    def _aware(cls, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise ValueError("needs a UTC offset, such as 2026-01-05T00:00:00+00:00")
        return value


class Source(Section):
    """Where the prompts, or the recorded decisions, are read from."""

    kind: Name = Field(
        "files",
        description="Source adapter: `files` (one row a candidate), `ranking_log`, `openai_batch` or `otel_genai`.",
    )
    paths: list[str] = Field(
        min_length=1,
        description="JSONL (also .gz), Parquet or CSV: local paths (relative to the spec) or s3:// URIs.",
    )
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="Our column name -> the file's, where they differ, such as {occurred_at: created}.",
    )
    fields: list[str] = Field(
        default_factory=list, description="Further columns that the prompt template uses."
    )
    time_format: Literal["iso8601", "unix_s"] = Field("iso8601", description="How occurred_at is written.")
    windowed: bool = Field(
        True,
        description="Keep only rows whose occurred_at is in the run's window; false for a fixed set of prompts.",
    )
    reason: str = Field(
        "", description="Why these data, and why any limit of time or region (printed in the report)."
    )


class Demographics(Section):
    """Real applicants' demographics, in a file of their own, joined by applicant id."""

    path: str = Field(description="CSV, JSONL or Parquet, relative to the spec, or s3://.")
    id_column: str = Field(description="The file's column that equals the prompts' application_id.")
    columns: dict[str, str] = Field(
        description="Attribute -> the file's column, such as {race: race_ethnicity}."
    )
    values: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Attribute -> (file's value -> level of groups.attributes). Values not listed are kept as they "
        "are; a value that is no level is counted as unknown.",
    )


class Groups(Section):
    """The groups compared. They are intersections of the attributes' levels."""

    attributes: dict[Name, list[str]] = Field(
        min_length=1, description="Attribute -> its levels, such as {sex: [female, male]}."
    )
    reference: dict[Name, str] = Field(
        description="The level of each attribute that others are compared with."
    )
    provenance: Provenance = Field(
        description="How the demographics are known. LL144 bias audits accept only self_reported; `assigned` makes an "
        "experiment."
    )
    unknown_values: list[str] | None = Field(
        None,
        description="Values of the data that say a category is not known, such as [Prefer not to say]. Where given, "
        "any other value that is no level is refused; null: it counts as unknown.",
    )
    categories: dict[Name, dict[str, str]] = Field(
        default_factory=dict,
        description="Attribute -> (level -> the policy's category), such as {race: {Black: Black or African "
        "American}}.",
    )

    @model_validator(mode="after")
    def _check(self) -> Groups:
        for attribute, levels in self.attributes.items():
            if len(levels) < 2 or len(set(levels)) != len(levels):
                raise ValueError(f"attribute {attribute!r} needs two or more different levels, has {levels}")
            if attribute not in self.reference:
                raise ValueError(f"attribute {attribute!r} has no reference; add it to groups.reference")
            level = self.reference[attribute]
            if level not in levels:
                raise ValueError(
                    f"the reference {level!r} is not a level of {attribute!r}{did_you_mean(level, levels)}"
                )
        for attribute in (*self.reference, *self.categories):
            if attribute not in self.attributes:
                raise ValueError(
                    f"{attribute!r} is not an attribute{did_you_mean(attribute, list(self.attributes))}"
                )
        for attribute, mapping in self.categories.items():
            for level in mapping:
                if level not in self.attributes[attribute]:
                    raise ValueError(
                        f"{level!r} is not a level of {attribute!r}{did_you_mean(level, self.attributes[attribute])}"
                    )
        return self

    @property
    def axes(self) -> tuple[str, ...]:
        """Attribute names in the spec's order."""
        return tuple(self.attributes)

    def cells(self) -> list[dict[str, str]]:
        """Return the intersectional groups, in the order of the spec's levels."""
        cells: list[dict[str, str]] = [{}]
        for attribute, levels in self.attributes.items():
            cells = [{**cell, attribute: level} for cell in cells for level in levels]
        return cells

    def comparisons(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Return (group, reference) pairs: each attribute alone, then the intersectional groups."""
        pairs = [
            ({axis: level}, {axis: self.reference[axis]})
            for axis, levels in self.attributes.items()
            for level in levels
            if level != self.reference[axis]
        ]
        if len(self.axes) > 1:
            reference = {axis: self.reference[axis] for axis in self.axes}
            pairs += [(cell, reference) for cell in self.cells() if cell != reference]
        return pairs


class Sample(Section):
    """How many prompts are drawn from the window."""

    size: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Prompts drawn, or whole rounds where candidates compete; null: all."
    )
    strata: list[str] = Field(
        default_factory=lambda: ["position"],
        description="Columns whose shares the draw keeps (proportional allocation).",
    )

    @field_validator("strata")
    @classmethod
    def _once(cls, value: list[str]) -> list[str]:
        _no_repeats(value)
        return value


class PromptTemplate(Section):
    """How a candidate is put before the model."""

    template: str = Field(description="YAML file with the messages, relative to the spec.")
    labels: list[str] = Field(
        default_factory=lambda: ["No", "Yes"], description="Answers whose probability is read."
    )
    relevance: list[float] = Field(
        default_factory=lambda: [0.0, 1.0],
        description="Worth of each label; score = sum of probability x relevance.",
    )
    read: str = Field(
        "labels",
        pattern=r"^(labels|number|phrase|json:[^\s.]+(\.[^\s.]+)*)$",
        description="Pointwise: how the answer is read: `labels` by their probabilities; or from a generated text: "
        "`number`, `phrase` (a label that stands alone), `json:KEY` (a dotted path).",
    )
    max_tokens: Annotated[int, Field(ge=1)] = Field(
        512,
        description="Longest generated answer, in tokens: texts that are read, rankings, earlier replies.",
    )
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        0.0, description="Of those texts; 0 takes the most probable token each time."
    )
    answer: Literal["name", "letter"] = Field(
        "name",
        description="Pairwise: candidates are named by their first name, or A and B in the order shown.",
    )
    tie: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="Pairwise: the answer that calls both equally good, such as Both; null: none is offered.",
    )

    @model_validator(mode="after")
    def _check(self) -> PromptTemplate:
        if len(set(self.labels)) < 2 or len(set(self.labels)) != len(self.labels):
            raise ValueError(f"labels needs two or more different answers, has {self.labels}")
        if len(self.relevance) != len(self.labels):
            raise ValueError(f"relevance has {len(self.relevance)} numbers for {len(self.labels)} labels")
        return self


class Model(Section):
    """The model under audit. Every model called is named in the spec."""

    backend: Name = Field(
        description="Who answers: `transformers`, `openai`, `openai_batch`, `http`, `embedding` or `recorded`."
    )
    name: str = Field(
        description="Model id, folder (from the spec's folder first), or for `recorded` a label."
    )
    revision: str | None = Field(None, description="Commit or version that pins the weights.")
    valid_judge: bool = Field(
        True, description="False prints plainly that the model is not fit to judge and only shows the method."
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="The backend's own options; it checks them."
    )

    _base: Path = PrivateAttr(default=Path())

    @property
    def location(self) -> str:
        """Where a local model is looked for: the folder called `name` in the spec's folder if there is one."""
        folder = self._base / Path(self.name).expanduser()
        return str(folder) if folder.is_dir() else self.name


class Scoring(Section):
    """How the work is cut and its answers kept. None of it changes a score."""

    shards: Annotated[int, Field(ge=1, le=64)] = Field(2, description="Mapped scoring tasks, at most 64.")
    repeats: Annotated[int, Field(ge=1, le=100)] = Field(1, description="Times each request is asked.")
    ledger: Literal["window", "shared", "off"] = Field(
        "window",
        description="Which answers may be used again instead of asking: those of the same model about the same "
        "`window`; of any window (`shared`, for weights that cannot change); or none.",
    )
    canaries: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=list,
        max_length=100,
        description="Fixed prompts, without personal data, asked in every run; the monitor compares their answers "
        "with the previous run's, which shows a model that changed under the same name.",
    )


class Generation(Section):
    """How texts are generated (tasks `generation` and `recommendation`); `score.repeats` says how many a prompt."""

    max_tokens: Annotated[int, Field(ge=1)] = Field(512, description="Longest answer, in tokens.")
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        1.0, description="0 takes the most probable token each time, so that all repeats are alike."
    )
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(
        None, description="Of the sampling; null: derived from the audit's seed. Not all endpoints heed it."
    )
    items: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="K of `recommendation`: how many items a list has."
    )


Measured = Literal["toxicity", "stereotype", "sentiment", "embedding", "terms"]


class TextClassifier(Section):
    """A model or word list that looks at each text. None is called that the spec does not name."""

    name: Name = Field(description="What the tables call it.")
    kind: Name = Field(description="`vader`, `minilm`, `toxblock`, `lexicon` or `huggingface`.")
    measures: Measured | None = Field(
        None, description="What its score is, so which metrics take it; null: what the kind says of itself."
    )
    label: str | None = Field(
        None, description="The label whose score the metrics take; null: the kind's own."
    )
    revision: str | None = Field(None, description="Commit or version that pins the weights.")
    options: dict[str, Any] = Field(
        default_factory=dict, description="The kind's own options; it checks them."
    )


class Texts(Section):
    """Word lists and thresholds of the metrics of texts."""

    protected: str | None = Field(
        None,
        description="CSV with the column `word` and one for each attribute it names: the level, or nothing. These "
        "words, and what a perturbation put in, are masked before texts are compared.",
    )
    targets: str | None = Field(
        None, description="CSV with the column `word`: whose company is looked at, such as occupations."
    )
    window: Annotated[int, Field(ge=1)] = Field(10, description="Words each side that are near (COBS).")
    threshold: Share = Field(0.5, description="A toxicity or stereotype score that reaches it counts.")
    sentiment_threshold: Share = Field(0.5, description="A sentiment above it is friendly.")
    resamples: Annotated[int, Field(ge=199, le=100_000)] = Field(
        1999,
        description="Of the cluster bootstrap, where an interval has no formula, and of the exchange test.",
    )


class Decision(Section):
    """What *selected* means."""

    rule: Literal["top_k", "threshold", "above_median", "recorded", "none"] = Field(
        description="top_k of a round; score at or above a threshold; score strictly above the full sample's median; "
        "the decision that was recorded; or none, for tasks that decide nothing."
    )
    k: Annotated[int, Field(ge=1)] | None = Field(None, description="Candidates selected in a round (top_k).")
    round: Literal["round_id", "application_id", "one_per_group"] | None = Field(
        None,
        description="Who competes: candidates with the same round_id; versions of one application; or seeded "
        "pools with "
        "one candidate of each group of a position.",
    )
    threshold: float | None = Field(None, description="Lowest score that is selected (threshold).")
    classes: list[str] = Field(
        default_factory=list,
        description="Groups into which the tool classifies people; the metric impact_ratio makes its tables again for "
        "each.",
    )
    class_field: str | None = Field(
        None,
        description="Which of source.fields holds the recorded group; null: the answer's most probable label.",
    )

    @model_validator(mode="after")
    def _check(self) -> Decision:
        if self.rule == "top_k" and (self.k is None or self.round is None):
            raise ValueError("rule top_k needs k and round")
        if self.rule == "threshold" and self.threshold is None:
            raise ValueError("rule threshold needs threshold")
        _no_repeats(self.classes)
        if self.class_field is not None and not self.classes:
            raise ValueError("class_field names the recorded group; list the groups in classes")
        for key, rule in (("k", "top_k"), ("threshold", "threshold")):
            if getattr(self, key) is not None and self.rule != rule:
                raise ValueError(
                    f"{key} is for rule {rule} and would be ignored by {self.rule}; leave it out"
                )
        return self


class Checks(Section):
    """Expectations on the scores. A failed one of severity `error` stops the audit before measure."""

    minimum_answered_share: Share = Field(
        0.95, description="Share of rows with status ok or unranked, at least; error."
    )
    maximum_answered_gap: Share = Field(
        0.05, description="Largest difference in that share between two groups; error."
    )
    minimum_label_mass: Share = Field(
        0.0, description="Smallest mean probability that falls on the labels; warning."
    )
    fail_on_warning: bool = Field(False, description="Treat warnings as errors.")
    minimum_agreement: Share = Field(
        0.8,
        description="Manipulation check: share of versions whose attribute the model must name as it was meant; below "
        "it the effect of that attribute is uninterpretable.",
    )


class Measure(Section):
    """Which numbers are computed, and how carefully."""

    metrics: list[Name] = Field(
        default_factory=lambda: [
            "impact_ratio",
            "scoring_rate_impact_ratio",
            "rabbi",
            "score_gap",
            "demographic_parity_gap",
        ],
        min_length=1,
        description="Registered metrics.",
    )
    quotas: list[Annotated[int, Field(ge=1)]] = Field(
        default_factory=lambda: [1, 2, 3, 4, 5],
        min_length=1,
        description="Quotas k at which selection gaps are measured.",
    )
    thresholds: list[float] = Field(
        default_factory=lambda: [3.0, 4.0, 5.0],
        min_length=1,
        description="adverse_impact_ratio: scores at or above each of them count as selected.",
    )
    application_effects: bool = Field(
        False, description="standardised_effect: give each application a constant of its own."
    )
    strata: list[list[str]] = Field(
        default_factory=lambda: [[], ["position"]],
        min_length=1,
        description="Columns to split by; [] is the whole audit. The first entry is the headline.",
    )
    level: Annotated[float, Field(gt=0.5, lt=1)] = Field(0.95, description="Nominal coverage of intervals.")
    small_cell: Annotated[int, Field(ge=1)] = Field(
        5, description="Cells with fewer rows than this are marked."
    )
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        0.05, description="Significance level of tests and power."
    )
    power: Annotated[float, Field(gt=0.5, lt=1)] = Field(
        0.8, description="Power that the plan is computed for."
    )

    @field_validator("metrics", "quotas", "thresholds")
    @classmethod
    def _once(cls, value: list[Any]) -> list[Any]:
        _no_repeats(value)
        return value

    @field_validator("strata")
    @classmethod
    def _strata_once(cls, value: list[list[str]]) -> list[list[str]]:
        for columns in value:
            _no_repeats(columns)
        _no_repeats([sorted(columns) for columns in value])
        return value


class Report(Section):
    """What is printed around the numbers."""

    policy: Name = Field("nyc_ll144", description="Policy pack in audit_lib/policies.")
    tool: str = Field("", description="What the audited tool decides, in a sentence.")
    distribution_date: str | None = Field(
        None, description="Date the tool was first used (ISO 8601), if it is."
    )
    auditor: str | None = Field(None, description="Who audits; null prints `not signed`.")
    formats: list[Literal["pdf"]] = Field(
        default_factory=list,
        description="Further forms of the report, beside HTML, JSON and CSV: `pdf` (PDF/UA; needs the extra `pdf`).",
    )
    switches: dict[Name, str] = Field(
        default_factory=dict,
        description="Switch of the policy pack -> the way it stands in this audit, where it is not the pack's.",
    )

    @field_validator("distribution_date")
    @classmethod
    def _day(cls, value: str | None) -> str | None:
        try:
            if value is not None:
                date.fromisoformat(value)
        except ValueError:
            raise ValueError("is not an ISO 8601 date such as 2026-01-31") from None
        return value
