"""A panel of sealed runs: its points are the runs' own estimates, and what does not belong together is refused."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib.cli.main import main
from audit_lib.compare import compare
from audit_lib.documents.validity import ValidityStudy
from audit_lib.errors import IncompleteRunError, InputError
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.score.requests import Request
from audit_lib.typed_json import as_json, decode
from audit_lib.validity import panel_of_runs, study_of, study_of_runs, validity_files
from tests.compare.cases import sealed
from tests.score.audits import open_audit, up_to
from tests.score.fakes import by_hash, fake

METRICS = (
    "rabbi", "score_gap", "jensen_shannon_divergence", "earth_movers_distance", "demographic_parity_gap",
    "equal_opportunity_gap",
)  # fmt: skip
SEXES = ("female", "male")
RACES = ("White", "Black")


def applicants(model: str, rounds: int = 24) -> list[dict[str, Any]]:
    """Return rounds with one candidate of each group, as one model scored them; a few without an answer."""
    rng = np.random.default_rng(sum(model.encode()))
    bias = rng.normal(0, 1, 4)
    cells = [(sex, race) for sex in SEXES for race in RACES]
    return [
        {
            "prompt_id": f"p{r:03d}{g}",
            "application_id": f"a{r:03d}{g}",
            "position": ("cook", "driver")[r % 2],
            "round_id": f"round {r}",
            "qualified": (r + g) % 3 > 0,
            "sex": sex,
            "race": race,
            "resume": f"application {r} {g}",
            "recorded_score": None if (r, g) == (5, 1) else round(float(np.exp(rng.normal() + bias[g])), 3),
            "recorded_model": model,
        }
        for r in range(rounds)
        for g, (sex, race) in enumerate(cells)
    ]


def run_of(folder: Path, model: str, rows: list[dict[str, Any]] | None = None, **sections: Any) -> Run:
    given: dict[str, Any] = {
        "decision": {"rule": "top_k", "k": 1, "round": "round_id"},
        "measure": {"metrics": list(METRICS), "quotas": [1, 2], "strata": [[], ["position"]]},
    }
    return sealed(folder, model, applicants(model) if rows is None else rows, **given | sections)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("validity")
    return [run_of(folder, model) for model in ("one-1", "two-1", "three-1")]


def test_each_point_is_the_run_s_own_estimate(runs: list[Run]) -> None:
    study = study_of(panel_of_runs(runs))
    assert study.groups == ("female, White", "female, Black", "male, Black")
    assert study.reference == "male, White"
    assert study.same_pools and [one.label for one in study.models] == ["one-1", "two-1", "three-1"]
    checked = 0
    for model, run in zip(study.models, runs, strict=True):
        own = {
            (
                e["metric"],
                e["parameters"].get("k"),
                e["stratum"]["position"],
                ", ".join(e["group"].values()),
            ): e["value"]
            for e in run.stage("metrics").read_json("metrics.json")["estimates"]
            if e["stratum"] and len(e["group"]) == 2
        }
        for point in (p for p in study.points if p.model == model.label):
            for k, value in point.gaps.items():
                assert value == own[point.gap, int(k), point.job, point.group]
                checked += 1
            if point.gap == "demographic_parity_gap":
                for name, value in point.metrics.items():
                    assert value == pytest.approx(own[name, None, point.job, point.group], abs=1e-12)
                    checked += 1
    assert checked == 3 * 2 * 3 * (2 + 2 + 4)
    assert {(one.rows, one.scored) for one in study.models} == {(96, 95)}


def test_the_command_takes_runs(runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validity", *(run.uri for run in runs), "--quotas", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "validity.html").read_text("utf-8")
    assert all(run.key.prefix in page for run in runs)
    assert "mean correlation" in capsys.readouterr().out


def test_the_page_that_compares_them_has_it_as_a_section(runs: list[Run]) -> None:
    made = compare(runs)
    study = decode(ValidityStudy, made["validity.json"], "validity.json")
    assert study == study_of(panel_of_runs(runs))
    page = made["comparison.html"].decode()
    assert "Which metric foretells the gaps best" in page and study.best.sentence.split(";")[0][:60] in page
    assert compare(runs) == made


def test_where_nobody_competes_there_is_no_section(tmp_path: Path) -> None:
    alone = [sealed(tmp_path, model) for model in ("fair-1", "kind-1")]
    made = compare(alone)
    assert set(made) == {"comparison.csv", "comparison.html", "comparison.json", "differences.csv"}
    page = made["comparison.html"].decode()
    assert "was not studied: candidates do not compete for places" in page and "decision.round" in page


def test_the_page_says_which_run_has_other_pools(runs: list[Run], tmp_path: Path) -> None:
    other = run_of(
        tmp_path, "other-1", [row | {"qualified": not row["qualified"]} for row in applicants("other-1")]
    )
    study = study_of_runs([runs[0], other])
    assert isinstance(study, Undefined) and "not the pools of" in study.reason
    assert str(tmp_path) not in study.reason and other.key.prefix in study.reason


def test_the_order_of_runs_changes_no_correlation(runs: list[Run]) -> None:
    one, other = study_of(panel_of_runs(runs)), study_of(panel_of_runs(runs[::-1]))
    for a, b in zip(one.correlations, other.correlations, strict=True):
        assert a.r == pytest.approx(b.r, abs=1e-12)
    assert one.design == other.design


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: row | {"qualified": not row["qualified"]}, "not the pools of"),
        (lambda row: row | {"application_id": row["application_id"] + "x"}, "not the pools of"),
        (lambda row: row | {"position": "cook"}, "not the pools of"),
    ],
)
def test_other_pools_are_refused(runs: list[Run], tmp_path: Path, change: Any, words: str) -> None:
    other = run_of(tmp_path, "other-1", [change(row) for row in applicants("other-1")])
    with pytest.raises(InputError, match=words):
        panel_of_runs([runs[0], other])


def test_gaps_of_rounds_drawn_at_random_are_the_run_s_own(tmp_path: Path) -> None:
    drawn = {"metrics": list(METRICS), "quotas": [1, 2], "random_rounds": {"size": 5, "count": 30}}
    rows = {
        model: [{**row, "round_id": None} for row in applicants(model) if row["recorded_score"] is not None]
        for model in ("d-1", "e-1")
    }
    made = [
        run_of(tmp_path, model, own, measure=drawn, decision={"rule": "above_median"})
        for model, own in rows.items()
    ]
    study = study_of(panel_of_runs(made))
    for model, run in zip(study.models, made, strict=True):
        own = {
            (
                e["metric"],
                e["parameters"].get("k"),
                e["stratum"]["position"],
                ", ".join(e["group"].values()),
            ): e["value"]
            for e in run.stage("metrics").read_json("metrics.json")["estimates"]
            if e["stratum"] and len(e["group"]) == 2
        }
        points = [p for p in study.points if p.model == model.label]
        assert points
        for point in points:
            for k, value in point.gaps.items():
                assert value == pytest.approx(own[point.gap, int(k), point.job, point.group], abs=1e-12)
            if point.gap == "demographic_parity_gap":
                rabbi = own["rabbi", None, point.job, point.group]
                assert point.metrics["rabbi"] == pytest.approx(rabbi, abs=1e-12)
    held = study.best.contenders[0].held_out
    assert isinstance(held, Undefined) and "halves of the rounds share them" in held.reason


def test_other_bins_and_groups_are_refused(runs: list[Run], tmp_path: Path) -> None:
    bins = run_of(tmp_path, "bins-1", measure={"metrics": ["rabbi"], "bins": 10})
    with pytest.raises(InputError, match=r"measure\.bins differs"):
        panel_of_runs([runs[0], bins])
    reference = run_of(tmp_path, "reference-1", groups={"reference": {"sex": "female", "race": "White"}})
    with pytest.raises(InputError, match="other groups, or another reference"):
        panel_of_runs([runs[0], reference])


def test_one_run_twice_or_alone_is_refused(runs: list[Run]) -> None:
    with pytest.raises(InputError, match="the same run is listed twice"):
        panel_of_runs([runs[0], runs[0]])
    with pytest.raises(InputError, match="1 run: metrics are judged by how they tell models apart"):
        panel_of_runs(runs[:1])


def by_name(salt: str) -> Any:
    """Answer the candidate whose name has the lower digest, in both orders."""

    def answer(request: Request) -> tuple[float, ...]:
        names = [label for label in request.labels if label != "Both"]
        best = min(names, key=lambda name: sha256((salt + name).encode()).digest())
        return tuple(0.8 if label == best else 0.1 for label in request.labels)

    return answer


def pairwise(folder: Path, models: dict[str, Any]) -> list[Run]:
    runs = []
    for model, answer in models.items():
        fake(f"fake_{model}", answer)
        named = {"backend": f"fake_{model}", "name": model}
        runs.append(
            up_to(open_audit(folder / model, "pairwise", audit=f"pairs_{model}", model=named), "evidence")
        )
    return runs


def test_pairs_have_a_metric_of_their_own_and_a_table(tmp_path: Path) -> None:
    runs = pairwise(tmp_path, {"p": by_name("p"), "q": by_name("q"), "r": by_hash})
    panel = panel_of_runs(runs, [1])
    study = study_of(panel)
    assert [one.left_out_of_validity for one in study.models] == [False, False, True]
    for run, model in zip(runs, study.models, strict=True):
        metrics = run.stage("metrics").read_json("metrics.json")
        (everybody,) = [a for a in metrics["pairwise_answers"] if a["group"] is None and not a["stratum"]]
        assert model.answers is not None and model.answers.inconsistent == everybody["inconsistent"]
        assert model.inconsistent_share == everybody["inconsistent_share"]
        own = {
            (e["stratum"]["position"], ", ".join(e["group"].values())): e["value"]
            for e in metrics["estimates"]
            if e["metric"] == "pairwise_win_gap" and len(e["group"]) == 2 and e["stratum"]
        }
        found = {
            (p.job, p.group): p.metrics["pairwise_win_gap"]
            for p in study.points
            if p.model == model.label and p.gap == "demographic_parity_gap"
        }
        assert found and {key: as_json(value) for key, value in found.items()} == {
            key: own[key] for key in found
        }
    page = validity_files(study, panel)["validity.html"].decode()
    assert "Answers about pairs, by model" in page and "validity, selection" in page


def test_a_panel_of_which_every_model_is_left_out_says_so(tmp_path: Path) -> None:
    panel = panel_of_runs(pairwise(tmp_path, {"s": by_hash, "u": by_hash}), [1])
    study = study_of(panel)
    assert {str(one.r) for one in study.correlations} == {"Undefined(reason='every model is left out')"}
    page = validity_files(study, panel)["validity.html"].decode()
    assert "not drawn, because every model is left out" in page


def test_a_run_that_is_not_sealed_is_refused(runs: list[Run], tmp_path: Path) -> None:
    fake("fake_open", by_hash)
    run = up_to(open_audit(tmp_path, "pointwise", model={"backend": "fake_open"}), "metrics")
    with pytest.raises(IncompleteRunError, match="not a sealed run"):
        panel_of_runs([runs[0], run])
