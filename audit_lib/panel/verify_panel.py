"""Verifying a panel: its record against the runs that it names, and the comparison computed again from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from audit_lib.archive.findings import EvidenceFinding, EvidenceFindingKind, Verification
from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json, sha256
from audit_lib.compare import compare
from audit_lib.documents.panel import PanelMember, PanelRecord
from audit_lib.errors import AuditError, InputError, NotFoundError, StoreUnreachableError
from audit_lib.panel.panel_run import FOLDER, RECORD, last_record
from audit_lib.panel.panel_stage import COMPARISON, member_of, panel_files
from audit_lib.progress import ignore
from audit_lib.run import SUCCESS, Run, StageFolder
from audit_lib.spec import panel_digest
from audit_lib.store import open_store

DEPTH: Final = 3
"""Folders of a panel below the store: its name, the window, its digest."""


def is_panel(uri: str) -> bool:
    """Tell whether a folder is that of a panel: it has records of a comparison, and no plan of its own."""
    store = open_store(uri.rstrip("/") or "/")
    return last_record(store, "") > 0 and not store.list("plan")


def verify_panel(
    uri: str,
    notify: Callable[[str], None] = ignore,
    processes: int | None = None,
    table_bytes: int | None = None,
) -> Verification:
    """Verify the records of a panel, every run that the last one names, and its comparison.

    Parameters
    ----------
    uri : str
        The panel's folder, in the store that holds its runs: a copy needs the runs next to it as they were.
    notify : callable, optional
        Told how far it is.
    processes, table_bytes : int, optional
        As `audit_lib.archive.verify.verify` takes them.

    Returns
    -------
    Verification
        With findings for all that is wrong with the evidence itself; those of a run have its folder before the path.

    Raises
    ------
    NotFoundError
        If there is no panel at `uri`.
    StoreError
        If the store cannot be read.
    """
    root, prefix = _split(uri)
    store = open_store(root)
    last = last_record(store, prefix)
    if not last:
        raise NotFoundError(f"{uri}: no panel here; expected {FOLDER}/1/{SUCCESS} in it")
    found: list[EvidenceFinding] = []
    record, files = None, 0
    for number in range(1, last + 1):
        record, read = _check_record(StageFolder(store, f"{prefix}/{FOLDER}/{number}"), number, prefix, found)
        files += read
    if record is None:
        return Verification(uri=uri, files=files, findings=tuple(found))
    runs = []
    for member in record.members:
        run = _check_member(store.uri(member.run), member, last, found)
        if run is None:
            continue
        if not run.spec.title.startswith(f"{record.title} ("):
            detail = f"{member.name}: its title is not that of the run {member.run}"
            found.append(EvidenceFinding(kind="record", path=f"{FOLDER}/{last}/{RECORD}", detail=detail))
        if member.state == "sealed":
            runs.append(run)
            notify(f"verify: run {member.run}")
            own = verify(run.uri, processes=processes, notify=notify, table_bytes=table_bytes)
            files += own.files
            found += [replace(one, path=f"{member.run}/{one.path}") for one in own.findings]
    _check_comparison(StageFolder(store, f"{prefix}/{FOLDER}/{last}"), record, runs, last, found)
    return Verification(
        uri=uri,
        audit=record.audit,
        window=record.window,
        spec_digest=record.panel_digest,
        outcome=f"{len(runs)} of {len(record.members)} models compared"
        if record.comparison_sha256
        else "no comparison",
        manifest_sha256=sha256(pretty_json(record.as_dict())),
        files=files,
        recomputed=(FOLDER, *(member.run for member in record.members if member.state == "sealed")),
        findings=tuple(found),
    )


def _split(uri: str) -> tuple[str, str]:
    """Return the store's root and the panel's prefix in it."""
    parts = uri.rstrip("/").rsplit("/", DEPTH)
    if len(parts) <= DEPTH:
        raise NotFoundError(f"{uri}: no panel here; give its folder in the store: STORE/PANEL/WINDOW/DIGEST")
    return parts[0] or "/", "/".join(parts[1:])


def _check_record(
    folder: StageFolder, number: int, prefix: str, found: list[EvidenceFinding]
) -> tuple[PanelRecord | None, int]:
    """Hash a record's files, and check that it is of this panel; return it, and how many files there are."""
    where = f"{FOLDER}/{number}"

    def find(kind: EvidenceFindingKind, name: str, detail: str) -> None:
        found.append(EvidenceFinding(kind=kind, path=f"{where}/{name}", detail=detail))

    if not folder.is_complete():
        find("missing", SUCCESS, "a later record is there, and this one is not complete")
        return None, 0
    try:
        written = folder.success().artefacts
    except StoreUnreachableError:
        raise
    except AuditError as error:
        find("record", SUCCESS, str(error))
        return None, 0
    there = {key.removeprefix(f"{folder.prefix}/") for key in folder.store.list(folder.prefix)}
    for name in sorted(there - {*written, SUCCESS}):
        find("extra", name, "is not in the stage's record")
    for name in sorted(written):
        try:
            folder.read(name)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            find("changed" if name in there else "missing", name, str(error))
    try:
        record = folder.read_document(PanelRecord, RECORD)
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        find("record", RECORD, f"cannot be read ({type(error).__name__})")
        return None, len(there)
    if folder.read(RECORD) != pretty_json(record.as_dict()):
        find("record", RECORD, "is not written as this library writes it: its numbers may be read otherwise")
    if prefix != f"{record.audit}/{record.window}/{record.panel_digest[:16]}":
        find(
            "record",
            RECORD,
            f"is the record of another panel than its folder: {record.audit}, {record.window}",
        )
    if record.panel_digest != panel_digest(record.audit, [one.spec_digest for one in record.members]):
        find("record", RECORD, "its digest is not that of the runs that it names")
    return record, len(there)


def _check_member(uri: str, member: PanelMember, number: int, found: list[EvidenceFinding]) -> Run | None:
    """Hold what the record says of a model against the run itself."""
    path = f"{FOLDER}/{number}/{RECORD}"
    try:
        run = Run.load(uri)
        now = member_of(member.name, run)
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        found.append(
            EvidenceFinding(
                kind="missing",
                path=path,
                detail=f"{member.name}: its run cannot be read: {member.run} ({error})",
            )
        )
        return None
    said, is_now = member.as_dict(), now.as_dict()
    for key in said:
        if said[key] != is_now[key]:
            detail = f"{member.name}: its {key} is not that of the run {member.run}"
            found.append(EvidenceFinding(kind="record", path=path, detail=detail))
    return run


def _check_comparison(
    folder: StageFolder, record: PanelRecord, runs: list[Run], number: int, found: list[EvidenceFinding]
) -> None:
    """Compute the comparison again, and hold every file of it against what is there."""
    compared: Mapping[str, bytes] = {}
    why = None
    sealed = sum(one.state == "sealed" for one in record.members)
    try:
        if len(runs) > 1 and len(runs) == sealed:
            compared = compare(runs)
    except StoreUnreachableError:
        raise
    except InputError as error:
        why = str(error)
    except AuditError as error:
        found.append(
            EvidenceFinding(
                kind="recomputation", path=f"{FOLDER}/{number}", detail=f"cannot be computed: {error}"
            )
        )
        return
    if len(runs) != sealed:
        return  # a run that the record names cannot be read, which is a finding already
    digest = sha256(compared[COMPARISON]) if compared else None
    if digest != record.comparison_sha256:
        gives = f"no comparison ({why})" if digest is None else f"the comparison {digest[:16]}"
        detail = (
            f"names the comparison {(record.comparison_sha256 or 'none')[:16]}, and these runs give {gives}"
        )
        found.append(EvidenceFinding(kind="recomputation", path=f"{FOLDER}/{number}/{RECORD}", detail=detail))
    made = panel_files(record, compared)
    there = set(folder.success().artefacts) - {RECORD}
    for name in sorted({*made, *there}):
        try:
            same = name in made and name in there and folder.read(name) == made[name]
        except AuditError:
            continue  # changed or missing, which is a finding already
        if not same:
            detail = "is not what comes out of these runs again"
            found.append(
                EvidenceFinding(kind="recomputation", path=f"{FOLDER}/{number}/{name}", detail=detail)
            )
