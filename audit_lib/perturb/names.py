"""Names that signal a group: chosen by their shares, and alike between groups in all else that a table tells.

Which names are taken is a design choice that moves results, so each rule is a key of the spec, and what it left
stands in ``design.json``: how many names, how common and how long they are, by group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite, log1p
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.design import GroupNames, LargestDifference, Names
from audit_lib.errors import LexiconError
from audit_lib.seeds import generator

if TYPE_CHECKING:
    from audit_lib.spec import Perturb

ListedName = Mapping[str, str]
"""A row of the list of names, by column."""
Group = tuple[str, ...]
Unique = Literal["no", "within_group", "across_groups"]

KEY: Final = "perturb.names"
_BEARERS: Final = ("first_name_bearers", "last_name_bearers")
_SHARES: Final = ("first_name_share", "last_name_share")
_LENGTHS: Final = ("first_name", "last_name")


def choose_names(
    rows: Sequence[ListedName], axes: Sequence[str], groups: Sequence[Group], settings: Perturb, seed: int
) -> tuple[dict[Group, list[ListedName]], Names]:
    """Return each group's names under the spec's rules, and the account of them for ``design.json``.

    Parameters
    ----------
    rows : sequence of mapping
        The table: ``first_name``, ``last_name``, a column for each of `axes`, and what the rules need.
    axes : sequence of str
        Attributes that the table signals.
    groups : sequence of tuple
        Levels of these attributes, one tuple a group.
    settings : Perturb
        Thresholds, uniqueness, and how many names a group keeps.
    seed : int
        The audit's.

    Raises
    ------
    LexiconError
        If a column is missing or holds no number, or fewer names are left than asked for.
    """
    for line, row in enumerate(rows, start=2):
        for column in (*_SHARES, *_BEARERS):
            if column in row:
                number(row, column, line)  # a table that is wrong anywhere is not chosen from
    floors = {
        "first_name_share": settings.minimum_first_share,
        "last_name_share": settings.minimum_last_share,
    }
    kept = [
        row
        for line, row in enumerate(rows, start=2)
        if all(number(row, column, line) >= floor for column, floor in floors.items() if floor is not None)
    ]
    names = {group: [row for row in kept if tuple(row[axis] for axis in axes) == group] for group in groups}
    if settings.unique_first_names != "no":
        names = _unique(names, settings.unique_first_names)
    eligible = {group: len(members) for group, members in names.items()}
    least = settings.names_per_group or settings.names_per_cell
    for group, members in names.items():
        if len(members) < least:
            wanted = "names_per_group" if settings.names_per_group else "names_per_cell"
            raise LexiconError(
                f"{KEY}: {len(members)} names for {' '.join(group)}, and {wanted} is {least}; add names or lower it"
            )
    largest = None
    if settings.names_per_group is not None:
        names, largest = _balanced(names, settings.names_per_group, seed)
    return names, Names(
        groups=tuple(
            GroupNames(
                group=dict(zip(axes, group, strict=True)),
                eligible=eligible[group],
                names=len(names[group]),
                **_means(names[group]),
            )
            for group in groups
        ),
        largest_difference_in_sd=largest,
    )


def number(row: ListedName, column: str, line: int) -> float:
    """Return a number of the table: a share from 0 to 1, or a count.

    Raises
    ------
    LexiconError
        If the column is not there, or holds something else.
    """
    share = column.endswith("_share")
    try:
        found = float(row[column])
    except KeyError:
        raise LexiconError(f"{KEY}: no column {column!r}, which a key of the spec needs") from None
    except ValueError:
        raise LexiconError(f"{KEY}: line {line}: {column} is not a number") from None
    if not isfinite(found) or found < 0 or (share and found > 1):
        wanted = "a share from 0 to 1 (90% is 0.9)" if share else "a number of people, 0 or more"
        raise LexiconError(f"{KEY}: line {line}: {column} is {row[column].strip()}, not {wanted}")
    return found


def _unique(names: Mapping[Group, list[ListedName]], rule: Unique) -> dict[Group, list[ListedName]]:
    """Drop repeats of a first name in a group and, across groups, names that several groups share."""
    first_of = {
        group: list({row["first_name"].casefold(): row for row in reversed(members)}.values())[::-1]
        for group, members in names.items()
    }
    if rule == "within_group":
        return first_of
    shared = Counter(row["first_name"].casefold() for members in first_of.values() for row in members)
    return {
        group: [row for row in members if shared[row["first_name"].casefold()] == 1]
        for group, members in first_of.items()
    }


def _covariates(members: Sequence[ListedName]) -> NDArray[np.float64]:
    """Return how common (log scale, where the table says) and how long each name is."""
    columns = [[float(len(row[column])) for row in members] for column in _LENGTHS]
    columns += [
        [log1p(number(row, column, 0)) for row in members]
        for column in _BEARERS
        if members and column in members[0]
    ]
    return np.array(columns).T


def _balanced(
    names: Mapping[Group, list[ListedName]], size: int, seed: int
) -> tuple[dict[Group, list[ListedName]], LargestDifference]:
    """Choose `size` names of each group so that means of the covariates are alike: exchanges from a seeded draw."""
    table = {group: _covariates(members) for group, members in names.items()}
    everything = np.concatenate(list(table.values()))
    spread = everything.std(axis=0)
    scaled = {group: values / np.where(spread > 0, spread, 1.0) for group, values in table.items()}
    target = np.mean([values.mean(axis=0) for values in scaled.values()], axis=0)
    chosen: dict[Group, list[int]] = {}
    for group, values in scaled.items():
        inside = sorted(generator(seed, "names", *group).permutation(len(values))[:size].tolist())
        while True:
            outside = [place for place in range(len(values)) if place not in inside]
            if not outside:
                break
            gap = values[inside].mean(axis=0) - target
            moved = gap + (values[outside][None] - values[inside][:, None]) / size
            cost = np.round((moved**2).sum(axis=-1), 12)
            if cost.min() >= round(float((gap**2).sum()), 12):
                break
            out, into = np.unravel_index(int(cost.argmin()), cost.shape)
            inside = sorted([*(place for place in inside if place != inside[int(out)]), outside[int(into)]])
        chosen[group] = inside
    largest = LargestDifference(
        all_eligible=_largest(list(scaled.values())),
        chosen=_largest([values[chosen[group]] for group, values in scaled.items()]),
    )
    return {group: [names[group][place] for place in inside] for group, inside in chosen.items()}, largest


def _largest(values: Sequence[NDArray[np.float64]]) -> float:
    """Return the largest difference between two groups' means, in standard deviations of all names."""
    means = np.array([group.mean(axis=0) for group in values])
    return round(float(np.ptp(means, axis=0).max()), 6)


def _means(members: Sequence[ListedName]) -> dict[str, float]:
    found: dict[str, float] = {}
    for column in _LENGTHS:
        found[f"mean_{column}_letters"] = round(float(np.mean([len(row[column]) for row in members])), 4)
    for column in (*_SHARES, *_BEARERS):
        if column in members[0]:
            found[f"mean_{column}"] = round(float(np.mean([number(row, column, 0) for row in members])), 4)
    return found
