"""The journal of an audit's attempts: a chain of entries that only grows, held against heads that were known earlier."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any, Dict, List, Sequence

from verifier.documents import decode, journal_entry
from verifier.files import MANIFEST, SUCCESS, Files
from verifier.source import RefusedError, open_source
from verifier.strict_json import OddError, canonical

_ENDS = ("completed", "failed", "abandoned")


def journal_next_to(run: str) -> str:
    """Return the journal's folder of a run that lies in its store as ``<audit>/<window>/<design>``; else nothing."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(run))), "journal")
    return folder if os.path.isdir(run) and os.path.isdir(folder) else ""


def check_journal(
    files: Files, identity: Dict[str, str], folder: str, heads: Sequence[Dict[str, Any]], *, required: bool
) -> None:
    """Check the journal in a folder, and the run against it.

    Parameters
    ----------
    files : Files
        Of the run.
    identity : dict
        Which run it is.
    folder : str
        Of the journal; empty where there is none.
    heads : sequence of dict
        Known earlier: ``sha256``, and ``number`` where it was known.
    required : bool
        Whether a run that is not entered is a finding.
    """
    verdict, where = files.verdict, f"{identity['audit']}/journal"
    if not folder:
        verdict.signatures.append(
            "journal: not next to this copy, so that other attempts were made, or dropped, cannot be known here"
        )
        if required:
            verdict.find("journal", where, "the journal cannot be checked from a copy; give its folder with --journal")
        return
    try:
        entries = _read(folder, identity["audit"])
        digests = [hashlib.sha256(canonical(one)).hexdigest() for one in entries]
        for head in heads:
            _check_head(head, digests)
    except OddError as error:
        verdict.find("journal", where, str(error))
        return
    own = [one for one in entries if (one["window"], one["run"]) == (identity["window"], identity["spec_digest"][:16])]
    if not own:
        verdict.signatures.append("journal: the run is not entered in it")
        if required:
            verdict.find("journal", where, "the run is not entered, and the trust file or a head requires it")
        return
    _check_own(files, own, where)
    window = [one for one in entries if one["window"] == identity["window"]]
    _check_others(files, [one for one in window if one not in own], os.path.dirname(os.path.abspath(folder)), identity)
    verdict.signatures.append(
        f"journal: {_attempts(window)} on this window; head {digests[-1]} (entry {len(entries)}): keep it elsewhere"
    )


def _read(folder: str, audit: str) -> List[Dict[str, Any]]:
    try:
        source = open_source(folder)
    except RefusedError as error:
        raise OddError(str(error)) from None
    entries: List[Dict[str, Any]] = []
    for name in [*sorted(source.sizes, key=lambda one: (len(one), one)), *(path for path, _ in source.odd)]:
        number = len(entries) + 1
        if not re.fullmatch(r"\d{6,}\.json", name) or name in dict(source.odd):
            raise OddError(f"{name}: is no entry of the journal")
        if name != f"{number:06d}.json":
            raise OddError(f"entry {number} is missing")
        try:
            entry = decode(journal_entry, source.read(name, 1 << 20))
        except OddError as error:
            raise OddError(f"{name}: {error}") from None
        before = hashlib.sha256(canonical(entries[-1])).hexdigest() if entries else None
        if entry["number"] != number or entry["audit"] != audit:
            raise OddError(f"{name}: is entry {entry['number']} of audit {entry['audit']!a}")
        if entry["previous"] != before:
            raise OddError(f"entry {number} does not follow from the one before it")
        entries.append(entry)
    return entries


def _check_head(head: Dict[str, Any], digests: Sequence[str]) -> None:
    if head["sha256"] not in digests:
        raise OddError(
            f"the journal does not hold the head {head['sha256']} that was known earlier: it was rolled back, forked or "
            "made again"
        )
    number = digests.index(head["sha256"]) + 1
    if head.get("number", number) != number:
        raise OddError(f"the head {head['sha256']} is entry {number}, and was known as {head['number']}")


def _check_own(files: Files, own: Sequence[Dict[str, Any]], where: str) -> None:
    """What is entered of the run must be what is there."""
    find = files.verdict.find
    planned = [one for one in own if one["event"] == "planned"]
    if not planned and (MANIFEST in files or files.below("scores")):
        find("journal", where, "the run's plan was never entered")
    elif any(one.get("sealed_sha256") != files.digests.get(f"plan/{SUCCESS}") for one in planned):
        find("journal", where, f"entry {planned[0]['number']} is about another plan than the one that is there")
    if MANIFEST in files and not any(_is_sealing(one) for one in own):
        find("journal", where, "the run is sealed, and its end was never entered")
    for one in own:
        if one["event"] == "planned" or "sealed_sha256" not in one:
            continue
        path = MANIFEST if _is_sealing(one) else f"attempts/{one['attempt']}/manifest.json"
        if path not in files:
            find("journal", path, f"entry {one['number']} of the journal says that it was sealed, and it is gone")
        elif files.digests[path] != one["sealed_sha256"]:
            find("journal", path, f"is not what entry {one['number']} of the journal says: {one['sealed_sha256']}")


def _check_others(files: Files, others: Sequence[Dict[str, Any]], store: str, identity: Dict[str, str]) -> None:
    """What other runs of the window sealed must be there as well, where the run lies in its store."""
    if not os.path.isdir(os.path.join(store, identity["window"], identity["spec_digest"][:16])):
        return
    for one in others:
        if one["event"] == "planned" or "sealed_sha256" not in one:
            continue
        name = MANIFEST if _is_sealing(one) else f"attempts/{one['attempt']}/manifest.json"
        path = os.path.join(store, one["window"], one["run"], *name.split("/"))
        try:
            with open(path, "rb") as stream:
                same = hashlib.sha256(stream.read()).hexdigest() == one["sealed_sha256"]
        except OSError:
            same = False
        if not same:
            what = f"entry {one['number']} of the journal says that it was sealed, and it is gone or another"
            files.verdict.find("journal", f"{one['audit']}/{one['window']}/{one['run']}/{name}", what)


def _is_sealing(entry: Dict[str, Any]) -> bool:
    return entry["event"] == "completed" or entry.get("outcome") == "validation_failed"


def _attempts(window: Sequence[Dict[str, Any]]) -> str:
    ends = {(one["run"], one["attempt"]): one["event"] for one in window if one["event"] != "superseded"}
    counts = {event: list(ends.values()).count(event) for event in (*_ENDS, "planned")}
    said = [f"{counts[event]} {event}" for event in _ENDS if counts[event]]
    if counts["planned"]:
        said.append(f"{counts['planned']} without an end")
    return f"{len(ends)} attempt{'s' * (len(ends) != 1)} ({', '.join(said)})"
