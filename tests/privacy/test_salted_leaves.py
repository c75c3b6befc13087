"""One person's erasure takes no proof from anybody else, and leaves a leaf from which nothing can be guessed."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.archive.personal_data import check_personal_data, personal_data
from audit_lib.archive.record_proof import check_proof, prove
from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import WithheldError
from audit_lib.run import Run
from audit_lib.window import Window
from tests.archive.cases import applicants
from tests.archive.test_merkle import mth
from tests.privacy.cases import NAME, WHO, encrypted, people
from tests.privacy.leaves import (
    LEAVES,
    OTHERS,
    erase,
    key_of,
    leaf,
    lines,
    opened,
    refused_by_both,
    rows_of,
    said_by_the_other,
    tree_of,
)
from tests.verifier.conftest import found_here, run_alone
from tools.build_verifier import packed
from verifier.record_proof import jcs

pytest.importorskip("cryptography", reason="of the extra sign")


def test_the_leaves_and_their_root_are_those_of_an_independent_tree(run: Run) -> None:
    rows = rows_of(run)
    order = sorted(rows, key=lambda name: sha256(name.encode()).digest())
    leaves = [leaf(name, rows[name], key_of(name), run) for name in order]
    assert lines(run.uri) == [sha256(b"\0" + one).hexdigest() for one in leaves]
    content = (Path(run.uri) / LEAVES).read_bytes()
    assert tree_of(run.uri) == {
        "applications": 48,
        "records": 48,
        "root": mth(leaves).hex(),
        "salted_leaves": {"path": LEAVES, "sha256": sha256(content).hexdigest(), "bytes": 48 * 65},
    }


def test_after_an_erasure_everybody_else_is_proved_as_before(
    run: Run, own_keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {name: prove(opened(run), name) for name in OTHERS[::9]}
    manifest = verify(run.uri, recompute={}).manifest_sha256
    erase(run)
    kept = opened(run)
    for name in OTHERS[::3]:
        content = prove(kept, name)
        assert content == before.get(name, content), "the same proof, to the byte"
        assert check_proof(content, "record.json").manifest_sha256 == manifest
        verdict = said_by_the_other(content)
        assert (verdict.word, verdict.manifest_sha256) == ("verified", manifest)
    out = tmp_path / "access.json"
    assert main(["access", run.uri, "--application", f"{NAME} 8", "--out", str(out)]) == 0
    assert main(["verify-record", str(out), "--manifest", manifest]) == 0
    assert "all 1 records of it are in the evidence" in capsys.readouterr().out
    document = json.loads(out.read_bytes())
    assert document["rows"].keys() >= {"sample/prompts.parquet", "variants/variants.parquet"}
    assert len(document["questions"]) == 1 and "erased" not in document
    assert said_by_the_other(out.read_bytes()).word == "verified"


def test_the_file_that_is_published_checks_a_proof_alone(run: Run, own_keys: Path, tmp_path: Path) -> None:
    def told(*arguments: object) -> tuple[int, Any]:
        code, said = run_alone(tmp_path / "verify.pyz", *arguments, "--format", "json")
        return code, json.loads(said)

    (tmp_path / "verify.pyz").write_bytes(packed())
    erase(run)
    (tmp_path / "record.json").write_bytes(content := prove(opened(run), f"{NAME} 8"))
    digest = verify(run.uri, recompute={}).manifest_sha256
    code, said = told(tmp_path / "record.json", "--manifest", digest)
    assert (code, said["verdict"], said["audit"]) == (0, "verified", "small")
    assert said["notes"] == [f"application {NAME} 8: all 1 records of it are in the evidence"]
    assert told(tmp_path / "record.json", "--manifest", "0" * 64)[0] == 1
    (tmp_path / "record.json").write_bytes(content.replace(b'"score": 0.', b'"score": 0.1'))
    code, said = told(tmp_path / "record.json")
    assert code == 1 and "not those of the leaf" in said["findings"][0]["detail"]


def test_of_the_erased_nothing_is_proved_and_the_run_verifies(run: Run, own_keys: Path) -> None:
    erase(run)
    for tried in (prove, personal_data):
        with pytest.raises(WithheldError, match="there is a leaf where this application's would be"):
            tried(opened(run), WHO)
    found = verify(run.uri)
    assert (found.findings, found.not_recomputable) == ((), 1)
    said = "computed from the 48 leaves that are listed; 47 of them were made again"
    assert any(said in note for note in found.notes)
    assert found_here(Path(run.uri)) == []


def test_nobody_left(run: Run, own_keys: Path) -> None:
    for name in (WHO, *OTHERS):
        erase(run, name)
    with pytest.raises(WithheldError, match="there is a leaf where"):
        prove(opened(run), f"{NAME} 8")
    assert any("0 of them were made again" in note for note in verify(run.uri).notes)


def test_somebody_who_was_not_scored_is_proved_out_by_neighbours_who_were_not_erased(
    run: Run, own_keys: Path
) -> None:
    erase(run)
    kept = opened(run)
    order = sorted(sha256(name.encode()).digest() for name in (WHO, *OTHERS))
    erased = order.index(sha256(WHO.encode()).digest())
    nobody = {bisect(order, sha256(f"nobody {n}".encode()).digest()): f"nobody {n}" for n in range(5000)}
    assert nobody.keys() >= {0, 48, erased} or nobody.keys() >= {0, 48, erased + 1}
    for place in sorted({0, 48, 20, 33, erased - 1, erased, erased + 1, erased + 2} & nobody.keys()):
        name = nobody[place]
        if place in (erased, erased + 1):
            with pytest.raises(WithheldError, match="neither that it has records nor that it has none"):
                prove(kept, name)
            continue
        content = prove(kept, name)
        assert check_proof(content, "record.json").records == 0
        assert said_by_the_other(content).word == "verified"
        for one in json.loads(content)["proofs"]:
            assert "records_salt" not in one


def test_the_leaf_of_the_erased_cannot_be_guessed_by_who_knows_the_record(
    run: Run, own_keys: Path, tmp_path: Path
) -> None:
    """The guess is right, to the byte, and in a run in the clear it is confirmed; here no salt is left that fits."""
    rows = rows_of(run)
    place = sorted(rows, key=lambda name: sha256(name.encode()).digest()).index(WHO)
    key = key_of(WHO)
    erase(run)
    listed = lines(run.uri)
    assert sha256(b"\0" + leaf(WHO, rows[WHO], key, run)).hexdigest() == listed[place], "with the key it fits"
    assert sha256(b"\0" + leaf(WHO, rows[WHO], None, run)).hexdigest() not in listed
    for name in OTHERS:
        assert sha256(b"\0" + leaf(WHO, rows[WHO], key_of(name), run)).hexdigest() not in listed
    salts = [
        one[name]
        for other in OTHERS[::5]
        for one in json.loads(prove(opened(run), other))["proofs"]
        for name in ("application_salt", "records_salt")
    ]
    digests = [
        sha256(WHO.encode()).hexdigest(),
        json.loads(leaf(WHO, rows[WHO], None, run))["records_sha256"],
    ]
    salted = {sha256(bytes.fromhex(a + b)).hexdigest() for a in (*salts, "0" * 64) for b in digests}
    tried = {
        sha256(b'\0{"application_sha256":"%s","records_sha256":"%s"}' % (a.encode(), b.encode())).hexdigest()
        for a in (*salted, *digests)
        for b in (*salted, *digests)
    }
    assert len(tried) == (len(salted) + 2) ** 2 and not tried & set(listed)
    for found in [*own_keys.rglob("*"), *Path(run.uri).rglob("*")]:
        if found.is_file():
            assert key not in found.read_bytes() and key.hex().encode() not in found.read_bytes()
    clear = encrypted(tmp_path, privacy={})
    plain = [leaf(name, one, None, clear) for name, one in sorted(
        rows_of(clear).items(), key=lambda item: sha256(item[0].encode()).digest()
    )]  # fmt: skip
    assert tree_of(clear.uri) == {"applications": 48, "records": 48, "root": mth(plain).hex()}
    assert leaf(WHO, rows[WHO], None, run) == plain[place], "which is what salts are for"
    assert not (Path(clear.uri) / LEAVES).exists()


def test_a_neighbours_record_cannot_be_guessed_from_a_proof_of_absence(run: Run) -> None:
    rows = rows_of(run)
    by_digest = {sha256(name.encode()).hexdigest(): name for name in rows}
    for one in json.loads(prove(opened(run), "nobody"))["proofs"]:
        name = by_digest[one["application_sha256"]]
        known = json.loads(leaf(name, rows[name], None, run))["records_sha256"]
        assert known != one["records_sha256"]
        guessed = sha256(bytes.fromhex(one["application_salt"] + known)).hexdigest()
        assert guessed != one["records_sha256"]


def forge(content: bytes, change: Callable[[Any], Any]) -> bytes:
    document = json.loads(content)
    change(document)
    return pretty_json(document)


@pytest.mark.parametrize("name", ["application_salt", "records_salt"])
def test_no_other_salt_fits_a_proof(name: str, run: Run) -> None:
    content = prove(opened(run), f"{NAME} 8")
    assert not refused_by_both(content)
    other = json.loads(prove(opened(run), f"{NAME} 9"))["proofs"][0]
    for salt in (other[name], "0" * 64):
        assert refused_by_both(forge(content, lambda p, salt=salt: p["proofs"][0].update({name: salt})))
    assert refused_by_both(forge(content, lambda p: p["proofs"][0].pop(name)))
    assert refused_by_both(
        forge(
            content,
            lambda p: p["proofs"][0].update(
                application_salt=p["proofs"][0]["records_salt"],
                records_salt=p["proofs"][0]["application_salt"],
            ),
        )
    )
    whole = personal_data(opened(run), f"{NAME} 8")
    assert refused_by_both(
        forge(whole, lambda p: p["proof"]["proofs"][0].update({name: other[name]})), check_personal_data
    )


@pytest.mark.parametrize("change", [
    lambda p: p["records"][0].update(score=0.9),
    lambda p: p["records"].append(p["records"][0]),
    lambda p: p.update(records=[]),
    lambda p: p.update(application=f"{NAME} 9"),
    lambda p: p["proofs"][0].update(index=(p["proofs"][0]["index"] + 1) % 48),
    lambda p: p["proofs"][0]["path"].pop(),
    lambda p: p["proofs"][0]["path"].extend(["0" * 64] * 5000),
    lambda p: p["proofs"].append(p["proofs"][0]),
    lambda p: p.update(proofs=[]),
    lambda p: p["proofs"][0].update(further=1),
    lambda p: p.update(manifest=p["manifest"] + "\n"),
])  # fmt: skip
def test_a_changed_proof_is_refused_by_both(change: Callable[[Any], Any], run: Run) -> None:
    assert refused_by_both(forge(prove(opened(run), f"{NAME} 8"), change))


def test_absence_cannot_be_claimed_of_somebody_who_is_there(run: Run) -> None:
    rows = rows_of(run)
    order = sorted(rows, key=lambda name: sha256(name.encode()).digest())
    for place in (0, 20, 47):
        near = [order[at] for at in (place - 1, place + 1) if 0 <= at < 48]
        proofs = [json.loads(prove(opened(run), name))["proofs"][0] for name in near]
        for one in proofs:
            closed = bytes.fromhex(one.pop("records_salt") + one["records_sha256"])
            one["records_sha256"] = sha256(closed).hexdigest()
        content = prove(opened(run), order[place])
        assert refused_by_both(forge(content, lambda p, own=proofs: p.update(records=[], proofs=own)))


def test_a_proof_and_its_salts_are_of_one_run_alone(run: Run, tmp_path: Path) -> None:
    """The same people, the same keys and the same scores in another window."""
    later = encrypted(tmp_path, Window.parse("2026-01-12", "2026-01-19"))
    assert not set(lines(run.uri)) & set(lines(later.uri))
    first, second = (json.loads(prove(opened(one), f"{NAME} 8")) for one in (run, later))
    assert first["records"] == second["records"], "or the rest shows nothing"
    for name in ("application_salt", "records_salt"):
        assert first["proofs"][0][name] != second["proofs"][0][name]
    assert refused_by_both(pretty_json(first | {"manifest": second["manifest"]}))
    moved = second["proofs"][0] | {n: first["proofs"][0][n] for n in ("application_salt", "records_salt")}
    assert refused_by_both(pretty_json(second | {"proofs": [moved]}))


def test_other_records_have_another_salt(run: Run, tmp_path: Path) -> None:
    """Whoever was given a proof in a run learns nothing of the same run made again with other answers."""
    rows = people()
    rows[8]["recorded_score"] = 1 - rows[8]["recorded_score"]
    again = encrypted(tmp_path, rows=rows)
    assert (again.key.prefix, again.key.spec_digest) == (run.key.prefix, run.key.spec_digest)
    first, second = (json.loads(prove(opened(one), f"{NAME} 8"))["proofs"][0] for one in (run, again))
    assert first["application_salt"] == second["application_salt"]
    assert first["records_salt"] != second["records_salt"]
    assert len(set(lines(run.uri)) & set(lines(again.uri))) == 47, "the same bytes for all others"


def test_a_run_in_the_clear_has_no_salts(run: Run, tmp_path: Path) -> None:
    clear = encrypted(tmp_path, privacy={})
    content = prove(opened(clear), f"{NAME} 8")
    assert not refused_by_both(content)
    assert json.loads(content)["proofs"][0].keys() == {
        "index",
        "application_sha256",
        "records_sha256",
        "path",
    }
    for name in ("application_salt", "records_salt"):
        assert refused_by_both(forge(content, lambda p, name=name: p["proofs"][0].update({name: "0" * 64})))


def test_a_run_that_was_sealed_with_plain_leaves_goes_on_verifying(
    own_keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("audit_lib.archive.manifest.leaf_salts", lambda run: None)
        earlier = encrypted(tmp_path)
    assert "salted_leaves" not in tree_of(earlier.uri)
    assert verify(earlier.uri).findings == () and found_here(Path(earlier.uri)) == []
    assert not refused_by_both(prove(opened(earlier), f"{NAME} 8"))
    erase(earlier)
    found = verify(earlier.uri)
    assert (found.findings, found.not_recomputable) == ((), 1)
    for tried in (prove, personal_data):
        with pytest.raises(WithheldError, match="sealed before leaves were salted and listed"):
            tried(opened(earlier), f"{NAME} 8")


def test_several_processes_say_the_same(run: Run) -> None:
    one, two = (verify(run.uri, processes=count) for count in (1, 2))
    assert one.findings == two.findings == () and one.notes == two.notes


def pools() -> list[dict[str, Any]]:
    """Twelve lists of four, each ranked in one recorded answer."""
    rows = applicants(48)
    for number, row in enumerate(rows):
        pool = number // 4
        del row["recorded_score"]
        row |= {
            "round_id": f"r{pool:02d}",
            "candidate": f"Candidate {'ABCD'[number % 4]}{pool:02d}",
            "order_shown": number % 4 + 1,
            "recorded_response": "\n".join(
                f"{place + 1}. Candidate {one}{pool:02d}" for place, one in enumerate("BADC")
            ),
        }
        row["position"] = "retail" if pool % 2 else "finance"
    return rows


def test_who_was_asked_about_in_one_list_with_the_erased_loses_the_proof_and_nobody_else_does(
    own_keys: Path, tmp_path: Path
) -> None:
    """Rows about several people are encrypted with all of their keys: they go with any of them, and that is told."""
    decision = {"rule": "top_k", "k": 1, "round": "round_id"}
    together = encrypted(tmp_path, rows=pools(), task="listwise", decision=decision)
    assert verify(together.uri).findings == ()
    erase(together, "a005")
    assert verify(together.uri).findings == ()
    for name in ("a004", "a005", "a006", "a007"):
        with pytest.raises(WithheldError, match="together with those of somebody who was erased"):
            prove(opened(together), name)
    for name in ("a003", "a008", "a047"):
        assert not refused_by_both(prove(opened(together), name))
        assert check_personal_data(personal_data(opened(together), name), "file")[0].records == 1
    assert any("44 of them were made again" in note for note in verify(together.uri).notes)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"]))
        | st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    )
)  # fmt: skip
def test_the_other_verifier_writes_records_as_rfc_8785_does(value: dict[str, Any]) -> None:
    rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
    assert jcs(value).encode() == rfc8785.dumps(value)
