"""Decide which layout, producer, seed and kind each file has."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from random import Random

from benchmarks.published_fifth.draw import make_draw
from benchmarks.published_fifth.faults import KINDS, with_fault
from benchmarks.published_fifth.layouts import LAYOUTS
from benchmarks.published_fifth.model import Draw, Layout

CLEAN, FAULTS, SCAN_CLEAN, SCAN_FAULTS = 100, 300, 2, 6


@dataclass
class Job:
    """One file to write, or a file with a fault and its twin."""

    layout: Layout
    producer: str
    seed: str
    kind: str
    detail: str
    clean: Draw
    fault: Draw | None = None
    again: int = 0


def combos() -> list[tuple[Layout, str]]:
    """Every layout with each of its producers."""
    return [(layout, producer) for layout in LAYOUTS for producer in layout.producers]


def spread(total: int, per_scan: int, rng: Random) -> list[tuple[Layout, str]]:
    """So many places, spread evenly over all but the scans, which have a fixed number each."""
    scans = [one for one in combos() if one[1].startswith("scan")]
    rest = [one for one in combos() if not one[1].startswith("scan")]
    out = [one for one in scans for _ in range(per_scan)]
    left = total - len(out)
    out += [one for one in rest for _ in range(left // len(rest))]
    out += rng.sample(rest, left % len(rest))
    return out


def seed_of(seed: str, layout: Layout, producer: str, place: int, part: str, again: int) -> str:
    """The seed of one file."""
    return f"{seed}|{layout.name}|{producer}|{part}|{place}|{again}"


def clean_jobs(seed: str) -> list[Job]:
    """The clean files, in an order that tells nothing."""
    rng = Random(f"{seed}|clean")
    places = spread(CLEAN, SCAN_CLEAN, rng)
    rng.shuffle(places)
    out = []
    for place, (layout, producer) in enumerate(places):
        one = seed_of(seed, layout, producer, place, "clean", 0)
        out.append(Job(layout, producer, one, "clean", "", make_draw(layout, producer, one)))
    return out


def _is_on_the_page(layout: Layout, draw: Draw, detail: str) -> bool:
    """Whether both of two dates are printed: a layout may give a fact once, and then one of them."""
    if " in one place and " not in detail:
        return True
    first, second = detail.removesuffix(" in another").split(" in one place and ")
    page = repr(layout.compose(deepcopy(draw)))
    # "the audit is dated May 2, 2026", "the distribution date is 2 May 2026"
    return second in page and re.split(r" is dated | date is ", first)[-1] in page


def find_fault(seed: str, layout: Layout, producer: str, place: int, kind: str, first: int = 0) -> Job | None:
    """The first draw into which this kind of fault fits."""
    for again in range(first, first + 12):
        one = seed_of(seed, layout, producer, place, "fault", again)
        draw = make_draw(layout, producer, one)
        made = with_fault(draw, kind, one)
        if made and _is_on_the_page(layout, *made):
            return Job(layout, producer, one, kind, made[1], draw, made[0], again)
    return None


def fault_jobs(seed: str) -> list[Job]:
    """The files with one fault each."""
    rng = Random(f"{seed}|faults")
    places = spread(FAULTS, SCAN_FAULTS, rng)
    rng.shuffle(places)
    every = [kind for kind, (count, _) in KINDS.items() for _ in range(count)]
    halves = {"learn": every[::2], "held": every[1::2]}
    for half in halves.values():
        rng.shuffle(half)
    out: list[Job] = []
    for place, (layout, producer) in enumerate(places):
        own, other = halves[layout.part], halves["held" if layout.part == "learn" else "learn"]
        for kind in list(dict.fromkeys(own + other)):
            job = find_fault(seed, layout, producer, place, kind)
            if job:
                (own if kind in own else other).remove(kind)
                out.append(job)
                break
        else:
            raise RuntimeError(f"no kind fits {layout.name} by {producer}")
    return out


def redraw(seed: str, job: Job, place: int) -> Job:
    """The next draw for a job whose page did not fit."""
    again = job.again + 1
    if job.fault is None:
        one = seed_of(seed, job.layout, job.producer, place, "clean", again)
        return Job(
            job.layout, job.producer, one, "clean", "", make_draw(job.layout, job.producer, one), None, again
        )
    found = find_fault(seed, job.layout, job.producer, place, job.kind, again)
    if found is None:
        raise RuntimeError(f"no draw for {job.kind} in {job.layout.name}")
    return found
