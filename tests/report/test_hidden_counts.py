"""Everything that is published of an audit, taken together: it leaves each hidden count the range that is promised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from audit_lib.large_file import bytes_of
from audit_lib.report import report
from audit_lib.report.content import gather
from tests.report.hidden_counts import (
    Attack,
    Case,
    differences,
    hide_the_same,
    outputs,
    run_of,
    suppressed,
)

QUICK: Final = Case(12, unknown=0.1)
CASES: Final = [
    *(Case(seed) for seed in range(1, 7)),
    *(Case(seed, small=4, positions=3) for seed in range(7, 11)),
    *(Case(seed, unknown=0.1) for seed in (11, 13, 14)),
    *(Case(seed, scored=True) for seed in range(15, 19)),
    *(Case(seed, scored=True, unknown=0.05) for seed in range(19, 21)),
    Case(21, pdf=True),
    Case(22, scored=True),
]


@pytest.mark.parametrize(
    ("case", "others"),
    [(QUICK, 1), *(pytest.param(case, 1 if case.pdf else 3, marks=pytest.mark.slow) for case in CASES)],
    ids=str,
)
def test_no_hidden_count_is_narrowed_by_all_that_is_published(
    case: Case, others: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audits at the ends of each range publish the very same."""
    pytest.importorskip("trestle", reason="writes OSCAL")
    suppressed(monkeypatch, case)
    people = case.people()
    run = run_of(case, people, tmp_path / "true")
    hidden = gather(run).hidden
    published = outputs(run, tmp_path / "true")
    document = json.loads(run.stage("report").read("report.json"))
    attack = Attack(document, people, case.small)
    narrowed, ends = attack.narrowed()
    assert hidden and attack.counts and ends
    assert not narrowed, "\n".join(narrowed)
    hide_the_same(monkeypatch, hidden)
    told = []
    for number, one in enumerate(ends[:others]):
        folder = tmp_path / f"other{number}"
        other = outputs(run_of(case, attack.people(one), folder), folder)
        told += list(differences(published, other))
    assert not told, "\n".join(told[:20])


def test_the_attack_finds_a_count_that_is_hidden_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suppressed(monkeypatch, QUICK)
    people = QUICK.people()
    run = run_of(QUICK, people, tmp_path)
    alone = next(cell for cell in sorted(gather(run).hidden) if len(cell[1]) == 2)
    hide_the_same(monkeypatch, frozenset({alone}))
    document = json.loads(bytes_of(report(run).artefacts["report.json"]))
    found, _ = Attack(document, people, QUICK.small).narrowed()
    assert found
