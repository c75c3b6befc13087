"""The reference page of metrics is what their records say now."""

from __future__ import annotations

import importlib.util
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from audit_lib.measure.metric import METRICS, MetricRecord, record_of

ROOT = Path(__file__).parents[2]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("metric_page", ROOT / "tools" / "metric_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_published_page_is_the_code_s() -> None:
    published = ROOT / "docs" / "reference" / "metrics.md"
    assert published.read_text(encoding="utf-8") == generator().page(), (
        f"renew it: python tools/metric_page.py > {published.relative_to(ROOT)}"
    )


def test_every_shipped_metric_has_its_section() -> None:
    page = generator().page()
    shipped = [name for name in METRICS.names() if name not in METRICS.plugins.names()]
    assert [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")] == shipped


CHANGED: dict[str, Any] = {
    "title": "Another",
    "parity": 7.5,
    "better": "higher",
    "unit": "parsecs",
    "meaning": "Something else.",
    "cite": "Nobody (1999)",
    "needs": ("lists",),
    "columns": ("qualified",),
    "provenance": "observed",
    "signed": False,
    "figure": "another",
    "gap": "Another gap",
    "of_groups": "Another of each group",
    "generations": 25,
    "paired": True,
    "languages": "spaced",
    "further": {"again": {"title": "Another, again", "meaning": "Something else, again."}},
}


@pytest.mark.parametrize("field", [one.name for one in fields(MetricRecord)])
def test_every_field_of_a_record_is_on_the_page(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = generator()
    before = module.page()

    def other(name: str) -> MetricRecord:
        said = record_of(name)
        return replace(said, **{field: CHANGED[field]}) if name == "score_gap" else said

    monkeypatch.setattr(module, "record_of", other)
    assert module.page() != before
