"""What a verification computes again: checks that know nothing of each other, done one by one or by several processes.

What is found is told in the order of the checks, however they were dealt and whichever ended first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from audit_lib.archive.findings import EvidenceFinding, Work
from audit_lib.archive.manifest import MANIFEST
from audit_lib.archive.recompute import check_sample, check_shard, recompute_stage
from audit_lib.archive.record_tree import record_tree
from audit_lib.archive.salted_leaves import leaf_salts
from audit_lib.archive.served_check import ATTESTED
from audit_lib.archive.withheld_check import check_redacted
from audit_lib.documents.evidence import Manifest
from audit_lib.errors import StoreUnreachableError
from audit_lib.progress import Progress
from audit_lib.run import Run
from audit_lib.worker_processes import WorkerProcess, ask_all

SAMPLE: Final = "sample"
TREE: Final = "tree of records"
REDACTED: Final = "redacted tables"
_SHARD: Final = "scores/"
_LONG: Final = ("variants", "validation", REDACTED, "metrics", TREE, "report")
"""Checks that take longest, which are begun first."""


def check(work: Work, run: Run, manifest: Manifest | None, name: str) -> None:
    """Do one check."""
    if name == SAMPLE:
        check_sample(work, run)
    elif name == TREE:
        _check_tree(work, run, manifest)
    elif name == REDACTED:
        check_redacted(work, run, manifest)
    elif name.startswith(_SHARD):
        check_shard(work, run, name, manifest)
    else:
        recompute_stage(work, run, manifest, name)


def check_all(
    work: Work,
    run: Run,
    manifest: Manifest | None,
    names: Sequence[str],
    *,
    uri: str,
    processes: int,
    notify: Callable[[str], None],
) -> None:
    """Do checks, and take note of what they found in the order of their names.

    Parameters
    ----------
    work : Work
        Whose files were hashed; takes the findings.
    run : Run
    manifest : Manifest or None
    names : sequence of str
        Of the checks.
    uri : str
        Where other processes find the run.
    processes : int
        How many work at once; with one, this process does it all.
    notify : callable
        Told how far it is.

    Raises
    ------
    StoreUnreachableError
        If the store does not answer any more.
    """
    if processes == 1:
        found = _done_here(work, run, manifest, names, notify)
    else:
        found = _done_by_processes(work, manifest, names, uri, min(processes, len(names)), notify)
    scored = [name for name in names if name == SAMPLE or name.startswith(_SHARD)]
    for name in names:
        one = found[name]
        work.findings += one.findings
        work.notes += one.notes
        work.unrecomputed += one.unrecomputed
        work.numbers = one.numbers or work.numbers
        work.recomputed += [stage for stage in one.recomputed if stage not in scored]
        if scored and name == scored[-1] and all(found[each].recomputed for each in scored):
            if run.spec.model.answers_are_recorded:
                work.recomputed.append("scores")
            elif len(scored) > 1:
                work.notes.append(ATTESTED)


def _done_here(
    work: Work, run: Run, manifest: Manifest | None, names: Sequence[str], notify: Callable[[str], None]
) -> dict[str, Work]:
    found = {}
    shards = Progress("verify: shards of scores checked", sum(map(_is_shard, names)), notify)
    for name in names:
        if not _is_shard(name):
            notify(f"verify: {name} is computed again")
        found[name] = work.part()
        check(found[name], run, manifest, name)
        if _is_shard(name):
            shards.one_more()
    return found


def _done_by_processes(
    work: Work,
    manifest: Manifest | None,
    names: Sequence[str],
    uri: str,
    count: int,
    notify: Callable[[str], None],
) -> dict[str, Work]:
    found: dict[str, Work] = {}
    shards = Progress("verify: shards of scores checked", sum(map(_is_shard, names)), notify)
    processes = [
        WorkerProcess("audit_lib.archive.check_worker", state_of(work, manifest, uri)) for _ in range(count)
    ]

    def hear(name: str, answer: dict[str, Any]) -> None:
        if "unreachable" in answer:
            raise StoreUnreachableError(answer["unreachable"])
        found[name] = work.part()
        if (why := answer.get("stopped")) is not None:
            found[name].find("stopped", name, f"was not checked: the process that did it {why}")
        elif (why := answer.get("unchecked")) is not None:
            found[name].find("stopped", name, f"was not checked ({why})")
        else:
            take(found[name], answer)
        if _is_shard(name):
            shards.one_more()
        else:
            notify(f"verify: {name} was computed again; {len(found)} of {len(names)} checks are done")

    first = [name for name in _LONG if name in names]
    notify(f"verify: {len(names)} checks compute again, in {count} processes")
    try:
        ask_all(processes, [*first, *(one for one in names if one not in first)], _asked, hear)
    finally:
        for process in processes:
            process.end()
    return found


def _asked(name: str) -> dict[str, str]:
    return {"do": "check", "name": name}


def _is_shard(name: str) -> bool:
    return name.startswith(_SHARD)


def state_of(work: Work, manifest: Manifest | None, uri: str) -> dict[str, Any]:
    """Return what another process needs to know of a run whose files were hashed."""
    return {
        "uri": uri,
        "manifest": None if manifest is None else json.dumps(manifest.as_dict()),
        "digests": work.digests,
        "sizes": work.sizes,
        "level": work.level,
        "readable": work.readable,
        "withheld": sorted(work.withheld),
        "sealed_by_person": work.vault is not None,
    }


def told(part: Work) -> dict[str, Any]:
    """Return what a check found, for another process."""
    return {
        "findings": [[one.kind, one.path, one.detail] for one in part.findings],
        "notes": part.notes,
        "recomputed": part.recomputed,
        "unrecomputed": part.unrecomputed,
        "numbers": part.numbers,
    }


def take(part: Work, answer: Mapping[str, Any]) -> None:
    """Take what another process found."""
    part.findings += [
        EvidenceFinding(kind=kind, path=path, detail=detail) for kind, path, detail in answer["findings"]
    ]
    part.notes += answer["notes"]
    part.recomputed += answer["recomputed"]
    part.unrecomputed += answer["unrecomputed"]
    part.numbers = answer["numbers"]


def _check_tree(work: Work, run: Run, manifest: Manifest | None) -> None:
    """The tree over people's records, made again from the scores."""
    if manifest is None or manifest.record_tree is None:
        return
    path = f"evidence/{MANIFEST}"
    try:
        salts = leaf_salts(run) if manifest.record_tree.salted_leaves else None
        tree, _ = record_tree(run, manifest.stages, salts)
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("manifest", path, "its tree of records cannot be made again", error)
        return
    if tree != manifest.record_tree:
        work.find("manifest", path, "its tree of records is not that of the scores")
