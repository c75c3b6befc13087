"""Labels that stand for several rows: merged cells whose text is beside one of the rows, and lines over sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from audit_lib.check.cut_words import whole_words
from audit_lib.check.headers import only_text
from audit_lib.check.row_labels import Label, read_label
from audit_lib.policies import Policy

UNNAMED: Final = (
    "the label of several rows was not found beside the first of them, and was taken from where it stands; look at the "
    "table"
)
CUT: Final = "the label of two rows was cut, as by a page's end, and put together from both; look at the page"
_HYPHEN: Final = re.compile(r"(?<=[a-z])- (?=[a-z])")  # where a line's end cut a word


def beside_each_row(
    rows: Sequence[Sequence[str]], labels: Sequence[int], policy: Policy
) -> list[Sequence[str]]:
    """Give each row the outer label that stands once for several rows, above, in the middle of or below them.

    Where a page says only where words stand, the rows of one label are those up to where an inner label comes again.
    Each such run must have one label of one category, and no two the same; else nothing is filled. Where one run alone
    has no label, as one that a page's end cut, it is of the one category that the others leave.
    """
    if len(labels) != 2:
        return list(rows)
    outer, inner = labels
    runs: list[list[int]] = []
    seen: set[str] = set()
    in_run = False
    for i, row in enumerate(rows):
        label = read_label([row[inner]], policy)
        if not label.levels or label.role != "category":
            in_run = False
            continue
        if not in_run or label.key in seen:
            runs.append([])
            seen = set()
        in_run = True
        seen.add(label.key)
        runs[-1].append(i)
    if all(rows[i][outer] for run in runs for i in run):
        return list(rows)
    names = [
        whole_words(_HYPHEN.sub("", " ".join(rows[i][outer] for i in run if rows[i][outer]))) for run in runs
    ]
    names = _with_the_last(names, policy)
    keys = [
        read_label([name], policy).key if len(read_label([name], policy).levels) == 1 else ""
        for name in names
    ]
    if not all(keys) or len(set(keys)) < len(keys):
        return list(rows)
    filled = [list(row) for row in rows]
    for run, name in zip(runs, names, strict=True):
        for i in run:
            filled[i][outer] = name
    return [tuple(row) for row in filled]


def with_whole_labels(
    rows: Sequence[Sequence[str]], labels: Sequence[int], policy: Policy
) -> list[Sequence[str]]:
    """Put together the outer label of two rows that a page's end cut, so that each of them has a part of it.

    Together the parts name one category, which no other row has with these inner labels, and one of them none.
    """
    if len(labels) != 2:
        return list(rows)
    outer, inner = labels
    found = [list(row) for row in rows]
    keys = [read_label([row[outer], row[inner]], policy).key for row in rows]
    for i in range(len(rows) - 1):
        texts = [rows[j][outer] for j in (i, i + 1)]
        inside = [read_label([rows[j][inner]], policy) for j in (i, i + 1)]
        named = [len(read_label([text], policy).levels) for text in texts]
        name = whole_words(" ".join(texts))
        whole = read_label([name], policy)
        if (
            not all(texts)
            or min(named) > 0
            or len(whole.levels) != 1
            or whole.role != "category"
            or inside[0].key == inside[1].key
            or not all(label.levels and label.role == "category" for label in inside)
        ):
            continue
        own = {read_label([name, rows[j][inner]], policy).key for j in (i, i + 1)}
        if own.isdisjoint(key for j, key in enumerate(keys) if j not in (i, i + 1)):
            found[i][outer] = found[i + 1][outer] = name
    return [tuple(row) for row in found]


def beside_each_place(
    rows: Sequence[Sequence[str]], place: int, labels: Sequence[int], policy: Policy
) -> list[Sequence[str]]:
    """Give each row the position (or tool) that stands once for several rows, beside any of them.

    The rows of one position are those up to where a category comes again; else it is the one above.
    """
    runs: list[list[int]] = []
    seen: set[str] = set()
    for i, row in enumerate(rows):
        label = read_label([row[j] for j in labels], policy)
        if only_text(row) or (not label.levels and label.role == "category"):
            continue
        if not runs or (label.role == "category" and label.key in seen):
            runs.append([])
            seen = set()
        seen |= {label.key} if label.role == "category" else set()
        runs[-1].append(i)
    if all(rows[i][place] for run in runs for i in run):
        return list(rows)
    names = [" ".join(dict.fromkeys(rows[i][place] for i in run if rows[i][place])) for run in runs]
    filled = [list(row) for row in rows]
    if all(names) and len(set(names)) == len(names):
        for run, name in zip(runs, names, strict=True):
            for i in run:
                filled[i][place] = name
    else:
        last = ""
        for i in (i for run in runs for i in run):
            last = filled[i][place] = filled[i][place] or last
    return [tuple(row) for row in filled]


def _with_the_last(names: Sequence[str], policy: Policy) -> list[str]:
    """Fill the one name that is lacking, if the others are all categories of its attribute but one."""
    levels = [dict(read_label([name], policy).levels) for name in names if name]
    attributes = {attribute for level in levels for attribute in level}
    if list(names).count("") != 1 or len(attributes) != 1 or not all(levels):
        return list(names)
    left = [
        category.name
        for attribute in policy.attributes
        if attribute.name in attributes
        for category in attribute.categories
        if category.name not in {level[attribute.name] for level in levels}
    ]
    return [name or left[0] for name in names] if len(left) == 1 else list(names)


def begins_unnamed(rows: Sequence[Sequence[str]], labels: Sequence[int], policy: Policy) -> bool:
    """Whether the first category of a table has an inner label and no outer one, which no cell above can fill."""
    if len(labels) != 2:
        return False
    outer, inner = labels
    first = next((row for row in rows if read_label([row[inner]], policy).levels), None)
    return first is not None and not first[outer] and not only_text(first)


def of_all_sections(sections: Sequence[tuple[str, Label]]) -> set[int]:
    """Return the rows that are a sum, or of unknown people, of the whole table though they stand in its last section.

    `sections` gives for each row the line over its section, and its own label. Sections that have sums of their own
    have as many as the first one; what the last one has more is about all.
    """
    titles = list(dict.fromkeys(title for title, _ in sections if title))
    if len(titles) < 2:
        return set()
    sums = {
        title: [
            i
            for i, (own, label) in enumerate(sections)
            if own == title and label.role != "category" and not label.levels
        ]
        for title in (titles[0], titles[-1])
    }
    return set(sums[titles[-1]][len(sums[titles[0]]) :])
