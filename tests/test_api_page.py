"""The page of the Python interface is what the docstrings say now, and names everything that is public."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "api.md"
PUBLIC = ("audit_lib.metrics", "audit_lib.stats", "audit_lib.figures", "audit_lib.dataframe")


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("api_page", ROOT / "tools" / "api_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_published_page_is_the_code_s() -> None:
    assert PAGE.read_text(encoding="utf-8") == generator().page(), (
        f"renew it: python tools/api_page.py > {PAGE.relative_to(ROOT)}"
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_its_section(name: str) -> None:
    sections = re.findall(r"^### (\w+)$", PAGE.read_text(encoding="utf-8"), re.M)
    assert set(importlib.import_module(name).__all__) <= {*sections, "frame"}
    assert len(sections) == len(set(sections)), "a link leads to one place"


def test_the_contents_lead_to_sections() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = set(re.findall(r"^### (\w+)$", page, re.M))
    assert set(re.findall(r"^\[?.*?\]\(#(\w+)\)", page, re.M)) <= {one.lower() for one in sections}
    for path in ("README.md", "docs/index.md"):
        assert "reference/api.md" in (ROOT / path).read_text(encoding="utf-8"), "it can be found"


def test_the_examples_are_those_that_the_tests_run() -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", page, re.S)
    assert len(blocks) > 100
    of_docstrings = {
        example.source
        for module in (
            "audit_lib.metrics.allocation",
            "audit_lib.stats.clusters",
            "audit_lib.dataframe.frame",
        )
        for test in doctest.DocTestFinder().find(importlib.import_module(module))
        for example in test.examples
    }
    on_page = {example.source for block in blocks for example in doctest.DocTestParser().get_examples(block)}
    assert {"rabbi([3, 1], [1, 2])\n", "score_gap([3, 4, 5], [3, 3, 3])\n"} & of_docstrings <= on_page
    assert len(of_docstrings & on_page) >= 15


def test_nothing_of_a_docstring_becomes_markup() -> None:
    module = generator()
    assert module._plain("a*b ``x*y`` <tag> :math:`n`") == r"a\*b `x*y` \<tag> $n$"
