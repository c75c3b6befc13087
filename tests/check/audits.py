"""Whole audits of ours, one of each kind that a page can print: for the round trip through check-report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from audit_lib.policies import load_policy, policy_of
from audit_lib.report import content as content_module
from audit_lib.report import report
from audit_lib.report.blocks import Page
from audit_lib.report.page import make_page
from audit_lib.run import Run
from tests.check.cases import RACES
from tests.inputs import recorded_rows, write_jsonl
from tests.report.runs import reported, signature
from tests.specs import write

LEVELS: Final = {race.lower().replace(" ", "_"): race for race in RACES}
SOURCE: Final = {"reason": "Every application of the window, in all regions."}
GROUPS: Final[dict[str, Any]] = {
    "provenance": "self_reported",
    "attributes": {"sex": ["female", "male"], "race": list(LEVELS)},
    "reference": {"sex": "male", "race": "white"},
    "categories": {"sex": {"female": "Female", "male": "Male"}, "race": LEVELS},
}
EARLIER: Final[dict[str, Any]] = {"earlier_audits": ["2025-10-20"]}
SCORING: Final[dict[str, Any]] = {
    "decision": {"rule": "top_k", "k": 4, "round": "round_id"},
    "measure": {"metrics": ["impact_ratio", "scoring_rate_impact_ratio"]},
}
DECISIONS: Final[dict[str, Any]] = {
    "decision": {"rule": "recorded", "k": None, "round": None},
    "measure": {"metrics": ["impact_ratio"]},
}


def _people(n: int, seed: int = 5, rarest: float = 0.135, unknown: float = 0.05) -> list[dict[str, Any]]:
    """Recorded rows of all categories; the last race is `rarest`, and some say none."""
    rng = np.random.default_rng(seed)
    shares = [(1 - rarest - unknown) / 6] * 6 + [rarest, unknown]
    rows = recorded_rows(n, seed=seed)
    for row in rows:
        row["race"] = str(rng.choice([*LEVELS, "not stated"], p=shares))
        row["sex"] = "not stated" if rng.random() < unknown else row["sex"]
    return rows


def _decided(rows: list[dict[str, Any]], seed: int = 6) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    for row in rows:
        row["recorded_selected"] = bool(rng.random() < (0.5 if row["sex"] == "male" else 0.36))
        row["recorded_score"] = None
    return rows


def _made(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> Run:
    sections = {
        "source": SOURCE,
        "groups": GROUPS,
        "checks": {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5},
        "score": {"shards": 2},
        "report": {"distribution_date": "2025-11-03", "tool": "Ranks applications."},
        "use": EARLIER,
    } | sections
    path = write(folder, **sections)
    write_jsonl(folder / "prompts.jsonl", rows)
    return reported(path)


def selection(folder: Path) -> Run:
    """Selected by rank, with tests and intervals; no scoring table."""
    return _made(folder, _people(1600), **SCORING | {"measure": {"metrics": ["impact_ratio"]}})


def scoring(folder: Path) -> Run:
    """Scores of people who reported their demographics, some of them not."""
    return _made(folder, _people(1600), **SCORING)


def experiment(folder: Path) -> Run:
    """Scores of applications whose groups were assigned."""
    groups = GROUPS | {"provenance": "assigned"}
    return _made(folder, _people(1600, unknown=0.0), **SCORING | {"groups": groups})


def decisions(folder: Path) -> Run:
    """Decisions alone: nobody has a score."""
    return _made(folder, _decided(_people(1600)), **DECISIONS)


def exclusions(folder: Path) -> Run:
    """The rarest race, and what it crosses with, left out of the ratios; it has the highest rate by sex, too."""
    rows = _decided(_people(1600, rarest=0.012))
    for row in rows:
        if row["race"] == list(LEVELS)[-1]:
            row["recorded_selected"] = True
    race = load_policy("nyc_ll144").categories("race_ethnicity")[-1]
    crossed = [
        category.label
        for category in load_policy("nyc_ll144").categories("intersectional")
        if category.levels["race"] == race.levels["race"]
    ]
    why = "so few applied that one decision moves the rate by a large step"
    return _made(
        folder,
        rows,
        **DECISIONS
        | {
            "use": EARLIER | {"exclusions": dict.fromkeys([race.label, *crossed], why)},
            "report": {
                "distribution_date": "2025-11-03",
                "tool": "Invites applicants, or does not.",
                "switches": {"exclude_small_share": "yes"},
            },
        },
    )


def classes(folder: Path) -> Run:
    """A tool that puts people into groups: the tables again for each."""
    rows = _people(1600)
    for number, row in enumerate(rows):
        row["style"] = ["Bold", "Calm", "Dry"][number * 7 % 3]
    return _made(
        folder,
        rows,
        source=SOURCE | {"fields": ["resume", "style"]},
        decision={"rule": "above_median", "classes": ["Bold", "Calm", "Dry"], "class_field": "style"},
        measure={"metrics": ["impact_ratio"]},
    )


def employers(folder: Path) -> Run:
    """Three employers pooled, each alone, and each position of each."""
    rows = _decided(_people(2400))
    for number, row in enumerate(rows):
        row["employer"] = ["Acme Ltd", "Beta", "Gamma & Sons"][number * 5 % 3]
    return _made(
        folder,
        rows,
        **DECISIONS
        | {
            "source": SOURCE | {"fields": ["resume", "employer"]},
            "measure": {"metrics": ["impact_ratio"], "strata": [[], ["employer"], ["employer", "position"]]},
        },
    )


def few(folder: Path) -> Run:
    """A rare race, of whom some rows hold very few people."""
    return _made(folder, _decided(_people(700, rarest=0.03)), **DECISIONS)


def suppressed(folder: Path) -> Run:
    """A rarer race still, of whom some rows are hidden: `files` sets the policy so."""
    return _made(folder, _decided(_people(1600, rarest=0.012)), **DECISIONS)


def test_data(folder: Path) -> Run:
    """A tool that few applied to, audited on test data; with every section that facts of its use add to a page."""
    use = EARLIER | {
        "data": "test",
        "months": 9,
        "own_data_sufficient": False,
        "test_data": {"why": "Few have applied so far.", "how": "Written by the vendor from adverts."},
        "last_used": "2026-08-31",
        "posted_until": "2127-03-31",
        "notice": {"given": "2026-01-02", "used_from": "2026-01-20"},
    }
    answers = {"ftu": False, "equal_prevalence": False, "intervention": "assistive"}
    return _made(folder, _decided(_people(1600)), **DECISIONS | {"use": use, "framework": answers})


def under(policy: str, folder: Path) -> Run:
    """Decisions alone, under the pack of that name."""
    report = {"policy": policy, "distribution_date": "2025-11-03", "tool": "Ranks applications."}
    return _made(folder, _decided(_people(1600)), **DECISIONS | {"report": report})


AUDITS: Final[dict[str, Callable[[Path], Run]]] = {
    "selection": selection,
    "scoring": scoring,
    "experiment": experiment,
    "decisions": decisions,
    "exclusions": exclusions,
    "classes": classes,
    "employers": employers,
    "few": few,
    "test_data": test_data,
    "suppressed": suppressed,
}


def files(name: str, folder: Path) -> tuple[dict[str, bytes], Page]:
    """Make an audit; return its signed report's files, and the page of which a PDF is made."""
    run = AUDITS[name](folder)
    if name != "suppressed":
        return _files(run)
    policy = policy_of(run.spec)
    cells = policy.cells.model_copy(update={"display": "suppress", "small": 12})
    with patch.object(content_module, "policy_of", lambda spec: policy.model_copy(update={"cells": cells})):
        return _files(run)


def _files(run: Run) -> tuple[dict[str, bytes], Page]:
    signed = signature()
    page = make_page(content_module.gather(run, signature=signed))
    return dict(report(run, signature=signed).artefacts), page
