"""The sections of a spec that say what is made of the answers: decision, checks, measures and report."""

from __future__ import annotations

from datetime import date
from math import inf
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from audit_lib.spec.section import Name, Share, SpecSection, no_repeats

UNDECIDED: Final = ("generation", "recommendation")
"""Tasks whose answers are texts or lists: there is no score, and nobody is selected."""


class Decision(SpecSection):
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
        no_repeats(self.classes)
        if self.class_field is not None and not self.classes:
            raise ValueError("class_field names the recorded group; list the groups in classes")
        for key, rule in (("k", "top_k"), ("threshold", "threshold")):
            if getattr(self, key) is not None and self.rule != rule:
                raise ValueError(
                    f"{key} is for rule {rule} and would be ignored by {self.rule}; leave it out"
                )
        return self


class Checks(SpecSection):
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
    maximum_noise_floor: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None,
        description="Local models: most that a probability may differ from what the model's own attention gives for "
        "the same prompts in float32, and a tenth of what a label's share may; error. null: 1e-5 in float32; in half "
        "precision it must be given.",
    )
    fail_on_warning: bool = Field(False, description="Treat warnings as errors.")
    suites: dict[Literal["prompts", "variants", "scores"], str] = Field(
        default_factory=dict,
        description="Suites of Great Expectations, a file for a table, which run after our own checks; needs the extra "
        "gx. An expectation of severity critical is an error, any other a warning.",
    )
    minimum_agreement: Share = Field(
        0.8,
        description="Manipulation check: share of versions whose attribute the model must name as it was meant; below "
        "it a null effect of that attribute is uninterpretable.",
    )


class RandomRounds(SpecSection):
    """Rounds drawn at random, in which selection gaps are measured: candidates of one position compete."""

    size: Annotated[int, Field(ge=2, le=100)] = Field(description="Candidates of a round.")
    count: Annotated[int, Field(ge=2, le=100_000)] = Field(
        description="Rounds drawn in each position, each without replacement; a candidate is in many of them."
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        None, description="Seed of this draw; null: from the spec's."
    )


class NamesPlan(SpecSection):
    """What the plan assumes of names, in standard deviations of the score, to tell how many are needed."""

    smallest_effect: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="Smallest standardised effect that the experiment is to find with `power`; null: none is stated, "
        "and the plan tells what it could find.",
    )
    name_sd: Annotated[float, Field(ge=0)] = Field(
        0.1, description="Assumed SD of the effects of names of one group, from a pilot or an earlier report."
    )
    version_sd: Annotated[float, Field(ge=0)] = Field(
        0.5, description="Assumed SD of the versions of one application, other than by their names."
    )
    prompt_sd: Annotated[float, Field(ge=0)] = Field(
        0.3, description="Assumed SD of the prompts of one version."
    )


class Measure(SpecSection):
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
    random_rounds: RandomRounds | None = Field(
        None,
        exclude_if=lambda given: given is None,
        description="Measure selection gaps (demographic_parity_gap, equal_opportunity_gap) in rounds drawn at random "
        "from the scored candidates of each position, however many there are; null: in the rounds of decision.round or "
        "of the data.",
    )
    bins: Annotated[int, Field(ge=2, le=1000)] = Field(
        20,
        exclude_if=lambda given: given == 20,
        description="jensen_shannon_divergence: bins of equal width, from the lowest to the highest score of the two "
        "groups that are compared.",
    )
    condition: Name = Field(
        "position",
        exclude_if=lambda given: given == "position",
        description="conditional_demographic_disparity: what like cases have in common: position, or one of "
        "source.fields.",
    )
    weights: Name | None = Field(
        None,
        exclude_if=lambda given: given is None,
        description="Sampling weights: one of source.fields, that says of how many people of the population each row "
        "was drawn (positive and finite numbers). decision_rate_gap and score_gap are then weighted, with weighted "
        "rates and ratios; statutory tables stay counts of people; other metrics are refused. Null: each row counts "
        "once.",
    )
    outcomes_at_random: list[Name] | None = Field(
        None,
        exclude_if=lambda given: given is None,
        description="Gaps of error rates, odds and calibration: true outcomes that are not known are missing at random "
        "among people of one group and decision who have the same values of these columns (position, model, or any of "
        "source.fields; [] for none): they are then estimated too. Null: nothing is assumed of them, and there are "
        "bounds alone.",
    )
    margins: dict[Name, float] = Field(
        default_factory=dict,
        exclude_if=lambda given: not given,
        description="Metric -> its margin: the largest distance from parity that is of no interest, in the metric's "
        "own unit; of a ratio the lowest ratio that is of no interest, such as 0.8. Sealed in the plan. Groups are "
        "called equivalent only where two one-sided tests at alpha, shared among all numbers with a margin, show the "
        "number to be inside. Default: of ratios the policy's guideline (four fifths), of all others none, and then "
        "groups are never called equivalent.",
    )
    names: NamesPlan = Field(
        default_factory=NamesPlan,
        exclude_if=lambda given: given == NamesPlan(),
        description="standardised_effect of personas: the smallest effect that is to be found, and what is assumed of "
        "names, versions and prompts to tell how many are needed.",
    )
    application_effects: bool | None = Field(
        None,
        description="standardised_effect: give each application a constant of its own, so that effects are of "
        "differences within applications. Null: where perturb.design is balanced_incomplete, whose applications come "
        "in some groups only; elsewhere one constant for all, as in the paper.",
    )
    strata: list[list[str]] = Field(
        default_factory=lambda: [[], ["position"]],
        min_length=1,
        description="Columns to split by: position, model, round_id, application_id, qualified, an attribute, or any "
        "of source.fields; [] is the whole audit. The first entry is the headline.",
    )
    level: Annotated[float, Field(gt=0.5, lt=1)] = Field(0.95, description="Nominal coverage of intervals.")
    inner_level: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None,
        description="Coverage of a second, shorter interval of each standardised effect, drawn thick, such as 0.7; "
        "null: none.",
    )
    small_cell: Annotated[int, Field(ge=1)] = Field(
        5, description="Cells with fewer rows than this are marked."
    )
    alpha: Annotated[float, Field(gt=0, lt=0.25)] = Field(
        0.05, description="Significance level of tests and power, and of all margins together."
    )
    power: Annotated[float, Field(gt=0.5, lt=1)] = Field(
        0.8,
        description="How often the smallest detectable difference is found: the plan simulates the audit with its "
        "rounds, clusters, picked comparator and adjusted tests.",
    )
    power_strata: Annotated[int, Field(ge=1, le=1000)] = Field(
        4,
        exclude_if=lambda given: given == 4,
        description="Strata that the plan takes each further split of `strata` to have, to count the tests of the "
        "audit; only the sample tells.",
    )

    @field_validator("margins")
    @classmethod
    def _above_zero(cls, value: dict[str, float]) -> dict[str, float]:
        for name, margin in value.items():
            if not 0 < margin < inf:
                raise ValueError(
                    f"{name}: {margin:g} is no margin; it is a distance from parity, without a sign, and greater than "
                    "0 (of a ratio the lowest ratio that is of no interest, such as 0.8)"
                )
        return value

    @model_validator(mode="after")
    def _inside(self) -> Measure:
        if self.inner_level is not None and self.inner_level >= self.level:
            raise ValueError("inner_level has to be below level: its interval lies inside the other")
        return self

    @field_validator("metrics", "quotas", "thresholds")
    @classmethod
    def _once(cls, value: list[Any]) -> list[Any]:
        no_repeats(value)
        return value

    @field_validator("strata")
    @classmethod
    def _strata_once(cls, value: list[list[str]]) -> list[list[str]]:
        for columns in value:
            no_repeats(columns)
        no_repeats([sorted(columns) for columns in value])
        return value


StatedText = Literal[
    "title",
    "report.tool",
    "source.reason",
    "use.assesses",
    "use.human_review",
    "use.notice.where",
    "use.notice.alternative",
    "use.test_data.why",
    "use.test_data.how",
    "use.test_data.invoked",
]
"""Keys of texts of the employer's that the summary and the applicant's page print."""


class Report(SpecSection):
    """What is printed around the numbers."""

    later = frozenset({"translations"})
    policy: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]{0,63}|.+\.ya?ml)$")] = Field(
        "nyc_ll144",
        description="Policy pack: the name of one that is shipped or of an installed package, or a YAML file next to "
        "the spec.",
    )
    tool: str = Field("", description="What the audited tool decides, in a sentence.")
    distribution_date: str | None = Field(
        None, description="Date the tool was first used (ISO 8601), if it is."
    )
    auditor: str | None = Field(None, description="Who audits; null prints `not signed`.")
    formats: list[Literal["pdf"]] = Field(
        default_factory=list,
        description="Further forms of the report, beside HTML, JSON and CSV: `pdf` (PDF/UA; needs the extra `pdf`).",
    )
    languages: list[Literal["es"]] = Field(
        default_factory=list,
        description="Languages of the page next to English: `es` (Spanish) gives report.es.html, and report.es.pdf "
        "where `formats` asks for a PDF. The English page is the one that is checked; tables and JSON stay English.",
    )
    translations: dict[Literal["es"], dict[StatedText, str]] | None = Field(
        None,
        description="Language -> key of a text in this spec -> the text in that language, for the summary and the "
        "applicant's page. A text without one is not printed there: the page says where it is in English.",
    )
    switches: dict[Name, str] = Field(
        default_factory=dict,
        description="Switch of the policy pack -> the way it stands in this audit, where it is not the pack's.",
    )

    @property
    def policy_file(self) -> str | None:
        """The policy pack as a file next to the spec; None where it is one by name."""
        return self.policy if self.policy.endswith((".yaml", ".yml")) else None

    @field_validator("distribution_date")
    @classmethod
    def _day(cls, value: str | None) -> str | None:
        try:
            if value is not None:
                date.fromisoformat(value)
        except ValueError:
            raise ValueError("is not an ISO 8601 date such as 2026-01-31") from None
        return value
