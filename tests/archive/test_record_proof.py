"""One applicant's records are proved in, or out, without the others; anything that was changed shows."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audit_lib.archive import record_tree as module
from audit_lib.archive.record_proof import check_proof, prove
from audit_lib.archive.verify import verify
from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError, IncompleteRunError
from audit_lib.run import Run
from tests.archive.cases import as_format_1, do, new_run, reseal
from tests.archive.test_merkle import mth


@pytest.fixture
def run(sealed_run: Run) -> Run:
    return Run.from_bundle(sealed_run.uri)


def rows_of(folder: Path, application: str) -> list[dict[str, Any]]:
    """An applicant's rows, read without this library."""
    variants = pq.read_table(folder / "variants/variants.parquet").to_pylist()
    own = {row["variant_id"] for row in variants if row["application_id"] == application}
    shards = sorted((folder / "scores").iterdir(), key=lambda path: int(path.name))
    return [
        {"shard": f"scores/{shard.name}", **row}
        for shard in shards
        for row in pq.read_table(shard / "scores.parquet").to_pylist()
        if row["variant_id"] in own
    ]


def test_the_root_is_that_of_an_independent_tree(run: Run) -> None:
    """Leaves by the words of the reference page; RFC 8785 by its own package; the tree from RFC 6962's text."""
    rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
    folder = Path(run.uri)
    variants = pq.read_table(folder / "variants/variants.parquet").to_pylist()
    leaves = []
    for application in sorted({row["application_id"] for row in variants}):
        digests = [sha256(rfc8785.dumps(row)).hexdigest() for row in rows_of(folder, application)]
        leaf = {
            "application_sha256": sha256(application.encode()).hexdigest(),
            "records_sha256": sha256("".join(digests).encode()).hexdigest(),
        }
        leaves.append(leaf)
    leaves.sort(key=lambda leaf: leaf["application_sha256"])
    tree = json.loads((folder / "evidence/manifest.json").read_bytes())["record_tree"]
    assert tree == {
        "applications": 48,
        "records": 48,
        "root": mth([rfc8785.dumps(leaf) for leaf in leaves]).hex(),
    }


@pytest.mark.parametrize("part", [1, 5, 47, 1000])
def test_the_tree_does_not_depend_on_the_parts_that_it_is_made_in(
    run: Run, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = json.loads((Path(run.uri) / "evidence/manifest.json").read_bytes())
    monkeypatch.setattr(module, "_PART", part)
    assert module.record_tree(run, manifest["stages"])[0].as_dict() == manifest["record_tree"]


def test_every_applicant_is_proved_in_and_alone(run: Run) -> None:
    manifest = sha256((Path(run.uri) / "evidence/manifest.json").read_bytes()).hexdigest()
    for application in ("a000", "a017", "a047"):
        content = prove(run, application)
        found = check_proof(content, "record.json")
        assert (found.application, found.records, found.manifest_sha256) == (application, 1, manifest)
        assert json.loads(content)["records"] == rows_of(Path(run.uri), application)
        named = set(re.findall(rb'"[ap]([0-9]{3})(?![0-9a-f])', content))  # a digest goes on in hex
        assert named == {application[1:].encode()}


def test_somebody_else_is_proved_out(run: Run) -> None:
    """Enough names to fall before the first leaf, after the last, and between."""
    places = set()
    for number in range(200):
        content = prove(run, f"nobody {number}")
        assert check_proof(content, "record.json").records == 0
        places.add(tuple(one["index"] for one in json.loads(content)["proofs"]))
    assert {len(place) for place in places} == {1, 2} and {(0,), (47,)} <= places


def forge(content: bytes, change: Callable[[Any], None]) -> bytes:
    document = json.loads(content)
    change(document)
    return pretty_json(document)


@pytest.mark.parametrize("change", [
    lambda p: p["records"][0].update(score=0.9),
    lambda p: p["records"].append(p["records"][0]),
    lambda p: p.update(records=[]),
    lambda p: p.update(application="a018"),
    lambda p: p["proofs"][0].update(index=0),
    lambda p: p["proofs"][0]["path"].pop(),
    lambda p: p["proofs"].append(p["proofs"][0]),
    lambda p: p.update(proofs=[]),
    lambda p: p.update(manifest=p["manifest"].replace('"small"', '"large"')[:-1]),
])  # fmt: skip
def test_what_was_changed_is_refused(run: Run, change: Callable[[Any], None]) -> None:
    with pytest.raises(EvidenceError):
        check_proof(forge(prove(run, "a017"), change), "record.json")


def test_absence_cannot_be_claimed_of_somebody_who_is_there(run: Run) -> None:
    """The leaves of two who are not neighbours, or one leaf that is not at an end, show nothing."""
    first, second = (json.loads(prove(run, name))["proofs"][0] for name in ("a017", "a018"))
    there = sorted((first, second), key=lambda one: one["index"])
    for proofs in (there, [there[0]], [there[1]]):
        with pytest.raises(EvidenceError, match="does not show that application"):
            check_proof(
                forge(prove(run, "a019"), lambda p, own=proofs: p.update(records=[], proofs=own)), "x"
            )


def test_the_proof_of_another_manifest_is_told_by_its_digest(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "record.json"
    assert main(["prove", run.uri, "--application", "a017", "--out", str(out)]) == 0
    digest = verify(run.uri, recompute={}).manifest_sha256
    assert main(["verify-record", str(out), "--manifest", digest]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith('PROVED  application "a017": all 1 records')
    assert main(["verify-record", str(out), "--manifest", "0" * 64]) == 1
    assert out.stat().st_mode & 0o077 == 0, "it holds personal data"
    assert main(["prove", run.uri, "--application", "a018", "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["verify-record", str(out), "--manifest", digest[:12]])
    assert "is no SHA-256" in capsys.readouterr().err
    for command in ("prove", "access"):
        assert main([command, str(tmp_path / "x"), "--application", "a017"]) == 2
        assert "no run is here" in capsys.readouterr().err
    out.write_bytes(b"[" * 10_000)
    assert main(["verify-record", str(out)]) == 1
    assert "nested too deeply" in capsys.readouterr().err


def test_a_tree_of_other_scores_does_not_verify(run: Run) -> None:
    path = Path(run.uri) / "evidence/manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["record_tree"]["root"] = "0" * 64
    path.write_bytes(canonical_json(manifest))
    reseal(Path(run.uri))
    found = [f.detail for f in verify(run.uri).findings]
    assert found == ["its tree of records is not that of the scores"]
    with pytest.raises(EvidenceError, match="not those that were sealed"):
        prove(run, "a017")


def test_what_was_not_sealed_with_a_tree_proves_nothing(run: Run, tmp_path: Path) -> None:
    old = Path(shutil.copytree(run.uri, tmp_path / "old"))
    with pytest.raises(EvidenceError, match="a run of format 1 proves no single records"):
        prove(Run.from_bundle(str(as_format_1(old))), "a017")
    (tmp_path / "new").mkdir()
    unfinished = do(new_run(tmp_path / "new", str(tmp_path / "new/store")), until="variants")
    with pytest.raises(IncompleteRunError):
        prove(unfinished, "a017")
