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
    "pairwise": partial(asked, "pairwise"),
    "listwise": partial(asked, "listwise"),
    "texts": texts,
}
