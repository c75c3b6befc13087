"""Pairwise answers by dictionaries, one pair at a time, without regard to speed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any


def said(answers: Mapping[str, Any]) -> dict[tuple[Any, Any], str]:
    """The answer with one candidate shown before another."""
    shown = zip(answers["first"], answers["second"], strict=True)
    return dict(zip(shown, answers["answer"], strict=True))


def outcomes(answers: Mapping[str, Any], group: Collection[Any], reference: Collection[Any]) -> list[int]:
    """1 for each pair that the group's candidate won in both orders, -1 for each it lost in both, else 0."""
    answer = said(answers)
    won = {("first", "second"): 1, ("second", "first"): -1}
    return [won.get((answer[a, b], answer[b, a]), 0) for a in group for b in reference if (a, b) in answer]


def points(answers: Mapping[str, Any]) -> tuple[dict[Any, float], dict[Any, int]]:
    """Points and pairs of each candidate: an order won is worth a half, a tie or no answer a quarter to both."""
    answer = said(answers)
    names = sorted({name for pair in answer for name in pair})
    total, count = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    for a, b in combinations(names, 2):
        if (a, b) not in answer:
            continue
        for shown in ((a, b), (b, a)):
            named = {"first": (shown[0],), "second": (shown[1],)}.get(answer[shown], (a, b))
            for name in named:
                total[name] += 0.5 / len(named)
        count[a] += 1
        count[b] += 1
    return total, count
