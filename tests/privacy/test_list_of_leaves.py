"""The list of salted leaves: what was changed in it is found, and every level of a copy shows it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.archive.record_proof import prove
from audit_lib.archive.verify import verify
from audit_lib.bag import export_run
from audit_lib.canonical import canonical_json
from audit_lib.errors import EvidenceError, WithheldError
from audit_lib.privacy.applicant_keys import KEY, KEYS
from audit_lib.privacy.levels import LEVELS
from audit_lib.run import Run
from tests.archive.cases import reseal
from tests.archive.test_merkle import mth, path
from tests.privacy.cases import NAME, WHO, encrypted
from tests.privacy.leaves import (
    LEAVES,
    MANIFEST,
    erase,
    leaf,
    lines,
    rows_of,
    tree_of,
)
from tests.verifier.conftest import found_here
from verifier.record_tree import root_of, root_over
from verifier.strict_json import OddError

pytest.importorskip("cryptography", reason="of the extra sign")


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
