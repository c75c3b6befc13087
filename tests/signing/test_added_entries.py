"""Entries put behind the newest head that anybody knows, and what else is put into a journal's folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.documents.journal import entry_bytes, entry_digest
from audit_lib.journal import enter, read_journal
from audit_lib.pipeline import load_run
from audit_lib.store import LocalStore
from tests.signing.conftest import Signed
from tests.signing.test_forged_places import both, folder_of

pytest.importorskip("rfc3161_client", reason="of the extra sign: time stamps")

NONE: dict[str, Any] = {"outcome": None, "sealed_sha256": None}
ADDED: dict[str, tuple[dict[str, Any], str]] = {
    "the end again": ({}, "completed of a run that was sealed"),
    "another end": ({"attempt": 7, "sealed_sha256": "0" * 64}, "completed of a run that was sealed"),
    "a validation that failed": (
        {"event": "failed", "outcome": "validation_failed"},
        "failed of a run that was sealed",
    ),
    "an end without a digest": ({"run": "f" * 16, "sealed_sha256": None}, "says completed, and"),
    "an end of what was never planned": (
        {"run": "f" * 16},
        "completed of a run whose plan was never entered",
    ),
    "another outcome": ({"outcome": "excellent"}, "with an outcome that is none of it"),
    "a plan after the end": (
        {"event": "planned", "outcome": None, "attempt": 2},
        "planned of a run that was",
    ),
    "a plan without its digest": ({"run": "f" * 16, "event": "planned", **NONE}, "says planned, and"),
    "a plan of a run that is not there": (
        {"run": "f" * 16, "event": "planned", "outcome": None},
        "plan/_SUCCESS: entry 4 of the journal says that it was written, and it is gone",
    ),
    "asked without a plan": ({"run": "f" * 16, "event": "asked", **NONE}, "whose plan was never entered"),
    "asked after the end": ({"event": "asked", "attempt": 2, **NONE}, "asked of a run that was sealed"),
    "abandoned after its end": ({"event": "abandoned", **NONE}, "abandoned that had ended, or was never"),
    "abandoned, and never begun": (
        {"event": "abandoned", "attempt": 9, **NONE},
        "abandoned that had ended, or was never",
    ),
    "signed, and not what": ({"event": "signed", "attempt": 0, **NONE}, "says signed, and"),
}


@pytest.mark.parametrize("name", list(ADDED))
def test_an_entry_that_nothing_makes_is_found(
    signed: Signed, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    changes, words = ADDED[name]
    last = read_journal(LocalStore(str(signed.store)), "small")[-1]
    made = replace(last, number=last.number + 1, previous=entry_digest(last), **changes)
    (signed.store / "small/journal" / f"{made.number:06d}.json").write_bytes(entry_bytes(made))
    for found in both(signed, folder_of(signed), "journal"):
        assert any(words.split(" of the journal")[0] in one for one in found), found
    assert main(["journal", "small", "--store", str(signed.store)]) == 1
    assert words in capsys.readouterr().out


def test_an_attempt_that_has_ended_is_not_entered_as_abandoned(tmp_path: Path, signed: Signed) -> None:
    run = load_run(str(folder_of(signed)))
    last = read_journal(run.store, "small")[-1]
    assert enter(run.store, run.key, last.attempt, "abandoned") == last


def to_link(journal: Path) -> None:
    path = journal / "000001.json"
    path.rename(journal.parent / "elsewhere.json")
    path.symlink_to("../elsewhere.json")


def whole_to_link(journal: Path) -> None:
    shutil.move(journal, journal.with_name("elsewhere"))
    journal.symlink_to("elsewhere")


def too_large(journal: Path) -> None:
    with (journal / "000004.json").open("wb") as stream:
        stream.truncate(1 << 40)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (to_link, "symbolic link"),
        (whole_to_link, "symbolic link"),
        (lambda journal: os.mkfifo(journal / "000004.json"), "no file"),
        (lambda journal: (journal / ".tmp-000004.json").write_text("{}"), ".tmp-000004.json"),
        (too_large, "is larger than 1 MiB; it is not read"),
    ],
    ids=["an entry that is a link", "a folder that is a link", "a pipe", "a hidden name", "a terabyte"],
)
def test_what_is_no_entry_is_found(signed: Signed, change: Callable[[Path], Any], words: str) -> None:
    change(signed.store / "small/journal")
    ours, theirs = both(signed, folder_of(signed), "journal")
    assert any("small/journal" in one and words in one for one in ours), ours
    assert any("small/journal" in one for one in theirs), theirs


def test_a_plan_signed_after_the_journal_says_asked_is_found_by_both(signed: Signed) -> None:
    """The shard's record says that it began later; the entry, which is older, does not."""
    folder = signed.store / "small/journal"
    entries = read_journal(LocalStore(str(signed.store)), "small")
    before = None
    for one in entries:
        at = "2026-01-01T00:00:00.000+00:00" if one.event == "asked" else one.at
        before = replace(one, previous=None if before is None else entry_digest(before), at=at)
        (folder / f"{one.number:06d}.json").write_bytes(entry_bytes(before))
    for found in both(signed, folder_of(signed)):
        assert any("signatures/plan.dsse.json: the plan was signed" in one for one in found), found


def test_pipes_hidden_names_and_deep_folders_in_a_run_are_found_by_both(signed: Signed) -> None:
    metrics = signed.run / "metrics"
    os.mkfifo(metrics / "pipe")
    (metrics / ".tmp-metrics.json").write_bytes(pretty_json({}))
    here = os.getcwd()
    try:
        os.chdir(metrics)
        for _ in range(50):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        Path("report.html").write_text("<h1>another</h1>")
    finally:
        os.chdir(here)
    for found in both(signed, signed.run):
        assert {one.split(":")[0].split("/d")[0] for one in found} == {
            "metrics/pipe",
            "metrics/.tmp-metrics.json",
            "metrics",
        }, found
    shutil.rmtree(metrics)
