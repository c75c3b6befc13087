"""An audit over its windows: what is followed, against which baseline, and what raises an alarm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib import monitor
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.metrics import Metrics
from audit_lib.documents.sequences import (
    Alarm,
    Baseline,
    LeftOutQuantity,
    MonitorSettings,
    NamedSums,
    Sequences,
    WindowSumsDocument,
)
from audit_lib.errors import EvidenceError, InputError, NotFoundError
from audit_lib.monitor.sequences import follow
from audit_lib.monitor.window_sums import window_sums
from audit_lib.report.html import render_html
from audit_lib.results import Interval, Undefined
from audit_lib.run import Run
from audit_lib.signoff import generate_key
from audit_lib.site.monitor_page import monitor_page
from audit_lib.stats.sequential_pairs import PairSums
from audit_lib.store import open_store
from audit_lib.typed_json import decode
from audit_lib.window import Window
from tests.archive.cases import applicants, do, new_run

WEEKS = [
    Window(
        datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=k),
        datetime(2026, 1, 12, tzinfo=UTC) + timedelta(weeks=k),
    )
    for k in range(40)
]
SETTINGS = MonitorSettings(false_alarms=0.05, floor=0.0, minimum=20, line=0.8)


def week(
    place: int,
    rates: tuple[float, float],
    units: int = 100,
    *,
    version: str = "1",
    question: str = "a",
    run: str = "1",
) -> WindowSumsDocument:
    """Sums of a window of paired decisions, at the rates of group and reference."""
    rng = np.random.default_rng([place, int(1000 * rates[0])])
    pairs = PairSums.of([(rng.random(units) < rates[0], rng.random(units) < rates[1])])
    return WindowSumsDocument(
        audit="hiring",
        run=RunIdentity(window=WEEKS[place].label, spec_digest=run * 64, manifest_sha256=f"{place:064d}"),
        question={"groups": question},
        version={"model": version},
        unit="application",
        score_range=None,
        sums=(
            NamedSums(
                quantity="selection_rate",
                group={"sex": "female"},
                reference={"sex": "male"},
                rows=units,
                reference_rows=units,
                units=units,
                group_sum=float(pairs.group[0]),
                reference_sum=float(pairs.comparator[0]),
                group_squares=float(pairs.group_squares[0]),
                reference_squares=float(pairs.comparator_squares[0]),
                products=float(pairs.products[0]),
            ),
        ),
        left_out=(),
    )


def baseline_of(documents: Sequence[WindowSumsDocument], **settings: Any) -> Baseline:
    return Baseline(
        audit="hiring",
        number=1,
        name="acceptance",
        runs=tuple(one.run for one in documents),
        question=documents[-1].question,
        settings=replace(SETTINGS, **settings),
        decided_by="Ada Byron",
        reason="the windows that the vendor was accepted on",
        decided_at="2026-03-01T00:00:00+00:00",
    )


def alarms(found: Sequences) -> list[Alarm]:
    return [alarm for one in found.sequences for alarm in one.alarms]


def test_without_a_baseline_nothing_is_a_change() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(5)] + [week(k, (0.1, 0.5)) for k in range(5, 15)]
    found = follow("hiring", None, history)
    assert isinstance(found.baseline, Undefined)
    assert "nobody has decided" in found.baseline.reason
    assert alarms(found) == []
    last = found.sequences[0].looks[-1]
    assert last.change is None
    assert last.interval.high < 0 or last.interval.low < -0.1  # what it is now is printed all the same
    other = follow("hiring", None, [week(0, (0.5, 0.5), question="b"), *history[1:]])
    (aside,) = other.set_aside
    assert aside.reason == "asks another question than the latest window: groups of the spec differ"


def test_a_fall_of_one_groups_rate_is_told_with_its_week_and_size() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(12)] + [week(k, (0.25, 0.5)) for k in range(12, 25)]
    found = follow("hiring", baseline_of(history[:6]), history)
    (alarm,) = [one for one in alarms(found) if one.kind == "change"]
    assert WEEKS[11].label <= alarm.since <= WEEKS[13].label
    assert alarm.stands
    assert alarm.told_in >= WEEKS[12].label
    assert isinstance(alarm.before, Interval)
    assert isinstance(alarm.after, Interval)
    assert alarm.before.low < 0.0 < alarm.before.high
    assert alarm.after.low < -0.25 < alarm.after.high < 0
    assert any(one.kind == "below_line" for one in alarms(found))


def test_the_order_of_arrival_changes_no_byte() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(8)] + [week(k, (0.2, 0.5)) for k in range(8, 14)]
    baseline = baseline_of(history[:4])
    straight = follow("hiring", baseline, history)
    shuffled = [history[k] for k in np.random.default_rng(4).permutation(len(history))]
    assert pretty_json(follow("hiring", baseline, shuffled).as_dict()) == pretty_json(straight.as_dict())


def test_a_small_or_short_change_raises_no_alarm_below_floor_and_minimum() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(8)] + [week(k, (0.2, 0.5)) for k in range(8, 14)]
    assert any(one.kind == "change" for one in alarms(follow("hiring", baseline_of(history[:4]), history)))
    for settings in ({"floor": 0.35}, {"minimum": 5_000}):
        found = follow("hiring", baseline_of(history[:4], **settings), history)
        assert [one for one in alarms(found) if one.kind == "change"] == []


def test_what_is_no_part_of_the_sequence_is_set_aside_with_its_reason() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(2, 8)]
    baseline = baseline_of(history[:3])
    overlap = replace(
        week(9, (0.5, 0.5)),
        run=RunIdentity(
            window=Window(WEEKS[7].start + timedelta(days=2), WEEKS[8].end).label,
            spec_digest="1" * 64,
            manifest_sha256="f" * 64,
        ),
    )
    second = week(6, (0.1, 0.5), run="2")
    other = week(10, (0.1, 0.5), question="b")
    found = follow("hiring", baseline, [*history, week(0, (0.5, 0.5)), overlap, second, other])
    assert [(one.window, one.reason) for one in found.set_aside] == [
        (WEEKS[0].label, "before the baseline"),
        (WEEKS[6].label, "another run of this window is followed"),
        (overlap.run.window, f"overlaps window {WEEKS[7].label}: people in both would be counted twice"),
        (
            WEEKS[10].label,
            "asks another question than the baseline: groups of the spec differ",
        ),
    ]
    assert [look.window for look in found.sequences[0].looks] == [WEEKS[k].label for k in range(2, 8)]


def test_a_window_audited_late_within_the_baseline_does_not_become_part_of_it() -> None:
    history = [week(k, (0.5, 0.5)) for k in (0, 1, 3, 4, 5)]
    found = follow("hiring", baseline_of(history[:3]), [*history, week(2, (0.1, 0.5))])
    assert [one.reason for one in found.set_aside] == [
        "between the windows of the baseline, and none of them"
    ]


def test_another_model_is_marked_and_stays_in_the_sequence() -> None:
    history = [week(k, (0.5, 0.5), version="1" if k < 5 else "2") for k in range(9)]
    found = follow("hiring", baseline_of(history[:3]), history)
    assert [(one.window, one.changed) for one in found.versions] == [(WEEKS[5].label, ("model",))]
    assert len(found.sequences[0].looks) == 9


def test_an_alarm_names_what_became_another_with_it(tmp_path: Path) -> None:
    history = [week(k, (0.5, 0.5)) for k in range(10)]
    history += [week(k, (0.1, 0.5), version="2") for k in range(10, 16)]
    found = follow("hiring", baseline_of(history[:6]), history)
    (alarm,) = [one for one in alarms(found) if one.kind == "change"]
    assert (alarm.since, alarm.became_another) == (WEEKS[10].label, ("model",))
    assert "with that window became another: model" in monitor.alarm_line(found.sequences[0], alarm)
    page = render_html(monitor_page("Screening", found)).decode()
    assert "with that window became another: model" in page
    assert "2 alarms after 16 windows" in page
    assert page.count("<svg") == 2 and 'class="gap"' in page


def test_a_baseline_whose_run_is_another_one_now_is_not_used() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(6)]
    changed = replace(history[1], run=replace(history[1].run, manifest_sha256="e" * 64))
    found = follow("hiring", baseline_of(history[:3]), [history[0], changed, *history[2:]])
    assert isinstance(found.baseline, Undefined)
    assert f"the run of window {WEEKS[1].label} that it names is gone" in found.baseline.reason
    assert alarms(found) == []
    assert [one.reason for one in found.set_aside] == ["the baseline has another run of this window"]


def test_a_group_that_vanishes_has_looks_without_units() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(6)]
    history[4] = replace(history[4], sums=())
    found = follow("hiring", baseline_of(history[:3]), history)
    look = found.sequences[0].looks[4]
    assert look.units == 0
    assert isinstance(look.difference, Undefined)
    assert look.interval == found.sequences[0].looks[3].interval


def test_a_metric_missing_in_one_run_is_told_in_that_window() -> None:
    history = [week(k, (0.5, 0.5)) for k in range(7)]
    reason = "task generation decides nothing"
    left = LeftOutQuantity(quantity="selection_rate", reason=reason)
    for place in (4, 6):  # the latest one too: what other windows have is followed all the same
        history[place] = replace(history[place], sums=(), left_out=(left,))
    found = follow("hiring", baseline_of(history[:3]), history)
    looks = found.sequences[0].looks
    assert [look.difference == Undefined(f"not in this window: {reason}") for look in looks] == [
        k in (4, 6) for k in range(7)
    ]
    assert found.left_out == ()
    page = render_html(monitor_page("Screening", found)).decode()
    assert (
        f"No value in 2026-02-02 to 2026-02-09; 2026-02-16 to 2026-02-23: not in this window: {reason}."
        in page
    )


def test_scores_on_another_scale_are_not_followed_with_the_others() -> None:
    def scored(place: int, high: float | None) -> WindowSumsDocument:
        one = week(place, (0.5, 0.5))
        sums = tuple(replace(each, quantity="score") for each in one.sums)
        return replace(one, sums=sums, score_range=None if high is None else (0.0, high))

    history = [scored(k, 1.0) for k in range(5)] + [scored(5, 4.0)]
    found = follow("hiring", baseline_of(history[:3]), history)
    assert [(one.window, one.reason) for one in found.set_aside] == [
        (
            WEEKS[5].label,
            "scores on another scale than the baseline's: prompt.relevance of the spec differs",
        )
    ]
    assert len(found.sequences[0].looks) == 5


def real(folder: Path, place: int, *, shift: float = 0.0, **sections: Any) -> Run:
    inputs = folder / f"inputs {place}"
    inputs.mkdir(exist_ok=True)
    return do(new_run(inputs, str(folder / "store"), WEEKS[place], rows=applicants(shift=shift), **sections))


def test_real_runs_are_followed_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in (0, 2, 1):
        real(tmp_path, place)
    store = str(tmp_path / "store")
    folder = open_store(store)
    audit = folder.list("")[0].split("/")[0]
    assert main(["baseline", "show", audit, "--store", store]) == 0
    assert "no baseline; decide one" in capsys.readouterr().out
    assert main(["trend", audit, "--store", store]) == 0
    assert "nobody has decided which windows" in capsys.readouterr().out

    decide = ["baseline", "set", audit, "--store", store, "--from", "2026-01-05", "--to", "2026-01-19"]
    assert main(decide) == 2
    assert "give --name, --by, --reason too" in capsys.readouterr().err
    generate_key(tmp_path / "ada")
    key = ["--key", str(tmp_path / "ada")]
    assert main([*decide, "--name", "first", "--by", "Ada Byron", "--reason", "accepted", *key]) == 0
    said = capsys.readouterr().out
    assert "1. first (in use): 2 windows, decided by Ada Byron" in said and "signed with key" in said
    assert main(["baseline", "show", audit, "--store", store, "--trust", str(tmp_path / "ada.pub")]) == 0
    assert "not signed" not in capsys.readouterr().out
    assert main(["trend", audit, "--store", store, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["sequences"][0]["looks"]) == 3
    assert decode(Sequences, folder.get(f"{audit}/monitor/sequences.json"), "kept").as_dict() == document

    assert main(["trend", audit, "--store", store, "--page", str(tmp_path / "page.html")]) == 0
    assert "Over all windows" in (tmp_path / "page.html").read_text()
    kept = {key: folder.get(key) for key in folder.list(f"{audit}/monitor")}
    again = monitor.follow_audit(folder, audit)
    assert again.new_alarms == []
    assert {key: folder.get(key) for key in folder.list(f"{audit}/monitor")} == kept
    assert main(["trend", audit, "--store", store, "--verify"]) == 0
    changed = next(key for key in kept if "/sums/" in key)
    for key, old, new in (
        (changed, b'"group_sum": ', b'"group_sum": 1'),
        (f"{audit}/monitor/sequences.json", b'"units": ', b'"units": 1'),
        (f"{audit}/monitor/sequences.json", b'"sequences": [', b'"sequences": [], "other": ['),
    ):
        content = kept[key].replace(old, new, 1)
        if b'"other"' in content:
            content = pretty_json({name: one for name, one in json.loads(content).items() if name != "other"})
        folder.replace(key, content)
        capsys.readouterr()
        assert main(["trend", audit, "--store", store, "--verify"]) == 1
        assert "DIFFERS" in capsys.readouterr().out
        assert {key: folder.get(key) for key in folder.list(f"{audit}/monitor")} == kept
    decided = f"{audit}/baselines/0001.json"
    folder.replace(decided, (right := folder.get(decided)).replace(b'"minimum": ', b'"minimum": 9'))
    capsys.readouterr()
    assert main(["trend", audit, "--store", store, "--verify"]) == 1
    assert "its thresholds are not those of section monitor" in capsys.readouterr().out
    folder.replace(decided, right)
    gone = next((tmp_path / "store" / audit).glob("20260105T*"))
    gone.rename(tmp_path / "taken away")
    assert main(["trend", audit, "--store", store]) == 1
    assert "cannot be used: the run of window" in capsys.readouterr().out
    (tmp_path / "taken away").rename(gone)
    for key in kept:
        (tmp_path / "store" / key).unlink()
    monitor.follow_audit(folder, audit)
    assert {key: folder.get(key) for key in folder.list(f"{audit}/monitor")} == kept


def test_sums_are_of_units_that_hold_both_groups(tmp_path: Path) -> None:
    run = real(tmp_path, 0)
    found = window_sums(run)
    sex = next(one for one in found.sums if one.quantity == "selection_rate" and "sex" in one.group)
    # Everybody applied once: as many blocks as the rarer of the two has people.
    assert sex.units == min(sex.rows, sex.reference_rows)
    metrics = run.stage("metrics").read_document(Metrics, "metrics.json")
    table = next(one for one in metrics.tables if one.family == "sex" and not one.stratum)
    rates = {row.label: row.rate.value for row in table.rows}
    assert sex.rows == sex.reference_rows
    assert sex.group_sum / sex.units == pytest.approx(rates["Female"], abs=1e-12)
    assert sex.reference_sum / sex.units == pytest.approx(rates["Male"], abs=1e-12)
    assert [one.quantity for one in found.left_out] == ["score"]


def test_a_baseline_needs_sealed_runs_of_one_question_and_a_reason(tmp_path: Path) -> None:
    first, second = (
        real(tmp_path, 0),
        real(
            tmp_path,
            1,
            groups={"provenance": "self_reported", "reference": {"sex": "female", "race": "White"}},
        ),
    )
    store, audit = first.store, first.key.audit
    span = Window(WEEKS[0].start, WEEKS[1].end)
    said = {"name": "x", "decided_by": "Ada Byron", "reason": "accepted"}
    with pytest.raises(InputError, match="groups of their specs differ"):
        monitor.set_baseline(store, audit, span, **said)
    with pytest.raises(InputError, match="reason: is empty"):
        monitor.set_baseline(store, audit, span, **(said | {"reason": " "}))
    with pytest.raises(NotFoundError, match="no sealed run within"):
        monitor.set_baseline(store, audit, WEEKS[9], **said)
    path = tmp_path / "store" / second.key.prefix / "metrics" / "metrics.json"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b'"n": ', b'"n":  ', 1))
    with pytest.raises(EvidenceError, match="can be no baseline"):
        monitor.set_baseline(store, audit, WEEKS[1], **said)
    monitor.set_baseline(store, audit, WEEKS[0], **said)
    monitor.set_baseline(store, audit, WEEKS[0], **(said | {"name": "y"}))
    assert [one.name for one in monitor.read_baselines(store, audit)] == ["x", "y"]
    (tmp_path / "store" / audit / "baselines" / "0001.json").unlink()
    with pytest.raises(EvidenceError, match="a decision before it was removed"):
        monitor.read_baselines(store, audit)


@pytest.mark.parametrize("command", ["trend", "events"])
def test_an_audit_that_is_not_there_is_no_audit_without_alarms(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(str(tmp_path / "store"))
    store.put("hiring/20260105T000000Z_20260112T000000Z/0000000000000000/plan/x", b"")
    assert main([command, "hirng", "--store", store.root]) == 2
    assert "no audit 'hirng' is in this store; did you mean 'hiring'?" in capsys.readouterr().err
    assert store.list("hirng") == []
