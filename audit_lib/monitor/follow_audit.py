"""The sequences of an audit as a document in its store, made of its sealed runs and its newest baseline.

``<audit>/monitor/sums/`` keeps what each run adds, so that it is read once; ``<audit>/monitor/sequences.json`` is what
follows from them, with what each change whose alarm stands is attributed to. Both are derived: removed, they are made
again from the runs. Who owns the store can rewrite them; with `verify` every sum is made again from its sealed run, and
where what was kept is another one, that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from audit_lib import __version__
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.documents.sequence_name import SequenceName
from audit_lib.documents.sequences import Alarm, Baseline, Sequences, WindowSumsDocument
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.monitor.attribute_audit import attribute_alarms
from audit_lib.monitor.baseline import baseline_key, named_key, read_baselines, settings_of
from audit_lib.monitor.history import CompleteRun, read_history
from audit_lib.monitor.sequences import follow
from audit_lib.monitor.window_sums import window_sums
from audit_lib.progress import ignore
from audit_lib.results import Undefined
from audit_lib.run import Run, StageFolder
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.windows import note_change

_FOLDER: Final = "monitor"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedAudit:
    """What came of following an audit.

    Parameters
    ----------
    sequences : Sequences
        The document as it now is.
    new_alarms : list of (SequenceName, Alarm)
        Those that the document in the store did not have.
    not_read : list of str
        A line for each sealed run that could not be read, and why.
    differing : list of str
        A line for each kept file that is not what follows from the runs, where that was looked at; it is written anew.
    """

    sequences: Sequences
    new_alarms: list[tuple[SequenceName, Alarm]]
    not_read: list[str]
    differing: list[str] = field(default_factory=list)


def follow_audit(
    store: Store, audit: str, notify: Callable[[str], None] = ignore, *, verify: bool = False
) -> FollowedAudit:
    """Follow an audit over all its sealed runs, and write the document where it says something else than before.

    With `verify` nothing that was kept is believed; without, the document stays as it is while what it was made from
    does.

    Raises
    ------
    EvidenceError
        If a baseline is not as it was written, or one was removed.
    StoreUnreachableError
        If the store cannot be read now.
    """
    complete = sorted(read_history(store, audit).complete, key=lambda one: one.sealed_at, reverse=True)
    sums: list[WindowSumsDocument] = []
    digests: list[str] = []
    runs: dict[str, CompleteRun] = {}
    not_read: list[str] = []
    differing: list[str] = []
    for place, one in enumerate(complete, start=1):
        try:
            added, digest = _sums_of(store, audit, one, differing if verify else None)
            sums.append(added)
            digests.append(digest)
            runs[sums[-1].run.manifest_sha256] = one
        except StoreUnreachableError:
            raise
        except AuditError as error:
            not_read.append(f"{one.prefix}: cannot be followed: {error}")
        notify(f"windows: {place} of {len(complete)}")
    baselines = read_baselines(store, audit)
    if verify and baselines:
        differing.extend(_other_settings(store, baselines[-1], runs))
    key = f"{audit}/{_FOLDER}/sequences.json"
    earlier = _earlier(store, key)
    signed_with = named_key(store, baselines[-1]) if baselines else None
    made_from = None if not_read else _made_from(baselines[-1:], signed_with, digests)
    if earlier is not None and not verify and made_from is not None and earlier.made_from == made_from:
        return FollowedAudit(sequences=earlier, new_alarms=[], not_read=[])
    found = follow(audit, baselines[-1] if baselines else None, sums)
    found = replace(found, signed_with=signed_with)
    known = () if earlier is None or verify else earlier.attributions
    attributed = attribute_alarms(store, found, runs, known, differing if verify else None)
    not_read.extend(f"{audit}: {line}" for line in attributed.left_out)
    found = replace(
        found,
        attributions=tuple(attributed.attributions),
        made_from=None if attributed.left_out else made_from,
    )
    content = pretty_json(found.as_dict())
    before = set() if earlier is None else _told(earlier)
    if not store.exists(key) or store.get(key) != content:
        if verify and earlier is not None and earlier != found and _of_same_runs(earlier, found):
            differing.append(f"{store.uri(key)}: says another thing than follows from the same runs")
        store.replace(key, content)
        note_change(store, audit)
    new = [
        (SequenceName(quantity=one.quantity, group=one.group, reference=one.reference), alarm)
        for one in found.sequences
        for alarm in one.alarms
        if _key(found, one, alarm) not in before
    ]
    return FollowedAudit(sequences=found, new_alarms=new, not_read=not_read, differing=differing)


def _other_settings(store: Store, baseline: Baseline, runs: Mapping[str, CompleteRun]) -> list[str]:
    """Say where a baseline's thresholds are not those of its newest run, from which they were taken."""
    newest = runs.get(baseline.runs[-1].manifest_sha256)
    if newest is None:
        return []  # `follow` says that it is gone
    if settings_of(Run.load(store.uri(newest.prefix)).spec) == baseline.settings:
        return []
    return [
        f"{store.uri(baseline_key(baseline))}: its thresholds are not those of section monitor of the sealed run "
        f"{newest.prefix}"
    ]


def _made_from(baselines: Sequence[Baseline], signed_with: str | None, digests: Sequence[str]) -> str:
    """Return the digest of all that a document follows from, in whatever order it was read."""
    decided = [one.as_dict() for one in baselines]
    return sha256(canonical_json([__version__, decided, signed_with, sorted(digests)]))


def _sums_of(
    store: Store, audit: str, one: CompleteRun, differing: list[str] | None
) -> tuple[WindowSumsDocument, str]:
    """Return what a run adds, and its digest: as it was kept, if that was of this very run and may be believed."""
    key = f"{audit}/{_FOLDER}/sums/{one.prefix.removeprefix(f'{audit}/').replace('/', '_')}.json"
    kept, content = None, b""
    if store.exists(key):
        content = store.get(key)
        try:
            kept = decode(WindowSumsDocument, content, store.uri(key))
        except EvidenceError:
            kept = None  # of another version of this library: made again
    if kept is not None and not _is_of(kept, store, one):
        kept = None
    if kept is not None and differing is None:
        return kept, sha256(content)
    found = window_sums(Run.load(store.uri(one.prefix)))
    right = pretty_json(found.as_dict())
    if kept is not None and differing is not None and kept != found:
        differing.append(f"{store.uri(key)}: the kept sums are not those of the sealed run {one.prefix}")
    if content != right:
        store.replace(key, right)
    return found, sha256(right)


def _is_of(kept: WindowSumsDocument, store: Store, one: CompleteRun) -> bool:
    """Tell whether sums are of the run that is there: by its manifest, whose digest the record of the evidence has."""
    manifest = StageFolder(store, f"{one.prefix}/evidence").read("manifest.json")
    return (
        kept.run.window == one.window.label
        and kept.run.spec_digest.startswith(one.design)
        and kept.run.manifest_sha256 == sha256(manifest)
    )


def _earlier(store: Store, key: str) -> Sequences | None:
    if not store.exists(key):
        return None
    try:
        return decode(Sequences, store.get(key), store.uri(key))
    except EvidenceError:
        return None  # of another version of this library, or changed: its alarms are told again


def _told(earlier: Sequences) -> set[tuple[str, ...]]:
    return {_key(earlier, one, alarm) for one in earlier.sequences for alarm in one.alarms}


def _of_same_runs(earlier: Sequences, found: Sequences) -> bool:
    """Tell whether a kept document says, anywhere, that it was made from the runs that there are now."""
    return (
        (earlier.made_from is not None and earlier.made_from == found.made_from)
        or earlier.runs == found.runs
        or _windows(earlier) == _windows(found)
    )


def _windows(document: Sequences) -> list[list[str]]:
    return [[look.window for look in one.looks] for one in document.sequences]


def _key(document: Sequences, name: SequenceName, alarm: Alarm) -> tuple[str, ...]:
    baseline = "" if isinstance(document.baseline, Undefined) else str(document.baseline.number)
    return (
        baseline,
        name.quantity,
        str(dict(name.group)),
        str(dict(name.reference)),
        alarm.kind,
        alarm.told_in,
    )
