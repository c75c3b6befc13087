"""What `benchmarks.evidence` measures, in small: no reader of evidence fails on changed bytes, and faults are kept."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from audit_lib.errors import EvidenceError
from benchmarks.evidence_changes import changed
from benchmarks.evidence_fuzz import Fuzzing
from benchmarks.evidence_page import BEGIN, END, write_page
from benchmarks.evidence_targets import READERS, WHOLE, Target, target


def feed(targets: dict[str, Target], folder: Path, times: int) -> Fuzzing:
    fuzzing = Fuzzing(targets, 0, folder / "fuzzed.json", "by chance")
    draw = random.Random(3)
    for name in targets:
        for _ in range(times):
            data = bytes([fuzzing.names.index(name)]) + draw.choice(targets[name].seeds)
            start = fuzzing.header(data)
            fuzzing.feed(data[:start] + changed(data[start:], draw))
    fuzzing.tell()
    return fuzzing


def test_a_fault_is_kept_with_its_input_and_a_refusal_is_none(tmp_path: Path) -> None:
    def reads(data: bytes) -> None:
        if data[:1] == b"{":
            raise EvidenceError("refused")
        raise KeyError("x")

    found = feed({"one": Target(call=reads, seeds=[b'{"a": 1}'])}, tmp_path, 60).counts["one"]
    (fault,) = found.faults.values()
    assert found.inputs == 60 == found.refused + fault["times"] and found.refused > 5
    assert not (tmp_path / fault["input"]).read_bytes()[1:].startswith(b"{")
    assert json.loads((tmp_path / "fuzzed.json").read_bytes())["targets"]["one"]["inputs"] == 60


def test_the_page_has_what_was_measured_and_keeps_its_own_words(tmp_path: Path) -> None:
    page, results = tmp_path / "page.md", tmp_path / "results"
    results.mkdir()
    page.write_text("# Words\n")
    row = {"attack": "a | b", "alone": False, "alone_second": False, "trusted": True, "trusted_second": True}
    document = {"rows": [{**row, "said": "why"}], "cpu_s": 1, "wall_s": 2, "day": "2026-01-05"}
    (results / "attacks.json").write_text(json.dumps(document))
    write_page(results, page)
    first = page.read_text()
    assert first.startswith("# Words\n\n" + BEGIN) and first.endswith(f"{END}\n")
    assert "| a \\| b | not found | not found | found | found | why |" in first
    assert "Fuzzing" not in first, "what was not measured is not there"
    page.write_text(first + "\nMore words.\n")
    write_page(results, page)
    assert page.read_text() == first + "\nMore words.\n"


@pytest.mark.slow  # a signed run, and some hundred changed documents and runs
def test_no_reader_fails_on_changed_bytes(tmp_path: Path) -> None:
    pytest.importorskip("rfc3161_client", reason="of the extra sign: time stamps")
    from benchmarks.evidence_runs import write_seeds

    seeds = tmp_path / "seeds"
    write_seeds(seeds)
    readers = feed({name: target(name, seeds) for name in READERS}, tmp_path, 60)
    whole = feed({name: target(name, seeds) for name in WHOLE}, tmp_path, 5)
    for count in (*readers.counts.values(), *whole.counts.values()):
        assert count.faults == {}
