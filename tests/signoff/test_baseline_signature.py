"""A decision on a baseline is signed, and refused where it is not what a trusted key signed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError
from audit_lib.monitor import follow_audit
from audit_lib.monitor.baseline import baseline_key, named_key, signature_key
from audit_lib.signing.keys import key_id
from audit_lib.signoff import generate_key, load_private_key, load_public_key
from audit_lib.signoff.baseline_signature import check_baseline, sign_baseline
from audit_lib.store import Store, open_store
from tests.monitor.test_sequences import baseline_of, week

BASELINE = baseline_of([week(0, (0.5, 0.5)), week(1, (0.5, 0.5))])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(str(tmp_path / "store"))
    store.put(baseline_key(BASELINE), pretty_json(BASELINE.as_dict()))
    for name in ("ada", "eve"):
        generate_key(tmp_path / name)
    return store


def test_a_signed_decision_holds_for_its_key_alone(store: Store, tmp_path: Path) -> None:
    ada, eve = (load_public_key(tmp_path / f"{name}.pub") for name in ("ada", "eve"))
    with pytest.raises(EvidenceError, match="baseline 1 of hiring is not signed"):
        check_baseline(store, BASELINE, [ada])
    assert named_key(store, BASELINE) is None
    store.replace(signature_key(BASELINE), sign_baseline(BASELINE, load_private_key(tmp_path / "ada")))
    assert check_baseline(store, BASELINE, [eve, ada]) == key_id(ada) == named_key(store, BASELINE)
    with pytest.raises(EvidenceError, match="none of the trusted keys signed"):
        check_baseline(store, BASELINE, [eve])


@pytest.mark.parametrize(
    "changed",
    [
        replace(BASELINE, runs=BASELINE.runs[:1]),
        replace(BASELINE, reason="another"),
        replace(BASELINE, settings=replace(BASELINE.settings, false_alarms=0.5)),
        replace(BASELINE, audit="firing"),
    ],
    ids=["runs", "reason", "settings", "audit"],
)
def test_a_decision_that_was_changed_after_signing_is_refused(
    changed: object, store: Store, tmp_path: Path
) -> None:
    signed = sign_baseline(BASELINE, load_private_key(tmp_path / "ada"))
    store.replace(signature_key(changed), signed)
    with pytest.raises(EvidenceError, match="something else was signed"):
        check_baseline(store, changed, [load_public_key(tmp_path / "ada.pub")])


def test_bytes_that_are_no_envelope_are_refused(store: Store, tmp_path: Path) -> None:
    store.replace(signature_key(BASELINE), b"[]")
    assert named_key(store, BASELINE) == "unreadable"
    with pytest.raises(EvidenceError, match="none of the trusted keys signed"):
        check_baseline(store, BASELINE, [load_public_key(tmp_path / "ada.pub")])


def test_the_commands_refuse_what_is_unsigned_and_say_so(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["hiring", "--store", store.root]
    trust = ["--trust", str(tmp_path / "ada.pub")]
    assert follow_audit(store, "hiring").sequences.signed_with is None
    for command in (["baseline", "show"], ["trend"]):
        assert main([*command, *where, *trust]) == 1
        assert "is not signed" in capsys.readouterr().err
    assert main(["baseline", "show", *where]) == 0
    assert "   not signed" in capsys.readouterr().out
    store.replace(signature_key(BASELINE), sign_baseline(BASELINE, load_private_key(tmp_path / "ada")))
    identity = key_id(load_public_key(tmp_path / "ada.pub"))
    assert main(["baseline", "show", *where, *trust]) == 0
    assert f"   signed with key {identity}\n" in capsys.readouterr().out
    assert main(["baseline", "show", *where]) == 0
    assert f"signed with key {identity}, not checked here (--trust)" in capsys.readouterr().out
    assert main(["trend", *where, *trust, "--json"]) == 1  # the runs of this baseline are not there
    assert json.loads(capsys.readouterr().out)["signed_with"] == identity
    assert main(["trend", *where, "--trust", str(tmp_path / "eve.pub")]) == 1
    assert "none of the trusted keys signed" in capsys.readouterr().err
