"""Every attempt on a window is shown: on the report, the site, in a bag; and what somebody leaves out is found."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.archive import attempts
from audit_lib.archive.seal_failures import seal_failure
from audit_lib.bag import check_bag, export_run, open_bag, unpack
from audit_lib.canonical import canonical_json, sha256
from audit_lib.cli.main import main
from audit_lib.documents.journal import entry_digest
from audit_lib.errors import EvidenceError
from audit_lib.journal import enter, read_journal
from audit_lib.journal_copy import entries_about
from audit_lib.journal_lines import check_extends, entries_after, journal_lines, read_lines
from audit_lib.run import Run, RunKey
from audit_lib.signoff import verify_signed
from audit_lib.site import publish
from audit_lib.store import open_store
from audit_lib.window import Window
from tests.archive.cases import WEEK, reseal
from tests.inputs import recorded_audit

NEXT = Window.parse("2026-01-12", "2026-01-19")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A design that failed, then another that passed, on one window."""
    folder = tmp_path_factory.mktemp("attempts")
    first = pipeline.open_run(recorded_audit(folder, n=64, seed=1), WEEK, str(folder / "store"))
    number = attempts.start(first, "audit run")
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(first, stage)
    pipeline.run_stage(first, "scores", shard=0)
    assert seal_failure(
        first, number, [attempts.fault_of("metrics", EvidenceError("a number was not liked"))]
    )
    second = pipeline.open_run(
        recorded_audit(folder, n=64, seed=2, report={"languages": ["es"]}), WEEK, str(folder / "store")
    )
    pipeline.run_all(second)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    (sealed,) = (path.parent for path in folder.glob("store/small/*/*/evidence"))
    return Run.load(str(sealed))


def plain(page: Path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.read_text("utf-8")))


def findings(run: str, *heads: str) -> str:
    return "\n".join(map(str, verify_signed(run, heads=heads).findings))


class TestTheReport:
    def test_it_lists_the_attempts_before_its_plan_and_the_head(self, run: Run) -> None:
        failed = read_journal(run.store, "small")[2]
        assert failed.event == "failed"
        said = plain(Path(run.uri) / "report/report.html")
        assert "had 1 other attempt on this window (designs among them: 1)" in said
        assert failed.run in said and f"entry {failed.number} , {entry_digest(failed)}" in said
        spanish = plain(Path(run.uri) / "report/report.es.html")
        assert "tenía 1 otro intento sobre esta ventana" in spanish and entry_digest(failed) in spanish
        document = json.loads((Path(run.uri) / "report/report.json").read_bytes())
        assert [one["event"] for one in document["journal"]["window"]] == ["planned", "asked", "failed"]

    def test_it_verifies_in_its_store_and_as_a_copy(self, run: Run, tmp_path: Path) -> None:
        verification = verify_signed(run.uri)
        assert verification.findings == ()
        assert any(
            "2 attempts with 2 designs (1 completed, 1 failed)" in line
            for line in verification.run_signatures
        )
        assert findings(str(shutil.copytree(run.uri, tmp_path / "copy"))) == ""

    def test_the_report_of_a_first_run_has_the_same_bytes_in_every_store(self, tmp_path: Path) -> None:
        made = []
        for name in ("one", "two"):
            run = pipeline.open_run(recorded_audit(tmp_path, n=64), WEEK, str(tmp_path / name))
            pipeline.run_stage(run, "plan")
            made.append(run.stage("plan").read("journal.json"))
        assert made[0] == made[1] and json.loads(made[0])["head"] is None

    @pytest.mark.parametrize("attack", ["dropped", "no head", "other head"])
    def test_a_plan_that_hides_an_attempt_is_found(self, run: Run, attack: str) -> None:
        path = Path(run.uri) / "plan/journal.json"
        said = json.loads(path.read_bytes())
        if attack == "other head":
            said["head"]["sha256"] = "0" * 64
        else:
            said["window"] = []
        if attack == "no head":
            said["head"] = None
        path.write_bytes(canonical_json(said))
        reseal(Path(run.uri))
        expected = {
            "dropped": "these are not the entries about this window until entry 3",
            "no head": "",  # made within minutes of the plan, which clocks do not tell apart
            "other head": "does not hold the head " + "0" * 64,
        }
        found = [str(one) for one in verify_signed(run.uri, recompute={}).findings if "plan/" in str(one)]
        assert expected[attack] in "\n".join(found)

    def test_an_old_attempt_that_the_plan_did_not_see_is_found(self, run: Run) -> None:
        """The journal's entries are made old, as if the attempt had been long before the plan."""
        lines, before = [], None
        for one in read_journal(run.store, "small"):
            changed = replace(one, at="2020" + one.at[4:] if one.number <= 3 else one.at, previous=before)
            before = entry_digest(changed)
            lines.append(changed)
        copy = Path(run.uri) / "journal.jsonl"
        copy.write_bytes(journal_lines(lines))
        shutil.rmtree(Path(run.store.root) / "small/journal")
        (Path(run.uri) / "plan/journal.json").write_bytes(
            canonical_json({"schema": "audit-journal-at-plan/1", "head": None, "window": []})
        )
        reseal(Path(run.uri))
        assert "entry 1 of 2020" in findings(run.uri)


class TestAJournalThatIsGone:
    @pytest.mark.parametrize("names", ["site", "copy", "plan", "signature"])
    def test_it_is_found_by_whatever_names_an_entry(
        self, names: str, folder: Path, run: Run, capsys: pytest.CaptureFixture[str]
    ) -> None:
        store = folder / "store"
        arguments = ["journal", "small", "--store", str(store)]
        assert main(arguments) == 0
        (head,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("head "))
        if names == "site":
            publish(str(store))
        elif names == "copy":
            entries_about(run.store, "small", run.key.window.label)
        elif names == "signature":
            run.store.put(f"{run.prefix}/signatures/plan.dsse.json", b"{}")
        shutil.rmtree(store / "small/journal")
        if names != "plan":
            for plan in store.glob("small/*/*/plan/journal.json"):
                plan.unlink()
        if names != "copy":
            shutil.rmtree(store / "small/index", ignore_errors=True)
        assert main(arguments) == 1
        said = capsys.readouterr().out
        assert "the journal is gone" in said
        assert names not in ("site", "copy") or head.removeprefix("head ") in said

    def test_an_audit_that_never_had_one_has_none(self, folder: Path, run: Run) -> None:
        shutil.rmtree(folder / "store/small/journal")
        shutil.rmtree(folder / "store/small/index", ignore_errors=True)
        for plan in (folder / "store").glob("small/*/*/plan/journal.json"):
            plan.unlink()
        assert main(["journal", "small", "--store", str(folder / "store")]) == 0


class TestTheSite:
    def test_it_lists_every_attempt_with_times_and_reports(self, folder: Path, run: Run) -> None:
        publish(str(folder / "store"))
        site = folder / "store/site/small"
        said, entries = plain(site / "attempts.html"), read_journal(run.store, "small")
        assert "attempted 2 times with 2 designs: 1 failed, 1 completed" in said
        assert f"{entries[0].at[:10]} {entries[0].at[11:16]}" in said and entries[0].run in said
        page = (site / "attempts.html").read_text()
        assert f'href="{run.key.window.label}/{run.key.spec_digest[:16]}/report.html"' in page
        assert entry_digest(entries[-1]) in said
        assert 'href="attempts.html"' in (site / "index.html").read_text()
        assert (site / "journal.jsonl").read_bytes() == journal_lines(entries)
        feed = json.loads((folder / "store/site/feed.json").read_bytes())
        assert feed["items"][0]["_audit"]["journal"]["sha256"] == entry_digest(entries[-1])

    def test_the_command_on_the_page_runs_as_it_is_printed(
        self, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        publish(str(folder / "store"))
        monkeypatch.chdir(folder / "store/site/small")
        page = unescape(Path("attempts.html").read_text())
        printed = re.search(r"audit (verify-journal [^\n]*?<earlier head>)", page)
        assert printed is not None
        head = entry_digest(read_journal(run.store, "small")[0])
        assert main(printed[1].replace("<earlier head>", head).split()) == 0
        assert f"extends {head} by" in capsys.readouterr().out

    def test_nothing_is_published_of_an_audit_whose_journal_is_no_chain(self, folder: Path) -> None:
        (folder / "store/small/journal/000001.json").unlink()
        published = publish(str(folder / "store"))
        assert "is entry 2" in published.left_out[0] or "entry 1 is missing" in published.left_out[0]
        assert not (folder / "store/site/small").exists()


class TestABag:
    def bag(self, run: Run, folder: Path) -> Path:
        return export_run(run.uri, folder / "bag.zip").path

    def imported(self, bag: Path, folder: Path) -> str:
        with open_bag(bag) as opened:
            assert check_bag(opened) == []
            (name,) = unpack(opened, open_store(str(folder / "other")))
        return str(folder / "other" / name)

    def test_an_imported_run_knows_the_attempts_until_its_export(self, run: Run, folder: Path) -> None:
        head = entry_digest(read_journal(run.store, "small")[-1])
        uri = self.imported(self.bag(run, folder), folder)
        verification = verify_signed(uri, heads=[head])
        assert verification.findings == ()
        (line,) = (line for line in verification.run_signatures if line.startswith("journal:"))
        assert "2 attempts with 2 designs (1 completed, 1 failed) on this window until" in line
        assert head in line and "What was entered later" in line
        other = Path(uri).parent.parent.parent / "again.zip"
        assert export_run(uri, other).files == export_run(run.uri, folder / "second.zip").files

    def test_the_same_journal_gives_the_same_bag(self, run: Run, folder: Path) -> None:
        first = self.bag(run, folder).read_bytes()
        assert export_run(run.uri, folder / "again.zip").path.read_bytes() == first
        enter(run.store, run.key, 9, "planned")
        assert export_run(run.uri, folder / "later.zip").path.read_bytes() != first

    def test_a_head_from_after_the_export_is_not_in_it(self, run: Run, folder: Path) -> None:
        bag = self.bag(run, folder)
        later = enter(run.store, RunKey("small", NEXT, "f" * 64), 1, "planned")
        found = findings(self.imported(bag, folder), entry_digest(later))
        assert "or this copy was made before that entry" in found

    @pytest.mark.parametrize("attack", ["cut", "dropped", "changed", "end cut"])
    def test_a_changed_copy_of_the_journal_is_found(self, run: Run, folder: Path, attack: str) -> None:
        head = entry_digest(read_journal(run.store, "small")[-1])
        uri = self.imported(self.bag(run, folder), folder)
        path = Path(uri) / "journal.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(
            {
                "cut": b"".join(lines)[:-1],
                "dropped": b"".join(lines[:1] + lines[2:]),
                "changed": b"".join(lines).replace(b'"failed"', b'"stopped"', 1),
                "end cut": b"".join(lines[:-1]),
            }[attack]
        )
        assert "journal.jsonl: " in findings(uri, head)

    def test_a_store_that_was_rolled_back_does_not_hold_the_head_of_the_copy(
        self, run: Run, folder: Path
    ) -> None:
        with zipfile.ZipFile(self.bag(run, folder)) as bag:
            (name,) = (one for one in bag.namelist() if one.endswith("journal.jsonl"))
            (Path(run.uri) / "journal.jsonl").write_bytes(bag.read(name))
        assert findings(run.uri) == ""
        enter(run.store, run.key, 1, "superseded")
        assert findings(run.uri) == "", "the store has gone on since"
        for path in sorted((folder / "store/small/journal").iterdir())[-2:]:
            path.unlink()
        assert "was rolled back, forked or made again" in findings(run.uri)


class TestConsistency:
    """A newer head extends an older one: for everybody who holds both, from a file."""

    def test_a_file_leads_from_one_head_to_the_other(
        self, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        entries = read_journal(run.store, "small")
        older, newer = entry_digest(entries[1]), entry_digest(entries[-1])
        part, whole = tmp_path / "part.jsonl", tmp_path / "whole.jsonl"
        store = ["--store", run.store.root]
        assert main(["journal", "small", *store, "--from", older, "--out", str(part)]) == 0
        assert f"extends {older} by {len(entries) - 2} entries" in capsys.readouterr().out
        assert main(["journal", "small", *store, "--window", "none", "--out", str(whole)]) == 0
        assert read_lines(part.read_bytes(), "part") == entries[2:]
        for file in (part, whole):
            given = [str(file), "--audit", "small", "--from", older]
            assert main(["verify-journal", *given, "--to", newer]) == 0
            assert main(["verify-journal", *given, "--to", "0" * 64]) == 1
            assert main(["verify-journal", str(file), "--audit", "large", "--from", older]) == 1
            assert main(["verify-journal", str(file), "--from", "0" * 64]) == 1
        assert main(["verify-journal", str(whole)]) == 0
        assert main(["verify-journal", str(part)]) == 1
        assert main(["journal", "small", *store, "--from", "0" * 64]) == 1

    @pytest.mark.parametrize("attack", ["gap", "fork", "rollback", "swapped", "renumbered", "prefix"])
    def test_what_does_not_extend_it_is_found(self, run: Run, attack: str) -> None:
        for number in range(4):
            enter(run.store, RunKey("small", NEXT, f"{number:064x}"[::-1]), 1, "planned")
        entries = read_journal(run.store, "small")
        older, newer = entry_digest(entries[2]), entry_digest(entries[-1])
        after = entries_after(entries, older)
        check_extends(after, older, newer, "small")
        forked = replace(after[1], attempt=7)
        attacked = {
            "gap": [after[0], *after[2:]],
            "fork": [after[0], forked, *after[2:]],
            "rollback": after[:-1],
            "swapped": [after[1], after[0], *after[2:]],
            "renumbered": [after[0], *(replace(one, number=one.number - 1) for one in after[2:])],
            "prefix": entries,
        }[attack]
        with pytest.raises(EvidenceError):
            check_extends(attacked, older, newer, "small")

    def test_a_head_is_the_digest_of_the_bytes_of_its_line(self, run: Run) -> None:
        """As anybody finds it with sha256sum, without this library."""
        entries = read_journal(run.store, "small")
        assert [sha256(line) for line in journal_lines(entries).splitlines()] == list(
            map(entry_digest, entries)
        )
