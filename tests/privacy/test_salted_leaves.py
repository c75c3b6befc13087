"""One person's erasure takes no proof from anybody else, and leaves a leaf from which nothing can be guessed."""

from __future__ import annotations

import hmac
import json
import shutil
from bisect import bisect
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.archive.personal_data import check_personal_data, personal_data
from audit_lib.archive.record_proof import check_proof, prove
from audit_lib.archive.verify import verify
from audit_lib.bag import export_run
from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError, WithheldError
from audit_lib.privacy.applicant_keys import KEY, KEYS, configured_keys
from audit_lib.privacy.levels import LEVELS
from audit_lib.run import Run
from audit_lib.window import Window
from tests.archive.cases import applicants, reseal
from tests.archive.test_merkle import mth, path
from tests.privacy.cases import NAME, WHO, encrypted, people
from tests.verifier.conftest import found_here, run_alone
from tools.build_verifier import packed
from verifier.findings import Verdict
from verifier.record_proof import check_record, jcs
from verifier.record_tree import root_of, root_over
from verifier.strict_json import OddError

pytest.importorskip("cryptography", reason="of the extra sign")

LEAVES = "evidence/salted_leaves.txt"
MANIFEST = "evidence/manifest.json"
OTHERS = [f"{NAME} {number}" for number in range(48) if number != 7]


def opened(run: Run) -> Run:
    return Run.from_bundle(run.uri)


def erase(run: Run, who: str = WHO) -> None:
    assert main(["erase", run.uri, "--application", who, "--reason", "asked for it"]) == 0


def lines(folder: Path | str) -> list[str]:
    return (Path(folder) / LEAVES).read_text().splitlines()


def tree_of(folder: Path | str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / MANIFEST).read_bytes())["record_tree"]
    return found


def said_by_the_other(content: bytes) -> Verdict:
    """What the verifier of the standard library says of a proof."""
    verdict = Verdict("record.json")
    check_record(content, verdict)
    return verdict


def refused_by_both(content: bytes, check: Callable[[bytes, str], Any] = check_proof) -> bool:
    try:
        check(content, "record.json")
    except EvidenceError:
        return bool(said_by_the_other(content).findings)
    return False


def rows_of(run: Run) -> Mapping[str, list[dict[str, Any]]]:
    """Everybody's score records, from the decrypted tables."""
    table = pq.read_table(BytesIO(run.stage("variants").read("variants.parquet"))).to_pylist()
    owner = {row["variant_id"]: row["application_id"] for row in table}
    found: dict[str, list[dict[str, Any]]] = {}
    for shard in sorted(int(one.name) for one in (Path(run.uri) / "scores").iterdir()):
        stage = f"scores/{shard}"
        for row in pq.read_table(BytesIO(run.stage(stage).read("scores.parquet"))).to_pylist():
            found.setdefault(owner[row["variant_id"]], []).append({"shard": stage, **row})
    return found


def leaf(application: str, records: list[dict[str, Any]], key: bytes | None, run: Run) -> bytes:
    """A leaf by the words of the guide; RFC 8785 by its own package."""
    rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
    parts = [
        sha256(application.encode()).digest(),
        sha256("".join(sha256(rfc8785.dumps(row)).hexdigest() for row in records).encode()).digest(),
    ]
    if key is not None:
        which = f"{run.key.audit}/{run.key.window.label}/{run.key.spec_digest}".encode()
        of_id = b"audit_lib salt of an id in a tree of records\0" + which
        of_records = b"audit_lib salt of the records in a tree of records\0" + which + b"\0" + parts[1]
        salts = [hmac.new(key, said, sha256).digest() for said in (of_id, of_records)]
        parts = [sha256(salt + part).digest() for salt, part in zip(salts, parts, strict=True)]
    first, second = (part.hex() for part in parts)
    document = {"application_sha256": first, "records_sha256": second}
    return bytes(rfc8785.dumps(document))


def key_of(application: str) -> bytes:
    keys = configured_keys("small")
    assert keys is not None
    found = keys.key(keys.name_of(application))
    assert found is not None
    return found


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


def write_leaves(folder: Path, content: bytes, *, root: str | None = None) -> None:
    """Change the list, and make everything else agree with it, but for the root unless that is given."""
    (folder / LEAVES).write_bytes(content)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    said = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    manifest["record_tree"]["salted_leaves"] |= said
    if root is not None:
        manifest["record_tree"]["root"] = root
    (folder / MANIFEST).write_bytes(canonical_json(manifest))
    reseal(folder)


def swapped(listed: list[str]) -> list[str]:
    return [*listed[:30], listed[31], listed[30], *listed[32:]]


def as_text(listed: list[str]) -> bytes:
    return "".join(f"{one}\n" for one in listed).encode()


CHANGES: dict[str, Callable[[list[str]], bytes]] = {
    "a leaf changed": lambda all: as_text([*all[:30], "0" * 64, *all[31:]]),
    "two swapped": lambda all: as_text(swapped(all)),
    "one twice": lambda all: as_text([all[0], all[0], *all[2:]]),
    "one less": lambda all: as_text(all[:-1]),
    "one more": lambda all: as_text([*all, "0" * 64]),
    "upper case": lambda all: as_text([all[0].upper(), *all[1:]]),
    "no end of line": lambda all: as_text(all)[:-1],
    "carriage returns": lambda all: as_text(all).replace(b"\n", b"\r\n"),
    "a space": lambda all: b" " + as_text(all)[:-1],
    "nothing": lambda all: b"",
    "no text": lambda all: b"\xff" * 65 * len(all),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_list_that_was_changed_is_found_by_both(how: str, run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run.uri, tmp_path / "copy"))
    content = CHANGES[how](lines(folder))
    (folder / LEAVES).write_bytes(content)
    for found in ([str(one) for one in verify(str(folder), recompute={}).findings], found_here(folder)):
        assert any(f"{LEAVES}: is not the file that the manifest lists" in one for one in found), found
    write_leaves(folder, content)
    for found in ([str(one) for one in verify(str(folder), recompute={}).findings], found_here(folder)):
        assert len(found) == 1 and found[0].startswith(f"{LEAVES}: ") and "[manifest]" in found[0], found


def test_the_leaf_of_the_erased_replaced_leads_to_another_root(
    run: Run, own_keys: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(run.uri, tmp_path / "copy"))
    listed, rows = lines(folder), rows_of(run)
    place = sorted(rows, key=lambda name: sha256(name.encode()).digest()).index(WHO)
    erase(run)
    write_leaves(folder, as_text([*listed[:place], "0" * 64, *listed[place + 1 :]]))
    for found in ([str(one) for one in verify(str(folder)).findings], found_here(folder)):
        assert any("its leaves do not lead to the root in the manifest" in one for one in found), found
    with pytest.raises(EvidenceError, match="do not lead to the root"):
        prove(Run.from_bundle(str(folder)), f"{NAME} 8")


def root_over_lines(listed: list[str]) -> str:
    return root_over([bytes.fromhex(one) for one in listed]).hex()


@pytest.mark.parametrize("erased", [False, True])
@pytest.mark.parametrize("how", ["two swapped", "a leaf changed", "one more", "one less"])
def test_a_list_with_its_own_root_is_found_by_who_has_the_keys(
    how: str, erased: bool, run: Run, own_keys: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(run.uri, tmp_path / "copy"))
    changed = CHANGES[how](lines(folder))
    listed = changed.decode().splitlines()
    if erased:
        erase(run)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["record_tree"]["applications"] = len(listed)
    (folder / MANIFEST).write_bytes(canonical_json(manifest))
    write_leaves(folder, changed, root=root_over_lines(listed))
    found = [str(one) for one in verify(str(folder)).findings]
    assert len(found) == 1 and "[manifest]" in found[0], found
    assert (LEAVES if erased else "its tree of records is not that of the scores") in found[0]
    with pytest.raises(EvidenceError):
        prove(Run.from_bundle(str(folder)), f"{NAME} 8")


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


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_shows_the_leaves_which_tell_nothing(
    level: Any, tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = encrypted(tmp_path, privacy={"keys": "applicant", "level": "full"})
    made = export_run(whole.uri, tmp_path / "run.zip", level=level)
    shutil.unpack_archive(made.path, tmp_path / "unpacked")
    (folder,) = (found.parent for found in (tmp_path / "unpacked").glob("**/plan"))
    assert lines(folder) == lines(whole.uri)
    for name in (KEYS, KEY):
        monkeypatch.delenv(name)
    found = verify(str(folder))
    assert found.findings == () and found_here(folder) == []
    assert any("none of them could be made again here" in note for note in found.notes)
    with pytest.raises(WithheldError, match="is not set here" if level == "full" else f"of level {level}"):
        prove(Run.from_bundle(str(folder)), f"{NAME} 8")
    write_leaves(folder, as_text(swapped(lines(folder)))) if level == "full" else None
    if level == "full":
        assert "do not lead to the root" in str(verify(str(folder)).findings[0])


def test_several_processes_say_the_same(run: Run) -> None:
    one, two = (verify(run.uri, processes=count) for count in (1, 2))
    assert one.findings == two.findings == () and one.notes == two.notes


def test_salted_leaves_of_rows_that_are_not_encrypted_are_found(run: Run, tmp_path: Path) -> None:
    clear = Path(encrypted(tmp_path, privacy={}).uri)
    tree = tree_of(clear)
    rows = rows_of(Run.from_bundle(str(clear)))
    order = sorted(rows, key=lambda name: sha256(name.encode()).digest())
    content = as_text([
        sha256(b"\0" + leaf(name, rows[name], None, run)).hexdigest() for name in order
    ])  # fmt: skip
    manifest = json.loads((clear / MANIFEST).read_bytes())
    manifest["record_tree"] = tree | {"salted_leaves": {"path": LEAVES, "sha256": "0" * 64, "bytes": 0}}
    (clear / MANIFEST).write_bytes(canonical_json(manifest))
    write_leaves(clear, content)
    (finding,) = verify(str(clear)).findings
    assert finding.detail == "its tree of records is not that of the scores"
    assert any("are not encrypted" in one for one in found_here(clear))


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


@given(st.lists(st.binary(max_size=3), min_size=1, max_size=40))
def test_the_other_verifiers_tree_is_that_of_the_rfc(data: list[bytes]) -> None:
    hashes = [sha256(b"\0" + one).digest() for one in data]
    assert root_over(hashes) == mth(data)
    for number, one in enumerate(hashes):
        own = path(number, data)
        assert root_of(one, number, len(data), own) == mth(data)
        for wrong in ([*own, one], own[:-1] if own else [one]):
            with pytest.raises(OddError):
                root_of(one, number, len(data), wrong)


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
