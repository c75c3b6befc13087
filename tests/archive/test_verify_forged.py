"""Evidence whose forger makes every record and the manifest agree, and records that say more than they should."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audit_lib.archive.findings import EvidenceFinding
from audit_lib.archive.verify import verify
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.run import SUCCESS, Run
from tests.archive.cases import applicants, do, new_run, redact_again, reseal
from tests.archive.changes import edit_json, edit_table, found, hashes_only, retime


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
        from audit_lib.archive.record_tree import record_tree
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
        manifest["record_tree"] = record_tree(run, manifest["stages"])[0].as_dict()
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
