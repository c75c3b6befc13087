"""One person's records, proved to be in a run's evidence or not, without anybody else's.

`prove` needs the run; `check_proof` the proof alone, and a digest of the manifest from elsewhere to compare.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from audit_lib.archive.kept_rows import as_far_as_readable
from audit_lib.archive.manifest import MANIFEST
from audit_lib.archive.merkle import root_from
from audit_lib.archive.record_tree import Leaf, PeopleTree, id_digest, records_digest, records_of
from audit_lib.archive.salted_leaves import people_again
from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.evidence import Manifest, RecordTree, decode_exact, sealed_bytes
from audit_lib.documents.record_proof import LeafProof, RecordProof
from audit_lib.errors import EvidenceError, IncompleteRunError, WithheldError
from audit_lib.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedRecords:
    """What a proof shows that holds.

    Parameters
    ----------
    application : str
        Whose records.
    records : int
        How many; 0 where it is proved that there are none.
    tree : RecordTree
        Of how many applications and records.
    audit, window : str
        Of which run, as its manifest says.
    manifest_sha256 : str
        Digest of the manifest: compare it with one that you have from elsewhere.
    """

    application: str
    records: int
    tree: RecordTree
    audit: str
    window: str
    manifest_sha256: str


def prove(run: Run, application_id: str) -> bytes:
    """Return the proof for an application.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed.
    WithheldError
        If what it needs cannot be read here: the run is a copy without rows, there are no keys, the application or a
        neighbour in the tree was erased, or somebody was and the run's leaves are not listed.
    EvidenceError
        If it was sealed in format 1, without a tree, or its scores are not those that were sealed.
    """
    if not run.stage("evidence").is_complete():
        raise IncompleteRunError(
            f"{run.uri}: only records of a sealed run are proved; evidence is not complete"
        )
    content = run.stage("evidence").read(MANIFEST)
    manifest = _manifest(content.decode())
    kept = as_far_as_readable(run)
    people = people_again(kept, manifest)
    wanted = id_digest(application_id)
    at = bisect_left(people.leaves, (wanted, ""))
    inside = at < len(people.leaves) and people.leaves[at].application_sha256 == wanted
    if inside:
        proofs = [_proof(people, at, people.leaves[at])]
    else:
        before = people.places[at - 1] if at else -1
        after = people.places[at] if at < len(people.leaves) else people.tree.size
        if after != before + 1:
            raise WithheldError(
                f"{run.uri}: there is a leaf where this application's would be, and its records cannot be read any "
                "more: they were erased, or encrypted together with those of somebody who was erased. Nothing can be "
                "proved here, neither that it has records nor that it has none"
            )
        near = [place for place in (at - 1, at) if 0 <= place < len(people.leaves)]
        proofs = [_proof(people, place, people.leaves[place].without_records()) for place in near]
    proof = RecordProof(
        application=application_id,
        manifest=content.decode(),
        records=tuple(records_of(kept, manifest.stages, application_id)) if inside else (),
        proofs=tuple(proofs),
    )
    return pretty_json(proof.as_dict())


def _proof(people: PeopleTree, at: int, leaf: Leaf) -> LeafProof:
    place = people.places[at]
    return LeafProof(
        index=place,
        application_sha256=leaf.application_sha256,
        records_sha256=leaf.records_sha256,
        path=tuple(each.hex() for each in people.tree.path(place)),
        application_salt=leaf.application_salt,
        records_salt=leaf.records_salt,
    )


def check_proof(content: bytes, where: str) -> ProvedRecords:
    """Check a proof against the manifest that it holds; nothing else is read.

    Raises
    ------
    EvidenceError
        If it does not show what it says.
    """
    proof = decode_exact(RecordProof, content, where, lambda one: pretty_json(one.as_dict()))
    manifest = _manifest(proof.manifest)
    tree = manifest.record_tree
    if tree is None:
        raise EvidenceError(f"{where}: its manifest has no tree of records")
    for one in proof.proofs:
        _check_salts(proof, one, tree, where)
        leaf = Leaf(one.application_sha256, one.records_sha256, one.application_salt, one.records_salt)
        if (
            root_from(leaf.data(), one.index, tree.applications, [bytes.fromhex(p) for p in one.path]).hex()
            != tree.root
        ):
            raise EvidenceError(f"{where}: leaf {one.index} does not lead to the root in the manifest")
    wanted = id_digest(proof.application)
    if proof.records:
        _check_inside(proof, wanted, where)
    else:
        _check_outside(proof, wanted, tree, where)
    return ProvedRecords(
        application=proof.application,
        records=len(proof.records),
        tree=tree,
        audit=manifest.audit,
        window=manifest.window,
        manifest_sha256=sha256(proof.manifest.encode()),
    )


def _check_salts(proof: RecordProof, one: LeafProof, tree: RecordTree, where: str) -> None:
    """A leaf has the salts that its tree has; a neighbour's none of its records, which nobody is to guess."""
    salted = tree.salted_leaves is not None
    if (one.application_salt is not None, one.records_salt is not None) != (
        salted,
        salted and bool(proof.records),
    ):
        raise EvidenceError(f"{where}: leaf {one.index} has other salts than a leaf of its tree has here")


def _check_inside(proof: RecordProof, wanted: str, where: str) -> None:
    if len(proof.proofs) != 1 or proof.proofs[0].application_sha256 != wanted:
        raise EvidenceError(f"{where}: its leaf is not that of application {proof.application!r}")
    if proof.proofs[0].records_sha256 != records_digest(proof.records):
        raise EvidenceError(f"{where}: its records are not those of the leaf, or not all of them")


def _check_outside(proof: RecordProof, wanted: str, tree: RecordTree, where: str) -> None:
    """The leaves before and after must be neighbours, or the first or last, with the person's place between them."""
    places = [one.index for one in proof.proofs]
    digests = [one.application_sha256 for one in proof.proofs]
    first = places == [0] and wanted < digests[0]
    last = places == [tree.applications - 1] and digests[0] < wanted
    between = len(places) == 2 and places[1] == places[0] + 1 and digests[0] < wanted < digests[1]
    if not (first or last or between):
        raise EvidenceError(
            f"{where}: it does not show that application {proof.application!r} has no records"
        )


def _manifest(text: str) -> Manifest:
    manifest = decode_exact(Manifest, text.encode(), MANIFEST, sealed_bytes)
    if not manifest.is_whole or manifest.record_tree is None:
        raise EvidenceError(f"{MANIFEST}: has no tree of records; a run of format 1 proves no single records")
    return manifest
