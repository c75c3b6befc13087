"""Which rows and tables are there: categories of the policy, doubles, and rows with very few people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.published_tables import PublishedTable
from audit_lib.policies import Policy


def categories(table: PublishedTable, policy: Policy) -> Iterator[SummaryFinding]:
    """Yield rows that are no category of the table's family, and categories that have two rows."""
    labels = [row.label for row in table.of("category")]
    attributes = () if table.family is None else policy.family(table.family).attributes
    outside = [label.text for label in labels if not attributes or set(label.levels) != set(attributes)]
    if outside:
        yield SummaryFinding(
            id="category_outside_taxonomy",
            table=table.name,
            row="; ".join(dict.fromkeys(outside)),
            message="not a category of the EEO-1 report by sex, race/ethnicity or both, or not recognised as one",
        )
    keys = Counter(label.key for label in labels)
    for label in {label.key: label for label in labels}.values():
        if keys[label.key] > 1:
            message = f"{keys[label.key]} rows are read as {label.key!r}"
            yield SummaryFinding(id="duplicate_category", table=table.name, row=label.text, message=message)


def small_cells(table: PublishedTable, policy: Policy) -> Iterator[SummaryFinding]:
    """Yield the rows of a table with fewer people than the policy's small cell."""
    small = [
        f"{row.label.text}: {n}"
        for row in table.of("category")
        if (n := row.cell("applicants").count) is not None and n < policy.small_cell
    ]
    if small:
        yield SummaryFinding(
            id="small_cell",
            table=table.name,
            row="; ".join(small),
            message=f"fewer than {policy.small_cell} people: one decision moves such a rate by more than "
            f"{100 // policy.small_cell} percentage points",
        )


def doubles(tables: Sequence[PublishedTable]) -> Iterator[SummaryFinding]:
    """Yield tables that share kind, family and place with an earlier one."""
    seen: dict[tuple[str, str | None, str], PublishedTable] = {}
    for table in tables:
        key = (table.kind, table.family, table.place)
        # Captions of tables read from where words stand are not sure enough to tell two of them apart.
        if table.family is not None and not table.page and key in seen:
            yield SummaryFinding(
                id="duplicate_table",
                table=table.name,
                message=f"nothing tells it from table {seen[key].name}: name the position (or the classification "
                "group) in each caption",
            )
        seen.setdefault(key, table)


def missing(
    tables: Sequence[PublishedTable], policy: Policy, told: Sequence[SummaryFinding]
) -> Iterator[SummaryFinding]:
    """Yield categories that no table of their family has a row for, unless a finding named them already."""
    named = {row for finding in told for row in finding.row.split("; ")}
    for family in policy.families:
        chosen = [table for table in tables if table.family == family.name]
        present = [dict(row.label.levels) for table in chosen for row in table.of("category")]
        names = [
            category.label
            for category in policy.categories(family.name)
            if category.levels not in present
            and named.isdisjoint({category.label, *category.levels.values()})
        ]
        if chosen and names:
            yield SummaryFinding(
                id="category_missing",
                row="; ".join(names),
                message=f"no row in a table by {family.title.lower()}; a page should say so if nobody was assessed",
                rule=family.cite,
            )


def missing_families(tables: Sequence[PublishedTable], policy: Policy) -> Iterator[SummaryFinding]:
    """Yield the families of tables that the page does not have."""
    present = {table.family for table in tables}
    for family in policy.families:
        if family.name not in present:
            yield SummaryFinding(
                id="table_missing", message=f"no table by {family.title.lower()} was found", rule=family.cite
            )
            continue
        yield from _missing_at_places(tables, family.name, policy)


def _missing_at_places(
    tables: Sequence[PublishedTable], name: str, policy: Policy
) -> Iterator[SummaryFinding]:
    """Yield positions (or tools, or classifications) that lack one family of tables alone, where others have all."""
    family = policy.family(name)
    families: dict[str, set[str]] = {}
    for table in tables:
        families.setdefault(table.place, set()).add(str(table.family))
    every = {family.name for family in policy.families}
    for place, present in families.items():
        if every - present == {family.name} and any(every <= other for other in families.values()):
            yield SummaryFinding(
                id="table_missing",
                message=f"no table by {family.title.lower()} was found for {place or 'the first tables'!r}, and other "
                "tables have one",
                rule=family.cite,
                unsure="which tables belong together was read from the lines around them; look at the page",
            )
