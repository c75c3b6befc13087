"""Attempts are entered before the model is asked and at each end; one that was dropped, or made again, is found."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.archive import attempts
from audit_lib.archive.seal_failures import seal_failure
from audit_lib.archive.verify import Verification
from audit_lib.canonical import sha256
from audit_lib.cli.main import main
from audit_lib.documents.journal import entry_digest
from audit_lib.documents.run_statement import JournalHead
from audit_lib.documents.trust import KnownHead
from audit_lib.errors import BackendError, EvidenceError
from audit_lib.journal import read_journal
from audit_lib.journal_lines import journal_lines
from audit_lib.run import SUCCESS, Run
from audit_lib.signing.check_journal import check_all
from audit_lib.signing.keys import generate_key, load_private_key
from audit_lib.signing.trust import read_trust
from audit_lib.signoff import sign_off, verify_signed
from tests.archive.cases import WEEK, reseal
from tests.inputs import recorded_audit
from tests.signing.conftest import Signed
from tests.signoff.test_sign_off import answers
from tests.verifier.conftest import found_here


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four attempts: killed while it scored, failed in a shard, failed after all shards, and done."""
    folder = tmp_path_factory.mktemp("journal")
    spec = recorded_audit(folder, n=64, score={"shards": 2})
    run = pipeline.open_run(spec, WEEK, str(folder / "store"))
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(run, stage)
    attempts.start(run, "audit run")
    pipeline.run_stage(run, "scores", shard=0)
    real, score = pipeline.run_stage, pipeline.ShardScorer.score

    def fails(run: Run, name: str, *, shard: int | None = None) -> dict[str, int]:
        if name == "validation":
            raise BackendError("no answer")
        return real(run, name, shard=shard)

    def fails_after(scorer: pipeline.ShardScorer, shard: int) -> dict[str, int]:
        made = score(scorer, shard)
        if shard == 1:
            raise BackendError("no answer")
        return made

    for owner, name, broken in (
        (pipeline.ShardScorer, "score", fails_after),
        (pipeline, "run_stage", fails),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, broken)
            with pytest.raises(BackendError):
                pipeline.run_all(run)
    pipeline.run_all(run)
    return folder


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Run:
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return pipeline.open_run(tmp_path / "small.yaml", WEEK, str(tmp_path / "store"))


def checked(run: Run, *heads: str) -> Verification:
    return verify_signed(run.uri, heads=heads, recompute={})


def head_of(run: Run) -> str:
    return entry_digest(read_journal(run.store, "small")[-1])


def details(verification: Verification) -> str:
    return "\n".join(map(str, verification.findings))


def test_every_attempt_is_entered_with_its_end(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    entries = read_journal(run.store, "small")
    assert [(one.attempt, one.event, one.outcome) for one in entries] == [
        (1, "planned", None),
        (1, "asked", None),
        (2, "planned", None),
        (1, "abandoned", None),
        (2, "asked", None),
        (2, "failed", "failed"),
        (3, "failed", "failed"),
        (4, "completed", "complete"),
    ]
    assert entries[0].sealed_sha256 == sha256(run.store.get(f"{run.prefix}/plan/{SUCCESS}"))
    assert entries[-1].sealed_sha256 == sha256(run.store.get(f"{run.prefix}/evidence/manifest.json"))
    planned, entered, asked = (
        datetime.fromisoformat(text)
        for text in (entries[0].at, entries[1].at, run.stage("scores/0").success().started_at)
    )
    assert planned <= entered <= asked
    verification = checked(run, head_of(run), entry_digest(entries[1]))
    assert verification.findings == ()
    said = "4 attempts (1 completed, 2 failed, 1 abandoned) on this window; head " + head_of(run)
    assert any(said in line for line in verification.run_signatures)
    assert main(["journal", "small", "--store", run.store.root, "--head", head_of(run)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"head {head_of(run)}"
    before = run.store.list("small/journal")
    pipeline.run_all(run)
    assert run.store.list("small/journal") == before, "what is sealed is entered once"


def test_a_dropped_failed_attempt_is_found(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """With its record the manifest that lists it is made again, as the tool's owner can."""
    shutil.rmtree(Path(run.uri) / "attempts/2")
    assert (
        "attempts/2/manifest.json: entry 6 of the journal says that it was sealed, and it is gone"
        in details(checked(run))
    )
    assert main(["journal", "small", "--store", run.store.root]) == 1
    assert "and it is gone [journal]" in capsys.readouterr().out


def test_a_misspelt_name_or_head_is_not_taken_for_an_answer(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["journal", "smal", "--store", run.store.root]) == 2
    assert "no audit 'smal'" in capsys.readouterr().err
    assert main(["journal", "small", "--store", run.store.root, "--window", "x"]) == 0
    assert "nothing is entered about the window x" in capsys.readouterr().out
    for command in (
        ["journal", "small", "--head"],
        ["verify-journal", "x", "--to"],
        ["verify", run.uri, "--head"],
    ):
        with pytest.raises(SystemExit):
            main([*command, "abc"])
        assert "is no SHA-256" in capsys.readouterr().err
    empty = tmp_path / "journal.jsonl"
    empty.touch()
    assert main(["verify-journal", str(empty)]) == 1
    assert "it has no entries" in capsys.readouterr().out


@pytest.mark.parametrize("left", [0, 1, 7])
def test_a_journal_that_was_rolled_back_is_found_by_its_head(run: Run, left: int) -> None:
    head = head_of(run)
    for path in sorted(Path(run.store.root, "small/journal").iterdir())[left:]:
        path.unlink()
    assert "was rolled back, forked or made again" in details(checked(run, head))
    found = details(checked(run))
    assert ("its end was never entered" in found) == (left > 0)


def test_a_run_that_was_dropped_whole_is_found_by_the_journal(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(run.uri)
    assert main(["journal", "small", "--store", run.store.root]) == 1
    said = capsys.readouterr().out
    assert said.count("that it was sealed, and it is gone") == 3
    assert said.count("plan/_SUCCESS: entry 1 of the journal says that it was written, and it is gone") == 1


def test_the_tool_does_not_seal_a_run_again(run: Run) -> None:
    """Scores edited, digests fixed, later stages deleted, `audit run`."""
    for stage in ("validation", "metrics", "report", "evidence"):
        shutil.rmtree(Path(run.uri) / stage)
    with pytest.raises(EvidenceError, match="was sealed before, says entry 8 of the journal"):
        pipeline.run_all(pipeline.load_run(run.uri))
    assert not run.stage("evidence").is_complete()


def test_a_rewrite_by_hand_is_not_what_was_entered(run: Run) -> None:
    path = Path(run.uri) / "report/tables.csv"
    path.write_bytes(path.read_bytes() + b"more\n")
    reseal(Path(run.uri))
    assert "is not what entry 8 of the journal says" in details(checked(run))


def test_a_copy_says_that_it_has_no_journal(run: Run, tmp_path: Path) -> None:
    copy = shutil.copytree(run.uri, tmp_path / "copy")
    verification = verify_signed(str(copy), recompute={})
    assert verification.ok
    assert any("journal: not next to this copy" in line for line in verification.run_signatures)
    found = verify_signed(str(copy), heads=[head_of(run)], recompute={})
    assert "cannot be checked from a copy" in details(found)


def test_a_broken_journal_stops_an_audit_before_anything_is_asked(tmp_path: Path) -> None:
    run = pipeline.open_run(recorded_audit(tmp_path, n=64), WEEK, str(tmp_path / "store"))
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(run, stage)
    run.store.put("small/journal/000002.json", b"{}")
    with pytest.raises(EvidenceError, match="an entry is missing"):
        pipeline.run_stage(run, "scores", shard=0)
    assert run.list("scores") == []


def test_a_sign_off_that_is_taken_away_whole_is_found(run: Run, tmp_path: Path) -> None:
    """The second statement takes the first one back: without it the first would be the last word."""
    generate_key(tmp_path / "auditor.key")
    key = load_private_key(tmp_path / "auditor.key")
    sign_off(run, answers(run), key)
    last = sign_off(run, answers(run), key, supersede="a mistake in the sample")
    entries = read_journal(run.store, "small")
    assert [one.event for one in entries[-2:]] == ["signed", "signed"]
    assert checked(run, head_of(run)).ok and found_here(Path(run.uri), "--head", head_of(run)) == []
    shutil.rmtree(Path(run.uri) / "signoff/2")
    words = (
        f"the statement {last.digest} was signed, says entry {entries[-1].number} of the journal, and is gone"
    )
    assert words in details(checked(run))
    assert any(words in one for one in found_here(Path(run.uri)))
    assert any(words in str(one) for one in check_all(run.store, "small", [])[1].findings)
    copy = shutil.copytree(run.uri, tmp_path / "copy")
    (copy / "journal.jsonl").write_bytes(journal_lines(entries))
    assert words in details(verify_signed(str(copy), recompute={}))
    assert any(words in one for one in found_here(copy))


class TestUnderTrust:
    """The whole of it: signed plan and result, an earlier head, and an attacker who can write everywhere."""

    def check(self, signed: Signed, *heads: JournalHead) -> Verification:
        file = signed.trust(
            required=("plan", "result", "time stamps", "journal"),
            heads=tuple(KnownHead(audit="small", head=head) for head in heads),
        )
        (folder,) = (path for path in signed.store.glob("small/*_*/*") if path.is_dir())
        trust = read_trust([signed.write(file)], datetime.now(UTC))
        return verify_signed(str(folder), trust=trust, recompute={})

    def test_it_verifies(self, signed: Signed) -> None:
        entries = read_journal(Run.load(str(self.folder(signed))).store, "small")
        head = JournalHead(number=3, sha256=entry_digest(entries[-1]))
        assert self.check(signed, head).findings == ()
        assert "was known as 1" in details(self.check(signed, JournalHead(number=1, sha256=head.sha256)))

    def folder(self, signed: Signed) -> Path:
        (folder,) = (path for path in signed.store.glob("small/*_*/*") if path.is_dir())
        return folder

    def test_a_rolled_back_journal_is_not_what_the_statements_knew(self, signed: Signed) -> None:
        shutil.rmtree(signed.store / "small/journal")
        assert "(it is empty): it was rolled back" in details(self.check(signed))

    def test_with_the_service_s_own_key_a_rewrite_still_lacks_the_head(
        self, signed: Signed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The attacker removes what was sealed and entered, and lets the scheduler, which has the key, do it again."""
        folder = self.folder(signed)
        store = Run.load(str(folder)).store
        head = JournalHead(number=3, sha256=entry_digest(read_journal(store, "small")[-1]))
        for stage in ("validation", "metrics", "report", "evidence"):
            shutil.rmtree(folder / stage)
        for path in (folder / "signatures").glob("result.*"):
            path.unlink()
        monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")
        monkeypatch.setenv("AUDIT_TIMESTAMP_URL", signed.authority.url)
        with pytest.raises(EvidenceError, match="was sealed before"):
            pipeline.run_all(pipeline.load_run(str(folder)))
        (signed.store / "small/journal/000003.json").unlink()
        shutil.rmtree(folder / "attempts/2", ignore_errors=True)
        for path in signed.store.glob("small/journal/00000[4-9].json"):
            path.unlink()
        pipeline.run_all(pipeline.load_run(str(folder)))
        assert self.check(signed).ok, "behind the newest head that is known nobody can tell"
        assert "was rolled back, forked or made again" in details(self.check(signed, head))


def test_an_attempt_that_failed_before_the_model_was_asked_verifies(tmp_path: Path) -> None:
    spec = recorded_audit(tmp_path, n=8)
    run = pipeline.open_run(spec, WEEK, str(tmp_path / "store"))
    number = attempts.start(run, "audit run")
    pipeline.run_stage(run, "plan")
    assert seal_failure(run, number, [attempts.fault_of("sample", EvidenceError("no rows"))])
    assert [one.event for one in read_journal(run.store, "small")] == ["failed"]
    found = verify_signed(run.uri)
    assert found.ok, found.summary()
    # once something was asked, the plan must have been entered
    (Path(run.uri) / "scores/0").mkdir(parents=True)
    (Path(run.uri) / "scores/0/asked.json").write_text("{}")
    assert "the run's plan was never entered" in str(verify_signed(run.uri).findings)
