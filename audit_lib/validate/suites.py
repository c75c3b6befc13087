"""What must hold in each table. Columns that a suite derives, such as ``has_prompt``, say what they test."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from audit_lib.documents.statuses import ANSWERED, STATUSES
from audit_lib.sample.demographics import MOSTLY_UNKNOWN
from audit_lib.spec import RECORDED, UNDECIDED
from audit_lib.validate.expectations import (
    Expectation,
    between,
    different_values,
    filled,
    holds,
    one_of,
    row_count,
    unique,
)
from audit_lib.validate.sampled import SampledPrompts
from audit_lib.validate.variant_facts import VariantFacts
from audit_lib.window import Window

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec, Perturb

Derive = Callable[["pd.DataFrame"], "pd.DataFrame"]
Suite = tuple[Derive, list[Expectation]]
"""What adds the derived columns to some rows of a table, and what must hold in the table."""

SUM_TOLERANCE: Final = 1e-9
"""How far normalised probabilities may sum from 1."""

MASS_TOLERANCE: Final = 1e-6
"""How far a label mass may be above 1: models compute it in single precision."""


def prompts_suite(spec: AuditSpec, window: Window, prompts: SampledPrompts) -> Suite:
    """Return what adds derived columns to the sampled prompts, and what must hold in them."""
    suite = [
        row_count(1),
        filled("prompt_id"),
        unique("prompt_id"),
        filled("application_id"),
        filled("position"),
        filled("fields"),
        one_of("provenance", [spec.groups.provenance]),
        *_levels(spec),
        *(_rounds(spec, ("round_id", "order_shown")) if spec.model.answers_are_recorded else []),
    ]
    least, most = 1, 1
    shares: dict[str, float] = {}
    if spec.perturb is None:
        for axis in spec.groups.axes:  # someone's level must be known, or there is nothing to compare
            if axis in spec.groups.axes_of_probabilities:
                continue
            shares[f"unknown_share_{axis}"] = prompts.unknown_share(axis)
            suite.append(between(f"unknown_share_{axis}", None, 1, before=True))
            suite.append(between(f"unknown_share_{axis}", None, MOSTLY_UNKNOWN, severity="warning"))
    else:
        least, most = _variants_of_a_prompt(spec.perturb, len(spec.groups.cells()))
    suite.append(between("variants", least, most))
    if spec.source.windowed:
        suite += [
            filled("occurred_at"),
            between("occurred_at", _read_from(spec, window), window.end, before=True),
        ]
    ranked = spec.task == "listwise" and spec.model.answers_are_recorded
    if ranked:
        suite.append(holds("shown_within_round"))

    def derive(rows: pd.DataFrame) -> pd.DataFrame:
        frame = rows.assign(variants=prompts.variants(rows["prompt_id"]), **shares)
        if ranked:
            frame["places"] = prompts.places(rows["round_id"])
            frame["shown_within_round"] = frame["order_shown"].le(frame["places"])
        return frame

    return derive, suite


def _read_from(spec: AuditSpec, window: Window) -> datetime:
    """Return how old a prompt of a window may be: as old as the window, or as one that came late."""
    once = spec.source.once
    return window.start - timedelta(days=0 if once is None else once.late_days)


def _variants_of_a_prompt(perturb: Perturb, groups: int) -> tuple[int, int]:
    shown = {"full": groups, "balanced_incomplete": perturb.block_size or 0, "two_sample": 1}[perturb.design]
    if perturb.kind == "lexicon":
        return 0, shown
    return shown * perturb.names_per_cell, shown * perturb.names_per_cell


def variants_suite(spec: AuditSpec, prompts: SampledPrompts) -> Suite:
    """Return what adds derived columns to the variants, and what must hold in them."""
    suite = [
        row_count(1),
        filled("variant_id"),
        unique("variant_id"),
        holds("has_prompt"),
        filled("application_id"),
        filled("position"),
        filled("request_id"),
        *_levels(spec),
        *_rounds(spec, ("request_id", "order_shown")),
    ]
    if spec.perturb is not None and spec.perturb.kind != "lexicon":  # which varies what a prompt mentions
        suite += [filled(axis) for axis in spec.groups.axes]
    if (
        spec.prompt is not None and spec.task != "pairwise"
    ):  # what is asked about pairs stands in pairs.parquet
        suite.append(filled("messages"))
    if spec.decision.rule == "top_k":
        suite.append(filled("round_id"))
    if spec.task == "listwise":
        suite.append(filled("candidate"))
    return (lambda rows: rows.assign(has_prompt=prompts.count(rows["prompt_id"]))), suite


def scores_suite(spec: AuditSpec, variants: VariantFacts, models: int, *, own_scores: bool) -> Suite:
    """Return what adds derived columns to the scores, and what must hold in them.

    The pairs of variant and repeat are unique, each is one that was to be scored, and there are as
    many as were to be: so none is lost and none is doubled.

    Parameters
    ----------
    spec : AuditSpec
    variants : VariantFacts
        Those that were to be scored.
    models : int
        How many answered.
    own_scores : bool
        Whether a score may be other than what the labels are worth.
    """

    def derive(rows: pd.DataFrame) -> pd.DataFrame:
        answered = rows["status"].isin(ANSWERED)
        answer = rows["text" if spec.task in UNDECIDED else "score"]
        lists = rows["label_probabilities"]
        places = variants.ids.places(rows["variant_id"])
        frame = rows.drop(columns="label_probabilities").assign(
            has_variant=places >= 0,
            request_of_variant=rows["request_id"].eq(variants.requests(places, rows.index)),
            scored_if_answered=answered.eq(answer.notna())
            if spec.task not in UNDECIDED
            else ~answered | answer.notna(),
            explained_if_not_ok=rows["status"].eq("ok") | rows["detail"].notna(),
            labels=_of_lists(lists, len),
            probability_sum=_of_lists(lists, sum),
            probability_minimum=_of_lists(lists, _smallest),
            probability_maximum=_of_lists(lists, _largest),
        )
        if spec.decision.rule == RECORDED:
            frame["decided_if_answered"] = ~answered | rows["selected"].notna()
        return frame

    expected = len(variants.ids) * spec.score.repeats
    suite = [
        row_count(expected, expected),
        filled("variant_id"),
        holds("has_variant"),
        between("repeat", 0, spec.score.repeats - 1),
        unique("variant_id", "repeat"),
        holds("request_of_variant"),
        filled("model"),
        filled("model_fingerprint"),
        different_values("model_fingerprint", models),
        filled("status"),
        one_of("status", STATUSES),
        holds("scored_if_answered"),
        between("score", *_score_range(spec, own=own_scores)),
        between("probability_sum", 1 - SUM_TOLERANCE, 1 + SUM_TOLERANCE),
        between("probability_minimum", 0, None),
        between("probability_maximum", None, 1),
        between("label_mass", 0, 1 + MASS_TOLERANCE),
        between("attempts", 1, None),
        holds("explained_if_not_ok", severity="warning"),
    ]
    if spec.prompt is not None:
        suite.append(between("labels", len(spec.prompt.labels), len(spec.prompt.labels)))
    if not spec.model.answers_are_recorded:
        suite.append(different_values("model", 1, severity="warning"))
    if spec.decision.rule == RECORDED:
        suite.append(holds("decided_if_answered"))
    return derive, suite


def beside_suite(spec: AuditSpec, variants: VariantFacts) -> Suite:
    """Return what adds columns to the scores of controls, other prompts and checks, and what must hold in them.

    None is lost, none doubled. How many were answered is no condition: a model that declines to say who somebody is,
    is a finding.
    """

    def derive(rows: pd.DataFrame) -> pd.DataFrame:
        answered = rows["status"].isin(ANSWERED)
        return rows.drop(columns="label_probabilities").assign(
            has_variant=variants.ids.places(rows["variant_id"]) >= 0,
            scored_if_answered=answered.eq(rows["score"].notna()),
        )

    asked = len(variants.ids) * spec.score.repeats
    return derive, [
        row_count(asked, asked),
        holds("has_variant"),
        unique("variant_id", "repeat"),
        one_of("status", STATUSES),
        holds("scored_if_answered"),
    ]


def _levels(spec: AuditSpec) -> list[Expectation]:
    return [one_of(axis, levels) for axis, levels in spec.groups.attributes.items()]


def _rounds(spec: AuditSpec, place: tuple[str, str]) -> list[Expectation]:
    if spec.task != "listwise":
        return []
    return [filled("round_id"), filled("order_shown"), between("order_shown", 1, None), unique(*place)]


def _score_range(spec: AuditSpec, *, own: bool) -> tuple[float, float]:
    import sys

    if spec.task == "pointwise" and spec.prompt is not None and not own:
        low, high = min(spec.prompt.relevance), max(spec.prompt.relevance)
        slack = SUM_TOLERANCE * max(abs(low), abs(high), 1.0)
        return low - slack, high + slack
    return -sys.float_info.max, sys.float_info.max  # any finite score


def _of_lists(lists: pd.Series, what: Callable[[Any], float]) -> pd.Series:
    """Return a number of each list, NaN where there is none."""
    import pandas as pd

    if not lists.notna().any():  # as of recorded decisions
        return pd.Series(float("nan"), index=lists.index, dtype="float64")
    return lists.map(what, na_action="ignore").astype("float64")


def _smallest(values: list[float]) -> float:
    return min(values, default=float("nan"))


def _largest(values: list[float]) -> float:
    return max(values, default=float("nan"))
