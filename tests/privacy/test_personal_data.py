"""The right of access: one person's data, all of them, with their proof, and nobody else's."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audit_lib.archive.personal_data import check_personal_data, personal_data
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError
from audit_lib.run import Run
from tests.archive.cases import do, new_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    return do(new_run(folder, str(folder / "store")))


@pytest.fixture
def document(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(personal_data(run, "a007"))
    return found


def test_every_row_of_the_person_is_there_and_of_nobody_else(run: Run, document: dict[str, Any]) -> None:
    text = json.dumps(document | {"proof": None})
    assert "Resume no. 7" in text
    others = [number for number in range(48) if number != 7]
    assert not [number for number in others if f"a{number:03d}" in text or f"p{number:03d}" in text]
    assert document["rows"].keys() == {
        "sample/prompts.parquet",
        "variants/variants.parquet",
        "metrics/decisions.parquet",
    }
    (row,) = pq.read_table(
        Path(run.uri) / "sample/prompts.parquet", filters=[("application_id", "=", "a007")]
    ).to_pylist()
    assert document["rows"]["sample/prompts.parquet"] == [row]
    assert [one["variant_id"] for one in document["proof"]["records"]] == ["p007"]


def test_the_question_has_the_digest_of_the_proved_record(document: dict[str, Any]) -> None:
    (question,), (record,) = document["questions"], document["proof"]["records"]
    assert sha256(question["asked"].encode()).hexdigest() == record["request_digest"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["proof"]["records"][0].update(score=0.5), "not those of the leaf"),
        (lambda d: d["questions"][0].update(asked="{}"), "is not the one that was asked"),
        (lambda d: d["questions"][0].update(variant_id="p008"), "to none of the proved records"),
        (lambda d: d.update(application="a008"), "its proof is of another application"),
        (lambda d: d.update(more=1), "more"),
    ],
)
def test_what_was_changed_shows(
    document: dict[str, Any], change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    assert check_personal_data(pretty_json(document), "file")[0].records == 1
    change(document)
    with pytest.raises(EvidenceError, match=said):
        check_personal_data(pretty_json(document), "file")


def test_somebody_who_is_not_in_it_is_told_so(run: Run) -> None:
    with pytest.raises(EvidenceError, match=r"holds nothing about this application; `audit prove`") as raised:
        personal_data(run, "Ottilie Quastenflosser")
    assert "Ottilie" not in str(raised.value), "an id may be a name, and messages go to logs"


def test_rows_about_several_people_are_left_out_and_counted(tmp_path: Path) -> None:
    """In a pool each row of a pair holds somebody else's answer."""
    from audit_lib.archive.personal_data import _is_shared

    assert _is_shared({"first": "v1", "second": "v2", "answer": "first"}, set(), {"v1"})
    assert not _is_shared({"first": "v1", "second": "v2", "answer": "first"}, set(), {"v1", "v2"})
    assert _is_shared({"request_id": "q", "messages": "[]"}, {"q"}, {"v1"})
    assert not _is_shared({"request_id": "q", "messages": None, "score": 1.0}, {"q"}, {"v1"})


def test_the_commands(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "access.json"
    assert main(["access", run.uri, "--application", "a007", "--out", str(out)]) == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert ": 1 score record with proof, 1 question\n" in capsys.readouterr().out
    assert main(["verify-record", str(out)]) == 0
    assert "1 questions have the digests of these records" in capsys.readouterr().out
    assert main(["access", run.uri, "--application", "a007", "--out", str(out)]) != 0, (
        "nothing is overwritten"
    )
