"""Whatever is done to a file of a sealed run is a finding: no traceback, and never a verdict of "verified"."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.records_check import check_counts, sampled_counts, sampled_too
from audit_lib.archive.verify import Verification, verify
from audit_lib.canonical import canonical_json, pretty_json, strict_json
from audit_lib.cli.main import main
from audit_lib.run import SUCCESS, Run
from tests.archive.cases import reseal
from tests.inputs import recorded_audit
from tests.verifier.conftest import found_here


@pytest.fixture
def original(failed_and_sealed: Path) -> Path:
    return failed_and_sealed


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original / "sealed", tmp_path / "bundle"))


@pytest.fixture
def failed(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original / "failed", tmp_path / "failed"))


def hashes_only(folder: Path) -> Verification:
    return verify(str(folder), recompute={})


def with_key(content: bytes) -> bytes:
    document = json.loads(content)
    if isinstance(document, list):
        document.append("approved by regulator")
    else:
        document["approved by regulator"] = True
    return canonical_json(document) if b"\n" not in content.strip() else pretty_json(document)


def twice(content: bytes) -> bytes:
    """Say the first key twice; readers that take the last one see no difference."""
    text = content.decode()
    start = text.index("{") + 1
    key = json.dumps(next(iter(json.loads(text))) if text.startswith("{") else "x")
    return f"{text[:start]}{key}: 1,{text[start:]}".encode()


JSON: dict[str, Callable[[bytes], bytes]] = {
    "another key": with_key,
    "a key twice": twice,
    "a newline": lambda content: content + b"\n",
    "a space": lambda content: b" " + content,
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "other spacing": lambda content: json.dumps(json.loads(content), indent=7).encode(),
    "NaN": lambda content: content[: content.rindex(b"}")] + b', "x": NaN}',
    "a number beyond doubles": lambda content: content[: content.rindex(b"}")] + b', "x": 1e999}',
    "a huge number": lambda content: content[: content.rindex(b"}")] + b', "x": ' + b"9" * 6000 + b"}",
    "depth": lambda content: b"[" * 200_000,
    "depth of objects": lambda content: b'{"a":' * 200_000,
    "closed depth": lambda content: b"[" * 100_000 + b"]" * 100_000,
    "no UTF-8": lambda content: b"\xff" + content,
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "nothing": lambda content: b"",
    "null": lambda content: b"null\n",
    "a number": lambda content: b"3\n",
    "half": lambda content: content[: len(content) // 2],
    "two documents": lambda content: content + content,
}


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def documents(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (path.suffix == ".json" or path.name in (SUCCESS, "_STARTED")):
            yield path


FEW = ("evidence/manifest.json", f"plan/{SUCCESS}", "attempts/1/manifest.json", "scores/0/served.json")


def check_each(folder: Path, name: str, paths: list[Path]) -> None:
    for path in paths:
        content = path.read_bytes()
        if name in ("NaN", "a number beyond doubles", "a huge number") and b"}" not in content:
            continue
        path.write_bytes(JSON[name](content))
        where = path.relative_to(folder).as_posix()
        verification = hashes_only(folder)
        assert not verification.ok, f"{where} with {name} verifies"
        assert "Traceback" not in verification.summary()
        path.write_bytes(content)


@pytest.mark.parametrize("name", JSON)
def test_an_odd_document_is_a_finding(bundle: Path, name: str) -> None:
    check_each(bundle, name, [bundle / path for path in FEW])


@pytest.mark.slow  # every document of two runs, in nineteen ways: some 700 verifications
@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("kind", ["sealed", "failed"])
def test_any_odd_document_is_a_finding(original: Path, tmp_path: Path, kind: str, name: str) -> None:
    folder = Path(shutil.copytree(original / kind, tmp_path / "copy"))
    paths = list(documents(folder))
    assert len(paths) > 15
    check_each(folder, name, paths)
    assert hashes_only(folder).ok


@pytest.mark.slow  # every file of a run, in eight ways: some 250 verifications
def test_any_file_flipped_cut_or_replaced(bundle: Path, tmp_path: Path) -> None:
    for path in sorted(path for path in bundle.rglob("*") if path.is_file()):
        kept = tmp_path / "kept"
        path.rename(kept)
        content = kept.read_bytes()
        for made in (flipped(content), content[:-1], content + b"\x00", b""):
            path.write_bytes(made)
            assert not hashes_only(bundle).ok, path
            path.unlink()
        for make in (path.mkdir, lambda p=path: os.mkfifo(p), lambda p=path: p.symlink_to(p)):
            make()
            assert not hashes_only(bundle).ok, path
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        assert not hashes_only(bundle).ok, f"{path} is gone"
        kept.rename(path)
    assert hashes_only(bundle).ok


@pytest.mark.parametrize("path", ["evidence/manifest.json", f"metrics/{SUCCESS}", "scores/0/served.json"])
def test_the_command_says_not_verified_and_no_more(
    bundle: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    (bundle / path).write_bytes(b"[" * 200_000)
    assert main(["verify", str(bundle)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOT VERIFIED") and path in out


def test_what_cannot_be_checked_is_no_verdict(
    tmp_path: Path, bundle: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["verify", str(tmp_path / "nowhere")]) == 2
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert main(["verify", "s3://nowhere/run"]) == 2

    def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError("Jane Doe, 12 Elm Street")

    monkeypatch.setattr("audit_lib.signoff.verification.begin_verification", breaks)
    assert main(["verify", str(bundle)]) == 2
    said = capsys.readouterr()
    assert said.err.count("could not be checked") == 3
    assert "Jane" not in said.err + said.out and "Traceback" not in said.err


def test_a_count_that_nobody_counted(bundle: Path) -> None:
    for stage, whole in (("plan", True), ("scores/0", True), ("sample", True), ("evidence", False)):
        path = bundle / stage / SUCCESS
        content = path.read_bytes()
        record = json.loads(content)
        record["counts"] = dict(sorted({**record["counts"], "approved_by_regulator": 1}.items()))
        path.write_bytes(pretty_json(record))
        checked = verify(str(bundle)) if whole else hashes_only(bundle)
        assert any(f.path == f"{stage}/{SUCCESS}" for f in checked.findings), stage
        path.write_bytes(content)


class TestFailedAttempt:
    """Evidence of a failure is evidence: it verifies as what it is, and as nothing else."""

    def test_it_verifies_as_such(self, failed: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verify", str(failed)]) == 0
        out = capsys.readouterr().out
        assert out.startswith("VERIFIED evidence of a failed attempt")
        assert "attempt 1 failed in validation: BackendError: no answer" in out
        assert "computed again: scores, plan, variants" in out

    def test_an_attempt_without_a_plan_verifies(self, tmp_path: Path) -> None:
        spec = recorded_audit(tmp_path)
        (tmp_path / "prompts.jsonl").unlink()
        store = tmp_path / "store"
        assert main(["run", str(spec), "--window", "2026-01-05", "2026-01-12", "--store", str(store)]) == 2
        (record,) = store.rglob("attempts/1/manifest.json")
        verification = verify(str(record.parents[2]))
        assert verification.ok and verification.outcome == "failed"

    @pytest.mark.parametrize(
        "change",
        ["message", "an artefact gone", "an artefact more", "another outcome", "a stage gone", "no record"],
    )
    def test_what_was_changed_is_found(self, failed: Path, change: str) -> None:
        path = failed / "attempts/1/manifest.json"
        record = json.loads(path.read_bytes())
        if change == "message":
            record["faults"][0]["message"] = "all went well"
        elif change == "another outcome":
            record["outcome"] = "stopped"
        if change in ("message", "another outcome"):
            path.write_bytes(canonical_json(record))
        elif change == "an artefact gone":
            (failed / "variants/variants.parquet").unlink()
        elif change == "an artefact more":
            (failed / "metrics").mkdir()
            (failed / "metrics/metrics.json").write_bytes(b"{}\n")
        elif change == "a stage gone":
            shutil.rmtree(failed / "scores/0")
        else:
            (failed / f"attempts/1/{SUCCESS}").unlink()
        assert not hashes_only(failed).ok

    def test_a_success_without_its_evidence_is_no_failure(self, bundle: Path) -> None:
        for stage in ("evidence", "monitor"):
            shutil.rmtree(bundle / stage, ignore_errors=True)
        verification = hashes_only(bundle)
        assert not verification.ok and not verification.failed

    @pytest.mark.parametrize("name", ["_STARTED", "manifest.json", SUCCESS])
    def test_an_attempt_taken_out_of_a_sealed_run_is_missed(self, bundle: Path, name: str) -> None:
        (bundle / "attempts/1" / name).unlink()
        assert any(f.path == f"attempts/1/{name}" for f in hashes_only(bundle).findings)
        shutil.rmtree(bundle / "attempts/1")
        assert any(f.kind == "missing" for f in hashes_only(bundle).findings)


def test_what_the_scoring_machine_says_is_held_against_the_answers(bundle: Path) -> None:
    """Recorded decisions are scored again as a whole; the parts for live models are tested in tests/score."""
    served = bundle / "scores/0/served.json"
    document = json.loads(served.read_bytes())
    document[0]["answers"] += 1
    served.write_bytes(pretty_json(document))
    reseal(bundle)
    found = verify(str(bundle)).findings
    assert any(f.path == "scores/0/served.json" for f in found)


@pytest.mark.parametrize(
    "content", [b"[" * 200_000, b'{"a": 1, "a": 2}', b"NaN", b"[1e999]", b"\xff", b"9" * 6000, b"", b"{]"]
)
def test_strict_json_refuses_in_one_way(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):  # any words, but this type alone
        strict_json(content)


@pytest.mark.parametrize("name", ["unknown_sex", "rows_of_other_models"])
def test_a_count_of_the_sample_that_its_artefacts_do_not_show(bundle: Path, name: str) -> None:
    path = bundle / "sample" / SUCCESS
    record = json.loads(path.read_bytes())
    record["counts"] = dict(sorted({**record["counts"], name: 7}.items()))
    path.write_bytes(pretty_json(record))
    found: list[str] = []
    run = Run.from_bundle(str(bundle))
    check_counts(run, "sample", sampled_counts(run), lambda _, detail: found.append(detail), sampled_too)
    assert found == [f"its counts are not those of its artefacts: {name}"]


@pytest.mark.parametrize("place", [f"plan/{SUCCESS}", f"scores/1/{SUCCESS}", f"evidence/{SUCCESS}"])
@pytest.mark.parametrize(
    "form", ["2026-11-22A10:00:00+00:00", "20261122T100000Z", "2026-W47-7T10:00:00+00:00"]
)
def test_a_time_in_another_form_is_a_finding(bundle: Path, place: str, form: str) -> None:
    path = bundle / place
    document = json.loads(path.read_bytes())
    path.write_bytes(pretty_json({**document, "started_at": form}))
    assert any(finding.path == place and "form" in finding.detail for finding in hashes_only(bundle).findings)


def test_a_document_beyond_the_bound_is_found_and_not_read(bundle: Path) -> None:
    """Zeros behind a document, which take no place on a disk."""
    with (bundle / "metrics/metrics.json").open("r+b") as stream:
        stream.truncate((1 << 28) + 1)
    words = "metrics/metrics.json: is larger than 256 MiB; it is not read [record]"
    assert words in map(str, hashes_only(bundle).findings)
    assert words in found_here(bundle)
