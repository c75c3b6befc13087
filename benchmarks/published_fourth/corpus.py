"""Plan the files, draw each and its clean twin, and write them with their labels."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.published_fourth import faults
from benchmarks.published_fourth.audit import Audit
from benchmarks.published_fourth.draw import Taste, audit
from benchmarks.published_fourth.layout import Layout, NoFitError
from benchmarks.published_fourth.layout_exports import gdocs_notion
from benchmarks.published_fourth.layout_one_table import one_table
from benchmarks.published_fourth.layout_sheet import fact_sheet
from benchmarks.published_fourth.layout_text import pre_text
from benchmarks.published_fourth.layouts_cards import dl_cards, matrix_side
from benchmarks.published_fourth.layouts_office import excel_workbook, word_memo
from benchmarks.published_fourth.layouts_repeated import job_families, years_archive
from benchmarks.published_fourth.layouts_reports import consultancy_report, two_column_brief
from benchmarks.published_fourth.layouts_sites import corp_careers, vendor_grid
from benchmarks.published_fourth.notation import percent
from benchmarks.published_fourth.sentences import LAWFUL

SEED = 20261129
PARTS: dict[str, tuple[Layout, ...]] = {
    "learn": (
        corp_careers, consultancy_report, word_memo, excel_workbook, pre_text, dl_cards, two_column_brief,
    ),
    "held": (
        vendor_grid, matrix_side, job_families, years_archive, gdocs_notion, one_table, fact_sheet,
    ),
}  # fmt: skip
LAYOUTS = {layout.name: layout for layouts in PARTS.values() for layout in layouts}
CLEAN, FAULTY = 5, 10  # files of each layout
TRIES = 60


@dataclass(frozen=True)
class Job:
    number: int
    part: str
    name: str  # of the layout
    producer: str
    kind: str | None  # of fault
    index: int  # for the seed, and for variants of style

    @property
    def layout(self) -> Layout:
        return LAYOUTS[self.name]

    def file(self, folder: str) -> str:
        return f"{folder}/{self.number:03d}.{self.producer.split('-')[0]}"


def plan(seed: int = SEED) -> list[Job]:
    """Kinds of fault and producers of a layout take turns; files of both parts are mixed."""
    wanted: list[tuple[str, str, str | None]] = []
    for part, layouts in PARTS.items():
        kinds = list(faults.KINDS)
        random.Random(f"{seed}{part}").shuffle(kinds)
        for at, layout in enumerate(layouts):
            turns = [kinds[(at * FAULTY + turn) % len(kinds)] for turn in range(FAULTY)]
            wanted += [(part, layout.name, kind) for kind in [None] * CLEAN + turns]
    random.Random(seed).shuffle(wanted)
    numbers: Counter[bool] = Counter()
    turns_taken: Counter[tuple[bool, str]] = Counter()
    jobs = []
    for part, name, kind in wanted:
        faulty, producers = kind is not None, LAYOUTS[name].producers
        producer = producers[turns_taken[faulty, name] % len(producers)]
        numbers[faulty] += 1
        turns_taken[faulty, name] += 1
        index = numbers[faulty] * 7 + turns_taken[faulty, name] // len(producers)
        jobs.append(Job(numbers[faulty], part, name, producer, kind, index))
    return jobs


def taste(job: Job) -> Taste:
    """The layout's, where the fault can be seen."""
    found = job.layout.taste
    if job.kind in ("wrong_rate", "wrong_count", "rate_above_100"):
        found = replace(found, selected=1)
    if job.kind == "stale_audit":
        found = replace(found, dated=True)
    if job.kind == "synthetic_unexplained":
        found = replace(found, test_data=0)
    if job.kind in ("wrong_rate", "wrong_count", "wrong_impact_ratio", "ratio_above_1"):
        found = replace(found, rates=tuple(rate for rate in found.rates if rate != percent(0)))
    return found


def lawful(made: Audit) -> bool:
    """Whether the dates could stand on a lawful page."""
    page = made.dated or made.audited
    return (
        0 <= (page - made.audited).days < 360
        and (made.distributed <= page or not made.dated)
        and all(group.start < group.end < group.audited for group in made.groups)
    )


def drawn(job: Job, seed: int, attempt: int) -> tuple[Audit, Audit, str]:
    """The file's audit, that of its clean twin, and the fault in words."""
    rng = random.Random(f"{seed}-{job.index}-{job.name}-{job.kind}-{attempt}")
    clean = audit(rng, taste(job))
    clean.variant, clean.lawful = job.index, rng.choice(LAWFUL)
    if clean.lawful and clean.scoring and "selection" in clean.lawful:
        clean.lawful = None
    if job.kind == "bias_free_claim":
        clean.lawful = None
    if not lawful(clean):
        raise faults.NoRoomError
    shown = deepcopy(clean)
    matrix = job.name == matrix_side.name
    detail = faults.apply(shown, job.kind, rng, matrix=matrix) if job.kind else ""
    return shown, clean, detail


def make(job: Job, folder: Path, seed: int) -> list[dict]:
    """Write a file, and its twin where it has a fault; return their labels."""
    place = "faults" if job.kind else "clean"
    for attempt in range(TRIES):
        try:
            shown, clean, detail = drawn(job, seed, attempt)
            job.layout.write(shown, job.producer, folder / job.file(place))
            if job.kind:
                job.layout.write(clean, job.producer, folder / job.file("twins"))
        except (faults.NoRoomError, NoFitError):
            continue
        same = {"part": job.part, "layout": job.name, "producer": job.producer}
        label = {"file": job.file(place), **same, "kind": job.kind or "clean", "detail": detail}
        twin = {"file": job.file("twins"), **same, "kind": "clean", "detail": ""}
        return [label, twin] if job.kind else [label]
    msg = f"{job.name} has no room for {job.kind}"
    raise RuntimeError(msg)


def write(folder: Path, part: str, seed: int = SEED, processes: int = 2) -> list[dict]:
    """Write the files of a part, or of all, and ``labels.json``; return the labels."""
    for name in ("clean", "faults", "twins"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    jobs = [job for job in plan(seed) if part in (job.part, "all")]
    one: Callable[[Job], list[dict]] = partial(make, folder=folder, seed=seed)
    with ProcessPoolExecutor(processes) as pool:
        labels = [label for made in pool.map(one, jobs) for label in made]
    labels.sort(key=lambda label: label["file"])
    (folder / "labels.json").write_text(json.dumps(labels, indent=1, ensure_ascii=False))
    return labels
