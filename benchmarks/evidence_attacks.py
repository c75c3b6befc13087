"""Named attacks on a signed run in its store: which of them either verifier finds, without and with trust."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib import pipeline
from audit_lib.bag import check_bag, export_run, open_bag
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.trust import Revocation, TrustFile
from audit_lib.errors import AuditError
from audit_lib.signing.signers import open_signer
from audit_lib.signing.trust import read_trust, sign_trust
from audit_lib.signoff import verify_signed
from benchmarks.evidence_runs import in_store, known_head, signed_run, signing
from tests.archive.cases import reseal
from tests.bag.test_bag import packed
from tests.signing.conftest import Signed, instant
from tests.verifier.conftest import found_here
from verifier.source import RefusedError, open_source


@dataclass(frozen=True)
class Found:
    """Who finds an attack: `audit verify` and the second verifier, without trust and with it; and the first words."""

    attack: str
    alone: bool
    alone_second: bool
    trusted: bool
    trusted_second: bool
    said: str


def _edit_scores(run: Path) -> None:
    for path in run.glob("scores/*/scores.parquet"):
        table = pq.read_table(path)
        rows = table.to_pylist()
        for row in rows:
            row["score"] = None if row["score"] is None else row["score"] + 1.0
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd")
    reseal(run)


def _roll_back(signed: Signed, left: int) -> None:
    for path in sorted((signed.store / "small/journal").iterdir())[left:]:
        path.unlink()


def _rewrite(signed: Signed, *, key: bool) -> None:
    """Scores edited, digests fixed, later stages deleted, the journal rolled back, `audit run`."""
    run = in_store(signed)
    _edit_scores(run)
    for stage in ("validation", "metrics", "report", "evidence", "attempts"):
        shutil.rmtree(run / stage, ignore_errors=True)
    for path in (run / "signatures").glob("result.*"):
        path.unlink()
    _roll_back(signed, 1)
    if key:
        with signing(signed.folder, signed.authority):
            pipeline.run_all(pipeline.load_run(str(run)))
    else:
        pipeline.run_all(pipeline.load_run(str(run)))


def _drop_attempt(signed: Signed, *, hidden: bool) -> None:
    """The record of the failed attempt is removed; `hidden`: from the manifest and the journal too."""
    run = in_store(signed)
    shutil.rmtree(run / "attempts/1")
    if not hidden:
        return
    path = run / "evidence/manifest.json"
    path.write_bytes(canonical_json(json.loads(path.read_bytes()) | {"attempts": []}))
    reseal(run)
    _relink(signed, lambda entries: [one for one in entries if one["event"] != "failed"])


def _relink(signed: Signed, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Change a journal's entries, number them and link them again."""
    folder = signed.store / "small/journal"
    entries = change([json.loads(path.read_bytes()) for path in sorted(folder.iterdir())])
    shutil.rmtree(folder)
    folder.mkdir()
    before = None
    for number, entry in enumerate(entries, start=1):
        content = canonical_json(entry | {"number": number, "previous": before})
        (folder / f"{number:06d}.json").write_bytes(content)
        before = sha256(content)


def _replay(signed: Signed, other: Signed, *, statement_only: bool) -> None:
    """The signed plan of an earlier run put in; with its sample and variants, all sealed again."""
    run = in_store(signed)
    for path in in_store(other).glob("signatures/plan.*"):
        shutil.copy(path, run / "signatures")
    if not statement_only:
        for stage in ("plan", "sample", "variants"):
            shutil.rmtree(run / stage)
            shutil.copytree(in_store(other) / stage, run / stage)
        reseal(run)


def _fork(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entries[0], entries[1] | {"at": entries[0]["at"]}, *entries[2:]]


def _stray(signed: Signed, name: str) -> None:
    path = in_store(signed) / name
    shutil.copy(in_store(signed) / "metrics/metrics.json", path)


def _listed(signed: Signed, path: str) -> None:
    """The manifest lists a path that leads out of the run."""
    manifest = in_store(signed) / "evidence/manifest.json"
    document = json.loads(manifest.read_bytes())
    content = canonical_json(
        document | {"artefacts": [document["artefacts"][0] | {"path": path}, *document["artefacts"]]}
    )
    manifest.write_bytes(content)
    record = manifest.with_name("_SUCCESS")
    said = json.loads(record.read_bytes())
    said["artefacts"]["manifest.json"] = {"sha256": sha256(content), "bytes": len(content)}
    record.write_bytes(pretty_json(said))


def _unlink(signed: Signed, name: str) -> None:
    (in_store(signed) / "signatures" / name).unlink()


def _moved(signed: Signed) -> None:
    folder = in_store(signed) / "signatures"
    shutil.copy(folder / "plan.tsr", folder / "result.tsr")


def _served(signed: Signed) -> None:
    run = in_store(signed)
    for path in run.glob("scores/*/served.json"):
        document = json.loads(path.read_bytes())
        path.write_bytes(pretty_json([one | {"completion_tokens": 5} for one in document]))
    reseal(run)


def _number(signed: Signed) -> None:
    path = in_store(signed) / "metrics/metrics.json"
    document = json.loads(path.read_bytes())
    document["tables"][0]["rows"][0]["selected"] += 1
    path.write_bytes(pretty_json(document))
    reseal(in_store(signed))


def _link(signed: Signed) -> None:
    path = in_store(signed) / "metrics/metrics.json"
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))


Attack = Callable[[Signed, Signed], Any]
ATTACKS: Final[dict[str, Attack]] = {
    "consistent rewrite: scores edited, digests fixed, later stages deleted, journal rolled back, `audit run`":
        lambda signed, _: _rewrite(signed, key=False),
    "the same by the scheduler, which has the key": lambda signed, _: _rewrite(signed, key=True),
    "a number changed and sealed again": lambda signed, _: _number(signed),
    "tokens in `served.json` changed and sealed again": lambda signed, _: _served(signed),
    "a failed attempt dropped": lambda signed, _: _drop_attempt(signed, hidden=False),
    "a failed attempt dropped from folder, manifest and journal":
        lambda signed, _: _drop_attempt(signed, hidden=True),
    "a replayed plan: the statement of another run":
        lambda signed, other: _replay(signed, other, statement_only=True),
    "a replayed plan: statement, plan, sample and variants, sealed again":
        lambda signed, other: _replay(signed, other, statement_only=False),
    "time stamp of the result stripped": lambda signed, _: _unlink(signed, "result.tsr"),
    "time stamp moved from another envelope": lambda signed, _: _moved(signed),
    "signature of the result stripped": lambda signed, _: [
        _unlink(signed, f"result.{one}") for one in ("dsse.json", "pub", "tsr")
    ],
    "journal rolled back": lambda signed, _: _roll_back(signed, 1),
    "journal removed": lambda signed, _: _roll_back(signed, 0),
    "journal forked: an entry changed, all after it linked again": lambda signed, _: _relink(signed, _fork),
    "journal with a gap, numbered and linked again":
        lambda signed, _: _relink(signed, lambda entries: [entries[0], *entries[2:]]),
    "Unicode twin of a file (Cyrillic letter)":
        lambda signed, _: _stray(signed, "metrics/m\u0435trics.json"),
    "Unicode twin of a file (full width)": lambda signed, _: _stray(signed, "metrics/\uff4detrics.json"),
    "a file under a symbolic link": lambda signed, _: _link(signed),
    "path traversal in the manifest": lambda signed, _: _listed(signed, "../../../etc/passwd"),
    "absolute path in the manifest": lambda signed, _: _listed(signed, "/etc/passwd"),
}  # fmt: skip

KEYS_OF: Final[dict[str, dict[str, Any]]] = {
    "an expired key": {"valid_until": instant(-0.5)},
    "a key that is not valid yet": {"valid_from": instant(5)},
    "a revoked key": {"revoked": Revocation(at=instant(-0.5), reason="stolen")},
    "a key of another role": {"roles": ("auditor",)},
}


def attacks(folder: Path, only: str = "") -> Iterator[Found]:
    """Try every attack on a fresh copy, or those alone whose name has some words."""
    with (
        signed_run(folder / "one", failed=False) as one,
        signed_run(folder / "failed") as failed,
        signed_run(folder / "other", seed=8, failed=False) as other,
    ):
        for base, name in (
            (one, "none: the run as it was made"),
            (failed, "none: one whose first attempt failed"),
        ):
            if only in name:
                signed = _copied(base, folder)
                yield _looked(signed, name, [signed.write(_strict(base))])
        for name, attack in ATTACKS.items():
            if only not in name:
                continue
            base = failed if "failed attempt" in name else one
            signed = _copied(base, folder)
            attack(signed, other)
            yield _looked(signed, name, [signed.write(_strict(base))])
        trust = _strict(one)
        for name, changes in KEYS_OF.items():
            if only not in name:
                continue
            signed = _copied(one, folder)
            key = signed.trusted("service", "plan", "result")
            yield _looked(signed, name, [signed.write(replace(trust, keys=(replace(key, **changes),)))])
        if only in "a key that was rotated out":
            signed = _copied(one, folder)
            yield _looked(signed, "a key that was rotated out", _rotated(signed, trust))
        yield from (found for found in _bags(one, folder) if only in found.attack)


def _strict(signed: Signed) -> TrustFile:
    """Require all there is, and hold the journal's head."""
    required = ("plan", "result", "time stamps", "journal")
    return signed.trust(required=required, heads=(known_head(signed),))


def _copied(signed: Signed, folder: Path) -> Signed:
    shutil.rmtree(folder / "attacked", ignore_errors=True)
    return Signed(Path(shutil.copytree(signed.folder, folder / "attacked", symlinks=True)), signed.authority)


def _rotated(signed: Signed, trust: TrustFile) -> list[Path]:
    first = signed.write(trust)
    keys = (signed.trusted("other", "plan", "result"), signed.trusted("root", "root"))
    second = replace(trust, version=2, keys=keys, previous_sha256=sha256(first.read_bytes()))
    path = signed.folder / "trust-2.json"
    path.write_bytes(sign_trust(second, [open_signer(f"file:{signed.folder / 'root.key'}")]))
    return [first, path]


def _looked(signed: Signed, name: str, trust: list[Path]) -> Found:
    run = in_store(signed)
    alone = verify_signed(str(run))
    believed = verify_signed(str(run), trust=read_trust(trust, datetime.now(UTC)), recompute={})
    own = [str(one) for one in (*believed.findings, *alone.findings) if one not in alone.findings]
    own = own or [str(one) for one in alone.findings]
    return Found(
        attack=name,
        alone=not alone.ok,
        alone_second=bool(found_here(run)),
        trusted=not (alone.ok and believed.ok),
        trusted_second=bool(found_here(run, "--trust", *trust, "--stamps-checked")),
        said=own[0] if own else "",
    )


def _bags(signed: Signed, folder: Path) -> Iterator[Found]:
    """What is done to a bag is refused when it is opened: nothing of it is unpacked, whoever is trusted."""
    good = export_run(str(in_store(signed)), folder / "good.zip", level="full").path
    with zipfile.ZipFile(good) as file:
        files = {name: file.read(name) for name in file.namelist()}
    top = next(iter(files)).split("/")[0]
    forged = {
        "bag: path traversal": {f"{top}/data/../../../x": b"x"},
        "bag: an absolute path": {"/etc/x": b"x"},
        "bag: Unicode twins (two forms of one letter)": {
            f"{top}/data/\u00e9": b"x",
            f"{top}/data/e\u0301": b"x",
        },
        "bag: Unicode twins (upper and lower case)": {f"{top}/BAGIT.TXT": b"x"},
        "bag: a name that runs from right to left": {f"{top}/data/\u202etxt.exe": b"x"},
        "bag bomb: zeros": {f"{top}/data/zeros": bytes(512 << 20)},
        "bag bomb: nested lists in bag-info": {f"{top}/data/deep.json": b"[" * 10**6},
        "bag: a file in no list": {f"{top}/data/more": b"x"},
        "bag: fetch.txt names another server": {f"{top}/fetch.txt": b"http://x/ 1 data/y\n"},
    }
    for name, more in forged.items():
        path = packed(folder / "bad.zip", list((files | more).items()))  # type: ignore[arg-type]
        here, there = _opened(path), _opened_second(path)
        yield Found(name, bool(here), bool(there), bool(here), bool(there), here)


def _opened(path: Path) -> str:
    try:
        with open_bag(path) as bag:
            found = check_bag(bag)
            return str(found[0]) if found else ""
    except AuditError as error:
        return str(error).replace(f"{path}: ", "")


def _opened_second(path: Path) -> str:
    try:
        open_source(str(path))
    except RefusedError as error:
        return str(error)
    with redirect_stderr(StringIO()):
        return "; ".join(found_here(path))
