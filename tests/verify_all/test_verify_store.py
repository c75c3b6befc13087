"""All runs of a store: what changed is found without computing all again, and no run hides another."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib import pipeline
from audit_lib.archive.attempts import start
from audit_lib.cli.main import main
from audit_lib.journal import ReadJournals
from audit_lib.signoff import generate_key
from audit_lib.store import open_store
from audit_lib.store.versions import as_first_written
from audit_lib.verify_all import (
    CostBounds,
    KeptVerifications,
    StoreVerification,
    VerifyOptions,
    list_store,
    verify_store,
)
from audit_lib.verify_all.worker import Verifier, answer_to
from audit_lib.window import Window
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit
from tests.servers import S3Server

MODULE = sys.modules["audit_lib.verify_all.verify_store"]
NOW = datetime(2026, 6, 1, 3, tzinfo=UTC)
LATER = Window.parse("2026-01-12", "2026-01-19").label


class InThisProcess:
    """Does what a process of its own would, where its being one is not what is tested."""

    def __init__(self, root: str, trust: tuple[str, ...], bounds: CostBounds) -> None:
        self.does = Verifier(root, trust, ReadJournals())

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        does = self.does
        return answer_to({"look": does.look, "verify": does.verify, "journal": does.journal}, job)

    def end(self) -> None:
        pass


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed run with its journal, a copy of it in another audit, and a failed attempt in a third."""
    folder = tmp_path_factory.mktemp("all")
    spec = recorded_audit(folder, n=64, score={"shards": 1}, measure={"metrics": ["impact_ratio"]})
    run = pipeline.open_run(spec, WEEK, str(folder / "store"))
    pipeline.run_all(run)
    shutil.copytree(run.uri, folder / "store/copied" / LATER / "copy")  # no place of a run
    return folder / "store"


@pytest.fixture
def store(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(MODULE, "VerifyingProcess", InThisProcess)
    for name in ("AUDIT_VERIFIED", "AUDIT_VERIFIED_KEY"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(original, tmp_path / "store")
    return tmp_path / "store"


def swept(
    store: Path | str,
    *,
    now: datetime = NOW,
    options: VerifyOptions | None = None,
    bounds: CostBounds | None = None,
) -> StoreVerification:
    kept = KeptVerifications.of_environment(str(store))
    kept.read()
    listing = list_store(as_first_written(str(store))[0])
    return verify_store(
        str(store), listing, kept, options or VerifyOptions(), bounds=bounds or CostBounds(), now=now
    )


def run_of(store: Path, audit: str = "small") -> Path:
    return next((store / audit).glob("2026*/*"))


def told(found: StoreVerification) -> dict[str, tuple[str, str]]:
    return {
        one.name.split("/")[0] + ("/journal" if "journal" in one.name else ""): (one.verdict, one.how)
        for one in found.outcomes
    }


def test_what_did_not_change_is_hashed_and_not_computed_again(store: Path) -> None:
    first = swept(store)
    assert first.exit_code == 0 and told(first) == {
        "small": ("verified", "in full"),
        "copied": ("verified", "in full"),
        "small/journal": ("verified", "in full"),
        "copied/journal": ("verified", "in full"),
    }
    assert first.notes == [], "nothing rests on what was kept"
    second = swept(store, now=NOW + timedelta(days=1))
    assert told(second)["small"] == told(second)["copied"] == ("verified", "contents")
    assert "2 every byte hashed, and the same as when they were verified in full" in second.summary()
    assert "whoever can write there can make a changed run look verified" in second.summary()
    assert {one.verified_at[:10] for one in second.of(["verified"]) if one.how == "contents"} == {
        "2026-06-01"
    }


def test_a_byte_is_found_though_size_and_times_are_as_before(store: Path) -> None:
    swept(store)
    page = run_of(store) / "report/report.html"
    before = page.stat()
    page.write_bytes(page.read_bytes().replace(b"a", b"b", 1))
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_size == before.st_size
    found = swept(store)
    assert found.exit_code == 1 and told(found)["small"] == ("does not verify", "in full")
    assert told(found)["copied"] == ("verified", "contents"), "the other run is not hidden"
    assert any("report/report.html" in one for one in found.of(["does not verify"])[0].findings)
    assert swept(store).exit_code == 1, "it is looked at each time"
    page.write_bytes(page.read_bytes().replace(b"b", b"a", 1))


def test_every_run_is_verified_in_full_within_the_interval(store: Path) -> None:
    swept(store)
    assert told(swept(store, now=NOW + timedelta(days=14)))["small"][1] == "contents"
    assert {how for _, how in told(swept(store, now=NOW + timedelta(days=30))).values()} == {"in full"}
    options = VerifyOptions(full=True)
    assert {how for _, how in told(swept(store, now=NOW + timedelta(days=30), options=options)).values()} == {
        "in full"
    }


def test_what_raises_hides_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Verifier._verified

    def raises(self: Verifier, name: str) -> Any:
        if name.startswith("copied"):
            raise ZeroDivisionError("a stranger's words")
        return real(self, name)

    monkeypatch.setattr(Verifier, "_verified", raises)
    found = swept(store)
    assert found.exit_code == 2 and found.verdict == "COULD NOT BE CHECKED: 1 of 4; the others hold"
    assert (
        told(found)["copied"] == ("could not be checked", "in full") and told(found)["small"][0] == "verified"
    )
    assert "ZeroDivisionError" in found.summary() and "words" not in found.summary()


@pytest.mark.parametrize("what", ["evidence", "."])
def test_a_run_that_is_gone_is_named(store: Path, what: str) -> None:
    swept(store)
    shutil.rmtree(run_of(store, "copied") / what)
    found = swept(store)
    assert found.exit_code == 1 and [one.name.split("/")[0] for one in found.of(["gone"])] == ["copied"]
    assert "its evidence was there on 2026-06-01 (verified), and is gone" in found.summary()


def test_a_journal_that_was_rolled_back_is_found(store: Path) -> None:
    swept(store)
    max((store / "small/journal").iterdir()).unlink()
    found = swept(store)
    assert (
        told(found)["small/journal"][0] == "does not verify" and "does not hold the head" in found.summary()
    )


def test_what_is_under_way_is_no_finding(store: Path, tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    spec = recorded_audit(tmp_path / "inputs", n=64)
    run = pipeline.open_run(spec, Window.parse("2026-02-02", "2026-02-09"), str(store))
    pipeline.run_stage(run, "plan")
    start(run, "audit run")
    found = swept(store)
    assert found.exit_code == 0 and len(found.of(["unfinished"])) == 1
    assert "begun, and neither sealed nor failed: 1; not evidence yet" in found.summary()


class TestKept:
    def test_with_a_key_nobody_else_s_words_are_believed(
        self, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AUDIT_VERIFIED_KEY", "the verifier's own secret")
        swept(store)
        clean = swept(store)
        assert told(clean)["small"][1] == "contents" and clean.notes == []
        forged = 0
        for path in (store / "_verified/runs").iterdir():
            document = json.loads(path.read_bytes())
            for one in document["runs"]:
                one["sha256"] = "0" * 64
                forged += 1
            path.write_text(json.dumps(document))
        found = swept(store)
        assert forged == 2 and told(found)["small"] == ("verified", "in full")
        assert "its MAC is not one of the key in AUDIT_VERIFIED_KEY" in found.summary()

    def test_a_record_without_a_mac_is_not_believed_under_a_key(
        self, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        swept(store)
        monkeypatch.setenv("AUDIT_VERIFIED_KEY", "the verifier's own secret")
        assert told(swept(store))["small"][1] == "in full"

    def test_another_place(self, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AUDIT_VERIFIED", str(tmp_path / "mine"))
        swept(store)
        assert not (store / "_verified").exists() and (tmp_path / "mine/runs").is_dir()
        assert "is believed as far as those are who can write there" in swept(store).summary()

    def test_a_part_writes_its_own_files_alone(self, store: Path) -> None:
        swept(store)
        before = {path.name: path.read_bytes() for path in (store / "_verified/runs").iterdir()}
        kept = KeptVerifications.of_environment(str(store))
        kept.read([int(min(before)[:2])])
        kept.runs.clear()
        kept.journals.clear()
        kept.write()
        after = {path.name: path.read_bytes() for path in (store / "_verified/runs").iterdir()}
        assert [name for name in before if before[name] != after[name]] == [min(before)]

    def test_what_is_trusted_now_is_what_it_verified_under(self, store: Path, tmp_path: Path) -> None:
        generate_key(tmp_path / "auditor.key")
        swept(store)
        options = VerifyOptions(trust=(str(tmp_path / "auditor.key.pub"),))
        found = swept(store, options=options)
        assert told(found)["small"] == ("does not verify", "in full")
        assert "no auditor has signed this run" in found.summary()


class TestBounds:
    def test_what_is_new_and_put_off_has_no_verdict(self, store: Path) -> None:
        found = swept(store, bounds=CostBounds(seconds=0.0))
        assert found.exit_code == 2 and len(found.of(["put off"])) == 2
        assert (
            "put off, since what this may cost was used up: 2, of which 2 have no verdict" in found.summary()
        )

    def test_what_is_put_off_is_first_next_time(self, store: Path) -> None:
        swept(store)
        size = run_bytes(store)
        found = swept(store, now=NOW + timedelta(days=1), bounds=CostBounds(bytes=size))
        assert found.exit_code == 0, "it verified in full not long ago"
        (off,) = found.of(["put off"])
        found = swept(store, now=NOW + timedelta(days=2), bounds=CostBounds(bytes=size))
        assert [one.name for one in found.of(["put off"])] != [off.name]

    def test_changed_runs_come_before_due_ones(self, store: Path) -> None:
        swept(store)
        (run_of(store, "small") / "stray").write_text("x")
        found = swept(store, now=NOW + timedelta(days=29), bounds=CostBounds(bytes=2 * run_bytes(store)))
        assert told(found)["small"][0] == "does not verify"

    def test_what_was_put_off_for_too_long_has_no_verdict(self, store: Path) -> None:
        swept(store)
        found = swept(store, now=NOW + timedelta(days=61), bounds=CostBounds(seconds=0.0))
        assert found.exit_code == 2 and len(found.overdue) == 2


def run_bytes(store: Path) -> int:
    return sum(path.stat().st_size for path in run_of(store).rglob("*") if path.is_file())


def test_a_store_that_does_not_answer_is_no_finding(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from audit_lib.errors import StoreUnreachableError

    def silent(self: Verifier, job: Mapping[str, Any]) -> dict[str, Any]:
        raise StoreUnreachableError("no answer after retries")

    monkeypatch.setattr(Verifier, "journal", silent)
    monkeypatch.setattr(Verifier, "verify", silent)
    with pytest.raises(StoreUnreachableError):
        swept(store)


class TestBucket:
    def test_the_listing_tells_what_was_written_since(
        self, original: Path, s3: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(MODULE, "VerifyingProcess", InThisProcess)
        there, local = open_store(s3), open_store(str(original))
        for key in local.list(""):
            there.put(key, local.get(key))
        assert swept(s3).exit_code == 0
        second = swept(s3)
        assert {how for _, how in told(second).values()} == {"listing"}
        assert "no byte was read" in second.summary()
        assert "not of who runs the store's servers; it is read in full within 30 days" in second.summary()
        assert told(swept(s3, options=VerifyOptions(by_listing=False)))["small"] == ("verified", "contents")
        page = next(key for key in there.list("small") if key.endswith("report.html"))
        there.replace(page, there.get(page).replace(b"a", b"b", 1))
        found = swept(s3)
        assert told(found)["small"] == ("does not verify", "in full")
        assert told(found)["copied"] == ("verified", "listing")

    @pytest.mark.parametrize("how", ["overwritten", "deleted"])
    def test_in_a_bucket_with_versions_what_came_over_a_run_is_found(
        self, original: Path, locked_s3: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch, how: str
    ) -> None:
        monkeypatch.setattr(MODULE, "VerifyingProcess", InThisProcess)
        there, local = open_store(locked_s3), open_store(str(original))
        for key in local.list(""):
            there.put(key, local.get(key))
        assert swept(locked_s3).exit_code == 0
        assert {how for _, how in told(swept(locked_s3)).values()} == {"listing"}
        place = {
            "Bucket": locked_s3.removeprefix("s3://"),
            "Key": next(key for key in there.list("small") if key.endswith("evidence/manifest.json")),
        }
        if how == "deleted":
            s3_server.client().delete_object(**place)
        else:
            s3_server.client().put_object(**place, Body=b"{}")
        found = swept(locked_s3)
        assert told(found)["small"] == ("does not verify", "in full"), (
            "and not gone: the first version is there"
        )
        assert how in " ".join(found.of(["does not verify"])[0].findings)
        assert told(found)["copied"] == ("verified", "listing")


def test_a_digest_is_over_paths_sizes_and_contents() -> None:
    from audit_lib.archive.bundle_digest import digest_over

    one = digest_over({"a": "0" * 64, "b": "1" * 64}, {"a": 1, "b": 2})
    assert one.sha256 == digest_over({"b": "1" * 64, "a": "0" * 64}, {"a": 1, "b": 2}).sha256
    assert (one.files, one.bytes) == (2, 3)
    others = [
        digest_over({"a": "0" * 64}, {"a": 1}),
        digest_over({"a": "0" * 64, "c": "1" * 64}, {"a": 1, "c": 2}),
        digest_over({"a": "0" * 64, "b": "2" * 64}, {"a": 1, "b": 2}),
        digest_over({"a": "0" * 64, "b": "1" * 64}, {"a": 1, "b": 2}, ["link"]),
    ]
    assert len({one.sha256, *(other.sha256 for other in others)}) == 5


def test_runs_that_differ_in_nothing_else_are_due_on_different_days(store: Path) -> None:
    """Else all of a store would be due in one night."""
    swept(store)
    kept = KeptVerifications.of_environment(str(store))
    kept.read()
    one = next(iter(kept.runs.values()))
    from audit_lib.verify_all.sweep import Sweep

    def sweep(days: float) -> Sweep:
        now = NOW + timedelta(days=days)
        return Sweep(
            kept,
            VerifyOptions(),
            CostBounds(),
            now,
            StoreVerification(str(store)),
            lambda outcome: None,
            None,
        )

    many = [replace(one, run=f"{one.run}{number}") for number in range(1000)]
    for day in range(16, 31):
        due = sum(sweep(day).is_due(each) for each in many)
        assert abs(due - 1000 * (day - 15) / 15) < 60


class TestCommand:
    def test_the_verdict_is_the_exit_code(self, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verify", "--all", str(store)]) == 0
        assert capsys.readouterr().out.startswith(f"VERIFIED: 4 runs and journals  {store}\n")
        (run_of(store) / "stray").write_text("x")
        assert main(["verify", "--all", str(store), "--json"]) == 1
        printed = capsys.readouterr()
        said = json.loads(printed.out)
        assert (said["verdict"], said["exit_code"]) == ("NOT VERIFIED: 1 of 4", 1)
        assert [one["how"] for one in said["runs"] if one["verdict"] == "does not verify"] == ["in full"]
        assert "DOES NOT VERIFY  small/" in printed.err, "told at once, while the others go on"

    def test_what_is_gone_rightly_is_forgotten(self, store: Path) -> None:
        assert main(["verify", "--all", str(store)]) == 0
        run = run_of(store, "copied")
        shutil.rmtree(run)
        assert main(["verify", "--all", str(store)]) == 1
        assert main(["verify", "--all", str(store), "--forget", str(run.relative_to(store))]) == 0
        assert main(["verify", "--all", str(store), "--forget", "no/such/run"]) == 2

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            (["RUN", "--full", "--max-gb", "1"], "--full, --max-gb: for --all"),
            (["--all", "STORE", "--head", "0" * 64], "heads that you knew belong into a trust file"),
            (["--all", "EMPTY"], "no run is in this store"),
            (["--all", "STORE", "--trust", "missing.pub"], "missing.pub"),
        ],
    )
    def test_what_would_do_nothing_is_refused(
        self, store: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
    ) -> None:
        places = {"RUN": str(run_of(store)), "STORE": str(store), "EMPTY": str(store / "small/journal")}
        assert main(["verify", *(places.get(one, one) for one in arguments)]) == 2
        assert why in capsys.readouterr().err
