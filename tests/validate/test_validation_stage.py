from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.errors import IncompleteRunError, InputError, ValidationFailedError
from audit_lib.run import Run
from audit_lib.validate import require_valid, validate
from audit_lib.validate.evaluate import ROWS_SHOWN, check_table
from audit_lib.validate.expectations import between, filled, one_of, unique
from tests.sample.cases import write
from tests.sample.test_ranking_log import LISTWISE, rankings
from tests.specs import load
from tests.validate.cases import SECRET, Tables, fail, failures, scored_run, validated

UNIQUE, IN_SET, FILLED, BETWEEN = (
    f"expect_column_values_to_{what}" for what in ("be_unique", "be_in_set", "not_be_null", "be_between")
)
PAIRS = "expect_compound_columns_to_be_unique"
ROWS = "expect_table_row_count_to_be_between"
VALUES = "expect_column_unique_value_count_to_be_between"


def test_sound_tables_pass(tmp_path: Path) -> None:
    document = validated(tmp_path)
    assert failures(document) == []
    assert document["success"] is True
    assert document["severity_failed"] is None
    assert [suite["table"] for suite in document["suites"]] == [
        "prompts",
        "variants",
        "scores",
        "completeness",
    ]
    assert document["label_mass"] == {"mean": 0.5, "minimum": 0.5}
    assert document["completeness"][0] == {
        "group": {"sex": "female", "race": "White"},
        "n": 6,
        "ok": 6,
        "unranked": 0,
        "refused": 0,
        "unparsed": 0,
        "error": 0,
        "answered_share": 1.0,
    }


DAMAGES: dict[str, tuple[Any, set[tuple[str, str, str | None, str]]]] = {
    "a lost score": (
        lambda t: t.scores.pop(),
        {("scores", ROWS, None, "error")},
    ),
    "a doubled score": (
        lambda t: t.scores.append(dict(t.scores[0])),
        {("scores", ROWS, None, "error"), ("scores", PAIRS, "variant_id, repeat", "error")},
    ),
    "one lost, another doubled": (
        lambda t: t.scores.__setitem__(3, dict(t.scores[0])),
        {("scores", PAIRS, "variant_id, repeat", "error")},
    ),
    "a score of nobody": (
        lambda t: t.scores[0].update(variant_id="nobody"),
        {("scores", IN_SET, "has_variant", "error"), ("scores", IN_SET, "request_of_variant", "error")},
    ),
    "a repeat too many": (
        lambda t: t.scores[1].update(repeat=2),
        {("scores", BETWEEN, "repeat", "error")},
    ),
    "an unknown status": (
        lambda t: t.scores[0].update(status="fine", score=None, detail="x"),
        {("scores", IN_SET, "status", "error")},
    ),
    "a failure with a score": (
        lambda t: t.scores[0].update(status="unparsed", detail="x"),
        {("scores", IN_SET, "scored_if_answered", "error")},
    ),
    "an answer without a score": (
        lambda t: t.scores[0].update(score=None),
        {("scores", IN_SET, "scored_if_answered", "error")},
    ),
    "a score beyond the labels' worth": (
        lambda t: t.scores[0].update(score=1.5),
        {("scores", BETWEEN, "score", "error")},
    ),
    "probabilities that do not sum to 1": (
        lambda t: t.scores[0].update(label_probabilities=[0.25, 0.75 + 2e-9]),
        {("scores", BETWEEN, "probability_sum", "error")},
    ),
    "a negative probability": (
        lambda t: t.scores[0].update(label_probabilities=[-0.25, 1.25]),
        {
            ("scores", BETWEEN, "probability_minimum", "error"),
            ("scores", BETWEEN, "probability_maximum", "error"),
        },
    ),
    "a probability too many": (
        lambda t: t.scores[0].update(label_probabilities=[0.25, 0.25, 0.5]),
        {("scores", BETWEEN, "labels", "error")},
    ),
    "a mass above 1": (
        lambda t: t.scores[0].update(label_mass=1.01),
        {("scores", BETWEEN, "label_mass", "error")},
    ),
    "another revision of the model": (
        lambda t: t.scores[0].update(model_fingerprint="e" * 64),
        {("scores", VALUES, "model_fingerprint", "error")},
    ),
    "another model half-way": (
        lambda t: t.scores[0].update(model="b-model", model_fingerprint="e" * 64),
        {("scores", VALUES, "model", "warning")},
    ),
    "a failure that is not explained": (
        lambda t: t.scores[0].update(status="refused", score=None),
        {("scores", IN_SET, "explained_if_not_ok", "warning")},
    ),
    "a variant lost": (
        lambda t: (t.variants.pop(), t.scores.pop(), t.scores.pop()),
        {("prompts", BETWEEN, "variants", "error")},
    ),
    "a variant twice": (
        lambda t: t.variants.append(dict(t.variants[0])),
        {
            ("prompts", BETWEEN, "variants", "error"),
            ("variants", UNIQUE, "variant_id", "error"),
            ("scores", ROWS, None, "error"),
        },
    ),
    "a variant of no prompt": (
        lambda t: t.variants[0].update(prompt_id="nobody"),
        {("prompts", BETWEEN, "variants", "error"), ("variants", IN_SET, "has_prompt", "error")},
    ),
    "a variant outside the rounds": (
        lambda t: t.variants[0].update(round_id=None),
        {("variants", FILLED, "round_id", "error")},
    ),
    "a variant without its text": (
        lambda t: t.variants[0].update(messages=None),
        {("variants", FILLED, "messages", "error")},
    ),
    "a level that is none": (
        lambda t: (t.prompts[0].update(sex="x"), t.variants[0].update(race="y")),
        {("prompts", IN_SET, "sex", "error"), ("variants", IN_SET, "race", "error")},
    ),
    "another provenance": (
        lambda t: t.prompts[0].update(provenance="inferred"),
        {("prompts", IN_SET, "provenance", "error")},
    ),
    "a prompt of another window": (
        lambda t: t.prompts[0].update(occurred_at=datetime(2026, 1, 12, tzinfo=UTC)),
        {("prompts", BETWEEN, "occurred_at", "error")},
    ),
    "a prompt twice": (
        lambda t: t.prompts.append(dict(t.prompts[0])),
        {("prompts", UNIQUE, "prompt_id", "error")},
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_nothing_else(tmp_path: Path, damage: str) -> None:
    change, expected = DAMAGES[damage]
    # The thresholds on completeness have their own tests.
    checks = {"minimum_answered_share": 0, "maximum_answered_gap": 1}
    document = validated(tmp_path, change, checks=checks)
    found = {f for f in failures(document) if f[0] != "completeness"}
    if damage == "a variant without its text":
        assert expected <= found
    else:
        assert found == expected
    severities = {severity for *_, severity in expected}
    assert document["severity_failed"] == ("error" if "error" in severities else "warning")
    assert document["success"] is (severities == {"warning"})


def _fail_some(count: int, sex: str = "female") -> Any:
    def damage(tables: Tables) -> None:
        people = {v["variant_id"]: v for v in tables.variants}
        chosen = [s for s in tables.scores if people[s["variant_id"]]["sex"] == sex]
        for row in chosen[:count]:
            fail(row)

    return damage


def test_too_few_answers(tmp_path: Path) -> None:
    checks = {"minimum_answered_share": 0.9, "maximum_answered_gap": 1}
    document = validated(tmp_path, _fail_some(3), checks=checks)  # 21 of 24 answered
    assert failures(document) == [("completeness", BETWEEN, "answered_share", "error")]
    assert document["success"] is False
    exactly = {"minimum_answered_share": 0.875, "maximum_answered_gap": 1}
    assert validated(tmp_path / "exactly", _fail_some(3), checks=exactly)["success"] is True


def test_answers_that_fail_one_group_more(tmp_path: Path) -> None:
    checks = {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.3}
    document = validated(tmp_path, _fail_some(3), checks=checks)
    shares = {tuple(g["group"].values()): g["answered_share"] for g in document["completeness"]}
    assert min(shares.values()) == pytest.approx(1 - 2 / 6)
    assert shares["male", "White"] == shares["male", "Black"] == 1.0
    assert failures(document) == [("completeness", BETWEEN, "answered_gap", "error")]


def test_labels_that_were_hidden_are_counted_by_group(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        for row in tables.scores[:3]:
            fail(row, "unparsed")
            row["detail"] = "label_below_top: 1 of 2 labels are not among the 20 tokens shown"
        fail(tables.scores[9], "unparsed")

    document = validated(tmp_path, damage, checks={"minimum_answered_share": 0.5, "maximum_answered_gap": 1})
    hidden = {tuple(g["group"].values()): g["label_below_top"] for g in document["completeness"]}
    assert hidden == {
        ("female", "White"): 2,
        ("female", "Black"): 1,
        ("male", "White"): 0,
        ("male", "Black"): 0,
    }
    assert "label_below_top" not in validated(tmp_path / "none")["completeness"][0]


def test_missing_answers_are_counted_by_status(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        for row, status in zip(tables.scores, ("refused", "unparsed", "error", "unranked"), strict=False):
            fail(row, status)
        tables.scores[3].update(score=0.5)

    document = validated(tmp_path, damage, checks={"minimum_answered_share": 0.5, "maximum_answered_gap": 1})
    first, second = document["completeness"][:2]
    assert (first["refused"], first["unparsed"], first["ok"], first["n"]) == (1, 1, 4, 6)
    assert (second["error"], second["unranked"], second["answered_share"]) == (1, 1, 5 / 6)
    assert document["success"] is True


def test_people_of_unknown_group_are_counted_apart(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        tables.variants[0]["race"] = None
        for row in tables.scores[:2]:
            fail(row)

    document = validated(
        tmp_path, damage, checks={"minimum_answered_share": 0.9, "maximum_answered_gap": 0.0}
    )
    unknown = document["completeness"][-1]
    assert unknown["group"] == {"sex": "female", "race": None}
    assert (unknown["n"], unknown["error"], unknown["answered_share"]) == (2, 2, 0.0)
    assert document["success"] is True  # no gap between the known groups
    assert sum(group["n"] for group in document["completeness"]) == 24


def test_a_group_without_rows_is_a_warning(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        for row in (*tables.prompts, *tables.variants):
            row["race"] = "White"

    document = validated(tmp_path, damage)
    assert failures(document) == [("completeness", BETWEEN, "groups_without_rows", "warning")]
    assert document["completeness"][1]["answered_share"] is None
    assert document["success"] is True


def test_a_low_label_mass_is_a_warning_that_can_stop(tmp_path: Path) -> None:
    checks = {"minimum_label_mass": 0.6}
    document = validated(tmp_path, checks=checks)
    assert failures(document) == [("completeness", BETWEEN, "mean_label_mass", "warning")]
    assert (document["success"], document["severity_failed"]) == (True, "warning")
    strict = validated(tmp_path / "strict", checks=checks | {"fail_on_warning": True})
    assert (strict["success"], strict["severity_failed"]) == (False, "warning")


def test_results_hold_row_numbers_and_no_text(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        tables.prompts[4]["sex"] = f"{SECRET}-level"
        tables.scores[5]["score"] = 7.0
        tables.scores[6]["status"] = SECRET
        tables.scores[0]["variant_id"] = SECRET

    document = validated(tmp_path, damage)
    assert document["success"] is False
    assert SECRET not in json.dumps(document)
    by_column = {e["column"]: e for suite in document["suites"] for e in suite["expectations"]}
    # Scores are sorted by variant and repeat; the variant renamed above moved to the front.
    assert by_column["score"]["observed"] == {
        "element_count": 24,
        "missing_count": 0,
        "unexpected_count": 1,
        "rows": [5],
    }
    assert by_column["sex"]["observed"] == {}


def test_validation_is_a_function_of_the_tables(tmp_path: Path) -> None:
    def damaged() -> Tables:
        tables = Tables()
        tables.scores[5]["score"] = 7.0
        return tables

    first, second = (validate(scored_run(tmp_path / part, damaged())) for part in ("one", "two"))
    assert first.artefacts["validation.json"] == second.artefacts["validation.json"]
    assert first.counts == {"expectations": first.counts["expectations"], "errors": 1, "warnings": 0}


def test_shards_change_nothing(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        tables.scores[5]["score"] = 7.0

    document = validated(tmp_path / "one", damage)
    assert document == validated(tmp_path / "three", damage, score={"shards": 3, "repeats": 2})


def _commit(run: Run) -> None:
    run.stage("validation").commit(validate(run), datetime.now(UTC))


def test_an_audit_goes_on_only_after_it_was_validated(tmp_path: Path) -> None:
    run = scored_run(tmp_path)
    with pytest.raises(IncompleteRunError):
        require_valid(run)
    _commit(run)
    require_valid(run)


def test_an_audit_that_failed_names_why_and_where(tmp_path: Path) -> None:
    tables = Tables()
    tables.scores[5]["score"] = 7.0
    tables.scores[6]["status"] = SECRET
    checks = {"minimum_answered_share": 0, "maximum_answered_gap": 1}
    run = scored_run(tmp_path, tables, checks=checks)
    _commit(run)
    with pytest.raises(ValidationFailedError) as caught:
        require_valid(run)
    message = str(caught.value)
    assert f"scores: {BETWEEN} on score (1 of 24 rows), error" in message
    assert f"scores: {IN_SET} on status, error" in message
    assert f"{run.uri}/validation/validation.json" in message
    assert "`checks`" not in message  # no threshold of the spec was missed
    assert SECRET not in message


def test_a_missed_threshold_is_named_with_value_and_group(tmp_path: Path) -> None:
    tables = Tables()
    _fail_some(3)(tables)
    run = scored_run(tmp_path, tables, checks={"minimum_answered_share": 0.9, "maximum_answered_gap": 0.3})
    _commit(run)
    with pytest.raises(ValidationFailedError) as caught:
        require_valid(run)
    assert "21 of 24 answered, and at least 0.9 must be" in str(caught.value)
    assert "and at most 0.3 may lie between" in str(caught.value)
    assert "`checks` in the spec holds the thresholds" in str(caught.value)


def test_an_attribute_that_nobody_has_stops_the_audit(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        for row in (*tables.prompts, *tables.variants):
            row["race"] = None

    document = validated(tmp_path, damage)
    assert ("prompts", BETWEEN, "unknown_share_race", "error") in failures(document)
    assert document["success"] is False


def test_an_attribute_that_most_have_not_is_a_warning(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        for rows in (tables.prompts, tables.variants):
            for row in rows[: len(rows) * 3 // 4]:
                row["race"] = None

    document = validated(tmp_path, damage)
    assert ("prompts", BETWEEN, "unknown_share_race", "warning") in failures(document)
    assert ("prompts", BETWEEN, "unknown_share_race", "error") not in failures(document)
    assert document["severity_failed"] == "warning"
    assert document["success"] is True


def test_recorded_rankings_pass_through_all_stages(tmp_path: Path) -> None:
    from audit_lib.pipeline import run_stage, shards
    from audit_lib.window import Window

    rows = rankings()
    for row in rows:
        row["shown"][2]["race"] = "Black"
    rows[0]["answer"] = None
    write(tmp_path, "log.jsonl", rows)
    checks = {"minimum_answered_share": 0.8}
    spec = load(
        tmp_path, **(LISTWISE | {"source": LISTWISE["source"] | {"windowed": True}, "checks": checks})
    )
    run = Run.open(spec, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store"))
    for stage in ("plan", "sample", "variants"):
        run_stage(run, stage)
    for shard in shards(run):
        run_stage(run, "scores", shard=shard)
    run_stage(run, "validation")
    document = run.stage("validation").read_json("validation.json")
    assert [f for f in failures(document) if f[3] == "error"] == []
    counts = {
        name: sum(group[name] for group in document["completeness"]) for name in ("n", "ok", "unparsed")
    }
    assert counts == {"n": 24, "ok": 7, "unparsed": 3}
    assert document["label_mass"] is None


def test_recorded_decisions_must_be_there(tmp_path: Path) -> None:
    def damage(tables: Tables) -> None:
        for row in tables.scores[1:]:
            row["selected"] = True

    document = validated(tmp_path, damage, decision={"rule": "recorded", "k": None, "round": None})
    assert failures(document) == [("scores", IN_SET, "decided_if_answered", "error")]


def test_great_expectations_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "great_expectations", None)
    assert validated(tmp_path)["success"] is True


def test_results_are_in_the_order_of_the_suite() -> None:
    frame = pd.DataFrame({"name": ["a", "a", None], "number": [1.0, 5.0, None], "other": [1, 1, 2]})
    suite = [
        between("number", 0, 4),
        unique("name"),
        filled("number"),
        one_of("name", ["a"]),
        unique("other", "name"),
    ]
    result = check_table("t", frame, suite)
    assert [(e.column, e.success) for e in result.expectations] == [
        ("number", False),
        ("name", False),
        ("number", False),
        ("name", True),
        ("other, name", False),
    ]
    assert result.expectations[0].observed == {
        "element_count": 3,
        "missing_count": 1,
        "unexpected_count": 1,
        "rows": [1],
    }
    assert [e.observed for e in result.expectations if "name" in (e.column or "")] == [{}, {}, {}]


def test_no_more_rows_are_listed_than_people_read() -> None:
    result = check_table("t", pd.DataFrame({"number": range(100)}), [between("number", -2, -1)])
    observed = result.expectations[0].observed
    assert observed["unexpected_count"] == 100
    assert observed["rows"] == list(range(ROWS_SHOWN))


def test_a_table_that_lacks_a_column() -> None:
    with pytest.raises(
        InputError, match="t: expect_column_values_to_not_be_null could not be evaluated on absent"
    ):
        check_table("t", pd.DataFrame({"number": [1]}), [filled("absent")])
