"""More places than candidates: everybody is selected, and no ratio says anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import InputError, SpecError
from audit_lib.pipeline import check, run_stage
from audit_lib.run import Run
from tests.inputs import recorded_audit
from tests.perturb.cases import WEEK, persona_run, prompts, write_lexicons
from tests.specs import LIVE, load

PERSONA = {"names": "names.csv", "pronouns": "pronouns.csv"}


@pytest.mark.parametrize("k", [4, 5, 40])
def test_pools_of_one_a_group_are_known_from_the_spec(tmp_path: Path, k: int) -> None:
    write_lexicons(tmp_path)
    (tmp_path / "prompts.jsonl").write_text("")
    decision = {"rule": "top_k", "k": k, "round": "one_per_group"}
    spec = load(tmp_path, perturb=PERSONA, prompt={"template": "template.csv"}, model=LIVE, decision=decision)
    with pytest.raises(SpecError, match=rf"decision\.k: {k} places for pools of 4 .* choose k below 4"):
        check(spec)
    check(
        load(
            tmp_path,
            perturb=PERSONA,
            prompt={"template": "template.csv"},
            model=LIVE,
            decision=decision | {"k": 3},
        )
    )


def sampled(folder: Path, said: list[str], n: int, k: int) -> dict[str, int]:
    path = recorded_audit(folder, n=n, decision={"rule": "top_k", "k": k, "round": "round_id"})
    from audit_lib.spec import AuditSpec

    run = Run.open(AuditSpec.load(path), WEEK, str(folder / "store"), said.append)
    run_stage(run, "plan")
    return run_stage(run, "sample")


@pytest.mark.parametrize("k", [8, 40])
def test_rounds_of_the_data_are_known_from_the_sample(tmp_path: Path, k: int) -> None:
    with pytest.raises(
        InputError, match=rf"{k} places, and 8 of 8 rounds have no more candidates \(at most 8\): everybody"
    ):
        sampled(tmp_path, [], 64, k)


def test_some_small_rounds_are_told(tmp_path: Path) -> None:
    said: list[str] = []
    sampled(tmp_path, said, 68, 4)  # the last two rounds have two candidates each
    assert (
        "WARNING: decision.k: 4 places, and 2 of 10 rounds have no more candidates (at most 8): in those"
        in " ".join(said)
    )
    said.clear()
    (tmp_path / "whole").mkdir()
    sampled(tmp_path / "whole", said, 64, 4)
    assert "decision.k" not in " ".join(said)


@pytest.mark.parametrize(
    ("perturb", "k", "fits"),
    [
        ({}, 4, False),
        ({}, 3, True),
        ({"names_per_cell": 2}, 7, True),
        ({"names_per_cell": 2}, 8, False),
        ({"design": "two_sample"}, 1, False),
        ({"design": "balanced_incomplete", "block_size": 2}, 1, True),
        ({"design": "balanced_incomplete", "block_size": 2}, 2, False),
    ],
)
def test_versions_of_one_application(tmp_path: Path, perturb: dict[str, Any], k: int, fits: bool) -> None:
    decision = {"rule": "top_k", "k": k, "round": "application_id"}
    if fits:
        persona_run(tmp_path, rows=prompts(), perturb=perturb, decision=decision)
    else:
        with pytest.raises(InputError, match="everybody would be selected"):
            persona_run(tmp_path, rows=prompts(), perturb=perturb, decision=decision)
