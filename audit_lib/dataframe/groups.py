"""Attributes of people, and their levels: from columns of labels, or from masks that say yes or no."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.dataframe.columns import GivenTable, labels, yes_or_no
from audit_lib.errors import InputError
from audit_lib.metrics._aligned import is_pandas
from audit_lib.metrics._arrays import in_order

GROUP: Final = "group"
"""The attribute that masks are the levels of."""

OURS: Final = (
    "application_id", "candidate", "model", "outcome", "position", "qualified", "recorded_selected", "round_id",
    "variant_id",
)  # fmt: skip
"""Columns of the rows that are no attribute."""

_MOST_LEVELS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenAttribute:
    """One attribute of people.

    Parameters
    ----------
    name : str
        As a spec may write it: lower case, digits, underscores.
    called : str
        As the table calls it.
    levels : tuple of str
        Its levels: in the order of an ordered categorical, else sorted.
    column : pyarrow.Array of str
        The level of each row; null where it is not known.
    """

    name: str
    called: str
    levels: tuple[str, ...]
    column: pa.Array


def attributes(given: Any, table: GivenTable, also: Sequence[Sequence[str]] | None) -> list[GivenAttribute]:
    """Read who belongs to which group.

    Parameters
    ----------
    given : str, list of str, array_like, mapping or DataFrame
        One column of labels or several, each an attribute; or masks: a mapping of label to mask, or a DataFrame of
        booleans, which are the levels of one attribute. A mapping of name to labels names attributes.
    table : GivenTable
        The rows.
    also : sequence of sequence of str or None
        Where given, masks may overlap: each is then an attribute of its own, with the levels yes and no.

    Raises
    ------
    InputError
        If masks overlap and `also` is not given, if booleans could be read either way, or a column has more levels
        than groups.

    Examples
    --------
    >>> table = GivenTable.read({"sex": ["f", "m", None], "young": [True, False, True]})
    >>> [(one.name, one.levels) for one in attributes(["sex", "young"], table, None)]
    [('sex', ('f', 'm')), ('young', ('no', 'yes'))]
    >>> attributes({"women": "young", "young": "young"}, table, None)
    Traceback (most recent call last):
    audit_lib.errors.InputError: groups: 2 rows are in 'women' and in 'young'; ...
    """
    columns = _columns(given, table)
    masks = len(columns) > 1 and all(pa.types.is_boolean(column.type) for column in columns.values())
    if not masks or also is not None:
        return _distinct([_attribute(name, column) for name, column in columns.items()])
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        raise InputError(
            f"groups: {_listed(columns)} are true and false, so each could be an attribute, or all of them the groups "
            f"of one; give {{'women': {next(iter(columns))!r}, ...}} for groups of one attribute, or also=[] for an "
            "attribute each"
        )
    return [_of_masks({name: yes_or_no(column, f"groups[{name!r}]") for name, column in columns.items()})]


def _columns(given: Any, table: GivenTable) -> dict[str, pa.ChunkedArray]:
    """Return the columns that were named or given, by what they are called."""
    if isinstance(given, str):
        return {given: table.column(given, "groups")}
    if isinstance(given, Mapping):
        return {str(name): table.column(one, f"groups[{name!r}]") for name, one in given.items()}
    if hasattr(given, "columns"):
        own = GivenTable.read(given)
        pandas = is_pandas(given, "DataFrame")
        return {
            name: table.column(given[name] if pandas else own.column(name, "groups"), f"groups[{name!r}]")
            for name in own.names
        }
    if isinstance(given, list | tuple) and all(isinstance(one, str) for one in given):
        names: list[str] = list(given)
        if len(names) != table.size or set(names) <= set(table.names):
            return {name: table.column(name, "groups") for name in names}
    return {GROUP: table.column(given, "groups")}


def _attribute(called: str, column: pa.ChunkedArray) -> GivenAttribute:
    coded = pa.types.is_dictionary(column.type) and column.type.ordered and len(column)
    ordered = labels(pa.chunked_array([column.chunk(0).dictionary]), called).to_pylist() if coded else None
    found = labels(column, f"groups ({called})")
    levels = [str(one) for one in in_order(pc.unique(found.drop_null()).to_pylist())]
    if ordered is not None:
        levels = [
            level for level in ordered if level in levels
        ]  # a category that nobody is of is no group here
    if len(levels) > _MOST_LEVELS:
        raise InputError(
            f"groups: {called!r} has {len(levels)} different values; is it an id, or a number to be cut into groups? "
            f"At most {_MOST_LEVELS} are compared"
        )
    if len(levels) < 2:
        there = f"only {levels[0]!r}" if levels else "no value at all"
        raise InputError(f"groups: {called!r} has {there}; a comparison needs two groups or more")
    return GivenAttribute(name=_plain(called), called=called, levels=tuple(levels), column=found)


def _of_masks(masks: Mapping[str, pa.Array]) -> GivenAttribute:
    """Make one attribute of masks of which no row is in two; a row in none of them has no known group."""
    members = {name: np.asarray(mask.fill_null(False)) for name, mask in masks.items()}
    column = np.full(len(next(iter(members.values()))), None, dtype=object)
    for name, member in members.items():
        for other in (before for before in members if before != name):
            if (both := int((member & members[other]).sum())) > 0:
                raise InputError(
                    f"groups: {both} rows are in {name!r} and in {other!r}; for groups that overlap add also=[], which "
                    "compares each mask's members with everybody else, or also=[[...]] with the masks to be crossed"
                )
        column[member] = name
    return _attribute(GROUP, pa.chunked_array([pa.array(column, pa.string())]))


def _distinct(found: list[GivenAttribute]) -> list[GivenAttribute]:
    for number, one in enumerate(found):
        for other in found[:number]:
            if one.name == other.name:
                raise InputError(
                    f"groups: {other.called!r} and {one.called!r} are both {one.name!r} in lower case; rename one"
                )
    return found


def _plain(called: str) -> str:
    """Return a name as a spec may write it."""
    words = re.sub(r"[^a-z0-9]+", "_", called.lower()).strip("_")[:60]
    name = words if words[:1].isalpha() else f"a_{words}".rstrip("_")
    return f"{name}_of_table" if name in OURS else name


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(map(repr, names))
