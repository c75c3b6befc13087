"""Every study has a spec that is valid and a page that its runs give; what they share is in `studies`."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

import pytest

from audit_lib import pipeline
from audit_lib.spec import Panel, read_spec
from studies import papers
from studies.pages import IMAGES, index_of, pages_of
from studies.results import results_of
from studies.study import ROOT, SPECS, Study, find_studies, spec_path
from tests.installed import needs_torch

DOCS = ROOT / "docs"
STUDIES = find_studies()
CHEAP = {name: one for name, one in STUDIES.items() if one.cheap}
SLOW = {name: one for name, one in STUDIES.items() if not one.cheap}
of_each = pytest.mark.parametrize(("name", "study"), STUDIES.items(), ids=list(STUDIES))


def images_of(name: str) -> set[str]:
    return {path.name for path in (DOCS / IMAGES).glob(f"{name}-*.svg")}


def test_there_are_studies_and_each_spec_is_of_one() -> None:
    assert STUDIES
    named = [spec for one in STUDIES.values() for spec in one.specs]
    assert sorted(named) == sorted(path.stem for path in SPECS.glob("*.yaml"))


@of_each
def test_the_specs_are_valid(name: str, study: Study) -> None:
    assert name in study.specs
    for spec in study.specs:
        found = read_spec(spec_path(spec))
        assert found.audit == spec, "an audit is called as its file, so that stores and pages tell them apart"
        for one in found.members if isinstance(found, Panel) else [found]:
            pipeline.check(one)


@of_each
def test_the_prose_has_no_number_of_a_run(name: str, study: Study) -> None:
    """A measured number has three decimals here; those come from the runs."""
    source = Path(str(papers.__path__[0]), f"{name}.py").read_text(encoding="utf-8")
    assert not re.findall(r"\d\.\d{3}", re.sub(r"arXiv:\d{4}\.\d{5}", "", source))
    assert Template(study.prose).is_valid()
    assert Template(study.prose).get_identifiers()


@of_each
def test_the_page_is_there_with_its_figures(name: str, study: Study) -> None:
    page = (DOCS / "studies" / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {study.title}\n")
    assert study.paper in page
    for spec in study.specs:
        assert f"audit run include/studies/{spec}.yaml" in page
    assert set(re.findall(r"\.\./images/studies/([\w.-]+)", page)) == images_of(name)
    for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page):
        assert link.startswith("https://") or (DOCS / "studies" / link).exists(), f"{link}: not there"


def test_the_list_is_what_the_command_writes() -> None:
    assert (DOCS / "studies" / "index.md").read_bytes() == index_of(STUDIES), "run make studies"
    pages = {path.stem for path in (DOCS / "studies").glob("*.md")} - {"index"}
    assert pages == set(STUDIES)
    assert {path.name for path in (DOCS / IMAGES).glob("*")} == {
        i for name in STUDIES for i in images_of(name)
    }


def check_page(name: str, study: Study, folder: Path) -> None:
    results = results_of(name, study, folder / "store")
    results.run()
    made = pages_of(results)
    assert {Path(path).name for path in made if path.endswith(".svg")} == images_of(name)
    for path, content in made.items():
        assert (DOCS / path).read_bytes() == content, (
            f"{path}: not what its runs give; run make studies and read it"
        )


@pytest.mark.parametrize(("name", "study"), CHEAP.items(), ids=list(CHEAP))
def test_the_page_is_what_the_runs_give(name: str, study: Study, tmp_path: Path) -> None:
    check_page(name, study, tmp_path)


@pytest.mark.slow  # minutes a study: its models are asked
@needs_torch
@pytest.mark.parametrize(("name", "study"), SLOW.items(), ids=list(SLOW))
def test_the_page_is_what_the_models_give(name: str, study: Study, tmp_path: Path) -> None:
    check_page(name, study, tmp_path)
