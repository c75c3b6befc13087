"""Copies at the levels: numbers come out again, digests hold, and nothing is taken out of one without a finding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audit_lib.archive.verify import Verification, verify
from audit_lib.bag import export_run, open_bag, unpack
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.errors import WithheldError
from audit_lib.run import Run
from audit_lib.store import open_store
from tests.archive.cases import applicants, as_format_1, do, new_run, redact_again, reseal

SECRET = "Ottilie Quastenflosser"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of people with names for ids, in pools, with ties that the order of ids breaks."""
    folder, rows = tmp_path_factory.mktemp("run"), applicants(64)
    for number, row in enumerate(rows):
        row["application_id"] = f"{SECRET} {number * 37 % 64}"
        row["prompt_id"] = f"{row['application_id']} <{number}@example.org>"
        row["round_id"] = f"of {SECRET} {number // 8}"
        row["position"] = "retail" if number // 8 % 3 else "finance"
        row["resume"] = f"I am {SECRET}."
        row["site"] = "north" if number % 5 else "south"
        row["recorded_score"] = round(row["recorded_score"], 1)
    return do(
        new_run(
            folder,
            str(folder / "store"),
            rows=rows,
            source={"fields": ["resume", "site"]},
            measure={"strata": [[], ["site"]]},
            decision={"rule": "top_k", "k": 3, "round": "round_id"},
        )
    )


@pytest.fixture(scope="module")
def copies(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {level: handed_on(run, tmp_path_factory.mktemp(level), level) for level in ("redacted", "digests")}


@pytest.fixture
def copy(copies: dict[str, Path], tmp_path: Path) -> Path:
    """A redacted copy to be changed."""
    return Path(shutil.copytree(copies["redacted"], tmp_path / "copy"))


def handed_on(run: Run, folder: Path, level: Any) -> Path:
    folder.mkdir(exist_ok=True)
    export_run(run.uri, folder / "run.zip", level=level)
    with open_bag(folder / "run.zip") as bag:
        (name,) = unpack(bag, open_store(str(folder / "store")))
    return folder / "store" / name


def tables(run: Run) -> list[str]:
    """The files of a run that hold rows of single people."""
    kept = [path for path in run.list() if path.startswith(("sample", "variants", "scores", "metrics"))]
    return [path for path in kept if not path.endswith((".json", "_SUCCESS"))]


def found(verification: Verification) -> set[tuple[str, str]]:
    return {(one.kind, one.path) for one in verification.findings}


def test_every_number_of_a_redacted_copy_is_computed_again(run: Run, copies: dict[str, Path]) -> None:
    verification, whole = verify(str(copies["redacted"])), verify(run.uri)
    assert verification.findings == () and whole.findings == ()
    assert verification.recomputed == ("plan", "metrics", "report")
    assert verification.unrecomputed == ("scores", "variants", "validation")
    assert (verification.level, verification.withheld, verification.not_recomputable) == (
        "redacted",
        len(tables(run)),
        64,
    )
    assert (whole.level, whole.withheld, whole.not_recomputable) == ("full", 0, 0)
    assert verification.manifest_sha256 == whole.manifest_sha256
    said = verification.summary().splitlines()
    assert said[0].startswith("VERIFIED at level redacted  ")
    assert any("not recomputable: 64 score records" in line for line in said)


def test_of_digests_the_plan_alone_is_computed_again_and_that_is_said(copies: dict[str, Path]) -> None:
    verification = verify(str(copies["digests"]))
    assert verification.findings == ()
    assert verification.recomputed == ("plan",)
    assert set(verification.unrecomputed) == {"scores", "variants", "validation", "metrics", "report"}
    assert verification.summary().startswith("VERIFIED at level digests")


@pytest.mark.parametrize("level", ["redacted", "digests"])
def test_no_file_of_a_copy_holds_a_name_an_id_or_a_text(copies: dict[str, Path], level: str) -> None:
    for path in copies[level].rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            text = str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else content.decode()
            assert "Quastenflosser" not in text and "example.org" not in text, path


def test_a_number_changed_in_a_redacted_copy_and_sealed_again_is_found(copy: Path) -> None:
    path = copy / "metrics/metrics.json"
    metrics = json.loads(path.read_bytes())
    metrics["tables"][0]["rows"][0]["selected"] += 1
    path.write_bytes(pretty_json(metrics))
    with_digests_of(copy, "metrics/metrics.json")
    assert ("recomputation", "metrics/metrics.json") in found(verify(str(copy)))


def with_digests_of(copy: Path, path: str) -> None:
    """Write a changed file's digest into its stage's record and the manifest, as a forger does."""
    from audit_lib.canonical import canonical_json, sha256

    def entry(name: str) -> dict[str, Any]:
        content = (copy / name).read_bytes()
        return {"sha256": sha256(content), "bytes": len(content)}

    stage, name = path.split("/", 1)
    record = json.loads((copy / stage / "_SUCCESS").read_bytes())
    record["artefacts"][name] = entry(path)
    (copy / stage / "_SUCCESS").write_bytes(pretty_json(record))
    manifest = json.loads((copy / "evidence/manifest.json").read_bytes())
    for listed in (*manifest["artefacts"], *manifest["records"]):
        if listed["path"] in (path, f"{stage}/_SUCCESS"):
            listed |= entry(listed["path"])
    manifest_bytes = canonical_json(manifest)
    (copy / "evidence/manifest.json").write_bytes(manifest_bytes)
    sealing = json.loads((copy / "evidence/_SUCCESS").read_bytes())
    sealing["artefacts"]["manifest.json"] = entry("evidence/manifest.json")
    sealing["counts"]["bytes"] = sum(one["bytes"] for one in manifest["artefacts"])
    (copy / "evidence/_SUCCESS").write_bytes(pretty_json(sealing))


def test_what_a_level_shows_is_missing_where_it_is_not_there(copy: Path) -> None:
    for path in ("evidence/redacted/scores/0/scores.parquet", "sample/sample.json", "metrics/metrics.json"):
        (copy / path).unlink()
        assert ("missing", path) in found(verify(str(copy)))


def test_one_byte_of_a_redacted_table_is_found(copy: Path) -> None:
    path = copy / "evidence/redacted/variants/variants.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert ("changed", "evidence/redacted/variants/variants.parquet") in found(verify(str(copy)))


def test_deletion_is_not_taken_for_withholding(run: Run, tmp_path: Path) -> None:
    """A label alone makes no copy: all that its level withholds must be gone, and no more."""
    folder = Path(shutil.copytree(run.uri, tmp_path / "run"))
    (folder / "scores/1/scores.parquet").unlink()
    assert ("missing", "scores/1/scores.parquet") in found(verify(str(folder)))
    (folder / "privacy.json").write_bytes(pretty_json({"schema": "audit-privacy/1", "level": "redacted"}))
    findings = found(verify(str(folder)))
    assert ("extra", "scores/0/scores.parquet") in findings and (
        "extra",
        "sample/prompts.parquet",
    ) in findings


@pytest.mark.parametrize(
    "label", [b"{}", b"not json", b'{"schema":"audit-privacy/1","level":"full"}', b'{"level":"nothing"}']
)
def test_a_label_that_is_none_withholds_nothing(copy: Path, label: bytes) -> None:
    (copy / "privacy.json").write_bytes(label)
    verification = verify(str(copy))
    assert ("record", "privacy.json") in found(verification)
    assert ("missing", "sample/prompts.parquet") in found(verification)
    assert verification.level == "full"


def test_the_level_that_was_promised_can_be_asked_for(
    copies: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for asked, level, code in (
        ("redacted", "redacted", 0),
        ("full", "redacted", 1),
        ("redacted", "digests", 1),
    ):
        assert main(["verify", str(copies[level]), "--level", asked]) == code
    assert "is a copy of level digests, and redacted was asked for [level]" in capsys.readouterr().out


def test_redacted_rows_that_are_not_those_of_the_evidence_are_found_in_the_run_itself(
    run: Run, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(run.uri, tmp_path / "run"))
    redact_again(folder)
    reseal(folder)
    assert verify(str(folder)).findings == ()
    path = folder / "evidence/redacted/scores/0/scores.parquet"
    table = pq.read_table(path).to_pandas()
    table.loc[0, "score"] += 0.25
    table.to_parquet(path)
    manifest = json.loads((folder / "evidence/manifest.json").read_bytes())
    relist(folder, manifest, "evidence/redacted/scores/0/scores.parquet")
    reseal(folder)
    assert ("recomputation", "evidence/redacted/scores/0/scores.parquet") in found(verify(str(folder)))


def relist(folder: Path, manifest: dict[str, Any], path: str) -> None:
    from audit_lib.canonical import canonical_json, sha256

    content = (folder / path).read_bytes()
    for entry in manifest["redacted"]:
        if entry["path"] == path:
            entry |= {"sha256": sha256(content), "bytes": len(content)}
    (folder / "evidence/manifest.json").write_bytes(canonical_json(manifest))


def test_a_copy_gives_no_fuller_copy_and_says_what_it_lacks(copies: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(WithheldError, match="is a copy of level redacted; nothing fuller"):
        export_run(str(copies["redacted"]), tmp_path / "full.zip", level="full")
    again = export_run(str(copies["redacted"]), tmp_path / "less.zip", level="digests")
    assert again.withheld > 7
    digests = Run.from_bundle(str(copies["digests"]))
    with pytest.raises(WithheldError, match="this copy was handed on without it"):
        digests.stage("metrics").read("metrics.json")


def test_a_redacted_copy_of_a_copy_is_the_same(run: Run, copies: dict[str, Path], tmp_path: Path) -> None:
    first = export_run(run.uri, tmp_path / "first.zip", level="digests")
    second = export_run(str(copies["redacted"]), tmp_path / "second.zip", level="digests")
    assert first.path.read_bytes() == second.path.read_bytes()


@pytest.mark.parametrize("level", ["redacted", "digests"])
def test_runs_without_redacted_tables_are_handed_on_without_rows(
    run: Run, tmp_path: Path, level: PrivacyLevel
) -> None:
    folder = tmp_path / Path(run.uri).relative_to(Path(run.uri).parents[2])
    shutil.copytree(run.uri, folder)
    as_format_1(folder)
    reseal(folder)
    copy = handed_on(Run.from_bundle(str(folder)), tmp_path / "out", level)
    verification = verify(str(copy))
    assert verification.findings == ()
    assert {"metrics", "scores"} <= set(verification.unrecomputed)


def test_the_command_withholds_unless_told_otherwise(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", run.uri, "--out", str(tmp_path / "run.zip")]) == 0
    assert (
        "level redacted" in (said := capsys.readouterr().out)
        and f"withheld: {len(tables(run))} files" in said
    )
    with open_bag(tmp_path / "run.zip") as bag:
        assert b"Privacy-Level: redacted" in bag.content("bag-info.txt")
        assert b'at level "redacted"' in bag.content("VERIFY.txt")
