"""What is written so that a reader never ends is refused in time: each of these took years before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.errors import EvidenceError
from audit_lib.privacy.rows_csv import csv_lines
from tests.archive.cases import do, new_run, reseal
from tests.verifier.conftest import Told


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("endless")
    return Path(do(new_run(folder, str(folder / "store"))).uri)


def versions(run: Path) -> None:
    """A version that could be read as one part or many, and is none in the end."""
    path = run / "evidence/manifest.json"
    document = json.loads(path.read_bytes())
    document["software"]["numpy"] = "a" * 60 + "$"
    path.write_bytes(canonical_json(document))


def key(run: Path) -> None:
    """A key of blanks, which could belong to the text or to what is around it."""
    (run / "signatures").mkdir()
    (run / "signatures/plan.dsse.json").write_text("{}")
    (run / "signatures/plan.pub").write_text("-----BEGIN PUBLIC KEY-----" + 20_000 * "\n")


def threshold(run: Path) -> None:
    """A ratio with a hundred million digits."""
    path = run / "plan/plan.json"
    document = json.loads(path.read_bytes())
    document["thresholds"]["guidance_ratio"] = "1e99999999"
    path.write_bytes(pretty_json(document))
    reseal(run)


@pytest.mark.parametrize("attack", [versions, key, threshold])
def test_the_packed_verifier_ends(
    original: Path, attack: Callable[[Path], None], tmp_path: Path, told: Told
) -> None:
    run = shutil.copytree(original, tmp_path / "run")
    attack(run)
    code, said = told(run)
    assert code == 1 and said["findings"]


def test_a_line_of_quotes_that_never_ends_is_no_line() -> None:
    with pytest.raises(EvidenceError, match="holds a line that is none"):
        list(csv_lines("v1,a1,,ok\nv2,a2,," + 5_000 * '""'))
