"""The windows that later ones are compared with: chosen by somebody, with a reason, and written down.

No window becomes a baseline by itself. A decision is never changed; the next one takes its place, and all of them stay
in ``<audit>/baselines/``, each with its signature next to it where somebody signed it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json
from audit_lib.documents.sequences import Baseline, MonitorSettings, WindowSumsDocument
from audit_lib.errors import EvidenceError, InputError, NotFoundError
from audit_lib.monitor.history import CompleteRun, read_history
from audit_lib.monitor.window_sums import window_sums
from audit_lib.run import Run
from audit_lib.spec import AuditSpec
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.window import Window
from audit_lib.windows import note_change

FOLDER: Final = "baselines"
_SIGNATURE: Final = ".dsse.json"


def baseline_key(baseline: Baseline) -> str:
    """Return where a decision is in the store."""
    return f"{baseline.audit}/{FOLDER}/{baseline.number:04d}.json"


def signature_key(baseline: Baseline) -> str:
    """Return where its signed statement is, if it has one."""
    return f"{baseline.audit}/{FOLDER}/{baseline.number:04d}{_SIGNATURE}"


def named_key(store: Store, baseline: Baseline) -> str | None:
    """Return the id of the key that a decision's signature names, unchecked; None where it is not signed."""
    place = signature_key(baseline)
    if not store.exists(place):
        return None
    try:
        return str(json.loads(store.get(place))["signatures"][0]["keyid"])
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return "unreadable"


def read_baselines(store: Store, audit: str) -> list[Baseline]:
    """Return every baseline that was decided for an audit, the first one first.

    Raises
    ------
    EvidenceError
        If one is not as it was written, or one of the numbers between them is gone.
    """
    keys = sorted(key for key in store.list(f"{audit}/{FOLDER}") if not key.endswith(_SIGNATURE))
    found = [decode(Baseline, store.get(key), store.uri(key)) for key in keys]
    for place, (key, one) in enumerate(zip(keys, found, strict=True), start=1):
        if one.number != place or not key.endswith(f"/{place:04d}.json") or one.audit != audit:
            raise EvidenceError(
                f"{store.uri(key)}: is not baseline {place} of {audit}: a decision before it was removed, or it is not "
                "where it was written"
            )
    return found


def set_baseline(
    store: Store,
    audit: str,
    span: Window,
    *,
    name: str,
    decided_by: str,
    reason: str,
    sign: Callable[[Baseline], bytes] | None = None,
) -> Baseline:
    """Decide that the sealed runs of some windows are what later ones are compared with.

    Parameters
    ----------
    store, audit : Store, str
        Where the runs are, and of which audit.
    span : Window
        Every sealed window that lies in it is part of the baseline.
    name : str
        What it is called on pages.
    decided_by, reason : str
        Who decided it, and why.
    sign : callable, optional
        Makes the signed statement of the decision (`audit_lib.signoff.baseline_signature`).

    Raises
    ------
    NotFoundError
        If no run of a window between them is sealed.
    InputError
        If two of the runs ask different questions, or two of their windows overlap.
    EvidenceError
        If one of the runs does not verify.
    """
    for what, said in (("name", name), ("decided_by", decided_by), ("reason", reason)):
        if not said.strip():
            raise InputError(f"{what}: is empty; a baseline is a decision that somebody answers for")
    chosen = chosen_runs(
        [
            one
            for one in read_history(store, audit).complete
            if one.window.start >= span.start and one.window.end <= span.end
        ]
    )
    if not chosen:
        raise NotFoundError(
            f"{store.uri(audit)}: no sealed run within {span.label}; `audit status` lists the windows"
        )
    runs = [Run.load(store.uri(one.prefix)) for one in chosen]
    for run in runs:
        if not (found := verify(run.uri)).ok:
            raise EvidenceError(f"{run.uri}: does not verify, and can be no baseline: {found.findings[0]}")
    sums = [window_sums(run) for run in runs]
    for one, other in pairwise(sums):
        if parts := differing(one, other):
            raise InputError(
                f"windows {one.run.window} and {other.run.window}: {', '.join(parts)} of their specs differ, so that "
                "they ask different questions; choose windows of one design"
            )
    baseline = Baseline(
        audit=audit,
        number=len(read_baselines(store, audit)) + 1,
        name=name.strip(),
        runs=tuple(one.run for one in sums),
        question=sums[-1].question,
        settings=settings_of(runs[-1].spec),
        decided_by=decided_by.strip(),
        reason=reason.strip(),
        decided_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    key, signed = baseline_key(baseline), None if sign is None else sign(baseline)
    if not store.put(key, pretty_json(baseline.as_dict())):
        raise InputError(f"{store.uri(key)}: somebody decided a baseline at the same time; look at it first")
    if signed is not None:
        store.replace(signature_key(baseline), signed)
    note_change(store, audit)
    return baseline


def settings_of(spec: AuditSpec) -> MonitorSettings:
    """Return the thresholds that a baseline takes from its newest run."""
    settings = spec.monitor
    return MonitorSettings(
        false_alarms=settings.false_alarms,
        floor=settings.floor,
        minimum=settings.minimum,
        line=settings.line,
    )


def chosen_runs(runs: Sequence[CompleteRun]) -> list[CompleteRun]:
    """Return one run for each window, the one sealed last.

    Raises
    ------
    InputError
        If two windows overlap: people in both would be counted twice.
    """
    latest = {one.window.label: one for one in sorted(runs, key=lambda one: (one.sealed_at, one.prefix))}
    ordered = sorted(latest.values(), key=lambda one: (one.window.end, one.window.start))
    for one, other in pairwise(ordered):
        if other.window.start < one.window.end:
            raise InputError(
                f"windows {one.window.label} and {other.window.label} overlap; choose one of them"
            )
    return ordered


def differing(one: WindowSumsDocument, other: WindowSumsDocument) -> list[str]:
    """Return which parts of two specs ask different questions."""
    parts = [name for name in one.question if one.question[name] != other.question.get(name)]
    return [*parts, *(["prompt.relevance"] if one.score_range != other.score_range else [])]
