"""Verification: honest evidence passes wherever it lies, and every way of cheating on it is tried."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import NotFoundError
from audit_lib.run import SUCCESS, Run
from audit_lib.spec import AuditSpec
from audit_lib.store import open_store
from tests.archive.cases import applicants, do, new_run, reseal
from tests.archive.changes import edit_json, found, hashes_only, retime


class TestHonest:
    def test_a_run_where_it_was_made(self, original: Path) -> None:
        verification = verify(str(original))
        assert verification.findings == ()
        assert verification.ok
        assert verification.recomputed == ("scores", "plan", "variants", "validation", "metrics", "report")
        assert verification.notes == ()

    def test_a_copy_anywhere(self, bundle: Path, original: Path, tmp_path: Path) -> None:
        for uri in (str(bundle), f"{bundle}/", bundle.as_uri()):
            verification = verify(uri)
            assert verification.findings == ()
            assert verification.recomputed[-1] == "report"
        manifest = (original / "evidence/manifest.json").read_bytes()
        assert verification.manifest_sha256 == sha256(manifest)
        assert (verification.audit, verification.outcome) == ("small", "complete")
        assert verification.window == "20260105T000000Z_20260112T000000Z"
        files = [path for path in original.rglob("*") if path.is_file()]
        assert verification.files == len(files)

    def test_a_copy_in_a_bucket(self, original: Path, s3: str) -> None:
        store = open_store(f"{s3}/some/where")
        for path in original.rglob("*"):
            if path.is_file():
                store.put(path.relative_to(original).as_posix(), path.read_bytes())
        verification = verify(f"{s3}/some/where/")
        assert verification.findings == ()
        assert verification.recomputed[-1] == "report"

    def test_a_run_made_in_a_bucket(self, locked_s3: str, tmp_path: Path) -> None:
        verification = verify(do(new_run(tmp_path, f"{locked_s3}/runs", retention={"days": 1})).uri)
        assert verification.findings == ()
        assert verification.recomputed[-1] == "report"

    def test_a_failed_run(self, tmp_path: Path) -> None:
        rows = applicants()
        for row in rows[1::4]:
            row["recorded_score"] = None
        run = do(new_run(tmp_path, str(tmp_path / "store"), rows=rows))
        verification = verify(run.uri)
        assert verification.findings == ()
        assert verification.outcome == "validation_failed"
        assert verification.recomputed == ("scores", "plan", "variants", "validation")

    def test_nothing_is_written(self, bundle: Path) -> None:
        before = {path: path.read_bytes() for path in bundle.rglob("*") if path.is_file()}
        verify(str(bundle))
        assert {path: path.read_bytes() for path in bundle.rglob("*") if path.is_file()} == before

    def test_the_summary_says_it(self, bundle: Path) -> None:
        verification = verify(str(bundle))
        text = verification.summary()
        assert text.startswith("VERIFIED")
        assert verification.manifest_sha256 in text
        assert "compare with the published one" in text

    def test_what_was_not_computed_again_is_not_verified(self, bundle: Path) -> None:
        verification = hashes_only(bundle)
        assert verification.ok and verification.not_computed
        assert verification.summary().startswith("NOTHING COMPUTED AGAIN")
        assert "VERIFIED" not in verification.summary()

    def test_format_1_says_what_it_does_not_cover(self, format_1: Path) -> None:
        verification = verify(str(format_1))
        assert verification.findings == ()
        assert [note[:9] for note in verification.notes] == ["format 1:"]

    def test_what_file_managers_leave_is_only_noted(self, bundle: Path) -> None:
        (bundle / ".DS_Store").write_bytes(b"x")
        verification = hashes_only(bundle)
        assert verification.ok
        assert verification.notes == (".DS_Store: not part of the evidence; ignored",)

    def test_a_stray_file_is_a_finding_and_steers_no_terminal(self, bundle: Path) -> None:
        (bundle / "x\x1b[2J\nVERIFIED").write_bytes(b"x")
        text = hashes_only(bundle).summary()
        assert "\x1b" not in text and r"  finding: x\x1b[2J\nVERIFIED: is no part" in text

    @pytest.mark.parametrize("name", ["approved.html", "monitor/comparison.json", "unknown/x.json"])
    def test_a_file_in_no_stage_is_a_finding(self, bundle: Path, name: str) -> None:
        (bundle / name).parent.mkdir(exist_ok=True)
        (bundle / name).write_bytes(b"{}\n")
        assert found(hashes_only(bundle), name, "extra")

    def test_symbolic_links_are_found(self, bundle: Path, tmp_path: Path) -> None:
        page = bundle / "report/report.html"
        page.rename(tmp_path / "elsewhere.html")
        page.symlink_to(tmp_path / "elsewhere.html")
        (bundle / "more").symlink_to(tmp_path, target_is_directory=True)
        verification = hashes_only(bundle)
        assert [finding.path for finding in verification.findings] == ["more", "report/report.html"]
        assert all("is a symbolic link" in finding.detail for finding in verification.findings)
        (tmp_path / "elsewhere.html").unlink()
        assert found(hashes_only(bundle), "report/report.html", "missing")

    def test_other_software_is_noted(self, bundle: Path) -> None:
        path = bundle / "evidence/manifest.json"
        manifest = json.loads(path.read_bytes())
        manifest["software"]["numpy"] = "0.0.1"
        path.write_bytes(canonical_json(manifest))
        reseal(bundle)
        verification = verify(str(bundle))
        assert verification.ok
        assert any("numpy 0.0.1 there" in note for note in verification.notes)

    def test_no_run_at_all(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"")
        for folder in (tmp_path, tmp_path / "nowhere"):
            with pytest.raises(NotFoundError, match="no audit run here"):
                verify(str(folder))


class TestTimes:
    """In format 1 no digest covers the times; those that contradict each other are found."""

    @pytest.fixture
    def bundle(self, format_1: Path) -> Path:
        return format_1

    def test_a_stage_that_ends_before_it_begins(self, bundle: Path) -> None:
        retime(bundle, "metrics", started_at="2100-01-01T00:00:00+00:00")
        details = [f.detail for f in hashes_only(bundle).findings if f.path == f"metrics/{SUCCESS}"]
        assert details == ["the stage ended before it began, says the record"]

    def test_a_stage_that_ends_after_the_evidence_was_sealed(self, bundle: Path) -> None:
        retime(bundle, "report", finished_at="2100-01-01T00:00:00+00:00")
        details = [f.detail for f in hashes_only(bundle).findings]
        assert details == ["the evidence was sealed before report ended, say the records"]

    def test_evidence_without_a_time(self, bundle: Path) -> None:
        retime(bundle, "evidence", finished_at="yesterday")
        assert [f.detail for f in hashes_only(bundle).findings] == ["has no time as finished_at"]

    def test_times_that_are_wrong_together_are_not_seen(self, bundle: Path) -> None:
        for path in bundle.rglob(SUCCESS):
            text = "2001-01-01T00:00:00+00:00"
            retime(bundle, str(path.parent.relative_to(bundle)), started_at=text, finished_at=text)
        assert hashes_only(bundle).ok


class TestOlderSpec:
    """Evidence made before the spec had a key that it has now."""

    @pytest.fixture
    def old(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        today = AuditSpec.canonical

        def without_newer_keys(spec: AuditSpec) -> bytes:
            document = json.loads(today(spec))
            for section, key in (
                ("checks", "fail_on_warning"),
                ("model", "valid_judge"),
                ("score", "repeats"),
            ):
                document[section].pop(key, None)
            return pretty_json(document)

        monkeypatch.setattr(AuditSpec, "canonical", without_newer_keys)
        uri = do(new_run(tmp_path, str(tmp_path / "store"))).uri
        monkeypatch.undo()
        return Path(uri)

    def test_it_verifies(self, old: Path) -> None:
        archived = json.loads((old / "plan/spec.json").read_bytes())
        assert "repeats" not in archived["score"]
        verification = verify(str(old))
        assert verification.findings == ()
        assert "plan" in verification.recomputed
        assert verification.spec_digest.startswith(old.name)

    def test_its_run_keeps_its_digest(self, old: Path) -> None:
        run = Run.load(str(old))
        assert run.spec.score.repeats == 1
        assert run.spec.canonical() == (old / "plan/spec.json").read_bytes()
        assert run.spec.digest({}) == run.key.spec_digest
        assert run.stage("report").is_complete()

    def test_a_changed_value_still_has_another_digest(self, old: Path) -> None:
        edit_json(old / "plan/spec.json", lambda spec: spec["score"].update(repeats=2))
        reseal(old)
        assert found(verify(str(old)), "plan/spec.json", "design")

    def test_bytes_that_do_not_load_are_found(self, old: Path) -> None:
        edit_json(old / "plan/spec.json", lambda spec: spec["score"].update(repeats="often"))
        reseal(old)
        assert found(hashes_only(old), "plan", "design")


class TestDamage:
    """Whoever damages or changes a file and nothing else."""

    def test_a_flipped_byte_in_any_artefact(self, bundle: Path) -> None:
        artefacts = [path for path in bundle.rglob("*") if path.is_file() and path.name != SUCCESS]
        assert len(artefacts) >= 15
        for path in artefacts:
            content = path.read_bytes()
            middle = len(content) // 2
            path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
            assert found(hashes_only(bundle), path.relative_to(bundle).as_posix()), path
            path.write_bytes(content)
        assert hashes_only(bundle).ok

    def test_a_deleted_file_of_format_1(self, format_1: Path) -> None:
        self.test_a_deleted_file(format_1)

    def test_a_deleted_file(self, bundle: Path) -> None:
        for path in [path for path in bundle.rglob("*") if path.is_file()]:
            content = path.read_bytes()
            path.unlink()
            verification = hashes_only(bundle)
            if path == bundle / "monitor" / SUCCESS:  # written after sealing: an unfinished comparison
                assert verification.ok and "monitor: was not finished" in " ".join(verification.notes)
            else:
                assert found(verification, path.relative_to(bundle).as_posix(), "missing"), path
            path.write_bytes(content)
        assert hashes_only(bundle).ok

    def test_a_deleted_shard(self, bundle: Path) -> None:
        shard = sorted((bundle / "scores").iterdir())[-1]
        shutil.rmtree(shard)
        verification = verify(str(bundle))
        for name in ("scores.parquet", "model.json", SUCCESS):
            assert found(verification, f"scores/{shard.name}/{name}", "missing")
        assert not verification.ok and "NOT VERIFIED" in verification.summary()

    @pytest.mark.parametrize(
        "path",
        [
            "metrics/extra.json",
            "plan/inputs/perturb.names",
            "scores/9/scores.parquet",
            "scores/stray.txt",
            "scores/_SUCCESS",
            "evidence/other.json",
            "monitor/other.json",
            "report/.DS_Store",
        ],
    )
    def test_an_added_file(self, bundle: Path, path: str) -> None:
        (bundle / path).parent.mkdir(parents=True, exist_ok=True)
        (bundle / path).write_bytes(b"{}")
        assert found(hashes_only(bundle), path)

    def test_a_whole_stage_added(self, bundle: Path) -> None:
        shutil.copytree(bundle / "scores/0", bundle / "scores/9")
        verification = verify(str(bundle))
        assert found(verification, "scores/9/scores.parquet", "extra")
        assert found(verification, f"scores/9/{SUCCESS}", "extra")

    @pytest.mark.parametrize(
        "path", ["evidence/manifest.json", "evidence/_SUCCESS", "metrics/_SUCCESS", "plan/_SUCCESS"]
    )
    def test_garbage_in_a_record_is_a_finding_and_no_crash(self, bundle: Path, path: str) -> None:
        for content in (b"", b"{", b"[]", b"null", b'{"artefacts": 3}', b'{"artefacts": {"a": 1}}', b"\xff"):
            (bundle / path).write_bytes(content)
            assert found(hashes_only(bundle), path), content
        assert not verify(str(bundle)).ok

    def test_a_manifest_that_points_outside_is_not_followed(self, bundle: Path, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_bytes(b"s")
        path = bundle / "evidence/manifest.json"
        manifest = json.loads(path.read_bytes())
        manifest["artefacts"].insert(0, {"path": "../secret", "sha256": sha256(b"s"), "bytes": 1})
        path.write_bytes(canonical_json(manifest))
        assert found(hashes_only(bundle), "../secret", "missing")
