"""Fairness through unawareness: the shares of prompts that mention a group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.perturb.ftu import ftu_report
from audit_lib.stats.intervals import wilson


@given(st.lists(st.sets(st.sampled_from(["sex", "race"])), min_size=1, max_size=40))
def test_shares_and_intervals(mentions: list[set[str]]) -> None:
    report = ftu_report(mentions, ["sex", "race"], 0.9)
    n = len(mentions)
    assert report.prompts == n and report.unaware == (not any(mentions))
    assert report.any.mentioning == sum(map(bool, mentions))
    for entry in report.attributes:
        count = sum(entry.attribute in found for found in mentions)
        interval = wilson(count, n, 0.9)
        assert entry.mentioning == count and entry.share == pytest.approx(count / n, abs=1e-6)
        assert entry.interval == pytest.approx([interval.low, interval.high], abs=1e-6)


def test_without_prompts_nothing_is_claimed() -> None:
    report = ftu_report([], ["sex"], 0.95)
    assert report.any.as_dict() == {"mentioning": 0, "share": None, "interval": None}
