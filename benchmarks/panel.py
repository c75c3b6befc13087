"""How long a panel takes to compare: models x jobs x groups x rounds of recorded scores.

``python -m benchmarks.panel FOLDER [MODELS] [ROUNDS]`` makes the runs (once) and then times `compare` alone.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from audit_lib.compare import compare
from audit_lib.panel import open_panel, prepare
from audit_lib.pipeline import run_all
from audit_lib.spec import Panel, read_spec
from audit_lib.window import Window

JOBS = ("finance", "hr", "retail", "software")
SEXES, RACES = ("female", "male"), ("Asian", "Black", "Hispanic", "White")
SPEC = {
    "audit": "panel_benchmark",
    "title": "A panel of made-up models",
    "seed": 7,
    "source": {"windowed": False, "fields": ["resume"]},
    "groups": {
        "provenance": "self_reported",
        "attributes": {"sex": list(SEXES), "race": list(RACES)},
        "reference": {"sex": "male", "race": "White"},
    },
    "decision": {"rule": "top_k", "k": 2, "round": "round_id"},
    "measure": {
        "metrics": ["rabbi", "score_gap", "demographic_parity_gap", "equal_opportunity_gap", "impact_ratio"],
        "quotas": [1, 2, 3, 4, 5],
        "strata": [[], ["position"]],
    },
    "score": {"shards": 2, "ledger": "off"},
    "report": {"policy": "generic"},
}


def rows(model: int, rounds: int) -> pa.Table:
    """Return each job's rounds of eight, one of each group; models differ in what they add for a group."""
    shared, own = np.random.default_rng(1), np.random.default_rng(100 + model)
    size = (len(JOBS), rounds, len(SEXES), len(RACES))
    merit, tilt = shared.normal(0, 1, size), own.normal(0, 0.2, (1, 1, 2, 4))
    score = np.round(merit + tilt + own.normal(0, 0.5, size), 6).ravel()
    job, number, sex, race = (one.ravel() for one in np.indices(size))
    ids = [f"{JOBS[j]}-{r:04d}-{s}{q}" for j, r, s, q in zip(job, number, sex, race, strict=True)]
    return pa.table(
        {
            "prompt_id": ids,
            "application_id": ids,
            "position": [JOBS[j] for j in job],
            "round_id": [f"{JOBS[j]}-{r:04d}" for j, r in zip(job, number, strict=True)],
            "sex": [SEXES[s] for s in sex],
            "race": [RACES[q] for q in race],
            "qualified": (merit.ravel() > 0).tolist(),
            "resume": ids,
            "recorded_score": score,
            "recorded_model": [f"model-{model:02d}"] * len(ids),
        }
    )


def main() -> None:
    """Make the runs that are not there yet, and time the comparison."""
    folder, models, rounds = (
        Path(sys.argv[1]),
        int((sys.argv[2:] or ["10"])[0]),
        int((sys.argv[3:] or ["1000"])[0]),
    )
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for model in range(models):
        pq.write_table(rows(model, rounds), folder / f"model-{model:02d}.parquet")
        name = f"model-{model:02d}"
        listed.append({"backend": "recorded", "name": name, "source": {"paths": [f"{name}.parquet"]}})
    path = folder / "panel.yaml"
    path.write_text(yaml.safe_dump(SPEC | {"models": listed}, sort_keys=False), encoding="utf-8")
    spec = read_spec(path)
    assert isinstance(spec, Panel)
    panel = open_panel(spec, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    if not all(run.stage("evidence").is_complete() for run in panel.runs):
        prepare(panel)
        for run in panel.runs:
            run_all(run)
        print("made the runs; start again to time the comparison alone")
        return
    start, cpu = time.perf_counter(), time.process_time()
    made = compare(panel.runs)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{models} models x {len(JOBS)} jobs x 8 groups x {rounds} rounds: {time.perf_counter() - start:.1f} s "
          f"({time.process_time() - cpu:.1f} s CPU), {used:,.0f} MiB at most; "
          + ", ".join(f"{name} {len(content) / 1e6:.1f} MB" for name, content in made.items()))  # fmt: skip
    for name, content in made.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
