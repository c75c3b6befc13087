"""A Sigstore bundle and a transparency service's receipt over a run's statements, checked offline by a trust file."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from audit_lib import pipeline
from audit_lib.archive.verify import Verification
from audit_lib.cli.main import main
from audit_lib.documents.run_statement import SignedMoment
from audit_lib.documents.trust import TrustedIdentity, TrustedLog
from audit_lib.errors import EvidenceError, InputError
from audit_lib.signing import sigstore_bundles
from audit_lib.signing.receipts import check_receipt
from audit_lib.signing.trust import read_trust
from audit_lib.signoff import verify_signed
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit
from tests.signing.conftest import Signed, instant
from tests.signing.sigstore_services import IDENTITY, ISSUER, Services
from tests.signing.transparency_service import Key, cbor, head, pem, receipt

pytest.importorskip("sigstore", reason="of the extra sigstore: bundles")
pytest.importorskip("cbor2", reason="of the extra scitt: receipts")


@pytest.fixture(scope="module")
def services() -> Services:
    return Services.make()


@pytest.fixture(scope="module")
def key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def identity(services: Services, **changes: Any) -> TrustedIdentity:
    said: dict[str, Any] = {
        "name": "the audit's workflow",
        "identity": IDENTITY,
        "issuer": ISSUER,
        "trusted_root": services.trusted_root(),
        "roles": ("plan", "result"),
        "valid_from": instant(-1),
        "valid_until": instant(30),
    }
    return TrustedIdentity(**said | changes)


def log(key: Key, **changes: Any) -> TrustedLog:
    return TrustedLog(**{"name": "a register", "public": pem(key), "independent": True} | changes)


def envelope(signed: Signed, moment: SignedMoment) -> bytes:
    return (signed.run / f"signatures/{moment}.dsse.json").read_bytes()


def payload(signed: Signed, moment: SignedMoment) -> bytes:
    return base64.b64decode(json.loads(envelope(signed, moment))["payload"])


def planned_at(signed: Signed) -> datetime:
    return datetime.fromisoformat(json.loads(payload(signed, "plan"))["predicate"]["claimed_at"])


def put(signed: Signed, name: str, content: bytes) -> None:
    (signed.run / "signatures" / name).write_bytes(content)


def check(signed: Signed, **trust: Any) -> Verification:
    paths = [signed.write(signed.trust(**trust))]
    return verify_signed(str(signed.run), trust=read_trust(paths, datetime.now(UTC)), recompute={})


def details(verification: Verification) -> str:
    return "\n".join(map(str, verification.findings))


class TestSigstore:
    def test_bundles_over_both_statements_hold(self, signed: Signed, services: Services) -> None:
        put(signed, "plan.sigstore.json", services.bundle(payload(signed, "plan"), at=planned_at(signed)))
        put(signed, "result.sigstore.json", services.bundle(payload(signed, "result")))
        required = ("plan", "result", "time stamps", "sigstore")
        verification = check(signed, identities=(identity(services),), required=required)
        assert verification.findings == ()
        said = [line for line in verification.run_signatures if "through Sigstore" in line]
        assert [line.split()[0] for line in said] == ["plan", "result"]
        assert "signed by 'the audit's workflow'" in said[0] or '"the audit\'s workflow"' in said[0]
        unsure = check(signed).run_signatures
        assert "plan: Sigstore bundle not checked: no trust file says against what" in unsure

    def test_what_is_required_must_be_there(self, signed: Signed, services: Services) -> None:
        found = details(check(signed, identities=(identity(services),), required=("sigstore",)))
        assert "the plan has no Sigstore bundle, and the trust file requires it" in found
        put(signed, "plan.sigstore.json", services.bundle(payload(signed, "plan")))
        assert "says nothing to check it against" in details(check(signed, required=("sigstore",)))

    @pytest.mark.parametrize(
        ("attack", "said"),
        [
            ("identity", "SANs do not match"),
            ("issuer", "does not match"),
            ("role", "believes no identity for the plan"),
            ("expired", "is believed from"),
            ("root", "did not sign it"),
            ("statement", "holds another statement"),
            ("signature", "did not sign it"),
            ("log", "did not sign it"),
            ("promise", "did not sign it"),
            ("proof", "did not sign it"),
            ("bytes", "no Sigstore bundle"),
            ("twice", "no Sigstore bundle"),
        ],
    )
    def test_every_attack_is_found(self, signed: Signed, services: Services, attack: str, said: str) -> None:
        at = planned_at(signed)
        made = json.loads(services.bundle(payload(signed, "plan"), at=at))
        believed = identity(services)
        entry = made["verificationMaterial"]["tlogEntries"][0]
        if attack == "identity":
            made = json.loads(services.bundle(payload(signed, "plan"), at=at, identity="mallory@example.org"))
        elif attack == "issuer":
            made = json.loads(services.bundle(payload(signed, "plan"), at=at, issuer="https://else.example"))
        elif attack == "role":
            believed = identity(services, roles=("result",))
        elif attack == "expired":
            believed = identity(services, valid_until=instant(-0.5))
        elif attack == "root":
            believed = identity(Services.make())
        elif attack == "statement":
            made = json.loads(services.bundle(payload(signed, "result"), at=at))
        elif attack == "signature":
            made["dsseEnvelope"]["payload"] = base64.b64encode(payload(signed, "result")).decode()
        elif attack == "log":
            other = json.loads(Services.make().bundle(payload(signed, "plan"), at=at))
            made["verificationMaterial"]["tlogEntries"] = other["verificationMaterial"]["tlogEntries"]
        elif attack == "promise":
            entry["integratedTime"] = str(int(entry["integratedTime"]) - 60)
        elif attack == "proof":
            entry["inclusionProof"]["hashes"] = [base64.b64encode(b"x" * 32).decode()]
        content = json.dumps(made).encode()
        content = {
            "bytes": b"{}",
            "twice": content.replace(b'"mediaType"', b'"mediaType": "x", "mediaType"', 1),
        }.get(attack, content)
        put(signed, "plan.sigstore.json", content)
        found = details(check(signed, identities=(believed,)))
        assert "signatures/plan.sigstore.json" in found and said in found

    def test_a_bundle_of_a_plan_from_after_the_first_request_is_found(
        self, signed: Signed, services: Services
    ) -> None:
        late = datetime.now(UTC) + timedelta(minutes=5)
        put(signed, "plan.sigstore.json", services.bundle(payload(signed, "plan"), at=late))
        assert "after the first request" in details(check(signed, identities=(identity(services),)))

    def test_a_bundle_without_its_statement_is_found(self, signed: Signed, services: Services) -> None:
        put(signed, "plan.sigstore.json", services.bundle(payload(signed, "plan")))
        (signed.run / "signatures/plan.dsse.json").unlink()
        found = details(check(signed, identities=(identity(services),)))
        assert "signatures/plan.sigstore.json: the statement that it belongs to is gone" in found

    def test_a_run_asks_for_bundles_before_and_after(
        self, services: Services, signed: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where the services' answer is the test's own: no Sigstore service is reached here."""
        folder = tmp_path / "own"
        folder.mkdir()
        monkeypatch.setenv("AUDIT_SIGNER", f"file:{signed.folder / 'service.key'}")
        monkeypatch.setenv("AUDIT_SIGSTORE", "env:TOKEN")
        monkeypatch.setattr("audit_lib.signing.sign_run.make_bundle", services.bundle)
        run = pipeline.open_run(recorded_audit(folder, n=64), WEEK, str(folder / "store"))
        pipeline.run_all(run)
        file = signed.trust(identities=(identity(services),), required=("plan", "result", "sigstore"))
        trust = read_trust([signed.write(file)], datetime.now(UTC))
        assert details(verify_signed(run.uri, trust=trust, recompute={})) == ""

    @pytest.mark.parametrize(
        ("wanted", "said"),
        [("env:NONE", "NONE is not set"), ("here", "write ambient"), ("env:", "write ambient")],
    )
    def test_without_an_identity_nothing_is_asked(
        self, wanted: str, said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AUDIT_SIGSTORE", wanted)
        with pytest.raises(InputError, match=said):
            sigstore_bundles.make_bundle(b"{}")


class TestReceipts:
    def entries(self, signed: Signed, size: int, index: int) -> list[bytes]:
        found = [b"entry %d" % n for n in range(size)]
        found[index] = envelope(signed, "plan")
        return found

    @pytest.mark.parametrize("kind", ["P-256", "Ed25519"])
    def test_a_receipt_holds(self, signed: Signed, kind: str) -> None:
        key: Key = (
            ec.generate_private_key(ec.SECP256R1())
            if kind == "P-256"
            else ed25519.Ed25519PrivateKey.generate()
        )
        put(signed, "plan.receipt.cbor", receipt(self.entries(signed, 7, 5), 5, key))
        verification = check(signed, logs=(log(key, independent=False),))
        assert verification.findings == ()
        said = [line for line in verification.run_signatures if "entry 5 of 7" in line]
        assert len(said) == 1 and said[0].endswith(", not independent")

    def test_every_place_in_logs_of_every_size_up_to_33(self, key: Key) -> None:
        for size in range(1, 34):
            entries = [b"entry %d" % n for n in range(size)]
            for index in range(size):
                made = receipt(entries, index, key)
                found = check_receipt(made, entries[index], [log(key)], "x")
                assert (found.index, found.size) == (index, size)
                with pytest.raises(EvidenceError):
                    check_receipt(made, b"entry", [log(key)], "x")

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"structure": 2}, "no receipt of RFC 9942"),
            ({"algorithm": -8}, "no trusted service"),
            ({"algorithm": -257}, "no trusted service"),
            ({"critical": True}, "no receipt of RFC 9942"),
            ({"payload": b"\x00" * 32}, "no receipt of RFC 9942"),
            ({"proof": cbor([7, 4, []])}, "too short"),
            ({"proof": cbor([7, 7, []])}, "no receipt of RFC 9942"),
            ({"proof": cbor([1, 0, [b"x" * 32]])}, "too long"),
            ({"proof": cbor([7, 5, [b"x" * 31]])}, "no receipt of RFC 9942"),
            ({"proof": cbor([1 << 63, 0, [b"x" * 32] * 65])}, "no receipt of RFC 9942"),
            ({"proof": cbor([7, 5, []]) + b"\x00"}, "no receipt of RFC 9942"),
        ],
    )
    def test_other_receipts_are_none(self, key: Key, changes: dict[str, Any], said: str) -> None:
        entries = [b"entry %d" % n for n in range(7)]
        with pytest.raises(EvidenceError, match=said):
            check_receipt(receipt(entries, 5, key, **changes), entries[5], [log(key)], "x")

    def test_no_byte_of_a_receipt_can_be_changed(self, key: Key) -> None:
        entries = [b"entry %d" % n for n in range(5)]
        made = receipt(entries, 3, key)
        for place in range(len(made)):
            changed = bytes([*made[:place], made[place] ^ 1, *made[place + 1 :]])
            with pytest.raises(EvidenceError):
                check_receipt(changed, entries[3], [log(key)], "x")

    @pytest.mark.parametrize(
        "content", [b"", b"\xd2", b"\xf6", b"{}", head(4, 1 << 40), b"\x81" * 100_000, b"x" * (2 << 20)]
    )
    def test_stranger_s_bytes_are_no_receipt(self, key: Key, content: bytes) -> None:
        with pytest.raises(EvidenceError, match="x: "):
            check_receipt(content, b"entry", [log(key)], "x")

    def test_a_receipt_of_another_service_or_over_another_envelope_is_found(
        self, signed: Signed, key: Key
    ) -> None:
        put(signed, "plan.receipt.cbor", receipt(self.entries(signed, 3, 1), 1, key))
        other = ec.generate_private_key(ec.SECP256R1())
        assert "no trusted service (a register) signed a log" in details(check(signed, logs=(log(other),)))
        put(signed, "result.receipt.cbor", receipt(self.entries(signed, 3, 1), 1, key))
        assert "result.receipt.cbor" in details(check(signed, logs=(log(key),)))
        (signed.run / "signatures/result.receipt.cbor").unlink()
        found = details(check(signed, logs=(log(key),), required=("receipts",)))
        assert "the result has no receipt, and the trust file requires it" in found and "plan" not in found

    def test_a_receipt_is_attached_once_it_holds(
        self, signed: Signed, key: Key, services: Services, capsys: pytest.CaptureFixture[str]
    ) -> None:
        good, bad = signed.folder / "good.cbor", signed.folder / "bad.cbor"
        good.write_bytes(receipt(self.entries(signed, 3, 1), 1, key))
        bad.write_bytes(receipt(self.entries(signed, 3, 1), 1, ec.generate_private_key(ec.SECP256R1())))
        file = signed.write(signed.trust(logs=(log(key),), identities=(identity(services),)))
        trust = ["--trust", str(file)]
        assert main(["attach", str(signed.run), "plan", str(bad), *trust]) == 1
        assert not (signed.run / "signatures/plan.receipt.cbor").exists()
        assert main(["attach", str(signed.run), "plan", str(good), *trust]) == 0
        assert "attached" in capsys.readouterr().out
        bundle = signed.folder / "bundle.json"
        bundle.write_bytes(services.bundle(payload(signed, "plan"), at=planned_at(signed)))
        assert main(["attach", str(signed.run), "plan", str(bundle), *trust]) == 0
        assert details(check(signed, logs=(log(key),), identities=(identity(services),))) == ""
        assert main(["attach", str(signed.run), "result", str(good), *trust]) == 1
