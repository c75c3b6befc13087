"""How many names, applications and prompts: against simulated experiments, and what `audit plan` prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from audit_lib.cli.main import main
from audit_lib.plan.names import (
    Assumed,
    NameComparison,
    detectable,
    needed_applications,
    needed_names,
    needed_prompts,
)
from audit_lib.stats.crossed import NameDesign, two_way
from tests.score.audits import open_audit, up_to, write_audit
from tests.score.fakes import by_hash, fake

ASSUMED = Assumed(name_sd=0.25, version_sd=0.5, prompt_sd=0.3, alpha=0.05, power=0.8)
FEW = NameComparison(
    names_group=5, names_reference=5, names=10, cells=2, applications=300, versions=1, prompts=1, within=True
)
MANY = replace(FEW, names_group=20, names_reference=20, names=40)


@pytest.mark.parametrize("shown", [FEW, MANY, replace(MANY, applications=60, prompts=3)])
def test_what_is_promised_at_80_percent_is_found_in_about_as_many(shown: NameComparison) -> None:
    effect, rng, names = detectable(shown, ASSUMED), np.random.default_rng(4), shown.names_group
    prompts = int(shown.prompts)
    application = np.repeat(np.arange(shown.applications), 2)
    group = np.tile([0, 1], shown.applications)
    name = application % names + names * group
    rows = [np.repeat(one, prompts) for one in (name, group, application)]
    design, weights = NameDesign(*rows), (2.0 * rows[1] - 1) / (shown.applications * prompts)
    found = 0
    for _ in range(500):
        version = ASSUMED.version_sd * rng.normal(size=application.size)
        version += rng.normal(size=shown.applications)[application] + effect * group
        y = np.repeat(version + ASSUMED.name_sd * rng.normal(size=2 * names)[name], prompts)
        y += ASSUMED.prompt_sd * rng.normal(size=y.size)
        difference = np.bincount(rows[2], (2 * rows[1] - 1) * y) / prompts
        error = difference.std(ddof=1) / shown.applications**0.5
        spread = design.spread(design.residuals(y), None if names < 20 else weights)
        both = two_way(float(error), shown.applications - 1, spread, design.added(weights))
        found += abs(difference.mean()) > student.ppf(0.975, both.df) * both.standard_error
    assert 0.74 <= found / 500 <= 0.86


def test_more_applications_do_not_help_where_names_are_few() -> None:
    assert detectable(replace(FEW, applications=100_000), ASSUMED) > 0.9 * detectable(FEW, ASSUMED)
    assert needed_applications(FEW, ASSUMED, 0.3) is None
    assert needed_prompts(FEW, ASSUMED, 0.3) is None
    names = needed_names(FEW, ASSUMED, 0.3)
    assert names is not None and 5 < names < 30
    enough = replace(FEW, names_group=names, names_reference=names, names=2 * names)
    assert detectable(enough, ASSUMED) <= 0.3
    assert detectable(replace(enough, names_group=names - 1, names_reference=names - 1), ASSUMED) > 0.29
    few = replace(MANY, applications=20)
    more = needed_applications(few, ASSUMED, 0.4)
    assert more is not None and more > 20
    assert detectable(replace(few, applications=more), ASSUMED) <= 0.4
    assert detectable(replace(few, applications=more - 1), ASSUMED) > 0.4


def test_audit_plan_says_what_would_help(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measure = {
        "metrics": ["standardised_effect"],
        "names": {"smallest_effect": 0.3, "name_sd": 0.35},
    }
    sections = {"perturb": {"names_per_group": 3}, "measure": measure, "sample": {"size": 24}}
    fake("hashing", by_hash)
    path = write_audit(tmp_path, "pointwise", **sections)
    code = main(["plan", str(path), "--window", "2026-01-05", "2026-01-12"])
    assert code == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert "female against male: 12 and 12 names, 24 applications, prompts of each 1" in printed
    (warning,) = [line for line in printed.splitlines() if line.startswith("WARNING    female")]
    assert "names a side; more applications alone will not help" in warning
    neither = [line for line in printed.splitlines() if line.startswith("WARNING    Black")]
    assert neither and neither[0].endswith("more names and more applications; neither alone is enough")
    run = up_to(open_audit(tmp_path / "run", "pointwise", **sections), "variants")
    rule = run.stage("plan").read_json("plan.json")["names"]
    assert rule["few_names"] == 20 and rule["smallest_effect"] == 0.3 and "two-way" in rule["rule"]
    needed = run.stage("variants").read_json("design.json")["names_needed"]
    assert [one["names_group"] for one in needed] == [12, 6, 6, 6]
    assert all("applications_needed" not in one for one in needed)
