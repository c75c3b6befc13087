"""Verification: honest evidence passes wherever it lies, and every way of cheating on it is tried."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit_lib.archive.findings import EvidenceFinding
from audit_lib.archive.verify import Verification, verify
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import NotFoundError
from audit_lib.run import SUCCESS, Run
from audit_lib.spec import AuditSpec
from audit_lib.store import open_store
from tests.archive.cases import applicants, do, new_run, redact_again, reseal, with_old_monitor


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run, made once; tests work on copies."""
    folder = tmp_path_factory.mktemp("original")
    return Path(do(new_run(folder, str(folder / "store"))).uri)


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    """What a stranger has: a copy of the run's folder under another name."""
    return Path(shutil.copytree(original, tmp_path / "downloaded evidence"))


@pytest.fixture
def format_1(bundle: Path) -> Path:
    """The same as earlier versions sealed it, with their folder ``monitor``."""
    return with_old_monitor(bundle)


def hashes_only(folder: Path) -> Verification:
    return verify(str(folder), recompute={})


def found(verification: Verification, path: str, kind: str | None = None) -> bool:
    return any(f.path == path and kind in (None, f.kind) for f in verification.findings)


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON artefact the way the library would have written it."""
    document = json.loads(path.read_bytes())
    change(document)
    path.write_bytes(pretty_json(document))


def edit_table(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd")


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


def retime(folder: Path, stage: str, **times: str) -> None:
    """Write other times into a stage's record, which nothing else protects."""
    path = folder / stage / SUCCESS
    path.write_bytes(pretty_json(json.loads(path.read_bytes()) | times))


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


class TestForgery:
    """Whoever also makes every ``_SUCCESS`` and the manifest agree with what was changed."""

    def test_resealing_an_honest_run_of_format_1_changes_nothing(self, format_1: Path) -> None:
        self.test_resealing_an_honest_run_changes_nothing(format_1)

    def test_resealing_an_honest_run_changes_nothing(self, bundle: Path) -> None:
        before = (bundle / "evidence/manifest.json").read_bytes()
        reseal(bundle)
        assert (bundle / "evidence/manifest.json").read_bytes() == before
        assert hashes_only(bundle).ok

    def test_the_digest_of_the_manifest_gives_a_forgery_away(self, bundle: Path, original: Path) -> None:
        (bundle / "report/report.html").write_bytes(b"<p>all is well</p>")
        reseal(bundle)
        assert hashes_only(bundle).ok, "hashes alone can not see it"
        assert hashes_only(bundle).manifest_sha256 != hashes_only(original).manifest_sha256

    def test_a_number_in_the_metrics(self, bundle: Path) -> None:
        path = bundle / "metrics/metrics.json"

        def change(document: Any) -> None:
            ratios = [row["impact_ratio"] for table in document["tables"] for row in table["rows"]]
            ratio = next(
                ratio for ratio in ratios if isinstance(ratio["value"], float) and 0 < ratio["value"] < 1
            )
            ratio["value"] = 0.987654

        edit_json(path, change)
        reseal(bundle)
        verification = verify(str(bundle))
        details = [f.detail for f in verification.findings if f.path == "metrics/metrics.json"]
        assert any("0.987654 archived" in detail for detail in details)
        assert {f.kind for f in verification.findings} == {"recomputation"}

    def test_a_decision(self, bundle: Path) -> None:
        def change(rows: list[dict[str, Any]]) -> None:
            rows[0]["selected"] = not rows[0]["selected"]

        edit_table(bundle / "metrics/decisions.parquet", change)
        reseal(bundle)
        assert found(verify(str(bundle)), "metrics/decisions.parquet", "recomputation")

    def test_a_score(self, bundle: Path) -> None:
        def change(rows: list[dict[str, Any]]) -> None:
            rows[0]["score"] = 5.0

        edit_table(bundle / "scores/0/scores.parquet", change)
        reseal(bundle)
        assert found(verify(str(bundle)), "metrics/metrics.json", "recomputation")

    def test_the_report(self, bundle: Path) -> None:
        for path in sorted((bundle / "report").iterdir()):
            if path.name == SUCCESS:
                continue
            content = path.read_bytes()
            path.write_bytes(content.replace(b"2", b"3", 1))
            assert path.read_bytes() != content
            reseal(bundle)
            assert found(verify(str(bundle)), f"report/{path.name}", "recomputation"), path
            path.write_bytes(content)

    def test_a_group_in_the_variants(self, bundle: Path) -> None:
        def change(rows: list[dict[str, Any]]) -> None:
            rows[0]["race"] = "Black" if rows[0]["race"] == "White" else "White"

        edit_table(bundle / "variants/variants.parquet", change)
        reseal(bundle)
        assert found(verify(str(bundle)), "variants/variants.parquet", "recomputation")

    def test_a_threshold_in_the_plan(self, bundle: Path) -> None:
        edit_json(bundle / "plan/plan.json", lambda plan: plan["thresholds"].update(alpha=0.2))
        reseal(bundle)
        assert found(verify(str(bundle)), "plan/plan.json", "recomputation")

    def test_another_spec(self, bundle: Path) -> None:
        edit_json(bundle / "plan/spec.json", lambda spec: spec["measure"].update(small_cell=30))
        reseal(bundle)
        verification = verify(str(bundle))
        assert found(verification, "plan/spec.json", "design")
        assert found(verification, "metrics/metrics.json", "recomputation")

    def test_another_spec_with_its_digest(self, bundle: Path) -> None:
        edit_json(
            bundle / "plan/spec.json", lambda spec: spec["decision"].update(rule="threshold", threshold=0.2)
        )
        digest = sha256((bundle / "plan/spec.json").read_bytes() + canonical_json({}))
        edit_json(bundle / "plan/plan.json", lambda plan: plan.update(spec_digest=digest))
        manifest = json.loads((bundle / "evidence/manifest.json").read_bytes()) | {"spec_digest": digest}
        (bundle / "evidence/manifest.json").write_bytes(canonical_json(manifest))
        reseal(bundle)
        verification = verify(str(bundle))
        assert not found(verification, "plan/spec.json", "design")
        assert found(verification, "metrics/metrics.json", "recomputation")

    @pytest.mark.parametrize("name", ["audit", "window", "spec_digest", "outcome"])
    def test_a_manifest_of_another_run(self, bundle: Path, name: str) -> None:
        path = bundle / "evidence/manifest.json"
        manifest = json.loads(path.read_bytes()) | {
            name: "validation_failed" if name == "outcome" else "other"
        }
        path.write_bytes(canonical_json(manifest))
        reseal(bundle)
        assert found(hashes_only(bundle), "evidence/manifest.json", "manifest")

    def test_a_deleted_shard(self, bundle: Path) -> None:
        shutil.rmtree(sorted((bundle / "scores").iterdir())[-1])
        reseal(bundle)
        verification = verify(str(bundle))
        assert found(verification, "evidence/manifest.json", "manifest")
        assert any(f.kind == "recomputation" for f in verification.findings)

    def test_a_deleted_report(self, bundle: Path) -> None:
        shutil.rmtree(bundle / "report")
        reseal(bundle)
        assert found(verify(str(bundle)), "evidence/manifest.json", "manifest")

    def test_an_added_artefact(self, bundle: Path) -> None:
        (bundle / "metrics/more.json").write_bytes(b"{}")
        reseal(bundle)
        assert found(verify(str(bundle)), "metrics/more.json", "recomputation")

    @pytest.mark.parametrize(
        "path",
        [
            "metrics/decisions.parquet",
            "scores/0/scores.parquet",
            "variants/variants.parquet",
            "sample/prompts.parquet",
            "metrics/metrics.json",
            "plan/spec.json",
            "plan/plan.json",
            "validation/validation.json",
        ],
    )
    def test_a_truncated_artefact(self, bundle: Path, path: str) -> None:
        content = (bundle / path).read_bytes()
        (bundle / path).write_bytes(content[: len(content) * 2 // 3])
        reseal(bundle)
        verification = verify(str(bundle))
        assert any(f.kind in ("recomputation", "design") for f in verification.findings)

    def test_a_failed_validation_dressed_as_a_success(self, tmp_path: Path) -> None:
        rows = applicants()
        for row in rows[1::4]:
            row["recorded_score"] = None
        folder = Path(do(new_run(tmp_path, str(tmp_path / "store"), rows=rows)).uri)
        edit_json(
            folder / "validation/validation.json", lambda v: v.update(success=True, severity_failed=None)
        )
        reseal(folder)
        verification = verify(str(folder))
        assert found(verification, "validation/validation.json", "recomputation")
        assert found(verification, "evidence/manifest.json", "manifest")

    def test_a_lie_about_a_size(self, bundle: Path) -> None:
        path = bundle / "evidence/manifest.json"
        manifest = json.loads(path.read_bytes())
        manifest["artefacts"][0]["bytes"] += 1
        path.write_bytes(canonical_json(manifest))
        assert found(hashes_only(bundle), "evidence/manifest.json", "manifest")

    def test_a_consistent_rewrite_is_not_seen_and_that_is_documented(self, bundle: Path) -> None:
        """The limit of an unsigned manifest, as the docstring says; only the published digest shows it."""
        from datetime import UTC, datetime

        from audit_lib.archive import verify as module
        from audit_lib.archive.record_tree import people_tree
        from audit_lib.measure.stage import measure
        from audit_lib.perturb import perturb
        from audit_lib.report import report
        from audit_lib.run import Run
        from audit_lib.score import score_shard
        from audit_lib.validate import validate

        before = hashes_only(bundle).manifest_sha256

        def change(rows: list[dict[str, Any]]) -> None:
            for row in rows:
                row["recorded_score"] = 0.5

        edit_table(bundle / "sample/prompts.parquet", change)
        reseal(bundle)
        run = Run.from_bundle(str(bundle))
        functions: dict[str, Callable[[Run], Any]] = {"variants": perturb}
        for shard in sorted(path.name for path in (bundle / "scores").iterdir()):
            functions[f"scores/{shard}"] = lambda run, number=int(shard): score_shard(run, number)  # type: ignore[misc]
        functions |= {"validation": validate, "metrics": measure, "report": report}
        for stage, function in functions.items():
            shutil.rmtree(bundle / stage)
            run.stage(stage).commit(function(run), datetime.now(UTC))
        reseal(bundle)
        assert {f.path for f in hashes_only(bundle).findings} == {f"evidence/{SUCCESS}"}, "sealed too early"
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        retime(bundle, "evidence", started_at=now, finished_at=now)
        path = bundle / "evidence/manifest.json"
        manifest = json.loads(path.read_bytes()) | {"sealed_at": now}
        manifest["record_tree"] = people_tree(run, manifest["stages"]).summary().as_dict()
        path.write_bytes(canonical_json(manifest))
        redact_again(bundle)
        reseal(bundle)
        verification = verify(str(bundle))
        assert verification.ok
        assert verification.manifest_sha256 != before
        assert "not signed" in str(module.__doc__)


def test_numbers_that_differ_in_their_last_bits_are_noted(bundle: Path) -> None:
    """As on another processor: the verifier's own computation is the one that moves."""
    from audit_lib.measure.stage import measure
    from audit_lib.run import StageOutput

    def elsewhere(run: Run) -> StageOutput:
        output = measure(run)
        document = json.loads(output.artefacts["metrics.json"])
        document["scores"][0]["mean"] *= 1 + 2e-16
        return StageOutput({**output.artefacts, "metrics.json": pretty_json(document)})

    verification = verify(str(bundle), recompute={"metrics": elsewhere})
    assert verification.ok
    assert [note.split(" differ")[0] for note in verification.notes] == [
        "metrics/metrics.json: 1 numbers computed here"
    ]


def test_a_stage_that_breaks_is_a_finding_without_its_message(bundle: Path) -> None:
    def breaks(run: object) -> Any:
        raise RuntimeError("Jane Doe, 12 Elm Street")

    verification = verify(str(bundle), recompute={"metrics": breaks})
    assert [str(f) for f in verification.findings] == [
        "metrics: cannot be computed again (RuntimeError) [recomputation]"
    ]


def test_bytes_are_read_in_a_stream(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a chunk of a file is held while hashing."""
    import audit_lib.store

    sizes: list[int] = []
    real_open = audit_lib.store.LocalStore.open

    def watched(self: Any, key: str) -> Any:
        stream = real_open(self, key)
        if key != "metrics/decisions.parquet":
            return stream

        class Watched(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                sizes.append(size if size is not None else -1)
                return super().read(size)

        with stream:
            return Watched(stream.read())

    monkeypatch.setattr(audit_lib.store.LocalStore, "open", watched)
    assert hashes_only(bundle).ok
    assert sizes and all(0 < size <= 1 << 20 for size in sizes)


class TestRecords:
    """Counts, times and questions: what no digest protects, or what a careful forger makes agree."""

    @pytest.mark.parametrize("stage", ["plan", "sample", "variants", "scores/0", "metrics", "report"])
    def test_a_count(self, format_1: Path, stage: str) -> None:
        bundle = format_1

        def change(record: Any) -> None:
            record["counts"][min(record["counts"])] += 1

        edit_json(bundle / stage / SUCCESS, change)
        verification = verify(str(bundle))
        assert found(verification, f"{stage}/{SUCCESS}", "record")
        assert len(verification.findings) == 1

    @pytest.mark.parametrize("stage", ["plan", "sample", "variants", "scores/0", "metrics", "report"])
    def test_a_record_that_the_manifest_does_not_list(self, bundle: Path, stage: str) -> None:
        for change in ("started_at", "finished_at"):
            path = bundle / stage / SUCCESS
            content = path.read_bytes()
            edit_json(path, lambda r, key=change: r.update({key: r[key].replace("0", "1", 1)}))
            assert found(hashes_only(bundle), f"{stage}/{SUCCESS}", "changed"), change
            path.write_bytes(content)

    def test_the_record_of_the_sealing_says_nothing_of_its_own(self, bundle: Path) -> None:
        edit_json(bundle / "evidence" / SUCCESS, lambda r: r.update(started_at="2020-01-01T00:00:00+00:00"))
        (finding,) = hashes_only(bundle).findings
        assert "not the one at which the manifest says" in finding.detail

    def test_another_environment(self, bundle: Path) -> None:
        edit_json(bundle / "evidence/environment.json", lambda e: e.update(revision="v9"))
        assert found(hashes_only(bundle), "evidence/environment.json", "changed")
        reseal(bundle)
        assert found(hashes_only(bundle), "evidence/environment.json", "changed"), (
            "the manifest has its digest"
        )

    def test_a_plan_after_the_first_score(self, bundle: Path) -> None:
        edit_json(bundle / "plan" / SUCCESS, lambda r: r.update(finished_at="2099-01-01T00:00:00.000+00:00"))
        verification = verify(str(bundle))
        details = [f.detail for f in verification.findings if f.path == f"plan/{SUCCESS}"]
        assert any("plan was written after scoring began" in detail for detail in details)

    @pytest.mark.parametrize("time", [None, "soon", "2026-01-05T00:00:00"])
    def test_a_time_that_is_none(self, bundle: Path, time: str | None) -> None:
        edit_json(bundle / "scores/0" / SUCCESS, lambda r: r.update(started_at=time))
        assert found(hashes_only(bundle), f"scores/0/{SUCCESS}", "record")

    @pytest.mark.parametrize("column", ["request_digest", "request_id"])
    def test_answers_to_other_questions(self, bundle: Path, column: str) -> None:
        def change(rows: list[dict[str, Any]]) -> None:
            for row in rows:
                row[column] = "0" * 64

        count = len(pq.read_table(bundle / "scores/0/scores.parquet"))
        edit_table(bundle / "scores/0/scores.parquet", change)
        reseal(bundle)
        details = [f.detail for f in verify(str(bundle)).findings if f.path == "scores/0/scores.parquet"]
        assert any(f"{count} rows answer another question" in detail for detail in details)

    def test_a_recorded_score_that_is_not_the_recorded_one(self, bundle: Path) -> None:
        def change(rows: list[dict[str, Any]]) -> None:
            rows[0]["score"] = 0.999

        edit_table(bundle / "scores/0/scores.parquet", change)
        reseal(bundle)
        verification = verify(str(bundle))
        details = [f.detail for f in verification.findings if f.path == "scores/0/scores.parquet"]
        assert details == ["column score, row 0: another number"]

    def test_the_summary_says_that_monitor_is_not_covered(self, format_1: Path) -> None:
        bundle = format_1
        shutil.rmtree(bundle / "monitor")
        assert hashes_only(bundle).ok
        assert "monitor/ is outside the manifest" in hashes_only(bundle).summary()


def test_a_file_s_name_cannot_steer_the_terminal() -> None:
    finding = EvidenceFinding(kind="extra", path="metrics/a\x1b[2J\u202eb", detail="not in the manifest")
    assert str(finding) == "metrics/a\\x1b[2J\\u202eb: not in the manifest [extra]"
