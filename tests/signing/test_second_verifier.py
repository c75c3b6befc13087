"""What trust is for, with the packed verifier: the same verdicts as `audit verify`, and time stamps it leaves open."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.trust import Revocation, TrustFile
from audit_lib.errors import InputError
from audit_lib.run import SUCCESS
from audit_lib.signing.signers import open_signer
from audit_lib.signing.trust import read_trust, sign_trust, trust_bytes
from audit_lib.signoff import verify_signed
from tests.archive.cases import reseal
from tests.signing.conftest import Signed, instant
from tests.verifier.conftest import found_here

pytest.importorskip("rfc3161_client", reason="of the extra sign: time stamps")


def check(signed: Signed, file: TrustFile | None = None, *more: object) -> list[str]:
    """Verify the copy under trust, by both verifiers, who must agree on whether something is found."""
    path = signed.write(file or signed.trust())
    here = found_here(signed.run, "--trust", path, "--stamps-checked", *more)
    there = verify_signed(str(signed.run), trust=read_trust([path], datetime.now(UTC)), recompute={})
    assert bool(here) == bool(there.findings), (here, there.findings)
    return here


def test_a_signed_run_verifies(signed: Signed) -> None:
    assert check(signed) == []
    assert found_here(signed.run) == []
    required = signed.trust(required=("plan", "result"))
    assert found_here(signed.run, "--trust", signed.write(required)) == []


def test_who_stamped_is_left_open_where_stamps_are_required(signed: Signed) -> None:
    assert found_here(signed.run, "--trust", signed.write(signed.trust())) == ["undecided"]


def forge_times(run: Path) -> None:
    path = run / "plan" / SUCCESS
    record = json.loads(path.read_bytes())
    path.write_bytes(pretty_json(record | {"started_at": record["finished_at"]}))
    reseal(run)


def forge_served(run: Path) -> None:
    for path in run.glob("scores/*/served.json"):
        document = json.loads(path.read_bytes())
        for one in document:
            one["completion_tokens"] += 5
        path.write_bytes(pretty_json(document))
    reseal(run)


def forge_environment(run: Path) -> None:
    path = run / "evidence/environment.json"
    content = path.read_bytes().replace(b'"python"', b'"python"', 1)
    path.write_bytes(content + b" ")
    reseal(run)


def swap(run: Path) -> None:
    for what in ("dsse.json", "pub", "tsr"):
        one, other = run / f"signatures/plan.{what}", run / f"signatures/result.{what}"
        content = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(content)


def other_key(run: Path) -> None:
    """The thief's own key next to the service's signature."""
    (run / "signatures/plan.pub").write_bytes((run.parent / "other.key.pub").read_bytes())


def sign_twice(run: Path) -> None:
    """The same signature two times over: no library writes that, and two programs must not differ on it."""
    path = run / "signatures/plan.dsse.json"
    envelope = json.loads(path.read_bytes())
    envelope["signatures"] *= 2
    path.write_bytes(pretty_json(envelope))


def other_form(run: Path, before: bytes, after: bytes) -> None:
    """No signature covers the result's key; it is the same key in another file."""
    path = run / "signatures/result.pub"
    path.write_bytes(before + path.read_bytes() + after)


def cut_stamp(run: Path) -> None:
    path = run / "signatures/result.tsr"
    path.write_bytes(path.read_bytes()[:-40])


def longer_length(run: Path) -> None:
    """The length of the whole in one byte more than DER has it: the same stamp in another file."""
    path = run / "signatures/result.tsr"
    content = path.read_bytes()
    assert content[:2] == b"\x30\x82"
    path.write_bytes(b"\x30\x83\x00" + content[2:])


def other_stamp(run: Path) -> None:
    shutil.copy(run / "signatures/plan.tsr", run / "signatures/result.tsr")


ATTACKS: dict[str, Callable[[Path], Any]] = {
    "times changed and sealed again": forge_times,
    "tokens changed and sealed again": forge_served,
    "environment changed and sealed again": forge_environment,
    "statements swapped": swap,
    "another key": other_key,
    "a signature twice": sign_twice,
    "an empty line after the result's key": lambda run: other_form(run, b"", b"\n"),
    "a byte before the result's key": lambda run: other_form(run, b"\xb8", b""),
    "a stamp cut": cut_stamp,
    "a stamp with a longer length": longer_length,
    "another's stamp": other_stamp,
    **{
        f"{name} removed": lambda run, name=name: (run / "signatures" / name).unlink()
        for name in ("plan.dsse.json", "plan.pub", "plan.tsr", "result.dsse.json", "result.pub", "result.tsr")
    },
}


@pytest.mark.parametrize("attack", list(ATTACKS))
def test_attacks_on_what_was_signed_are_found(signed: Signed, attack: str) -> None:
    ATTACKS[attack](signed.run)
    assert check(signed)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"valid_until": instant(-0.5)}, "expired on"),
        ({"valid_from": instant(0.5)}, "is valid from"),
        ({"revoked": Revocation(at=instant(-0.5), reason="lost")}, "was revoked on"),
        ({"roles": ("auditor",)}, "and no plan"),
        ({"name": "other"}, "is none of the trust file"),
    ],
)
def test_keys_that_are_not_believed(signed: Signed, changes: dict[str, Any], words: str) -> None:
    key = signed.trusted("service", "plan", "result")
    if changes.get("name") == "other":
        key = signed.trusted("other", "plan", "result")
    found = check(signed, signed.trust(replace(key, **changes)))
    assert any(words in one for one in found), found


def test_a_key_revoked_after_it_signed_rests_on_the_stamp(signed: Signed) -> None:
    late = replace(
        signed.trusted("service", "plan", "result"), revoked=Revocation(at=instant(1), reason="lost")
    )
    file = signed.trust(late, required=("plan", "result"))
    assert check(signed, file) == []
    assert found_here(signed.run, "--trust", signed.write(file)) == ["undecided"]
    for path in signed.run.glob("signatures/*.tsr"):
        path.unlink()
    assert any("there is no time stamp" in one for one in check(signed, file))


def test_versions_of_a_trust_file(signed: Signed) -> None:
    """The service's key is rotated out by version 2, which both roots sign; the wrong root, or none, is refused."""
    first = signed.write(signed.trust(), "trust-1.json")
    second = signed.trust(
        signed.trusted("other", "plan", "result"),
        signed.trusted("root", "root"),
        version=2,
        previous_sha256=sha256(first.read_bytes()),
    )
    path = signed.folder / "trust-2.json"
    path.write_bytes(sign_trust(second, [open_signer(f"file:{signed.folder / 'root.key'}")]))
    found = found_here(signed.run, "--trust", first, path, "--stamps-checked")
    assert any("was rotated out: version 2 has it no more" in one for one in found)
    for content in (
        sign_trust(second, [open_signer(f"file:{signed.folder / 'other.key'}")]),
        trust_bytes(second),
        sign_trust(replace(second, version=3), [open_signer(f"file:{signed.folder / 'root.key'}")]),
        trust_bytes(replace(signed.trust(), expires=instant(-1))),
        canonical_json({"schema": "audit-trust/1"}),
        b"{",
    ):
        path.write_bytes(content)
        with pytest.raises((json.JSONDecodeError, AssertionError)):
            found_here(signed.run, "--trust", first, path)


def test_a_revoked_root_signs_no_version(signed: Signed) -> None:
    """Who stole a root key may sign with it at any time: a version has none."""
    root, service = signed.trusted("root", "root"), signed.trusted("service", "plan", "result")
    stolen = replace(signed.trusted("root2", "root"), revoked=Revocation(at=instant(-0.5), reason="stolen"))
    first = signed.write(signed.trust(service, root, stolen), "trust-1.json")
    thief = signed.trusted("other", "plan", "result")
    second = signed.trust(
        thief, root, replace(stolen, revoked=None), version=2, previous_sha256=sha256(first.read_bytes())
    )
    path = signed.folder / "trust-2.json"
    for name, said in (("root2", "0 root keys of version 1 signed it"), ("root", "")):
        path.write_bytes(sign_trust(second, [open_signer(f"file:{signed.folder / name}.key")]))
        if not said:
            assert read_trust([first, path], datetime.now(UTC)).file.version == 2
            assert found_here(signed.run, "--trust", first, path, "--stamps-checked")
            continue
        with pytest.raises(InputError, match=said):
            read_trust([first, path], datetime.now(UTC))
        with pytest.raises((json.JSONDecodeError, AssertionError)):
            found_here(signed.run, "--trust", first, path)


def test_a_key_that_is_listed_twice_is_refused(signed: Signed) -> None:
    """One entry might say that it was revoked, and the other not."""
    key = signed.trusted("service", "plan", "result")
    gone = replace(key, name="service ", revoked=Revocation(at=instant(-0.5), reason="stolen"))
    path = signed.write(signed.trust(gone, key))
    with pytest.raises(InputError, match="lists a key twice"):
        read_trust([path], datetime.now(UTC))
    with pytest.raises((json.JSONDecodeError, AssertionError)):
        found_here(signed.run, "--trust", path)


def test_heads_and_the_journal(signed: Signed) -> None:
    (run,) = (path for path in signed.store.glob("small/2026*/*") if path.is_dir())
    entries = sorted((signed.store / "small/journal").iterdir())
    head = sha256(entries[-1].read_bytes())
    assert found_here(run, "--head", head) == []
    assert any("does not hold the head" in one for one in found_here(run, "--head", "0" * 64))
    assert any("cannot be checked from a copy" in one for one in found_here(signed.run, "--head", head))
    assert found_here(signed.run, "--head", head, "--journal", entries[0].parent) == []
    content = entries[-1].read_bytes()
    entries[-1].unlink()
    assert any("does not hold the head" in one for one in found_here(run, "--head", head))
    assert any("its end was never entered" in one for one in found_here(run))
    entries[-1].write_bytes(content)
    entries[0].unlink()
    assert any("entry 1 is missing" in one for one in found_here(run))
