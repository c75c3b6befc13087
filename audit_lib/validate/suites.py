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
from audit_lib.validate.lookup import among, looked_up, occurrences
from audit_lib.window import Window

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec, Perturb

Suite = tuple["pd.DataFrame", list[Expectation]]

SUM_TOLERANCE: Final = 1e-9
"""How far normalised probabilities may sum from 1."""

MASS_TOLERANCE: Final = 1e-6
"""How far a label mass may be above 1: models compute it in single precision."""


def prompts_suite(spec: AuditSpec, window: Window, prompts: pd.DataFrame, variants: pd.DataFrame) -> Suite:
    """Return the sampled prompts with derived columns, and what must hold in them."""
    frame = prompts.assign(variants=occurrences(prompts["prompt_id"], variants["prompt_id"]))
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
    if spec.perturb is None:
        for axis in spec.groups.axes:  # someone's level must be known, or there is nothing to compare
            if axis in spec.groups.axes_of_probabilities:
                continue
            frame[f"unknown_share_{axis}"] = float(frame[axis].isna().mean()) if len(frame) else 0.0
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
    if spec.task == "listwise" and spec.model.answers_are_recorded:
        frame["places"] = frame.groupby("round_id")["prompt_id"].transform("size")
        frame["shown_within_round"] = frame["order_shown"].le(frame["places"])
        suite.append(holds("shown_within_round"))
    return frame, suite


def _read_from(spec: AuditSpec, window: Window) -> datetime:
    """Return how old a prompt of a window may be: as old as the window, or as one that came late."""
    once = spec.source.once
    return window.start - timedelta(days=0 if once is None else once.late_days)


def _variants_of_a_prompt(perturb: Perturb, groups: int) -> tuple[int, int]:
    shown = {"full": groups, "balanced_incomplete": perturb.block_size or 0, "two_sample": 1}[perturb.design]
    if perturb.kind == "lexicon":
        return 0, shown
    return shown * perturb.names_per_cell, shown * perturb.names_per_cell


def variants_suite(spec: AuditSpec, variants: pd.DataFrame, prompts: pd.DataFrame) -> Suite:
    """Return the variants with derived columns, and what must hold in them."""
    frame = variants.assign(has_prompt=among(variants["prompt_id"], prompts["prompt_id"]))
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
    return frame, suite


def scores_suite(spec: AuditSpec, scores: pd.DataFrame, variants: pd.DataFrame) -> Suite:
    """Return the scores with derived columns, and what must hold in them.

    The pairs of variant and repeat are unique, each is one that was to be scored, and there are as
    many as were to be: so none is lost and none is doubled.
    """
    answered = scores["status"].isin(ANSWERED)
    answer = scores["text" if spec.task in UNDECIDED else "score"]
    lists = scores["label_probabilities"]
    frame = scores.drop(columns="label_probabilities").assign(
        has_variant=among(scores["variant_id"], variants["variant_id"]),
        request_of_variant=scores["request_id"].eq(
            looked_up(scores["variant_id"], variants["variant_id"], variants["request_id"])
        ),
        scored_if_answered=answered.eq(answer.notna())
        if spec.task not in UNDECIDED
        else ~answered | answer.notna(),
        explained_if_not_ok=scores["status"].eq("ok") | scores["detail"].notna(),
        labels=_of_lists(lists, len),
        probability_sum=_of_lists(lists, sum),
        probability_minimum=_of_lists(lists, _smallest),
        probability_maximum=_of_lists(lists, _largest),
    )
    suite = [
        row_count(len(variants) * spec.score.repeats, len(variants) * spec.score.repeats),
        filled("variant_id"),
        holds("has_variant"),
        between("repeat", 0, spec.score.repeats - 1),
        unique("variant_id", "repeat"),
        holds("request_of_variant"),
        filled("model"),
        filled("model_fingerprint"),
        different_values("model_fingerprint", int(scores["model"].nunique())),
        filled("status"),
        one_of("status", STATUSES),
        holds("scored_if_answered"),
        between("score", *_score_range(spec, scores)),
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
        frame["decided_if_answered"] = ~answered | scores["selected"].notna()
        suite.append(holds("decided_if_answered"))
    return frame, suite


def beside_suite(spec: AuditSpec, variants: pd.DataFrame, scores: pd.DataFrame, asked: int) -> Suite:
    """Return the scores of controls, other prompts and checks, and what must hold: none lost, none doubled.

    How many were answered is no condition: a model that declines to say who somebody is, is a finding.
    """
    answered = scores["status"].isin(ANSWERED)
    frame = scores.drop(columns="label_probabilities").assign(
        has_variant=among(scores["variant_id"], variants["variant_id"]),
        scored_if_answered=answered.eq(scores["score"].notna()),
    )
    return frame, [
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


def _score_range(spec: AuditSpec, scores: pd.DataFrame) -> tuple[float, float]:
    import sys

    from audit_lib.score.requests import OWN_SCORE

    own = scores["method"].isin(OWN_SCORE).any()
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
