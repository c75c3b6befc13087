"""Fairness through unawareness (FTU): how many prompts mention a protected word at all.

Where none does, a model sees no group, and metrics that compare a prompt with its counterfactual do not apply.
Source: Bouchard, "An Actionable Framework for Assessing Bias and Fairness in Large Language Model Use
Cases" (2024). LangFair's flag of that name says the opposite of what it is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from audit_lib.stats.intervals import wilson


def ftu_report(
    mentions: Iterable[Collection[str]], attributes: Sequence[str], level: float = 0.95
) -> dict[str, Any]:
    """Return the shares of prompts that mention each attribute, with Wilson intervals.

    Parameters
    ----------
    mentions : iterable of collection of str
        For each prompt the attributes that it mentions.
    attributes : sequence of str
        Attributes that were looked for.
    level : float
        Nominal coverage of the intervals.

    Returns
    -------
    dict
        ``prompts``, ``unaware`` (no prompt mentions any), ``any`` and one entry for each attribute.

    Examples
    --------
    >>> report = ftu_report([{"sex"}, {"sex", "race"}, set(), set()], ["sex", "race"])
    >>> report["unaware"], report["any"]["mentioning"], report["attributes"][1]
    (False, 2, {'attribute': 'race', 'mentioning': 1, 'share': 0.25, 'interval': [0.045587, 0.699358]})
    """
    counts: Counter[str] = Counter()
    prompts = mentioning = 0
    for found in mentions:
        prompts += 1
        mentioning += bool(found)
        counts.update(found)
    return {
        "prompts": prompts,
        "unaware": mentioning == 0,
        "level": level,
        "any": _share(mentioning, prompts, level),
        "attributes": [{"attribute": a, **_share(counts[a], prompts, level)} for a in attributes],
    }


def _share(count: int, n: int, level: float) -> dict[str, Any]:
    if n == 0:
        return {"mentioning": 0, "share": None, "interval": None}
    found = wilson(count, n, level)
    return {
        "mentioning": count,
        "share": round(count / n, 6),
        "interval": [round(float(found.low), 6), round(float(found.high), 6)],
    }
