r"""A panel from a table of scores, so that anybody's models can be studied.

The table is CSV in UTF-8 with a header: ``model``, ``group``, ``round`` and ``score``, and where they apply ``job``,
``task``, ``candidate``, ``qualified`` and ``inconsistent_share``. A line is one candidate of one round, as one model
scored it. A faulty table is refused with the number of the line.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import numpy as np

from audit_lib.documents.validity import StudiedModel
from audit_lib.errors import InputError
from audit_lib.measure.rows.pools import Pools
from audit_lib.registry import did_you_mean
from audit_lib.validity.pair_limits import SELECTION_LIMIT, VALIDITY_LIMIT
from audit_lib.validity.scored_panel import JobScores, ScoredPanel, pool_digest

REQUIRED: Final = ("model", "group", "round", "score")
OPTIONAL: Final = ("job", "task", "candidate", "qualified", "inconsistent_share")
_YES: Final = frozenset({"1", "true", "yes"})
_NO: Final = frozenset({"0", "false", "no"})
_DEFAULT: Final = {"job": "all", "task": "scores"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What a table does not say itself.

    Parameters
    ----------
    reference : str
        The group that all others are compared with.
    quotas : tuple of int
        Places of a round that are given out.
    title : str
        Of the page.
    bins : int
        Of the Jensen-Shannon divergence.
    level : float
        Of intervals.
    """

    reference: str
    quotas: tuple[int, ...] = (1, 2, 3, 4, 5)
    title: str = "Scores of several models"
    bins: int = 20
    level: float = 0.95


@dataclass(slots=True)
class _JobRows:
    """Rows of one model, task and job, as they are read."""

    score: list[float] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    round: list[str] = field(default_factory=list)
    qualified: list[int] = field(default_factory=list)
    candidate: list[str] = field(default_factory=list)
    seen: dict[tuple[str, str], int] = field(default_factory=dict)


def panel_of_table(content: bytes, options: TableOptions, where: str = "table") -> ScoredPanel:
    r"""Read a table of scores.

    Parameters
    ----------
    content : bytes
        CSV in UTF-8.
    options : TableOptions
        Reference, quotas and the like.
    where : str
        Its name, for messages.

    Raises
    ------
    InputError
        If a column is missing or unknown, or a line is not as it has to be; the message says which.

    Examples
    --------
    >>> lines = "model,group,round,score\nm,a,1,0.5\nm,b,1,x\n"
    >>> panel_of_table(lines.encode(), TableOptions(reference="b"))
    Traceback (most recent call last):
    audit_lib.errors.InputError: table: line 3: score 'x' is not a finite number; leave the cell empty for no answer
    """
    parts: dict[tuple[str, str, str], _JobRows] = {}
    shares: dict[tuple[str, str], float] = {}
    columns: tuple[str, ...] = ()
    for line, columns, row in _lines(content, where):
        model, task, job = row["model"], row["task"], row["job"]
        part = parts.setdefault((model, task, job), _JobRows())
        part.score.append(_score(row["score"], f"{where}: line {line}"))
        part.group.append(row["group"])
        part.round.append(row["round"])
        part.qualified.append(_qualified(row["qualified"], f"{where}: line {line}"))
        if "candidate" in columns:
            key = (row["round"], row["candidate"])
            if key in part.seen:
                raise InputError(
                    f"{where}: line {line}: candidate {row['candidate']!r} stands in round {row['round']!r} of "
                    f"{model!r} and {job!r} already, in line {part.seen[key]}"
                )
            part.seen[key] = line
            part.candidate.append(row["candidate"])
        share = _share(row["inconsistent_share"], f"{where}: line {line}")
        if share is not None and shares.setdefault((model, task), share) != share:
            raise InputError(
                f"{where}: line {line}: inconsistent_share {share:g}, but {shares[model, task]:g} before; a model has "
                "one share a task"
            )
    if not parts:
        raise InputError(f"{where}: no line after the header")
    groups = sorted({name for part in parts.values() for name in part.group if name})
    if options.reference not in groups:
        raise InputError(
            f"{where}: no line is of the reference group {options.reference!r}"
            f"{did_you_mean(options.reference, groups)}; the groups are {', '.join(groups)}"
        )
    ordered = (*(name for name in groups if name != options.reference), options.reference)
    scores = tuple(_scores(key, part, ordered) for key, part in parts.items())
    return ScoredPanel(
        title=options.title,
        source="table",
        design=sha256(content).hexdigest(),
        groups=ordered,
        quotas=options.quotas,
        bins=options.bins,
        level=options.level,
        same_pools="candidate" in columns and _same_pools(parts),
        models=_models(scores, shares),
        scores=scores,
    )


def _lines(content: bytes, where: str) -> Iterator[tuple[int, tuple[str, ...], dict[str, str]]]:
    """Yield each line's number, the columns, and its cells; columns that are not there have their default."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{where}: line {line}: is not UTF-8; save the table as UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise InputError(f"{where}: is empty; the first line names the columns {', '.join(REQUIRED)}")
        columns = tuple(name.strip() for name in header)
        _check_columns(columns, where)
        defaults = {name: _DEFAULT.get(name, "") for name in OPTIONAL}
        named = [name for name in ("model", "round", "job", "task", "candidate") if name in columns]
        start = reader.line_num + 1
        for cells in reader:
            line, start = start, reader.line_num + 1
            if len(cells) != len(columns):
                raise InputError(f"{where}: line {line}: {len(cells)} cells for {len(columns)} columns")
            row = defaults | dict(zip(columns, (cell.strip() for cell in cells), strict=True))
            for name in named:
                if not row[name]:
                    raise InputError(f"{where}: line {line}: no {name}")
            yield line, columns, row
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.line_num}: {error}") from None


def _check_columns(columns: Sequence[str], where: str) -> None:
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise InputError(
            f"{where}: line 1: no column {', '.join(missing)}; needed are {', '.join(REQUIRED)}, and where they apply "
            f"{', '.join(OPTIONAL)}"
        )
    for name in columns:
        if name not in (*REQUIRED, *OPTIONAL):
            near = did_you_mean(name, [*REQUIRED, *OPTIONAL])
            raise InputError(f"{where}: line 1: column {name!r} is not known{near}; leave it out")
        if columns.count(name) > 1:
            raise InputError(f"{where}: line 1: column {name!r} stands there twice")


def _score(cell: str, where: str) -> float:
    if not cell:
        return math.nan
    try:
        score = float(cell)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(
            f"{where}: score {cell!r} is not a finite number; leave the cell empty for no answer"
        )
    return score


def _qualified(cell: str, where: str) -> int:
    if not cell:
        return -1
    if cell.lower() in _YES | _NO:
        return int(cell.lower() in _YES)
    raise InputError(f"{where}: qualified {cell!r} is not yes, no, true, false, 1, 0 or empty")


def _share(cell: str, where: str) -> float | None:
    if not cell:
        return None
    try:
        share = float(cell)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(f"{where}: inconsistent_share {cell!r} is not a share from 0 to 1")
    return share


def _scores(key: tuple[str, str, str], part: _JobRows, groups: Sequence[str]) -> JobScores:
    rounds, codes = np.unique(np.array(part.round), return_inverse=True)
    places = {name: number for number, name in enumerate(groups)}
    score, group = np.array(part.score), np.array([places.get(name, -1) for name in part.group])
    # In an order of their own, so that the order of the lines changes no number.
    order = np.lexsort((score, group, codes))
    score, codes = score[order], codes[order].astype(np.int64)
    return JobScores(
        model=key[0],
        task=key[1],
        job=key[2],
        score=score,
        group=group[order],
        round=codes,
        rounds=tuple(rounds.tolist()),
        qualified=np.array(part.qualified, np.int8)[order],
        pools=Pools.of(score, codes),
    )


def _same_pools(
    parts: dict[tuple[str, str, str], _JobRows],
) -> bool:
    found: dict[tuple[str, str], set[bytes]] = {}
    jobs: dict[tuple[str, str], set[str]] = {}
    for (model, task, job), part in parts.items():
        digest = pool_digest(part.round, part.candidate, part.group, part.qualified)
        found.setdefault((task, job), set()).add(digest)
        jobs.setdefault((model, task), set()).add(job)
    alike = {(task, frozenset(own)) for (_, task), own in jobs.items()}
    return all(len(own) == 1 for own in found.values()) and len(alike) == len({task for _, task in jobs})


def _models(scores: Sequence[JobScores], shares: dict[tuple[str, str], float]) -> tuple[StudiedModel, ...]:
    keys = dict.fromkeys((one.model, one.task) for one in scores)
    found = []
    for model, task in keys:
        own = [one for one in scores if (one.model, one.task) == (model, task)]
        share = shares.get((model, task))
        found.append(
            StudiedModel(
                label=model,
                task=task,
                model=model,
                revision=None,
                run=None,
                manifest_sha256=None,
                valid_judge=None,
                jobs=tuple(one.job for one in own),
                rounds=sum(len(one.rounds) for one in own),
                rows=sum(one.score.size for one in own),
                scored=int(sum((~np.isnan(one.score)).sum() for one in own)),
                unknown_group=int(sum((one.group < 0).sum() for one in own)),
                answers=None,
                inconsistent_share=share,
                left_out_of_validity=share is not None and share > VALIDITY_LIMIT,
                left_out_of_selection=share is not None and share > SELECTION_LIMIT,
            )
        )
    return tuple(found)
