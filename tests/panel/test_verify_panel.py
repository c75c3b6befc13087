"""A panel verifies, and whatever is changed in its record or its comparison is found."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.cli.main import main
from audit_lib.panel import open_panel, run_panel
from audit_lib.panel.verify_panel import is_panel, verify_panel
from audit_lib.spec import Panel, read_spec
from tests.panel.cases import WINDOW, recorded_panel

Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a panel of two models that are sealed and compared."""
    folder = tmp_path_factory.mktemp("panel")
    panel = read_spec(recorded_panel(folder, ["fair-1", "harsh-1"]))
    assert isinstance(panel, Panel)
    record = run_panel(open_panel(panel, WINDOW, str(folder / "store")))
    assert record is not None and record.comparison_sha256 is not None
    return folder / "store"


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


def panel_of(store: Path) -> Path:
    (found,) = store.glob("*/*/*/compare")
    return found.parent


def rewritten(record: Path, name: str, content: bytes) -> None:
    """Change a file, and the digest of it that its stage's record holds, as a forger would."""
    (record / name).write_bytes(content)
    success = json.loads((record / "_SUCCESS").read_bytes())
    success["artefacts"][name] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (record / "_SUCCESS").write_text(json.dumps(success))


def pretty(document: Any) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def forged(record: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the comparison, its digest in the panel's record, and both in the stage's record."""
    document = json.loads((record / "comparison.json").read_bytes())
    change(document)
    content = pretty(document)
    rewritten(record, "comparison.json", content)
    said = json.loads((record / "panel.json").read_bytes())
    said["comparison_sha256"] = hashlib.sha256(content).hexdigest()
    rewritten(record, "panel.json", pretty(said))


def numbers_of(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where every number of a document is."""
    if isinstance(document, dict):
        return [one for key, value in document.items() for one in numbers_of(value, (*path, key))]
    if isinstance(document, list):
        return [one for i, value in enumerate(document) for one in numbers_of(value, (*path, i))]
    return [path] if isinstance(document, int | float) and not isinstance(document, bool) else []


def changed_at(document: Any, path: tuple[Any, ...]) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] += 1


def test_what_was_made_verifies(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    panel = panel_of(store)
    assert is_panel(str(panel)) and not is_panel(str(next(store.glob("*/*/*/plan")).parent))
    found = verify_panel(str(panel))
    assert found.ok and len(found.recomputed) == 3
    assert main(["verify", str(panel)]) == 0
    less = verify_panel(str(panel), table_bytes=10)
    assert {one.path.split("/")[0] for one in less.findings if "unpacks to more than 10" in one.detail}
    assert capsys.readouterr().out.startswith("VERIFIED")


def test_a_changed_byte_is_found(store: Path) -> None:
    record = panel_of(store) / "compare/1"
    for name in sorted(one.name for one in record.iterdir() if one.name != "_SUCCESS"):
        content = (record / name).read_bytes()
        (record / name).write_bytes(content[:-2] + b" " + content[-2:])
        found = verify_panel(str(panel_of(store)))
        assert (f"compare/1/{name}", "changed") in {(one.path, one.kind) for one in found.findings}
        (record / name).write_bytes(content)


def test_forged_numbers_of_the_comparison_are_found(store: Path) -> None:
    """One number of each kind in turn, with every digest made to agree."""
    record = panel_of(store) / "compare/1"
    before = {name: (record / name).read_bytes() for name in ("_SUCCESS", "comparison.json", "panel.json")}
    assert pretty(json.loads(before["comparison.json"])) == before["comparison.json"], (
        "only numbers are changed"
    )
    kinds: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for path in numbers_of(json.loads(before["comparison.json"])):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), path)
    assert len(kinds) > 20
    places = sorted(kinds.values(), key=str)
    for path in places[:: len(places) // 5]:
        forged(record, lambda document, path=path: changed_at(document, path))
        found = verify_panel(str(panel_of(store)))
        assert ("compare/1/comparison.json", "recomputation") in {
            (one.path, one.kind) for one in found.findings
        }
        for name, content in before.items():
            (record / name).write_bytes(content)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda said: said["members"][0]["asked"].update(requests=1), "its asked is not that of the run"),
        (lambda said: said["members"][0].update(state="failed"), "its state is not that of the run"),
        (lambda said: said["members"][1].update(manifest_sha256="0" * 64), "its manifest_sha256 is not that"),
        (lambda said: said["members"].pop(), "its digest is not that of the runs"),
        (
            lambda said: said.update(window="20260112T000000Z_20260119T000000Z"),
            "of another panel than its folder",
        ),
        (lambda said: said.update(comparison_sha256=None), "names the comparison none"),
        (lambda said: said.update(title="Certified fair"), "its title is not that of the run"),
    ],
    ids=["cost", "state", "evidence", "left out", "window", "no comparison", "title"],
)
def test_a_forged_record_is_found(store: Path, change: Any, said: str) -> None:
    record = panel_of(store) / "compare/1"
    document = json.loads((record / "panel.json").read_bytes())
    change(document)
    rewritten(record, "panel.json", pretty(document))
    found = verify_panel(str(panel_of(store)))
    assert any(said in one.detail for one in found.findings), found.summary()


def test_a_run_that_was_changed_or_taken_away_is_found(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    panel = panel_of(store)
    one = next(store.glob("screeners_fair*/2*/*"))
    scores = next(one.glob("scores/*/scores.parquet"))
    content = scores.read_bytes()
    scores.write_bytes(content[:-1] + b"!")
    found = verify_panel(str(panel))
    assert any(finding.path.startswith(f"{one.relative_to(store)}/scores") for finding in found.findings)
    scores.write_bytes(content)
    assert verify_panel(str(panel)).ok
    shutil.rmtree(one)
    assert main(["verify", str(panel)]) == 1
    assert "its run cannot be read" in capsys.readouterr().out


def test_a_further_file_is_found(store: Path) -> None:
    (panel_of(store) / "compare/1/better.csv").write_text("1\n")
    found = verify_panel(str(panel_of(store)))
    assert [(one.kind, one.path) for one in found.findings] == [("extra", "compare/1/better.csv")]
