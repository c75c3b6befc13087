"""Made-up panels: tables of scores, with what was planted in each model."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from audit_lib.validity import ScoredPanel, TableOptions, panel_of_table

GROUPS = ("Asian women", "Black men", "White men")
COLUMNS = ("model", "job", "group", "candidate", "round", "score", "qualified")


def lines(models: int = 4, jobs: int = 2, rounds: int = 40, seed: int = 5) -> Iterator[dict[str, Any]]:
    """Yield rows: skewed probabilities whose groups differ by model."""
    rng = np.random.Generator(np.random.PCG64(seed))
    for m in range(models):
        centre, scale, bias = rng.normal(-2, 1.5), np.exp(rng.normal(0, 0.5)), rng.normal(0, 0.5, len(GROUPS))
        for j in range(jobs):
            for r in range(rounds):
                for g, group in enumerate(GROUPS):
                    score = 1 / (1 + np.exp(-(centre + scale * (rng.normal() + bias[g]))))
                    yield {
                        "model": f"m{m + 1}",
                        "job": f"job {j + 1}",
                        "group": group,
                        "candidate": f"c{r}{g}",
                        "round": f"r{r}",
                        "score": repr(float(score)),
                        "qualified": "yes" if (r + g) % 2 else "no",
                    }


def table(rows: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> bytes:
    """Write rows as the CSV that the command reads."""
    rows = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def panel(rows: list[dict[str, Any]] | None = None, **options: Any) -> ScoredPanel:
    """Read a panel; rows of `lines` unless given."""
    given = {"reference": "White men", "quotas": (1, 2)} | options
    return panel_of_table(table(list(lines()) if rows is None else rows), TableOptions(**given))
