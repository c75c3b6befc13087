"""The tree of records where rows are encrypted: its leaves are salted and listed, so that it outlives an erasure.

Whoever has nothing but the run computes the root from the list. Whoever has keys makes the leaves of all whose rows can
be read again, finds them in the list, in their order, and counts the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from audit_lib.archive.findings import Work
from audit_lib.archive.kept_rows import without_erased
from audit_lib.archive.merkle import MerkleTree, leaf_hash
from audit_lib.archive.record_tree import PeopleTree, people_leaves, people_tree
from audit_lib.documents.evidence import SALTED_LEAVES, Manifest, RecordTree
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError, WithheldError
from audit_lib.privacy.applicant_keys import configured_keys
from audit_lib.privacy.leaf_salts import LeafSalts
from audit_lib.privacy.vault import names_together
from audit_lib.run import Run

T = TypeVar("T")

_NAME: Final = SALTED_LEAVES.removeprefix("evidence/")


def leaf_salts(run: Run, without: frozenset[str] = frozenset()) -> LeafSalts | None:
    """Return the salts of a run's leaves; None of a run whose rows are not encrypted, or without keys here."""
    if run.vault is None or run.vault.keys is None:
        return None
    key = run.key
    return LeafSalts(run.vault.keys, f"{key.audit}/{key.window.label}/{key.spec_digest}", without)


def people_again(run: Run, manifest: Manifest) -> PeopleTree:
    """Make the tree of a sealed run again; where people were erased, the leaves of the others, in the tree as listed.

    Parameters
    ----------
    run : Run
        All of it, or without the rows of people who were erased.
    manifest : Manifest
        With a tree.

    Raises
    ------
    WithheldError
        If people were erased and the leaves were not listed.
    EvidenceError
        If what can be read is not what was sealed.
    """
    sealed = manifest.record_tree
    assert sealed is not None
    if run.vault is not None and run.vault.skips_erased:
        return _kept(run, manifest, sealed)
    people = people_tree(run, manifest.stages, leaf_salts(run) if sealed.salted_leaves else None)
    if (people.tree.size, people.records, people.tree.root.hex()) != (
        sealed.applications,
        sealed.records,
        sealed.root,
    ):
        raise EvidenceError(f"{run.uri}: the scores are not those that were sealed; `audit verify` says more")
    return people


def _kept(run: Run, manifest: Manifest, sealed: RecordTree) -> PeopleTree:
    if sealed.salted_leaves is None:
        raise WithheldError(
            f"{run.uri}: rows of it were erased, and it was sealed before leaves were salted and listed: its tree "
            "of records cannot be made again, and a proof needs all of it"
        )
    tree = _listed_tree(run.stage("evidence").read(_NAME), sealed)
    everybody, without = _scored(run, manifest.stages)
    records, leaves = people_leaves(run, manifest.stages, leaf_salts(run, without))
    known = {each: place for place, each in enumerate(tree.levels[0])}
    places = [known.get(leaf_hash(leaf.data()), -1) for leaf in leaves]
    if -1 in places:
        raise EvidenceError(
            f"{SALTED_LEAVES}: has no leaf of {places.count(-1)} people whose rows can be read"
        )
    if places != sorted(places):
        raise EvidenceError(f"{SALTED_LEAVES}: its leaves are not in their order")
    expected = (len(everybody), len(everybody - without))
    if (tree.size, len(leaves)) != expected or records > sealed.records:
        raise EvidenceError(f"{SALTED_LEAVES}: its leaves are not those of the people who were scored")
    return PeopleTree(records, leaves, places, tree)


def _scored(run: Run, stages: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the keys of all who were scored, and of those of whom not all scores can be read."""
    assert run.vault is not None and run.vault.keys is not None
    here = run.vault.keys.names()
    everybody: set[str] = set()
    without: set[str] = set()
    for stage in stages:
        if stage.startswith("scores/"):
            path = f"{run.prefix}/{stage}/scores.parquet".lstrip("/")
            for names in names_together(run.store.get(path)):
                everybody.update(names)
                if not here.issuperset(names):
                    without.update(names)
    return frozenset(everybody), frozenset(without)


def _listed_tree(content: bytes, sealed: RecordTree) -> MerkleTree:
    """Return the tree over the leaves in a list, which must be that of the manifest."""
    try:
        hashes = [bytes.fromhex(line) for line in content.decode("ascii").splitlines()]
    except ValueError:
        hashes = []
    if "".join(f"{each.hex()}\n" for each in hashes).encode() != content or {*map(len, hashes)} != {32}:
        raise EvidenceError(f"{SALTED_LEAVES}: is no list of SHA-256 digests, a line each")
    tree = MerkleTree.over_hashes(hashes)
    if len({*hashes}) != sealed.applications or tree.size != sealed.applications:
        raise EvidenceError(f"{SALTED_LEAVES}: does not have a leaf for each of {sealed.applications} people")
    if tree.root.hex() != sealed.root:
        raise EvidenceError(f"{SALTED_LEAVES}: its leaves do not lead to the root in the manifest")
    return tree


def check_listed_leaves(work: Work, manifest: Manifest) -> None:
    """The file of the leaves against the manifest: whether it is the one listed, and its root the one that is said."""
    tree = manifest.record_tree
    if tree is None or tree.salted_leaves is None:
        return
    said = tree.salted_leaves
    if SALTED_LEAVES not in work.digests:
        work.find("missing", SALTED_LEAVES, "the manifest lists it, and it is not there")
    elif (said.path, said.sha256, said.bytes) != (
        SALTED_LEAVES,
        work.digests[SALTED_LEAVES],
        work.sizes[SALTED_LEAVES],
    ):
        work.find("changed", SALTED_LEAVES, "is not the file that the manifest lists")
    else:
        _find(work, lambda: _listed_tree(work.store.get(SALTED_LEAVES), tree))


def check_kept_leaves(work: Work, run: Run, manifest: Manifest | None) -> None:
    """The leaves of everybody whose rows can be read, where some cannot; says how many those are."""
    tree = None if manifest is None else manifest.record_tree
    if manifest is None or tree is None or tree.salted_leaves is None:
        return
    if run.spec.privacy is None or run.spec.privacy.keys == "none":
        work.find(
            "manifest",
            SALTED_LEAVES,
            "is in a run whose rows are not encrypted, so that nothing salts leaves",
        )
        return
    keys = configured_keys(run.key.audit) if work.level == "full" else None
    if keys is None:
        work.notes.append(
            f"the root of the tree of records was computed from the {tree.applications} leaves that are listed; "
            "none of them could be made again here"
        )
        return
    people = _find(work, lambda: people_again(without_erased(run, keys), manifest))
    if people is not None:
        work.notes.append(
            f"the root of the tree of records was computed from the {tree.applications} leaves that are listed; "
            f"{len(people.leaves)} of them were made again, and the rows of the others cannot be read any more"
        )


def _find(work: Work, asked: Callable[[], T]) -> T | None:
    """Return what is asked; None where that is a finding."""
    try:
        return asked()
    except StoreUnreachableError:
        raise
    except AuditError as error:
        work.find("manifest", SALTED_LEAVES, str(error).removeprefix(f"{SALTED_LEAVES}: "))
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("manifest", SALTED_LEAVES, "cannot be held against the rows", error)
    return None
