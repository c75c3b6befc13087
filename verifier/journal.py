"""The journal of an audit's attempts: a chain of entries that only grows, held against heads known earlier."""

from __future__ import annotations

import hashlib
import os
import re
from datetime import datetime, timedelta
from typing import Any, Sequence

from verifier.documents import decode, journal_at_plan, journal_entry
from verifier.files import MANIFEST, SUCCESS, Files
from verifier.shapes import instant_of
from verifier.source import RefusedError, open_source
from verifier.strict_json import OddError, canonical

COPY = "journal.jsonl"
"""The copy of the journal that an export puts into a run."""
_SKEW = timedelta(minutes=5)
"""By which clocks of machines may differ."""
_FAILURES = ("failed", "abandoned")
"""An attempt whose record was sealed while the journal could not be reached is entered as abandoned by the next one."""
_STATEMENT = "statement.dsse.json"
_ANSWERS = {"signed": "signoff", "rejected": "rejection"}
"""What an auditor did -> the folder of the statement."""
_GONE = "the statement {} was {}, says entry {} of the journal, and is gone"
_ENDS = ("completed", "failed", "abandoned")
_WITHOUT_DIGEST = ("asked", "abandoned", "superseded")
_OUTCOMES = {"completed": ("complete",), "failed": ("failed", "stopped", "validation_failed")}


def journal_next_to(run: str) -> str:
    """Return the journal's folder of a run that lies in its store as ``<audit>/<window>/<design>``; else nothing."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(run))), "journal")
    return folder if os.path.isdir(run) and os.path.isdir(folder) else ""


def check_journal(
    files: Files, identity: dict[str, str], folder: str, heads: Sequence[dict[str, Any]], *, required: bool
) -> datetime | None:
    """Check the journal in a folder, and the run against it; return when the model was about to be asked first.

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
    verdict = files.verdict
    known = _known(files, identity, folder)
    if known is None:
        if required and not any(one.kind == "journal" for one in verdict.findings):
            what = "the journal cannot be checked from a copy that has none; give its folder with --journal"
            verdict.find("journal", f"{identity['audit']}/journal", what)
        return None
    where, entries = known
    digests = [_digest(one) for one in entries]
    for head in heads:
        _check_head(files, where, head, digests)
    own = [
        one
        for one in entries
        if (one["window"], one["run"]) == (identity["window"], identity["spec_digest"][:16])
    ]
    if not own:
        verdict.signatures.append("journal: the run is not entered in it")
        if required:
            verdict.find("journal", where, "the run is not entered, and the trust file or a head requires it")
        return None
    _check_own(files, own, where)
    _check_at_plan(files, identity, entries, digests)
    asked = next((instant_of(one["at"]) for one in own if one["event"] == "asked"), None)
    window = [one for one in entries if one["window"] == identity["window"]]
    _check_possible(files, where, window)
    if where == COPY:
        verdict.signatures.append(
            f"journal: {_attempts(window)} on this window until {entries[-1]['at']}, when the newest entry of this "
            f"copy was made; its head is {digests[-1]} (entry {len(entries)}). What came later cannot be known here"
        )
        return asked
    _check_others(
        files, [one for one in window if one not in own], os.path.dirname(os.path.abspath(folder)), identity
    )
    verdict.signatures.append(
        f"journal: {_attempts(window)} on this window; head {digests[-1]} (entry {len(entries)}): keep it elsewhere"
    )
    return asked


def _check_possible(files: Files, where: str, window: Sequence[dict[str, Any]]) -> None:
    """Find entries that nothing makes after those before them: behind the newest known head anybody can add some."""
    before: dict[str, list[dict[str, Any]]] = {}
    for one in window:
        own = before.setdefault(one["run"], [])
        why = _why_not(one, own)
        if why:
            files.verdict.find("journal", where, f"entry {one['number']} {why}")
        own.append(one)


def _why_not(one: dict[str, Any], own: Sequence[dict[str, Any]]) -> str:
    event, planned = one["event"], [entry["attempt"] for entry in own if entry["event"] == "planned"]
    if ("sealed_sha256" in one) == (event in _WITHOUT_DIGEST):
        return f"says {event}, and does not say of what, or says it of a file"
    if one.get("outcome") not in _OUTCOMES.get(event, (None,)):
        return f"says {event} with an outcome that is none of it"
    if (event == "asked" or _is_sealing(one)) and not planned:
        return f"says {event} of a run whose plan was never entered"
    if (event in ("planned", "asked") or _is_sealing(one)) and any(map(_is_sealing, own)):
        return f"says {event} of a run that was sealed before"
    ended = any(entry["event"] in _ENDS and entry["attempt"] == one["attempt"] for entry in own)
    if event == "abandoned" and (ended or one["attempt"] not in planned):
        return "says that an attempt was abandoned that had ended, or was never entered"
    return ""


def _known(files: Files, identity: dict[str, str], folder: str) -> tuple[str, list[dict[str, Any]]] | None:
    """Return the journal in the folder, or the copy of it in the run, and what a finding names; None without one."""
    verdict, copy = files.verdict, None
    if COPY in files:
        try:
            content = files.read(COPY)
            if not content.endswith(b"\n"):
                raise OddError("its last line has no end: it was cut off")
            copy = _chain(content.split(b"\n")[:-1], identity["audit"])
        except OddError as error:
            verdict.find("journal", COPY, str(error))
    if folder:
        where = f"{identity['audit']}/journal"
        try:
            entries = _chain(_entries(folder), identity["audit"])
        except OddError as error:
            verdict.find("journal", where, str(error))
            return None
        run = (identity["window"], identity["spec_digest"][:16])
        if copy is None or any((one["window"], one["run"]) == run for one in entries):
            if copy:
                _check_head(files, where, {"sha256": _digest(copy[-1])}, [_digest(one) for one in entries])
            return where, entries
    if copy is None:
        verdict.signatures.append(
            "journal: not next to this copy, so that other attempts were made, or dropped, cannot be known here"
        )
        return None
    return COPY, copy


def _entries(folder: str) -> list[bytes]:
    """Return the entries' files in order."""
    if os.path.islink(folder.rstrip(os.sep)):
        raise OddError("is a symbolic link, which may lead anywhere; evidence has none")
    try:
        source = open_source(folder)
        names = sorted(source.sizes, key=lambda one: (len(one), one))
        for number, name in enumerate(names, start=1):
            if not re.fullmatch(r"\d{6,}\.json", name):
                raise OddError(f"{name}: is no entry of the journal")
            if name != f"{number:06d}.json":
                raise OddError(f"entry {number} is missing")
        if source.odd:
            raise OddError(f"{source.odd[0][0]}: is no entry of the journal")
        return [source.read(name, 1 << 20) for name in names]
    except RefusedError as error:
        raise OddError(str(error)) from None


def _chain(contents: Sequence[bytes], audit: str) -> list[dict[str, Any]]:
    """Return entries, each of which must name the one before it."""
    entries: list[dict[str, Any]] = []
    for number, content in enumerate(contents, start=1):
        try:
            entry = decode(journal_entry, content)
        except OddError as error:
            raise OddError(f"entry {number}: {error}") from None
        if entry["number"] != number or entry["audit"] != audit:
            raise OddError(f"entry {number} is missing, or of another audit")
        if entry["previous"] != (_digest(entries[-1]) if entries else None):
            raise OddError(f"entry {number} does not follow from the one before it")
        entries.append(entry)
    return entries


def _digest(entry: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(entry)).hexdigest()


def _check_head(files: Files, where: str, head: dict[str, Any], digests: Sequence[str]) -> None:
    known = head["sha256"]
    if known not in digests:
        later = "; or this copy was made before that entry" if where == COPY else ""
        what = f"it does not hold the head {known} that was known earlier: rolled back, forked or made again{later}"
        files.verdict.find("journal", where, what)
    elif head.get("number", digests.index(known) + 1) != digests.index(known) + 1:
        what = f"the head {known} is entry {digests.index(known) + 1}, and was known as {head['number']}"
        files.verdict.find("journal", where, what)


def _check_at_plan(
    files: Files, identity: dict[str, str], entries: Sequence[dict[str, Any]], digests: Sequence[str]
) -> None:
    """What the plan says of the journal must be what it held then."""
    path, find = "plan/journal.json", files.verdict.find
    record = files.record("plan")
    if path not in files or record is None:
        return
    try:
        said = decode(journal_at_plan, files.read(path))
        planned = instant_of(record["started_at"])
    except OddError as error:
        find("journal", path, str(error))
        return
    until = said["head"]["number"] if said["head"] else 0
    if until > len(entries) or (until and digests[until - 1] != said["head"]["sha256"]):
        find(
            "journal", path, f"the journal does not hold the head {said['head']['sha256']} that the plan saw"
        )
        return
    if said["window"] != [one for one in entries[:until] if one["window"] == identity["window"]]:
        find("journal", path, f"these are not the entries about this window until entry {until}")
    left_out = [one for one in entries[until:] if planned - instant_of(one["at"]) > _SKEW]
    if left_out:
        number, at = left_out[0]["number"], left_out[0]["at"]
        find("journal", path, f"entry {number} of {at} was there before the plan, which ends before it")


def _check_own(files: Files, own: Sequence[dict[str, Any]], where: str) -> None:
    """What is entered of the run must be what is there."""
    find = files.verdict.find
    planned = [one for one in own if one["event"] == "planned"]
    if not planned and (MANIFEST in files or files.below("scores")):
        find("journal", where, "the run's plan was never entered")
    elif any(one.get("sealed_sha256") != files.digests.get(f"plan/{SUCCESS}") for one in planned):
        find(
            "journal", where, f"entry {planned[0]['number']} is about another plan than the one that is there"
        )
    if MANIFEST in files and not any(_is_sealing(one) for one in own):
        find("journal", where, "the run is sealed, and its end was never entered")
    entered = {f"attempts/{one['attempt']}/manifest.json" for one in own if one["event"] in _FAILURES}
    for path in files.below("attempts"):
        if path.endswith("/manifest.json") and path not in entered:
            what = "is the record of a failed attempt whose end was never entered in the journal"
            find("journal", path, what)
    for one in own:
        if one["event"] in ("planned", "asked") or "sealed_sha256" not in one:
            continue
        if one["event"] in _ANSWERS:
            folder = _ANSWERS[one["event"]]
            statements = [
                files.digests[path] for path in files.below(folder) if path.endswith(f"/{_STATEMENT}")
            ]
            if one["sealed_sha256"] not in statements:
                what = "signed" if one["event"] == "signed" else "made to reject the run"
                find("journal", folder, _GONE.format(one["sealed_sha256"], what, one["number"]))
            continue
        path = MANIFEST if _is_sealing(one) else f"attempts/{one['attempt']}/manifest.json"
        if path not in files:
            find(
                "journal",
                path,
                f"entry {one['number']} of the journal says that it was sealed, and it is gone",
            )
        elif files.digests[path] != one["sealed_sha256"]:
            find(
                "journal",
                path,
                f"is not what entry {one['number']} of the journal says: {one['sealed_sha256']}",
            )


def _check_others(
    files: Files, others: Sequence[dict[str, Any]], store: str, identity: dict[str, str]
) -> None:
    """What other runs of the window sealed must be there as well, where the run lies in its store."""
    if not os.path.isdir(os.path.join(store, identity["window"], identity["spec_digest"][:16])):
        return
    for one in others:
        if one["event"] in _ANSWERS or "sealed_sha256" not in one:
            continue
        name = MANIFEST if _is_sealing(one) else f"attempts/{one['attempt']}/manifest.json"
        name = f"plan/{SUCCESS}" if one["event"] == "planned" else name
        path = os.path.join(store, one["window"], one["run"], *name.split("/"))
        try:
            with open(path, "rb") as stream:
                same = hashlib.sha256(stream.read()).hexdigest() == one["sealed_sha256"]
        except OSError:
            same = False
        if not same:
            what = f"entry {one['number']} of the journal says that it was written, and it is gone or another"
            files.verdict.find("journal", f"{one['audit']}/{one['window']}/{one['run']}/{name}", what)


def _is_sealing(entry: dict[str, Any]) -> bool:
    return entry["event"] == "completed" or entry.get("outcome") == "validation_failed"


def _attempts(window: Sequence[dict[str, Any]]) -> str:
    """Count what became of the attempts on a window."""
    ends: dict[tuple[str, int], str] = {}
    for one in window:
        if one["event"] not in (*_ANSWERS, "superseded"):
            attempt = (one["run"], one["attempt"])
            ends[attempt] = one["event"] if one["event"] in _ENDS else ends.get(attempt, "without an end")
    said = list(ends.values())
    counts = ", ".join(f"{said.count(end)} {end}" for end in (*_ENDS, "without an end") if end in said)
    designs = len({run for run, _ in ends})
    return (
        f"{len(said)} attempt{'s' * (len(said) != 1)}{f' with {designs} designs' * (designs > 1)} ({counts})"
    )
