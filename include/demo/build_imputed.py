"""Writes imputed_decisions.csv: invented people, of whom only probabilities of two groups are known.

    python include/demo/build_imputed.py

The probabilities are right: of people with p_black 0.8, 80% are Black. Among people with the same probabilities Black
people are selected less often, which no weighting by the probabilities can show.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from random import Random

PEOPLE = 600
SHARES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
HEADER = ("person", "job", "decided", "decision", "p_black", "p_white", "p_other")


def rows(draw: Random) -> list[tuple[str, ...]]:
    """Return the people, in the order of their numbers."""
    found = []
    for number in range(PEOPLE):
        black = draw.choice(SHARES)
        white = round((1 - black) * 0.9, 3)
        is_black = draw.random() < black
        selected = draw.random() < (0.25 if is_black else 0.45)
        probabilities = (
            ("", "", "") if number % 100 == 99 else map(str, (black, white, round(1 - black - white, 3)))
        )
        found.append(
            (f"P-{number:04}", "Nurse" if number % 3 else "Driver", f"2026-01-{5 + number % 7:02}",
             "Advance" if selected else "Reject", *probabilities)
        )  # fmt: skip
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("imputed_decisions.csv")
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows(Random(11)))
