"""Write the files and their labels."""

from __future__ import annotations

import json
from collections.abc import Collection
from copy import deepcopy
from pathlib import Path

from benchmarks.published_fifth.check import check_draw
from benchmarks.published_fifth.plan import Job, clean_jobs, fault_jobs, redraw
from benchmarks.published_fifth.produce import Producer, TooLongError, ending


def write_job(producer: Producer, job: Job, folder: Path, number: int) -> list[dict[str, str]]:
    """Write one clean file, or a file with a fault and its twin; return their labels."""
    name = f"{number:04d}.{ending(job.producer)}"
    common = {"layout": job.layout.name, "producer": job.producer, "part": job.layout.part}
    wrong = check_draw(job.clean)
    if wrong:
        raise RuntimeError(f"{job.seed}: {wrong}")
    out: list[dict[str, str]] = []
    todo = (
        [("clean", job.clean, "clean", "")]
        if job.fault is None
        else [
            ("faults", job.fault, job.kind.split(":")[0], job.detail),
            ("twins", job.clean, "clean", f"twin of faults/{name}, without its fault"),
        ]
    )
    for part, draw, kind, detail in todo:
        target = folder / part / name
        producer.write(job.layout.compose(deepcopy(draw)), job.producer, target, job.seed)
        out.append({"file": f"{part}/{name}", **common, "kind": kind, "detail": detail})
    return out


def write(folder: Path, seed: str, layouts: Collection[str], each: int) -> list[dict[str, str]]:
    """Write the files of some layouts (of all where none is named) and their labels; `each` bounds the jobs of a
    layout and producer, clean and with a fault."""
    for part in ("clean", "faults", "twins"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    producer = Producer()
    labels: list[dict[str, str]] = []
    seen: dict[tuple[str, str, bool], int] = {}
    for jobs in (clean_jobs(seed), fault_jobs(seed)):
        for place, job in enumerate(jobs):
            key = (job.layout.name, job.producer, job.fault is None)
            seen[key] = seen.get(key, 0) + 1
            if (layouts and job.layout.name not in layouts) or (each and seen[key] > each):
                continue
            for _ in range(30):
                try:
                    labels += write_job(producer, job, folder, place + 1)
                    break
                except TooLongError as why:
                    print(f"{job.layout.name} {job.producer}: drawn again ({str(why)[-300:]})")
                    job = redraw(seed, job, place)
            else:
                raise RuntimeError(f"{job.layout.name} by {job.producer} never fits")
    producer.finish()
    (folder / "labels.json").write_text(json.dumps(labels, indent=1, ensure_ascii=False), encoding="utf-8")
    return labels
