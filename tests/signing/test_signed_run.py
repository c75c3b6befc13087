"""Plan and result are signed in time; whoever rewrites a run without the key is found, and so is a key not believed."""

from __future__ import annotations

import json
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import Verification
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.cli.main import main
from audit_lib.documents.trust import Revocation, TrustedAuthority, TrustFile
from audit_lib.errors import EvidenceError, InputError
from audit_lib.journal import read_journal
from audit_lib.run import SUCCESS, Run, StageOutput
from audit_lib.signing import sign_run
from audit_lib.signing.signers import PAYLOAD_TYPE, open_signer, sign_payload, signed_payload
from audit_lib.signing.trust import read_trust
from audit_lib.signoff import verify_signed
from tests.archive.cases import WEEK, reseal
from tests.inputs import recorded_audit
from tests.signing.authority import make
from tests.signing.conftest import Signed, instant


def check(signed: Signed, file: TrustFile | None = None) -> Verification:
    """Verify the copy under a trust file; digests and signatures alone."""
    trust = read_trust([signed.write(file or signed.trust())], datetime.now(UTC))
    return verify_signed(str(signed.run), trust=trust, recompute={})


def details(verification: Verification) -> str:
    return "\n".join(map(str, verification.findings))


def sign_again(signed: Signed, moment: str, monkeypatch: pytest.MonkeyPatch, *, stamp: bool = False) -> None:
    """Sign a moment of the copy with the service's key, as a thief of it would."""
    for path in (signed.run / "signatures").glob(f"{moment}.*"):
        path.unlink()
    monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")
    if stamp:
        monkeypatch.setenv("AUDIT_TIMESTAMP_URL", signed.authority.url)
    run = Run.from_bundle(str(signed.run))
    signer = sign_run.configured_signer()
    assert signer is not None
    sign_run._sign(run, moment, signer, None)  # type: ignore[arg-type]


def test_it_verifies_under_trust_and_says_when(signed: Signed) -> None:
    verification = check(signed)
    assert verification.findings == ()
    for moment, line in zip(("plan", "result"), verification.run_signatures[:2], strict=True):
        assert line.startswith(f"{moment} signed with key ") and '(of "service"), time stamp 20' in line
        assert line.endswith('of "local OpenSSL", not independent')


def test_the_order_is_plan_request_result(signed: Signed) -> None:
    from audit_lib.signing.time_stamps import claimed_stamp

    folder = signed.run / "signatures"
    plan, result = (
        claimed_stamp((folder / f"{m}.tsr").read_bytes(), (folder / f"{m}.dsse.json").read_bytes(), m)
        for m in ("plan", "result")
    )
    asked = min(json.loads((signed.run / f"scores/{n}" / SUCCESS).read_bytes())["started_at"] for n in (0, 1))
    sealed = json.loads((signed.run / "evidence/manifest.json").read_bytes())["sealed_at"]
    assert plan <= datetime.fromisoformat(asked) < datetime.fromisoformat(sealed)
    assert result >= datetime.fromisoformat(sealed).replace(microsecond=0)


def test_without_trust_it_says_what_it_cannot_know(
    signed: Signed, capsys: pytest.CaptureFixture[str]
) -> None:
    verification = verify_signed(str(signed.run), recompute={})
    assert verification.ok
    assert "of an authority that was not checked" in verification.run_signatures[0]
    assert "nothing here shows that the run was not made again" in verification.run_signatures[-1]
    assert verification.run_signatures[-1] in verification.summary()


def test_the_consistent_rewrite_fails_under_trust(signed: Signed) -> None:
    """Scores edited, digests fixed, later stages deleted, `audit run`: without trust it verifies."""
    run = Run.load(next(p for p in signed.store.glob("small/*/*") if p.is_dir()).as_posix())
    folder = Path(run.uri)
    import pyarrow as pa
    import pyarrow.parquet as pq

    for shard in (0, 1):
        path = folder / f"scores/{shard}/scores.parquet"
        table = pq.read_table(path)
        rows = table.to_pylist()
        for row in rows:
            row["score"] = None if row["score"] is None else row["score"] + 1.0
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd")
    reseal(folder)
    for stage in ("validation", "metrics", "report", "evidence"):
        shutil.rmtree(folder / stage)
    for path in (folder / "signatures").glob("result.*"):
        path.unlink()
    with pytest.raises(EvidenceError, match="was sealed before, says entry 3 of the journal"):
        pipeline.run_all(pipeline.load_run(run.uri))
    for path in sorted((signed.store / "small/journal").iterdir())[1:]:
        path.unlink()
    shutil.rmtree(folder / "attempts")
    pipeline.run_all(pipeline.load_run(run.uri))
    assert verify_signed(run.uri, recompute={}).ok, "without trust nobody can know"
    copy = Signed(signed.folder, signed.authority)
    shutil.rmtree(copy.run)
    shutil.copytree(folder, copy.run)
    assert "the result is not signed, and the trust file requires it" in details(check(copy))


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("plan/plan.json", {"seed": 8}),
        ("plan/_SUCCESS", {"started_at": "2026-01-12T00:00:00.000+00:00"}),
        ("sample/sample.json", {"window_start": "2026-01-06"}),
        ("variants/design.json", {"kind": "another"}),
    ],
)
def test_what_was_signed_is_as_it_was_signed(signed: Signed, path: str, change: dict[str, Any]) -> None:
    """A careful forger makes every record and the manifest agree."""
    file = signed.run / path
    file.write_bytes(pretty_json(json.loads(file.read_bytes()) | change))
    reseal(signed.run)
    found = details(check(signed))
    assert f"signatures/plan.dsse.json: {path.split('/')[0]}/" in found
    assert "is not the file that was signed" in found.split("signatures/result.dsse.json: evidence/")[1]


@pytest.mark.parametrize(
    "name", ["plan.dsse.json", "plan.pub", "plan.tsr", "result.dsse.json", "result.pub", "result.tsr"]
)
def test_a_signature_that_is_gone_or_changed_is_found(signed: Signed, name: str) -> None:
    path = signed.run / "signatures" / name
    content = path.read_bytes()
    middle = len(content) // 2
    for other in (
        None,
        content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        b"",
        b"[" * 10**5,
    ):
        path.unlink()
        if other is not None:
            path.write_bytes(other)
        assert not check(signed).ok
        if name.startswith("plan"):
            found = verify_signed(str(signed.run), recompute={})
            assert not found.ok, "the result's statement names the plan's files"
        path.write_bytes(content)
    assert check(signed).ok


def test_a_stray_file_next_to_the_signatures_is_found(signed: Signed) -> None:
    (signed.run / "signatures/approval.pub").write_bytes(b"x")
    assert "signatures/approval.pub: is no part of the evidence" in details(check(signed))


def test_a_statement_of_something_else_is_none(signed: Signed) -> None:
    path = signed.run / "signatures/plan.dsse.json"
    content = path.read_bytes()
    shutil.copy(signed.run / "signatures/result.dsse.json", path)
    assert "is a statement of another kind" in details(check(signed))
    path.write_bytes(content)
    path = signed.run / "signatures/result.dsse.json"
    statement = json.loads(signed_payload(path.read_bytes(), PAYLOAD_TYPE, "result"))
    statement["predicate"]["outcome"] = "validation_failed"
    signer = open_signer(f"file:{signed.folder / 'service.key'}")
    path.write_bytes(sign_payload(canonical_json(statement), PAYLOAD_TYPE, [signer]))
    (signed.run / "signatures/result.tsr").unlink()
    assert "its outcome is not that of the manifest" in details(check(signed))


def test_a_plan_signed_after_the_first_request_is_found(
    signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_again(signed, "plan", monkeypatch, stamp=True)
    assert "after the first request" in details(check(signed))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"valid_until": instant(-0.5)}, "expired on"),
        ({"valid_from": instant(5)}, "is valid from"),
        ({"revoked": Revocation(at=instant(-0.5), reason="stolen laptop")}, "was revoked on"),
        ({"roles": ("auditor",)}, "may sign auditor and no plan"),
    ],
)
def test_a_key_that_is_not_believed_is_named(signed: Signed, changes: dict[str, Any], said: str) -> None:
    roles = changes.pop("roles", ("plan", "result")) if "roles" in changes else ("plan", "result")
    found = details(check(signed, signed.trust(signed.trusted("service", *roles, **changes))))
    assert said in found and "(service)" in found and found.count("[signature]") == 2


def test_what_was_signed_before_a_revocation_holds_if_a_stamp_says_so(signed: Signed) -> None:
    key = signed.trusted("service", "plan", "result", revoked=Revocation(at=instant(1), reason="retired"))
    assert check(signed, signed.trust(key)).ok
    for path in (signed.run / "signatures").glob("*.tsr"):
        path.unlink()
    found = details(check(signed, signed.trust(key, required=())))
    assert "that it signed before, it only claims: there is no time stamp" in found


def test_an_unknown_key_and_an_unknown_authority_are_named(signed: Signed, tmp_path: Path) -> None:
    assert "is none of the trust file" in details(
        check(signed, signed.trust(signed.trusted("other", "plan", "result")))
    )
    (tmp_path / "elsewhere").mkdir()
    elsewhere = TrustedAuthority(
        name="somebody", certificates=(make(tmp_path / "elsewhere"),), independent=True
    )
    assert "not a time stamp of a trusted authority: somebody did not sign it" in details(
        check(signed, signed.trust(authorities=(elsewhere,)))
    )


def test_a_stripped_stamp_is_found_where_stamps_are_required(
    signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    (signed.run / "signatures/result.tsr").unlink()
    assert "the result has no time stamp, and the trust file requires it" in details(check(signed))
    assert check(signed, signed.trust(required=("plan", "result"))).ok
    assert "as it only claims" in check(signed, signed.trust(required=())).run_signatures[1]


def test_a_stamp_over_something_else_is_none(signed: Signed) -> None:
    folder = signed.run / "signatures"
    shutil.copy(folder / "plan.tsr", folder / "result.tsr")
    assert "a time stamp over something else" in details(check(signed))


class TestRotation:
    """A new version of the trust file is signed by the root keys of the old one, and by its own."""

    def versions(self, signed: Signed, roots: list[str], **changes: Any) -> list[Path]:
        from audit_lib.signing.signers import open_signer
        from audit_lib.signing.trust import sign_trust

        first = signed.write(signed.trust())
        keys = (signed.trusted("other", "plan", "result"), signed.trusted("root2", "root"))
        said = {"version": 2, "previous_sha256": sha256(first.read_bytes())} | changes
        second = signed.folder / "trust-2.json"
        signers = [open_signer(f"file:{signed.folder / name}.key") for name in roots]
        second.write_bytes(sign_trust(signed.trust(*keys, **said), signers))
        return [first, second]

    def test_a_key_that_was_rotated_out_is_named(self, signed: Signed) -> None:
        trust = read_trust(self.versions(signed, ["root", "root2"]), datetime.now(UTC))
        found = details(verify_signed(str(signed.run), trust=trust, recompute={}))
        assert "(service) was rotated out: version 2 has it no more" in found

    @pytest.mark.parametrize("roots", [["root"], ["root2"], ["service", "root2"], ["other"]])
    def test_a_version_that_the_roots_did_not_sign_is_refused(self, signed: Signed, roots: list[str]) -> None:
        with pytest.raises(InputError, match="0 root keys of version . signed it, 1 must"):
            read_trust(self.versions(signed, roots), datetime.now(UTC))

    @pytest.mark.parametrize("changes", [{"version": 3}, {"previous_sha256": "0" * 64}])
    def test_a_version_that_does_not_follow_is_refused(self, signed: Signed, changes: dict[str, Any]) -> None:
        with pytest.raises(InputError, match="does not follow from version 1"):
            read_trust(self.versions(signed, ["root", "root2"], **changes), datetime.now(UTC))

    def test_an_expired_trust_file_is_refused(self, signed: Signed) -> None:
        path = signed.write(signed.trust(expires=instant(-1)))
        with pytest.raises(InputError, match="version 1 expired on"):
            read_trust([path], datetime.now(UTC))

    @pytest.mark.parametrize(
        "content", [b"{}", b'{"a": 1, "a": 2}', b"[" * 10**5, b'{"payload": 5}', b"\xff{"]
    )
    def test_what_is_no_trust_file_is_refused_in_one_line(
        self, signed: Signed, content: bytes, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = signed.folder / "trust.json"
        path.write_bytes(content)
        assert main(["verify", str(signed.run), "--trust", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_the_command_takes_a_trust_file(
    signed: Signed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit_lib.archive.recompute._RECOMPUTED", {})
    path = signed.write(signed.trust())
    assert main(["verify", str(signed.run), "--trust", str(path)]) == 0
    assert '(of "service"), time stamp' in capsys.readouterr().out
    expired = signed.trust(signed.trusted("service", "plan", "result", valid_until=instant(-0.5)))
    assert main(["verify", str(signed.run), "--trust", str(signed.write(expired))]) == 1
    assert "expired on" in capsys.readouterr().out


class TestBeforeMoneyIsSpent:
    """Where a signed plan is required nothing is asked without one."""

    @pytest.fixture
    def run(self, tmp_path: Path) -> Run:
        folder = tmp_path / "own"
        folder.mkdir()
        run = pipeline.open_run(
            recorded_audit(folder, n=64, score={"shards": 2}), WEEK, str(folder / "store")
        )
        for stage in ("plan", "sample", "variants"):
            pipeline.run_stage(run, stage)
        return run

    @pytest.mark.parametrize(
        ("signer", "said"),
        [
            ("", "there is no signer; set AUDIT_SIGNER"),
            ("file:/nowhere.key", "the key cannot be read"),
            ("env:NO_SUCH", "the variable NO_SUCH is not set"),
            ("ftp:x", "no signer is known for 'ftp'"),
            ("awskms:alias/x", "AUDIT_SIGNER_PUBLIC must name"),
        ],
    )
    def test_no_signer_no_request(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, signer: str, said: str
    ) -> None:
        monkeypatch.setenv("AUDIT_PLAN_SIGNATURE", "required")
        monkeypatch.setenv("AUDIT_SIGNER", signer)
        with pytest.raises(InputError, match=said):
            pipeline.run_stage(run, "scores", shard=0)
        assert run.list("scores") == [] and run.list("signatures") == []

    @pytest.mark.parametrize(
        ("variable", "value"), [("AUDIT_PLAN_SIGNATURE", "yes"), ("AUDIT_TIMESTAMP_OWN", "no")]
    )
    def test_a_word_that_means_nothing_is_no_wish_that_nobody_heeds(
        self, run: Run, signed: Signed, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        monkeypatch.setenv(variable, value)
        if variable == "AUDIT_TIMESTAMP_OWN":
            monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")
            monkeypatch.setenv("AUDIT_TIMESTAMP_URL", signed.authority.url)
        with pytest.raises(InputError, match=f"{variable}={value}: is .*, or not set"):
            pipeline.run_stage(run, "scores", shard=0)
        assert run.list("scores") == []

    def test_an_authority_that_does_not_answer_stops_the_run(
        self, run: Run, signed: Signed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from audit_lib.errors import BackendError

        monkeypatch.setenv("KEY", (signed.folder / "service.key").read_text())
        monkeypatch.setenv("AUDIT_SIGNER", "env:KEY")
        monkeypatch.setenv("AUDIT_TIMESTAMP_URL", "http://127.0.0.1:9/")
        with pytest.raises(BackendError, match="did not answer"):
            pipeline.run_stage(run, "scores", shard=0)
        assert run.list("scores") == []
        assert run.list("signatures") == ["signatures/plan.dsse.json", "signatures/plan.pub"]
        monkeypatch.setenv("AUDIT_TIMESTAMP_URL", "")
        monkeypatch.setenv("AUDIT_SIGNER", "file:gone.key")
        with pytest.raises(InputError, match="cannot be read"):
            pipeline.run_stage(run, "scores", shard=0)
        assert run.list("scores") == [], "the result could not be signed, so nothing is asked"
        monkeypatch.setenv("AUDIT_SIGNER", "env:KEY")
        monkeypatch.setenv("AUDIT_TIMESTAMP_URL", signed.authority.url)
        pipeline.run_stage(run, "scores", shard=0)
        assert [path.split("/")[1] for path in run.list("signatures")] == [
            "plan.dsse.json",
            "plan.pub",
            "plan.tsr",
        ]

    def test_a_plan_is_never_signed_after_the_first_request(
        self, run: Run, signed: Signed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[str] = []
        pipeline.run_stage(pipeline.load_run(run.uri, notify=told.append), "scores", shard=0)
        assert any("plan: not signed: there is no signer" in one for one in told)
        monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")
        pipeline.run_stage(run, "scores", shard=1)
        assert run.list("signatures") == []
        monkeypatch.setenv("AUDIT_PLAN_SIGNATURE", "required")
        shutil.rmtree(Path(run.uri) / "scores/1")
        with pytest.raises(InputError, match="the model was asked before"):
            pipeline.run_stage(run, "scores", shard=1)

    def test_a_shard_that_was_killed_while_it_asked_counts_as_asked(
        self, run: Run, signed: Signed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It leaves nothing in `scores/`, and the journal says that it was about to ask."""

        def killed(run: Run, shard: int) -> StageOutput:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("audit_lib.score.score_shard", killed)
            with pytest.raises(KeyboardInterrupt):
                pipeline.run_stage(run, "scores", shard=0)
        assert run.list("scores") == []
        assert [one.event for one in read_journal(run.store, "small")] == ["planned", "asked"]
        monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")
        with monkeypatch.context() as patch:
            patch.setenv("AUDIT_PLAN_SIGNATURE", "required")
            with pytest.raises(InputError, match="the model was asked before"):
                pipeline.run_stage(run, "scores", shard=0)
        pipeline.run_stage(run, "scores", shard=0)
        assert run.list("signatures") == []
        # Whoever signs it all the same, with a tool of their own, is found by the journal.
        time.sleep(1.1)  # what a signer claims has whole seconds
        monkeypatch.setattr(sign_run, "was_asked", lambda run: False)
        sign_run.sign_plan(run, read_journal(run.store, "small")[0])
        shutil.rmtree(Path(run.uri) / "scores")
        pipeline.run_all(run)
        said = details(verify_signed(run.uri, recompute={}))
        assert "the plan was signed" in said and "after the first request" in said

    def test_the_same_plan_and_key_give_the_same_signature_but_for_the_time(
        self, run: Run, signed: Signed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")

        class Clock(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime(2026, 1, 12, tzinfo=UTC)

        monkeypatch.setattr(sign_run, "datetime", Clock)
        envelopes = []
        for _ in range(2):
            sign_run.sign_plan(run)
            envelopes.append((Path(run.uri) / "signatures/plan.dsse.json").read_bytes())
            shutil.rmtree(Path(run.uri) / "signatures")
        assert envelopes[0] == envelopes[1]


def test_envelopes_are_written_in_one_form(signed: Signed) -> None:
    path = signed.run / "signatures/plan.dsse.json"
    document = json.loads(path.read_bytes())
    assert path.read_bytes() == pretty_json(document)
    path.write_bytes(canonical_json(document))
    assert "not a signed statement" in details(check(signed))


def test_the_page_says_that_the_plan_was_signed_and_where_it_is_entered(signed: Signed) -> None:
    page = (signed.run / "report/report.html").read_text("utf-8")
    entry = (signed.store / "small/journal/000001.json").read_bytes()
    assert f"entry 1 of the journal of attempts, {sha256(entry)}" in page
    assert "not signed before the model was asked" not in page
