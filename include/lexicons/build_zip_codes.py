"""Choose the ZIP codes of ``signals/zip_code.csv``: ``python build_zip_codes.py FOLDER [OUTPUT]``.

FOLDER holds ``prob_race_given_zcta_2010.csv`` and ``prob_zcta_given_race_2010.csv``; SOURCES.md says where
they come from. One labour market, so that a ZIP code says group and not region: New York City without
Manhattan, whose rents would make it a signal of income. Of its areas with at least 15,000 people the four with
the highest share of each group.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

AREAS = ("103", "104", "111", "112", "113", "114", "116")  # Staten Island, Bronx, Brooklyn, Queens
SMALLEST = 15_000
PER_GROUP = 4
COLUMN = {"White": "white", "Black": "black", "Asian": "api", "Hispanic": "hispanic"}
WHITE_NOT_HISPANIC = 196_817_552  # people counted in 2010, which turns a share of all of them into a count


def build(tables: Path) -> pd.DataFrame:
    """Return race, ZIP code, the group's share of the area's people and their number, best first."""
    shares = _table(tables / "prob_race_given_zcta_2010.csv")
    spread = _table(tables / "prob_zcta_given_race_2010.csv")
    people = (spread["white"] * WHITE_NOT_HISPANIC / shares["white"]).round()
    eligible = shares[shares.index.str[:3].isin(AREAS) & (people >= SMALLEST)]
    parts = []
    for race, column in COLUMN.items():
        chosen = eligible.sort_index().nlargest(PER_GROUP, column)[column]
        parts.append(
            pd.DataFrame(
                {
                    "race": race,
                    "zip_code": chosen.index,
                    "share": chosen.to_numpy().round(3),
                    "people": people[chosen.index].astype(int).to_numpy(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"zcta5": str}).set_index("zcta5")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    output = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parent / "signals" / "zip_code.csv"
    table = build(Path(sys.argv[1]))
    print(table.to_string(index=False))
    table[["race", "zip_code"]].to_csv(output, index=False, lineterminator="\n")
