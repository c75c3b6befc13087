"""A panel has a page on the site, which names every model, and only runs whose evidence is there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from audit_lib.panel import run_panel
from audit_lib.site import publish
from tests.compare.cases import versions
from tests.inputs import write_jsonl
from tests.panel.cases import recorded_panel
from tests.panel.test_run import opened
from tests.policies.packs import OWN


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("panels")
    path = recorded_panel(folder, ["fair-1", "kind-1", "harsh-1"])
    write_jsonl(folder / "harsh-1.jsonl", [{**row, "recorded_score": None} for row in versions("harsh-1")])
    run_panel(opened(path))
    return folder


@pytest.fixture
def store(sealed: Path, tmp_path: Path) -> Path:
    shutil.copytree(sealed / "store", tmp_path / "store")
    return tmp_path / "store"


def panel_of(store: Path) -> Path:
    (page,) = (store / "site").rglob("panel.html")
    return page


def test_a_panel_is_on_the_index_and_has_a_page(store: Path) -> None:
    assert publish(str(store)).left_out == ()
    index = (store / "site" / "index.html").read_text(encoding="utf-8")
    assert "a panel of 3 models" in index and "1 of them not compared" in index
    (found,) = re.findall(r'href="(screeners/[^"]*panel\.html)"', index)
    page = store / "site" / found
    said = page.read_text(encoding="utf-8")
    assert all(model in said for model in ("fair-1", "kind-1", "harsh-1"))
    assert "failed validation" in said and "1 not compared" in said
    assert "fair-1 less kind-1" in said and "fair-1 less harsh-1" not in said
    links = [one for one in re.findall(r'href="([^"#]+)"', said) if not one.startswith("http")]
    assert len(links) == 2, "of the two that have a report"
    assert all((page.parent / one).resolve().is_file() for one in links)
    for name in ("panel.json", "comparison.json", "comparison.csv", "differences.csv"):
        assert (page.parent / name).is_file()
    assert publish(str(store)).written == 0


def test_a_panel_whose_run_is_gone_or_changed_is_left_out_with_the_reason(store: Path) -> None:
    record = json.loads(next(store.glob("screeners/**/panel.json")).read_text(encoding="utf-8"))
    shutil.rmtree(store / record["members"][0]["run"])
    (reason,) = publish(str(store)).left_out
    assert "the run of fair-1 that the panel names is not published" in reason
    assert not list((store / "site").rglob("panel.html"))


@pytest.mark.parametrize("name", ["panel.json", "comparison.json"])
def test_a_changed_record_is_left_out(store: Path, name: str) -> None:
    (path,) = store.glob(f"screeners/**/{name}")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b'"fair-1"', b'"best-1"'))
    (reason,) = publish(str(store)).left_out
    assert "SHA-256 differs" in reason


def test_the_last_record_is_the_one_that_counts(sealed: Path, tmp_path: Path) -> None:
    for name in ("store", "panel.yaml", "fair-1.jsonl", "kind-1.jsonl", "harsh-1.jsonl"):
        (shutil.copytree if (sealed / name).is_dir() else shutil.copy)(sealed / name, tmp_path / name)
    made = opened(tmp_path / "panel.yaml")
    run_panel(made)
    assert made.last_number() == 1, "nothing changed"
    publish(str(tmp_path / "store"))
    assert "failed validation" in panel_of(tmp_path / "store").read_text(encoding="utf-8")


def test_no_digest_of_rows_is_published_where_small_cells_are_hidden(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OWN + "cells: {display: suppress, small: 100}\n", encoding="utf-8")
    run_panel(opened(recorded_panel(tmp_path, ["fair-1", "kind-1"], report={"policy": "ours.yaml"})))
    assert publish(str(tmp_path / "store")).left_out == ()
    (path,) = (tmp_path / "store").glob("screeners/**/panel.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    of_rows = {one[name] for one in record["members"] for name in ("prompts_sha256", "variants_sha256")}
    of_rows |= {record["design"], record["comparison_sha256"]}
    assert None not in of_rows
    page = panel_of(tmp_path / "store")
    assert {one.name for one in page.parent.iterdir()} == {"panel.html", "comparison.csv", "differences.csv"}
    for file in (one for one in (tmp_path / "store" / "site").rglob("*") if one.is_file()):
        said = file.read_text(encoding="utf-8")
        assert not [one for one in of_rows if one[:12] in said], file.name
