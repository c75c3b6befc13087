"""Invented people, as a table and as the rows of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def people(n: int = 160, *, seed: int = 5) -> pd.DataFrame:
    """Two rows a person, eight in a round; some decisions, scores and groups are missing."""
    rng = np.random.default_rng(seed)
    index = np.arange(n)
    sex = np.where(index % 2, "female", "male").astype(object)
    score = np.round(rng.normal(np.where(index % 2, -0.4, 0.0)), 3)
    frame = pd.DataFrame(
        {
            "person": [f"a{i // 2:04d}" for i in index],
            "round": [f"r{i // 8:03d}" for i in index],
            "sex": sex,
            "race": np.where(index // 4 % 2, "Black", "White"),
            "job": np.where(index < n // 2, "cook", "driver"),
            "score": score,
            "hired": pd.array(score + rng.normal(size=n) > 0.2, dtype="boolean"),
            "able": pd.array(rng.random(n) < 0.6, dtype="boolean"),
        }
    )
    frame.loc[[3, 17], "hired"] = pd.NA
    frame.loc[[5], "score"] = np.nan
    frame.loc[[8, 9, 20], "sex"] = None
    return frame


def lines(frame: pd.DataFrame, *columns: str) -> list[dict[str, Any]]:
    """The same rows as a source of an audit gives them; `columns` of person, round, score, hired and able."""
    named = {"person": "application_id", "round": "round_id", "score": "recorded_score", "hired": "recorded_selected",
             "able": "qualified"}  # fmt: skip
    own = frame[[*columns, "sex", "race", "job"]].rename(columns=named).astype(object)
    own = own.where(own.notna(), None)
    return [
        {"prompt_id": f"p{i:05d}", "position": "all", "resume": "", **row}
        for i, row in enumerate(own.to_dict("records"))
    ]
