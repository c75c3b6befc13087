"""The page says when the plan was made, against when the recorded decisions were taken."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib.documents.sample import Occurred
from audit_lib.policies import policy_of
from audit_lib.policies.fields import required_fields
from audit_lib.report.content import Content, gather
from audit_lib.report.document import make_document
from audit_lib.report.timing import plan_words, power_words
from tests.inputs import recorded_rows, write_jsonl
from tests.report.runs import made

OLD = "written down before the model was asked anything"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """Decisions of 5 to 11 January 2026, planned today."""
    return gather(made(tmp_path_factory.mktemp("timing"), n=112))


def at(content: Content, planned: datetime, **occurred: Any) -> Content:
    """The same, planned at another time."""
    assert content.sample.occurred is not None
    known = replace(content.sample.occurred, **occurred)
    return replace(content, planned_at=planned, sample=replace(content.sample, occurred=known))


def test_the_sample_keeps_the_first_and_the_last(content: Content) -> None:
    assert content.sample.occurred == Occurred(
        first="2026-01-05T12:00:00+00:00", last="2026-01-11T12:00:00+00:00", not_stated=0
    )


def test_a_plan_made_afterwards_says_so_wherever_the_plan_is_spoken_of(content: Content) -> None:
    words = plan_words(content)
    assert OLD not in words and "before the model" not in power_words(content)
    assert "from 5 January 2026 to 11 January 2026 (UTC)" in words
    assert "after these decisions had been taken, so whoever wrote it could have known them" in words
    assert power_words(content) == "after the decisions were taken, before this audit read them"


FIRST, LAST = datetime(2026, 1, 5, 12, tzinfo=UTC), datetime(2026, 1, 11, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LATER = timedelta(days=730)  # the Act asks for a plan from 2 December 2027


def moved(facts: dict[str, Any]) -> dict[str, Any]:
    """The same audit two years later: every time of it, so that their order stays."""

    def later(times: dict[str, Any], *names: str) -> dict[str, Any]:
        return times | {name: (datetime.fromisoformat(times[name]) + LATER).isoformat() for name in names}

    sample = facts["sample"] | {"occurred": later(facts["sample"]["occurred"], "first", "last")}
    whole = later(facts, "planned_at", "scored_at", "measured_at")
    return whole | {"sample": sample, "window": later(facts["window"], "start", "end")}


@pytest.mark.parametrize(
    ("planned", "words", "power", "status"),
    [
        (
            FIRST - SECOND,
            "before any of these decisions was taken",
            "before the decisions were taken",
            "computed",
        ),
        (FIRST, "before any of these decisions was taken", "before the decisions were taken", "computed"),
        (
            FIRST + SECOND,
            "when some of these decisions had been taken",
            "after some of the decisions",
            "not met",
        ),
        (LAST, "when some of these decisions had been taken", "after some of the decisions", "not met"),
        (LAST + SECOND, "after these decisions had been taken", "after the decisions were taken", "not met"),
    ],
)
def test_each_order(content: Content, planned: datetime, words: str, power: str, status: str) -> None:
    one = at(content, planned)
    assert words in plan_words(one) and power_words(one).startswith(power)
    facts = make_document(one).as_dict()
    european = one.spec.report.model_copy(update={"policy": "eu_ai_act_annex_iii"})
    spec = one.spec.model_copy(update={"report": european})
    checks = required_fields(policy_of(spec), spec, moved(facts))
    assert [check.status for check in checks if check.id == "E08"] == [status]
    # On the day of these decisions nobody had to have a plan yet.
    (early,) = (one for one in required_fields(policy_of(spec), spec, facts) if one.id == "E08")
    assert early.status == ("computed" if status == "computed" else "not applicable")
    assert early.found.startswith("not in force yet on 2026-01-11: asked from 2027-12-02; planned")


def test_decisions_without_a_time_show_no_order(content: Content, tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "occurred_at"} for row in recorded_rows(112)]
    write_jsonl(tmp_path / "without.jsonl", rows)
    none = gather(made(tmp_path, n=112, source={"paths": ["without.jsonl"]}))
    assert none.sample.occurred is None
    assert "do not say when they were taken" in plan_words(none) and OLD not in plan_words(none)
    some = at(content, FIRST - SECOND, not_stated=3)
    assert "3 of 112 do not say when" in plan_words(some) and "nothing shows" in plan_words(some)


def test_a_live_model_was_asked_afterwards(content: Content) -> None:
    spec = content.spec.model_copy(
        update={"model": content.spec.model.model_copy(update={"backend": "http"})}
    )
    live = replace(content, spec=spec)
    assert OLD in plan_words(live) and power_words(live) == "before the model was asked"
