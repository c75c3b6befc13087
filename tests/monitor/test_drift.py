"""A run against the one before it, through real stages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from audit_lib import monitor, pipeline
from audit_lib.canonical import pretty_json
from audit_lib.documents import comparison
from audit_lib.documents.drift import DriftDocument
from audit_lib.documents.metrics import Metrics
from audit_lib.errors import EvidenceError, IncompleteRunError
from audit_lib.monitor.drift import _compare
from audit_lib.run import Run
from audit_lib.typed_json import decode_value
from audit_lib.window import Window
from tests.archive.cases import applicants, do, new_run, reseal
from tests.archive.kept_runs import sealed

WEEKS = [Window.parse(f"2026-01-{day:02d}", f"2026-01-{day + 7:02d}") for day in (5, 12, 19)]


def run(folder: Path, week: int, **options: Any) -> Run:
    """A run of one week's applicants, done up to its evidence."""
    return sealed(folder, folder / f"inputs {week}", WEEKS[week], **options)


def drift(current: Run) -> DriftDocument:
    return monitor.measure_drift(current, monitor.read_history(current.store, current.key.audit))


def compare(current: Run) -> dict[str, Any]:
    return drift(current).as_dict()


def previous_run(current: Run) -> Run | None:
    history = monitor.read_history(current.store, current.key.audit)
    before = history.before(current.key.window, current.key.prefix.rsplit("/", 1)[1])
    return Run.load(current.store.uri(before.prefix)) if before else None


def record(current: Run) -> list[dict[str, Any]]:
    return [one.as_dict() for one in recorded_drifts(current)]


def recorded_drifts(current: Run) -> list[DriftDocument]:
    recorded = monitor.record_drift(current.store, current.key.audit, current.key.window)
    assert recorded.not_compared == []
    return recorded.documents


def read(document: dict[str, Any]) -> DriftDocument:
    """The document as it is read back."""
    found = decode_value(cast(Any, DriftDocument), document, "drift")
    assert found.as_dict() == document
    return cast(DriftDocument, found)


def alerts_of(document: dict[str, Any]) -> list[str]:
    return monitor.alerts_of(read(document))


def recorded(current: Run) -> dict[str, Any]:
    """The document in the store."""
    name = current.key.prefix.removeprefix(f"{current.key.audit}/").replace("/", "_")
    content: dict[str, Any] = json.loads(current.store.get(f"{current.key.audit}/monitor/{name}.json"))
    return content


def unanswered() -> list[dict[str, Any]]:
    rows = applicants()
    for row in rows[1::4]:
        row["recorded_score"] = None
    return rows


def test_a_first_run_says_so(tmp_path: Path) -> None:
    first = run(tmp_path, 0)
    assert previous_run(first) is None
    document = compare(first)
    assert document["previous"] is None and document["reason"].startswith("first run")
    assert document["not_audited"] == {"states": {}, "windows": []}
    assert alerts_of(document) == []


def test_a_document_of_an_earlier_name_is_written_again(tmp_path: Path) -> None:
    first = run(tmp_path, 0)
    (document,) = record(first)
    assert document["schema"] == "audit-drift/1"
    assert comparison.SCHEMA == "audit-comparison/4"
    (key,) = first.store.list(f"{first.key.audit}/monitor")
    first.store.replace(key, pretty_json(document | {"schema": "audit-comparison/2"}))
    assert record(first) == [document] == [recorded(first)]
    assert record(first) == []


def test_an_unchanged_week(tmp_path: Path) -> None:
    first, second = run(tmp_path, 0), run(tmp_path, 1)
    assert previous_run(second) is not None and previous_run(second).key == first.key  # type: ignore[union-attr]
    document = compare(second)
    assert document["previous"]["window"] == WEEKS[0].label
    assert document["current"]["window"] == WEEKS[1].label
    assert document["previous"]["spec_digest"] == document["current"]["spec_digest"]
    assert (document["design_changed"], document["changed_sections"]) == (False, [])
    assert (document["model_changed"], document["software_changed"]) == (False, {})
    assert document["only_previous"] == document["only_current"] == []
    summary = document["summary"]
    metrics = second.stage("metrics").read_json("metrics.json")
    cells = sum(len(table["rows"]) for table in metrics["tables"])
    assert summary["compared"] == len(document["comparisons"]) == 2 * cells + len(metrics["estimates"])
    assert summary["exceeding"] == summary["newly_flagged"] == summary["no_longer_flagged"] == 0
    assert 0 < summary["with_interval"] < summary["compared"]
    assert summary["expected_by_chance"] == pytest.approx(0.05 * summary["with_interval"])
    changes = [item["change"] for item in document["comparisons"]]
    assert all(change == 0 or "undefined" in change for change in changes)
    assert any(change == 0 for change in changes)


def test_a_week_in_which_one_group_does_worse(tmp_path: Path) -> None:
    run(tmp_path, 0, rows=applicants(240))
    second = run(tmp_path, 1, rows=applicants(240, shift=0.9))
    document = compare(second)
    assert document["summary"]["exceeding"] > document["summary"]["expected_by_chance"]
    assert document["summary"]["newly_flagged"] > 0
    # A test of one look raises no alarm: over a year of looks at an unchanged system several would.
    assert alerts_of(document) == []
    assert "by tests of these two windows alone" in monitor.summary_line(read(document))
    cell = next(
        item
        for item in document["comparisons"]
        if item.get("number") == "rate"
        and (item["table"], item["family"], item["stratum"]) == ("selection", "race_ethnicity", {})
        and item["category"].startswith("Black")
    )
    assert cell["exceeds"] is True and cell["change"] < -0.3
    assert cell["change"] == cell["current"] - cell["previous"]
    ratio = next(
        item
        for item in document["comparisons"]
        if item.get("number") == "impact_ratio" and item["category"] == cell["category"]
    )
    assert ratio["four_fifths_flag"]["current"] is True


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        folder = tmp_path / name
        runs = []
        for week, rows in enumerate((applicants(), applicants(40))):
            inputs = folder / f"inputs {week}"
            inputs.mkdir(parents=True)
            runs.append(do(new_run(inputs, str(folder / "store"), WEEKS[week], rows=rows)))
        content = pretty_json(compare(runs[-1]))
        # The manifests cover the reports, whose pages print when they were made.
        made.append(re.sub(rb'"manifest_sha256": "[0-9a-f]{64}"', b"", content))
        assert made[-1] != content
    assert made[0] == made[1]


def test_a_changed_design_and_model_are_told(tmp_path: Path) -> None:
    run(tmp_path, 0)
    second = run(tmp_path, 1, model={"name": "another model"}, measure={"quotas": [1, 7]})
    document = compare(second)
    assert document["design_changed"] is True
    assert document["changed_sections"] == ["measure", "model"]
    assert document["model_changed"] is True
    assert {item["parameters"]["k"] for item in document["only_current"]} == {7}
    assert {item["parameters"]["k"] for item in document["only_previous"]} == {2, 3, 4, 5}


class TestAnswering:
    """A log keeps its name in the spec, and another version of the tool decided."""

    @staticmethod
    def versions(folder: Path, *names: str | None) -> dict[str, Any]:
        for week, name in enumerate(names):
            rows = applicants()
            for row in rows:
                row["recorded_model"] = name
            last = run(folder, week, rows=rows, model={"name": "our-tool"})
        return compare(last)

    def test_another_version_is_told_with_both_names(self, tmp_path: Path) -> None:
        document = self.versions(tmp_path, "our-tool-2026-01-04", "our-tool-2026-01-11")
        assert document["answering"]["changed"] is True and document["model_changed"] is False
        (said,) = [line for line in alerts_of(document) if "answered" in line]
        assert "our-tool-2026-01-04 before, our-tool-2026-01-11 now" in said

    def test_the_same_version_is_no_change(self, tmp_path: Path) -> None:
        assert alerts_of(self.versions(tmp_path, "v7", "v7")) == []

    def test_rows_that_name_no_model_are_no_change(self, tmp_path: Path) -> None:
        document = self.versions(tmp_path, "v7", None)
        assert document["answering"] == {"previous": ["v7"], "current": [], "changed": None}
        assert alerts_of(document) == []


class TestPrevious:
    def test_the_latest_earlier_one(self, tmp_path: Path) -> None:
        runs = [run(tmp_path, week) for week in (0, 1, 2)]
        assert previous_run(runs[0]) is None
        found = previous_run(runs[2])
        assert found is not None and found.key == runs[1].key
        assert found.stage("metrics").is_complete()

    def test_failed_and_unsealed_runs_are_passed_over(self, tmp_path: Path) -> None:
        first = run(tmp_path, 0)
        failed = run(tmp_path, 1, rows=unanswered())
        assert failed.stage("evidence").read_json("manifest.json")["outcome"] == "validation_failed"
        inputs = tmp_path / "unsealed"
        inputs.mkdir()
        do(new_run(inputs, str(tmp_path / "store"), WEEKS[1], seed=8), until="report")
        found = previous_run(run(tmp_path, 2))
        assert found is not None and found.key == first.key

    def test_of_two_designs_of_one_window_the_same_one(self, tmp_path: Path) -> None:
        same = run(tmp_path, 0)
        run(tmp_path, 0, seed=8)
        found = previous_run(run(tmp_path, 1))
        assert found is not None and found.key == same.key

    def test_an_overlapping_window_is_not_earlier(self, tmp_path: Path) -> None:
        run(tmp_path, 0)
        inputs = tmp_path / "other"
        inputs.mkdir()
        overlapping = new_run(inputs, str(tmp_path / "store"), Window.parse("2026-01-11", "2026-01-18"))
        assert previous_run(overlapping) is None

    def test_another_audit_is_another_audit(self, tmp_path: Path) -> None:
        run(tmp_path, 0, audit="small_too")
        assert previous_run(run(tmp_path, 1)) is None


def test_an_unsealed_run_is_not_compared(tmp_path: Path) -> None:
    unsealed = do(new_run(tmp_path, str(tmp_path / "store")), until="report")
    with pytest.raises(IncompleteRunError, match="evidence"):
        compare(unsealed)


class TestOrder:
    """Comparisons follow the order of the windows, not the order in which they were audited."""

    def test_a_window_that_is_audited_later_takes_its_place(self, tmp_path: Path) -> None:
        first = run(tmp_path, 0)
        third = run(tmp_path, 2, rows=applicants(240, shift=0.9))
        sealed = {path: path.read_bytes() for path in Path(third.uri).rglob("*") if path.is_file()}
        for each in (first, third):
            record(each)
        assert recorded(third)["previous"]["window"] == WEEKS[0].label
        assert recorded(third)["summary"]["exceeding"] > 0
        second = run(tmp_path, 1, rows=applicants(240, shift=0.9))  # the drift was there a week before
        documents = record(second)
        assert [one["current"]["window"] for one in documents] == [WEEKS[1].label, WEEKS[2].label]
        assert recorded(second)["previous"]["window"] == WEEKS[0].label
        assert recorded(third)["previous"]["window"] == WEEKS[1].label
        assert recorded(third)["summary"]["exceeding"] == 0
        assert record(second) == record(third) == []
        assert sealed == {path: path.read_bytes() for path in Path(third.uri).rglob("*") if path.is_file()}

    @pytest.mark.slow
    def test_any_order_of_audits_gives_the_same_documents(self, tmp_path: Path) -> None:
        found = []
        for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
            folder = tmp_path / "".join(map(str, order))
            folder.mkdir()
            runs = {week: run(folder, week, rows=applicants(40 + week)) for week in order}
            for week in order:
                record(runs[week])
            found.append(
                [
                    re.sub(r'"manifest_sha256": "[0-9a-f]{64}"', "", json.dumps(recorded(runs[week])))
                    for week in (0, 1, 2)
                ]
            )
        assert found[0] == found[1] == found[2]

    def test_a_failed_window_in_between_is_named(self, tmp_path: Path) -> None:
        schedule = {"schedule": {"cron": "0 0 * * 1"}}
        first, third = run(tmp_path, 0, **schedule), run(tmp_path, 2, **schedule)
        for each in (first, third):
            record(each)
        (waiting,) = recorded(third)["not_audited"]["windows"]
        assert waiting["window"] == WEEKS[1].label and waiting["state"] in ("due", "late", "missed")
        failed = run(tmp_path, 1, rows=unanswered(), **schedule)
        (document,) = record(failed)
        assert document["not_audited"]["windows"] == [{"window": WEEKS[1].label, "state": "failed"}]
        assert document["not_audited"]["states"] == {"failed": 1}
        assert "windows before it that are owed were not audited: 1 failed" in monitor.summary_line(
            read(document)
        )

    def test_it_is_no_first_run_where_earlier_windows_are_owed(self, tmp_path: Path) -> None:
        schedule = {"schedule": {"cron": "0 0 * * 1", "start": "2025-12-22T00:00:00+00:00"}}
        only = run(tmp_path, 0, **schedule)
        document = compare(only)
        assert document["previous"] is None
        assert "first run" not in document["reason"]
        assert document["reason"].startswith(
            "no earlier window was audited; of those that are owed: 2 missed"
        )
        assert [one["window"] for one in document["not_audited"]["windows"]] == [
            "20251222T000000Z_20251229T000000Z",
            "20251229T000000Z_20260105T000000Z",
        ]
        assert alerts_of(document) != []


class TestUnreadable:
    """The window before was made by a version whose documents this one does not read."""

    @staticmethod
    def of_another_version(folder: Path) -> Run:
        first = run(folder, 0)
        path = Path(first.uri) / "metrics/metrics.json"
        path.write_bytes(pretty_json(json.loads(path.read_bytes()) | {"key_of_another_version": 1}))
        reseal(Path(first.uri))
        return first

    def test_the_next_window_is_sealed_and_told_why_it_is_not_compared(self, tmp_path: Path) -> None:
        self.of_another_version(tmp_path)
        inputs = tmp_path / "inputs 1"
        inputs.mkdir()
        said: list[str] = []
        second = replace(new_run(inputs, str(tmp_path / "store"), WEEKS[1]), notify=said.append)
        pipeline.run_all(second)
        assert second.stage("evidence").is_complete()
        (warning,) = [line for line in said if line.startswith("WARNING: changes:")]
        assert second.key.prefix in warning and "key_of_another_version: is not a key" in warning

    @pytest.mark.parametrize("described", [{}, [], {"fingerprint": 1}], ids=str)
    def test_a_model_without_a_fingerprint_is_no_traceback(self, tmp_path: Path, described: Any) -> None:
        first, second = run(tmp_path, 0), run(tmp_path, 1)
        (Path(first.uri) / "scores/0/model.json").write_bytes(pretty_json(described))
        reseal(Path(first.uri))
        with pytest.raises(EvidenceError, match="scores/0/model.json: fingerprint: is missing"):
            compare(second)

    def test_the_windows_after_it_are_compared(self, tmp_path: Path) -> None:
        self.of_another_version(tmp_path)
        second, third = run(tmp_path, 1), run(tmp_path, 2)
        recorded = monitor.record_drift(second.store, second.key.audit, second.key.window)
        (why,) = recorded.not_compared
        assert why.startswith(f"{second.key.prefix}: cannot be compared")
        assert [one.current.window for one in recorded.documents] == [third.key.window.label]

    def test_what_cannot_be_listed_does_not_undo_a_sealed_run(self, tmp_path: Path) -> None:
        first = self.of_another_version(tmp_path)
        (Path(first.uri) / "evidence/_SUCCESS").write_text("{}")
        inputs = tmp_path / "inputs 1"
        inputs.mkdir()
        second = new_run(inputs, str(tmp_path / "store"), WEEKS[1])
        pipeline.run_all(second)
        assert second.stage("evidence").is_complete()


def test_effects_in_several_wordings_and_flags_of_several_classifiers_are_told_apart(tmp_path: Path) -> None:
    effects = run(tmp_path, 0)
    metrics = effects.stage("metrics").read_document(Metrics, "metrics.json")
    one = next(each for each in metrics.estimates if each.metric == "score_gap")
    variants = tuple(
        replace(one, parameters=dict(one.parameters) | told)
        for told in (
            {},
            {"variation": "none"},
            {"variation": "format:bullets"},
            {"attribute": "sex"},
            {"threshold": 3.0},
            {"classifier": "rude"},
            {"classifier": "cliche"},
        )
    )
    compared, before, now = _compare(*2 * (replace(metrics, tables=(), estimates=variants),))
    assert (len(compared), before, now) == (7, [], [])
