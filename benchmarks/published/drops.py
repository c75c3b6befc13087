"""A category dropped: from one kind of table, from all of them while totals hold its people, from everywhere."""

from __future__ import annotations

import copy
import random

from benchmarks.published.pages import Layout
from benchmarks.published.shown import Shown, best
from benchmarks.published.truth import RACES, Audit, Row, mark_excluded, top_is_clear

QUOTA = {"one family": 16, "totals hold them": 12, "everywhere": 12}


def tops(audit: Audit) -> set[str]:
    """Races that hold the highest rate of a table: without them ratios would change."""
    return {best(p.tables[f])[0] for p in audit.positions for f in ("race", "inter")}


def one_family(shown: Shown, layout: Layout, rng: random.Random) -> dict | None:
    families = ["race", "race", "inter", "sex"]
    family = rng.choice(families)
    position = rng.choice(shown.positions)
    table = position.tables[family]
    true = next(p for p in shown.audit.positions if p.name == position.name).tables[family]
    if family == "sex":
        gone = [row for row in table.rows if row.key != best(true)]
    else:
        races = [r for r in RACES if r not in tops(shown.audit)]
        race = rng.choice(races)
        gone = [row for row in table.rows if row.key[0] == race]
        if (
            family == "inter"
            and not layout.grid
            and layout.name not in ("rule", "transposed", "side", "split")
        ):
            gone = [rng.choice(gone)]
    if any(row.n == "0" for row in gone):
        return None
    table.rows = [row for row in table.rows if row not in gone]
    return {
        "position": position.name,
        "family": family,
        "category": gone[0].label,
        "keys": [list(row.key) for row in gone],
        "race": gone[0].race,
    }


def from_tables(shown: Shown, layout: Layout, rng: random.Random) -> dict | None:
    """Race and intersectional rows go; total rows and the table by sex still count the people."""
    if not shown.audit.listwise or not any(
        f in layout.totals and p.tables[f].total for p in shown.positions for f in ("race", "inter")
    ):
        return None
    race = rng.choice([r for r in RACES if r not in tops(shown.audit)])
    name = next(row.label for row in shown.positions[0].tables["race"].rows if row.key[0] == race)
    for position in shown.positions:
        for family in ("race", "inter"):
            table = position.tables[family]
            table.rows = [row for row in table.rows if row.key[0] != race]
    return {"family": "race", "category": name, "keys": [[race]], "race": shown.words.race[race]}


def everywhere(audit: Audit, rng: random.Random) -> tuple[Audit, str] | None:
    """The audit without one race: its people are in no table and in no total."""
    race = rng.choice([r for r in RACES if r not in tops(audit)])
    audit = copy.deepcopy(audit)
    for position in audit.positions:
        tables = position.tables
        for sex in "MF":
            cell = tables["inter"].pop((race, sex))
            row = tables["sex"][(sex,)]
            tables["sex"][(sex,)] = Row(row.n - cell.n, row.k - cell.k)
        tables["race"].pop((race,))
        if audit.exclusion:
            mark_excluded(tables)
        if not top_is_clear(tables):
            return None
    return audit, race
