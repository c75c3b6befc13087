"""Small whole audits that between them have every section of the page: what pages in other languages are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from audit_lib import pipeline
from audit_lib.run import Run
from audit_lib.window import Window
from tests.check import audits as published
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.measure.test_experiments import CHECKED, METRICS, RATING, rater
from tests.measure.test_leakage import audited as with_leakage
from tests.policies.packs import OWN
from tests.report import test_what_was_varied as varied
from tests.report.golden import RUNS as GOLDEN
from tests.report.runs import made, reported
from tests.score.audits import open_audit, up_to
from tests.score.fakes import by_hash, fake
from tests.texts import text_audit

WEEK: Final = Window.parse("2026-01-05", "2026-01-12")


def of_policy(policy: str, folder: Path) -> Run:
    """An audit of people under another law."""
    return made(
        folder,
        groups={"provenance": "self_reported"},
        report={"policy": policy, "distribution_date": "2025-11-03", "tool": "T."},
    )


def hidden_cells(folder: Path) -> Run:
    """Three people in a category, under a pack that hides small cells."""
    pack = OWN + "cells: {display: suppress}\n"
    (folder / "ours.yaml").write_text(pack, encoding="utf-8")
    path = recorded_audit(folder, groups={"provenance": "self_reported"}, report={"policy": "ours.yaml"})
    rows, left = recorded_rows(320), 3
    for row in rows:
        if row["sex"] == "female" and row["race"] == "Black":
            row["race"], left = ("Black", left - 1) if left else ("White", 0)
    write_jsonl(folder / "prompts.jsonl", rows)
    return reported(path)


def texts(folder: Path) -> Run:
    """Texts measured by word lists and classifiers."""
    run = pipeline.open_run(text_audit(folder), WEEK, str(folder / "store"))
    pipeline.run_all(run)
    return run


def asked(task: str, folder: Path, **sections: Any) -> Run:
    """A small experiment that a made-up model answers."""
    fake("hashing", by_hash)
    return up_to(open_audit(folder, task, **sections), "report")


def rated(seen: bool, folder: Path) -> Run:
    """A correspondence experiment with controls and a manipulation check, whose groups the model sees or does not."""
    fake("rater", rater(0.5, seen=seen))
    return up_to(
        open_audit(
            folder,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            perturb={"controls": True},
            manipulation=CHECKED,
            measure={"metrics": METRICS, "margins": {"score_gap": 0.2}},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": 12},
        ),
        "report",
    )


def adverse_impact(folder: Path) -> Run:
    """Ratings of real people at thresholds."""
    return made(
        folder,
        groups={"provenance": "self_reported"},
        measure={"metrics": ["impact_ratio", "adverse_impact_ratio"], "thresholds": [-0.5, 0.5]},
    )


RUNS: Final[dict[str, Callable[[Path], Run]]] = {
    **GOLDEN,
    "hidden_cells": hidden_cells,
    "exclusions": published.exclusions,
    "us_ugesp": partial(of_policy, "us_ugesp"),
    "california_crd": partial(of_policy, "california_crd"),
    "eu_ai_act_annex_iii": partial(of_policy, "eu_ai_act_annex_iii"),
    "generic": partial(of_policy, "generic"),
    "leakage": with_leakage,
    "words_exchanged": lambda folder: varied.audited(
        folder, ["She cooks.", "A man drives.", "He/she writes.", "Somebody bakes."] * 3
    ),
    "personas": lambda folder: varied.experiment(folder, 6),
    "experiment_seen": partial(rated, True),
    "experiment_unseen": partial(rated, False),
    "adverse_impact": adverse_impact,
    "pairwise": partial(asked, "pairwise"),
    "listwise": partial(asked, "listwise"),
    "texts": texts,
}
