"""To what a change is attributed: parts that add up, exact parts by another computation, and what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib import monitor
from audit_lib.cli.main import main
from audit_lib.documents.attribution import Attribution
from audit_lib.documents.sequences import Sequences
from audit_lib.documents.window_cells import WindowCells
from audit_lib.errors import InputError
from audit_lib.monitor.attribution import TwoSides, attribute
from audit_lib.monitor.attribution_words import sentence
from audit_lib.monitor.window_cells import window_cells
from audit_lib.report.html import render_html
from audit_lib.results import Interval, Undefined
from audit_lib.run import Run
from audit_lib.site.monitor_page import monitor_page
from audit_lib.store import open_store
from audit_lib.typed_json import decode
from audit_lib.window import Window
from benchmarks.attribution import CASES, NAME, Planted, System, history, window
from tests.archive.cases import do, new_run
from tests.monitor.test_sequences import WEEKS
from tests.score.loopback import loopback


def sides(before: System, after: System, windows: int = 6, **keys: Any) -> TwoSides:
    drawn = [
        [window(np.random.default_rng([5, place, k]), 10 * place + k, system) for k in range(windows)]
        for place, system in enumerate((before, after))
    ]
    return TwoSides(before=drawn[0], after=drawn[1], **keys)


def of(attribution: Attribution, cause: str) -> float:
    return sum(part.part for part in attribution.parts if part.cause == cause)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_planted_cause_is_named_first(case: Planted) -> None:
    for number in range(4):
        found = history(case, 500 + number)
        first = found.parts[0]
        assert first.cause == case.right
        assert sum(part.part for part in found.parts) == pytest.approx(found.change, abs=1e-12)
        assert isinstance(found.interval, Interval)
        nothing = [part for part in found.parts if abs(part.part) < 1e-9 and part.interval.high < 1e-9]
        assert found.sentence.count("attributed") + found.sentence.count(
            "none of these"
        ) + found.sentence.count("cannot be told apart") == len(found.parts) - len(nothing)


def test_a_part_that_is_nothing_is_not_in_the_sentence_and_a_small_one_is() -> None:
    found = history(CASES[0], 1)
    mix = next(part for part in found.parts if part.cause == "mix")
    others = tuple(part for part in found.parts if part.cause != "mix")
    level = found.interval
    assert isinstance(level, Interval)

    def said(half: float) -> str:
        part = replace(mix, part=-half, share=-0.001, interval=replace(level, low=-2 * half, high=half))
        return sentence(replace(found, parts=(*others, part))).sentence

    assert "the mix" not in said(1e-17) and "attributed to the model" in said(1e-17)
    assert ", 0% of it, is attributed to the mix" in said(0.002)


def test_candidates_are_named_where_two_changed_at_once() -> None:
    found = history(CASES[8], 1).parts[0]
    assert found.candidates == ("model", "prompt")
    assert "cannot be told apart: the model or the prompt" in history(CASES[8], 1).sentence


def rates(windows: Sequence[WindowCells], sex: str, weights: dict[str, float]) -> float:
    """Rate of a group with positions weighted as asked, straight from the cells."""
    found = 0.0
    for position, weight in weights.items():
        own = [c for w in windows for c in w.cells if c.group["sex"] == sex and c.stratum == (position,)]
        found += weight * sum(sum(c.total) for c in own) / sum(sum(c.answered) for c in own)
    return found


def shares(windows: Sequence[WindowCells], sex: str) -> dict[str, float]:
    asked: dict[str, float] = {}
    for cell in (c for w in windows for c in w.cells if c.group["sex"] == sex):
        asked[cell.stratum[0]] = asked.get(cell.stratum[0], 0.0) + sum(cell.asked)
    return {name: value / sum(asked.values()) for name, value in asked.items()}


def test_the_mix_is_the_mean_of_both_standardisations() -> None:
    two = sides(System(effect=(-1.0, 0.1, 0.1)), System(effect=(-1.0, 0.1, 0.1), mix=(0.8, 0.1, 0.1)))
    found = attribute(NAME, two)

    def gap(inside: Sequence[WindowCells], mix: Sequence[WindowCells]) -> float:
        return rates(inside, "female", shares(mix, "female")) - rates(inside, "male", shares(mix, "male"))

    old, new = two.before, two.after
    mix = ((gap(old, new) - gap(old, old)) + (gap(new, new) - gap(new, old))) / 2
    assert of(found, "mix") == pytest.approx(mix, abs=1e-12)
    assert found.change == pytest.approx(gap(new, new) - gap(old, old), abs=1e-12)


def test_a_whole_that_moves_against_every_stratum_is_told() -> None:
    # In each position women fare better than before; more of them apply where everybody fares worse.
    two = sides(
        System(effect=(-1.5, -0.1, -0.1), mix=(0.1, 0.45, 0.45)),
        System(effect=(-1.3, 0.1, 0.1), mix=(0.9, 0.05, 0.05)),
        windows=20,
    )
    found = attribute(NAME, two)
    assert found.change < 0
    assert all(not isinstance(one.change, Undefined) and one.change > 0 for one in found.strata)
    assert found.simpson
    assert "moved the other way in each of 3 strata" in found.sentence
    assert not attribute(NAME, sides(System(), System(effect=(-1.0, -1.0, -1.0)))).simpson


def test_answers_that_are_not_read_explain_as_much_as_they_could() -> None:
    found = attribute(NAME, sides(System(), System(unread=0.4)))
    low, high = found.change_over_missing
    assert low < 0 < high
    assert found.parts[0].cause == "answers"
    # A few missing answers cannot account for a large change: the rest is of none of these.
    few = attribute(NAME, sides(System(), System(effect=(-1.5, -1.5, -1.5), unread=0.3)))
    assert few.missing[0].after > few.missing[0].before
    assert few.parts[0].cause == "none"
    assert of(few, "answers") < 0
    # With another model too, what they could account for cannot be told apart, and what is beyond is the model's.
    both = attribute(
        NAME,
        sides(System(), System(effect=(-1.5, -1.5, -1.5), unread=0.3, versions={"model": "b"})),
    )
    assert of(both, "model") == pytest.approx(of(few, "none"), abs=1e-12)
    assert of(both, "cannot_tell") == pytest.approx(of(few, "answers"), abs=1e-12)


def test_a_stratum_on_one_side_alone_is_no_mix_that_can_be_standardised() -> None:
    two = sides(System(), System(mix=(0.0, 0.5, 0.5)))
    found = attribute(NAME, two)
    assert all(part.how != "standardised" for part in found.parts)
    assert "the mix is not standardised: some strata have nobody with an answer on one side" in found.notes
    assert found.parts[0].cause == "mix"  # the one thing that is known to have become another
    both = attribute(NAME, sides(System(), System(mix=(0.0, 0.5, 0.5), versions={"model": "b"})))
    assert both.parts[0].candidates == ("model", "mix")


def test_canaries_that_moved_show_a_model_and_noise_does_not() -> None:
    moved = attribute(NAME, sides(System(), System(canary=0.7)))
    assert (moved.canaries.compared, moved.canaries.moved) == (8, True)
    assert [mark.cause for mark in moved.marks] == ["model"]
    still = attribute(NAME, sides(System(), System(versions={"prompt": "b"})))
    assert still.canaries.moved is False
    assert [mark.cause for mark in still.marks] == ["prompt"]
    one = sides(System(), System(canary=0.7), windows=1)
    assert attribute(NAME, one).canaries.moved is None  # one window has no noise floor


def test_what_cannot_be_compared_is_refused() -> None:
    two = sides(System(), System())
    with pytest.raises(InputError, match="no window after"):
        attribute(NAME, replace(two, after=[]))
    with pytest.raises(InputError, match="nobody with an answer after"):
        attribute(NAME, replace(two, after=[replace(one, cells=()) for one in two.after]))
    with pytest.raises(InputError, match="split by other columns"):
        attribute(NAME, replace(two, after=[replace(one, strata_by=()) for one in two.after]))


def people(
    place: int, *, shift: float = 0.0, retail: float = 0.5, unread: float = 0.0, where: str = ""
) -> list[dict[str, Any]]:
    """Applicants of one window; women's scores fall by the shift, and some of their higher ones are not recorded."""
    rng = np.random.default_rng([9, place])
    rows = []
    for number in range(200):
        sex = "female" if number % 2 else "male"
        position = "retail" if rng.random() < retail else "finance"
        lower = shift if sex == "female" and where in ("", position) else 0.0
        score = 0.8 * rng.random() + (0.2 if position == "retail" else 0.0) - lower
        lost = rng.random() < unread and sex == "female" and score >= 0.5
        rows.append(
            {
                "prompt_id": f"p{place}_{number}",
                "application_id": f"a{place}_{number}",
                "position": position,
                "resume": f"{'till and shop floor' if position == 'retail' else 'ledger and accounts'} {number}",
                "sex": sex,
                "race": "White",
                "recorded_score": None if lost else max(float(np.round(score, 6)), 0.0),
            }
        )
    return rows


def real(folder: Path, place: int, rows: list[dict[str, Any]], **sections: Any) -> Run:
    inputs = folder / f"inputs {place}"
    inputs.mkdir()
    for name, question in (("prompt", "Shall we see"), ("other", "Does it fit")):
        (inputs / f"{name}.yaml").write_text(
            f"messages: [{{role: user, content: '{question} {{{{resume}}}}?'}}]\n"
        )
    groups = {
        "provenance": "self_reported",
        "attributes": {"sex": ["female", "male"]},
        "reference": {"sex": "male"},
        "categories": {"sex": {"female": "Female", "male": "Male"}},
    }
    checks = {"minimum_answered_share": 0.2, "maximum_answered_gap": 0.9}
    sections = {"decision": {"rule": "threshold", "threshold": 0.5}, "groups": groups} | sections
    return do(new_run(inputs, str(folder / "store"), WEEKS[place], rows=rows, checks=checks, **sections))


@pytest.mark.parametrize(
    ("change", "sections", "right"),
    [
        ({"shift": 0.3}, {"model": {"name": "another tool"}}, "model"),
        ({}, {"decision": {"rule": "threshold", "threshold": 0.1}}, "rule"),
        ({"unread": 0.6}, {}, "answers"),
        ({"retail": 0.9}, {}, "mix"),
        ({"shift": 0.3}, {"prompt": {"template": "other.yaml"}}, "prompt"),
    ],
)
def test_causes_planted_in_sealed_runs(
    tmp_path: Path, change: dict[str, Any], sections: dict[str, Any], right: str
) -> None:
    base = {"rule": {"shift": 0.25}, "mix": {"shift": 0.4, "retail": 0.1, "where": "retail"}}.get(right, {})
    asked = {"prompt": {"template": "prompt.yaml"}} if right == "prompt" else {}
    for place in range(2):
        real(tmp_path, place, people(place, **base), **asked)
    for place in range(2, 4):
        real(tmp_path, place, people(place, **(base | change)), **sections)
    span = [Window(WEEKS[k].start, WEEKS[k + 1].end) for k in (0, 2)]
    store = open_store(str(tmp_path / "store"))
    found = monitor.attribute_windows(store, "small", span[1], span[0], texts=True)
    assert found.left_out == []
    one = found.attributions[0]
    assert one.parts[0].cause == right
    assert not isinstance(one.texts, Undefined)
    kept = store.list("small/monitor/cells")
    assert len(kept) == (8 if right == "rule" else 4)
    assert not any(b"ledger" in store.get(key) or b"a0_" in store.get(key) for key in kept)
    again = monitor.attribute_windows(store, "small", span[1], span[0], texts=True)
    assert again.attributions == found.attributions


@pytest.mark.parametrize(("planted", "right"), [("model", "model"), ("template", "prompt")])
def test_canaries_tell_a_model_that_kept_its_name_from_a_template(
    tmp_path: Path, planted: str, right: str
) -> None:
    pytest.importorskip("httpx2", reason="httpx2 is not installed")
    now: dict[str, Any] = {"model": "old"}

    def behave(word: str, asked: int) -> tuple[int, dict[str, str], bytes]:
        """Score applicants by number, women lower by another model or template; canaries with a little noise."""
        other = now["model"] == "new"
        if word.startswith("canary"):
            score = 0.5 + 0.001 * (now["window"] % 2) + (0.1 if other else 0.0)
        else:
            number = int("".join(filter(str.isdigit, word)))
            lower = 0.3 if "female" in word and (other or word.startswith("x")) else 0.0
            score = max(number * 37 % 101 / 100 - lower, 0.0)
        return 200, {}, json.dumps({"score": score}).encode()

    with loopback(behave) as server:
        tool = {
            "backend": "http",
            "name": "tool-1",
            "options": {"url": server.url, "body": {"text": "{{user}}"}, "score_path": "score"},
        }
        for name, begin in (("one", ""), ("two", "x")):
            (tmp_path / f"{name}.yaml").write_text(
                f"messages: [{{role: user, content: '{begin}{{{{resume}}}} ?'}}]\n"
            )
        for place in range(4):
            late = place >= 2
            now |= {"model": "new" if late and planted == "model" else "old", "window": place}
            rows = people(place)[:120]
            for number, row in enumerate(rows):
                row.pop("recorded_score")
                row["resume"] = f"{row['sex']}{place}{number}"
            template = tmp_path / ("two.yaml" if late and planted == "template" else "one.yaml")
            real(
                tmp_path,
                place,
                rows,
                model=tool,
                prompt={"template": str(template)},
                score={"shards": 1, "canaries": [f"canary{k}" for k in range(4)]},
            )
    store = open_store(str(tmp_path / "store"))
    span = [Window(WEEKS[k].start, WEEKS[k + 1].end) for k in (0, 2)]
    one = monitor.attribute_windows(store, "small", span[1], span[0]).attributions[0]
    assert one.parts[0].cause == right
    assert (one.canaries.compared, one.canaries.moved) == (4, planted == "model")
    assert [mark.cause for mark in one.marks] == [right]
    kept = store.get(store.list("small/monitor/cells")[0])
    assert b"canary0" not in kept


def test_a_window_audited_twice_counts_once_and_is_told(tmp_path: Path) -> None:
    real(tmp_path, 0, people(0))
    first = real(tmp_path, 1, people(1))
    (tmp_path / "inputs 1").rename(tmp_path / "inputs of the first")
    second = real(tmp_path, 1, people(1), decision={"rule": "threshold", "threshold": 0.1})
    real(tmp_path, 2, people(2))
    store = open_store(str(tmp_path / "store"))
    span = Window(WEEKS[1].start, WEEKS[2].end)
    found = monitor.attribute_windows(store, "small", span, WEEKS[0])
    assert found.left_out == [f"{first.key.prefix}: another run of this window is compared"]
    (one,) = found.attributions
    assert one.after[0].spec_digest == second.key.spec_digest
    assert "the windows after are not of one version: several of decision in them" in one.notes
    assert "the part of the decision rule is not computed: a side has several" in one.notes


def test_the_old_rule_is_applied_to_the_new_scores(tmp_path: Path) -> None:
    rows = people(0, shift=0.25)
    run = real(tmp_path, 0, rows)
    other = real(tmp_path, 1, people(1, shift=0.25), decision={"rule": "threshold", "threshold": 0.1})
    found = window_cells(run, other.spec.decision)
    for sex in ("female", "male"):
        own = [one["recorded_score"] for one in rows if one["sex"] == sex]
        cells = [cell for cell in found.cells if cell.group["sex"] == sex]
        assert sum(sum(cell.total) for cell in cells) == sum(score >= 0.1 for score in own)
    assert found.rule != found.own_rule == window_cells(run).rule


def said(place: int) -> list[dict[str, Any]]:
    """Recorded texts: women are often told Yes in a sentence, men in one word."""
    rng = np.random.default_rng([11, place])
    rows = people(place)
    for row in rows:
        row.pop("recorded_score")
        yes = rng.random() < 0.6
        long = row["sex"] == "female" and rng.random() < 0.7
        row["recorded_response"] = ("I would say: Yes" if long else "Yes") if yes else "No"
    return rows


def test_kept_texts_are_read_in_the_old_way_too(tmp_path: Path) -> None:
    (tmp_path / "prompt.yaml").write_text("messages: [{role: user, content: 'Shall we see {{resume}}?'}]\n")
    template = {"template": str(tmp_path / "prompt.yaml")}
    for place in range(4):
        read = {"read": "labels" if place < 2 else "phrase"}
        rule = {"rule": "threshold", "threshold": 0.5 if place < 2 else 0.9}
        real(tmp_path, place, said(place), prompt=template | read, decision=rule)
    span = [Window(WEEKS[k].start, WEEKS[k + 1].end) for k in (0, 2)]
    store = open_store(str(tmp_path / "store"))
    found = monitor.attribute_windows(store, "small", span[1], span[0])
    assert found.left_out == []
    (one,) = [each for each in found.attributions if each.quantity == "selection_rate"]
    first = one.parts[0]
    assert (first.cause, first.how) == ("answers", "recomputed")
    assert one.notes == ()
    # Whoever is told Yes has 1: neither rule makes a difference, and the texts are of one kind in all windows.
    assert of(one, "rule") == 0
    assert first.part == pytest.approx(one.change, abs=0.1)

    def rate(places: Sequence[int], sex: str, *, sentences: bool) -> float:
        texts = [row["recorded_response"] for k in places for row in said(k) if row["sex"] == sex]
        read = [text for text in texts if sentences or not text.startswith("I")]
        return sum("Yes" in text for text in read) / len(read)

    for places, sentences, difference in (
        ((0, 1), False, one.difference_before),
        ((2, 3), True, one.difference_after),
    ):
        expected = rate(places, "female", sentences=sentences) - rate(places, "male", sentences=sentences)
        assert difference == pytest.approx(expected, abs=1e-12)


def test_an_alarm_says_what_it_is_attributed_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in range(6):
        late = place >= 3
        real(
            tmp_path,
            place,
            people(place, shift=0.5 if late else 0.0),
            **({"model": {"name": "another tool"}} if late else {}),
        )
    store = str(tmp_path / "store")
    decide = ["--name", "first", "--by", "Ada Byron", "--reason", "accepted"]
    window_of = ["--from", "2026-01-05", "--to", "2026-01-26"]
    assert main(["baseline", "set", "small", "--store", store, *window_of, *decide]) == 0
    assert main(["trend", "small", "--store", store]) == 1
    assert "is attributed to the model (the spec names another model" in capsys.readouterr().out
    folder = open_store(store)
    document = decode(Sequences, folder.get("small/monitor/sequences.json"), "kept")
    (one,) = document.attributions
    assert one.parts[0].cause == "model"
    assert [run.window for run in one.after] == [WEEKS[k].label for k in (3, 4, 5)]
    page = render_html(monitor_page("Screening", document)).decode()
    assert one.sentence.split(":")[0] in page
    assert "What the change is made of" in page
    after = ["--from", "2026-01-26", "--to", "2026-02-16"]
    assert main(["attribute", "small", "--store", store, *after, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told[0]["parts"] == one.as_dict()["parts"]
    assert main(["attribute", "small", "--store", store, *after, "--before", "2026-01-26", "2026-02-02"]) == 2
    assert "the earlier side has to lie before the later one" in capsys.readouterr().err
    assert main(["attribute", "small", "--store", store, "--from", "2027-01-01", "--to", "2027-02-01"]) == 2
    assert "no sealed run within" in capsys.readouterr().err


def test_without_a_baseline_the_earlier_windows_have_to_be_named(tmp_path: Path) -> None:
    real(tmp_path, 0, people(0))
    real(tmp_path, 1, people(1), task="pointwise", groups={"provenance": "self_reported"})
    store = open_store(str(tmp_path / "store"))
    with pytest.raises(InputError, match="no baseline; decide one"):
        monitor.attribute_windows(store, "small", WEEKS[1])
    with pytest.raises(InputError, match="groups of the specs differ: these windows ask different questions"):
        monitor.attribute_windows(store, "small", WEEKS[1], WEEKS[0])
