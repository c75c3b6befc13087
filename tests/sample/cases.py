"""A small log of applicants, written in every format, and the stage run on it."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.records import from_parquet
from audit_lib.run import Run, StageOutput
from audit_lib.sample import sample
from audit_lib.window import Window
from tests.specs import load

WEEK = Window.parse("2026-01-05", "2026-01-12")


def people(count: int = 12) -> list[dict[str, Any]]:
    """Applicants for two positions, in both sexes and two races, through the week and the next."""
    return [
        {
            "prompt_id": f"p{index:03d}",
            "application_id": f"a{index:03d}",
            "position": "retail" if index % 3 else "finance",
            "resume": f"Resume no. {index}, with a comma and a\nline break",
            "sex": "female" if index % 2 else "male",
            "race": "White" if index % 4 < 2 else "Black",
            "occurred_at": f"2026-01-{5 + index:02d}T12:00:00+00:00",
            "qualified": bool(index % 2),
            "recorded_score": index / 8,
        }
        for index in range(count)
    ]


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """Write rows in the format that the name tells."""
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    if ".csv" in name:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        content = text.getvalue().encode()
    else:
        content = jsonl(rows)
    path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
    return path


def run(folder: Path, window: Window = WEEK, **sections: Any) -> StageOutput:
    """Run the stage on the base spec with sections replaced."""
    source = {"windowed": True, **sections.pop("source", {})}
    spec = load(folder, source=source, **sections)
    return sample(Run.open(spec, window, str(folder / "store")))


def prompts(output: StageOutput) -> pd.DataFrame:
    return from_parquet(output.artefacts["prompts.parquet"])


def document(output: StageOutput) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(output.artefacts["sample.json"])
    return record
