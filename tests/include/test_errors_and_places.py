"""The example of errors, places and flips: every number is defined on it, and its run verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.documents.metrics import read_metrics
from audit_lib.measure.metric import record_of
from audit_lib.results import Undefined
from audit_lib.run import Window
from tests.installed import needs_torch
from tests.specs import INCLUDE

PATH = INCLUDE / "examples" / "resume_errors_and_places.yaml"


@pytest.mark.slow  # the demo's model answers 96 prompts and is tried before: 80 s
@needs_torch
def test_every_number_is_defined_and_printed(tmp_path: Path) -> None:
    run = pipeline.open_run(PATH, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path))
    pipeline.run_all(run)
    found = read_metrics(run.stage("metrics").read("metrics.json")).estimates
    names = {one.metric for one in found}
    assert {*run.spec.measure.metrics} <= names and {"theil_index_between", "ndkl_excess"} <= names
    assert not [
        one for one in found if isinstance(one.value, Undefined) or isinstance(one.interval, Undefined)
    ]
    page = run.stage("report").read("report.html").decode()
    assert all(record_of(name).title in page for name in names)
    assert "Like cases have the same chance." in page and "The spec asks for no impact ratio." in page
    assert verify(run.uri).ok
