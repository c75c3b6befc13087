"""Pages of different employers whose tables have equal counts.

That is a fact about numbers and no more: in some cases an employer may rely on data of several
employers (6 RCNY 5-302).
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from audit_lib.documents.published_pages import PageFacts, SeenPage, SharedCounts


def shared_counts(pages: Iterable[tuple[SeenPage, PageFacts]]) -> Iterator[SharedCounts]:
    """Yield the groups of pages, of two employers or more, that have a table with equal counts; the largest first.

    Parameters
    ----------
    pages : iterable of (SeenPage, PageFacts)
        Those that are there now, and what they say. Tables whose counts are few or small are in no facts.
    """
    having: dict[str, dict[int, int]] = defaultdict(dict)
    known = list(pages)
    for number, (_, facts) in enumerate(known):
        for table in facts.counted:
            having[table.sha256][number] = table.people
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for people in having.values():
        numbers = tuple(sorted(people))
        if len({same_name(known[number][0].listed.employer) for number in numbers}) > 1:
            groups[numbers].append(next(iter(people.values())))
    for numbers, sizes in sorted(groups.items(), key=lambda one: (-max(one[1]), one[0])):
        rows = [known[number][0] for number in numbers]
        snapshots = tuple(row.snapshot for row in rows if row.snapshot is not None)
        yield SharedCounts(
            pages=tuple(row.listed for row in rows),
            snapshots=snapshots,
            tables=len(sizes),
            people=max(sizes),
            same_bytes=len({one.sha256 for one in snapshots}) == 1,
        )


def same_name(name: str) -> str:
    """Return what two writings of one name share.

    Examples
    --------
    >>> same_name("ACME  Inc.") == same_name("Acme Inc.")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
