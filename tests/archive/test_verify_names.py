"""Tables of names are computed again where applications share names, and a changed number of theirs is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json
from tests.archive.cases import reseal
from tests.measure.test_names import audited, rater


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed run: 24 applications share the three names of each group."""
    return Path(audited(tmp_path_factory.mktemp("shared"), rater(0.4), 3, stage="evidence").uri)


def test_a_run_whose_applications_share_names_verifies(sealed: Path) -> None:
    document = json.loads((sealed / "metrics/metrics.json").read_bytes())
    assert document["names"]["names"] < document["names"]["applications"] * 8, "applications share names"
    found = verify(str(sealed))
    assert found.ok, found.findings
    assert {"metrics", "report"} <= set(found.recomputed)


@pytest.mark.parametrize("place", ["sd", "effects", "other names"])
def test_a_changed_number_of_names_is_found(sealed: Path, tmp_path: Path, place: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(sealed, copy)
    path = copy / "metrics/metrics.json"
    document = json.loads(path.read_bytes())
    if place == "sd":
        document["names"]["sd"] *= 1.001
    elif place == "effects":
        document["names"]["effects"][5]["value"] += 0.001
    else:
        (women,) = (
            e
            for e in document["estimates"]
            if e["metric"] == "standardised_effect" and e["group"].get("sex") == "female" and not e["stratum"]
        )
        women["interval"]["low"] += 0.001
    path.write_bytes(pretty_json(document))
    reseal(copy)
    found = verify(str(copy))
    assert {(one.kind, one.path) for one in found.findings} >= {("recomputation", "metrics/metrics.json")}
