"""Render what was drawn, and write it with its labels."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.published import drops, faults, office, printed, web
from benchmarks.published.draw import VARIANTS, Base, bases, drop, fault, mixed, plan, scaled
from benchmarks.published.pages import Page
from benchmarks.published.shown import Shown


def write(
    half: str, folder: Path, seed: int, clean: int, faulty: int, dropped: int, *, render: bool = True
) -> list[dict]:
    """Write the files and ``labels.json``; return the labels."""
    found = bases(half, seed, clean)
    jobs, labels = [], []
    for name in ("clean", "faults", "dropped"):
        (folder / name).mkdir(parents=True, exist_ok=True)

    def add(place: str, name: str, base: Base, shown: Shown, label: dict) -> None:
        path = folder / place / (name + base.suffix())
        jobs.append((base.producer, base.variant, base.page(shown), path))
        where = {"layout": base.layout.name, "producer": base.producer, "variant": base.variant}
        twin = f"clean/{base.at:03d}{base.suffix()}"
        labels.append({"file": f"{place}/{path.name}", "clean": twin, **where, **label})

    for base in found:
        add("clean", f"{base.at:03d}", base, base.shown, {"kind": "clean"})
    quotas = scaled({kind: n for kind, (n, _) in faults.KINDS.items()}, faulty)
    limit, few = -(-faulty // clean) + 1, half == "third"
    for base, kind, shown, label in plan(found, quotas, fault, limit, 1 if few else limit):
        name = f"{base.at:03d}-{kind.replace(' ', '-').replace('/', '')}"
        add("faults", name, base, shown, {"kind": kind, **label})
    for base, kind, shown, label in plan(found, scaled(drops.QUOTA, dropped), drop, 1, 0 if few else 1):
        add(
            "dropped",
            f"{base.at:03d}-{kind.replace(' ', '-')}",
            base,
            shown,
            {"kind": f"dropped: {kind}", **label},
        )
    (folder / "labels.json").write_text(json.dumps(labels, indent=1, ensure_ascii=False))
    if render:
        render_all(jobs, folder / "rendered.json")
    return labels


def render_one(job: tuple[str, str, Page, Path]) -> None:
    producer, variant, page, path = job
    if producer == "chromium" and variant != "pdf":
        path.write_text(web.render(page, site=variant == "site"))
    elif producer == "excel":
        office.excel(page, path) if variant == "xlsx" else path.write_text(office.excel_html(page))
    elif producer in ("word", "libreoffice"):
        office.word(page, path.with_suffix(".docx"))
    elif producer == "scan":
        source = path.with_suffix(".source.pdf")
        printed.pdf(variant, page, source)
        printed.scan(source, path, int(mixed(path.name[:3])[:8], 16))
        source.unlink()
    else:
        printed.pdf(producer, page, path, tagged=variant == "tagged")


def render_all(jobs: list[tuple[str, str, Page, Path]], cache: Path) -> None:
    """Render what has changed since it was last rendered, in two processes; LibreOffice takes many files at once."""
    known = json.loads(cache.read_text()) if cache.exists() else {}
    keys = {str(job[3]): mixed(repr(job[:3])) for job in jobs}
    todo = [job for job in jobs if known.get(str(job[3])) != keys[str(job[3])] or not job[3].exists()]
    for job in todo:
        job[3].unlink(missing_ok=True)
    try:
        with ProcessPoolExecutor(2) as pool:
            list(pool.map(render_one, todo, chunksize=4))
        for via in VARIANTS["libreoffice"]:
            paths = [
                path for producer, variant, _, path in todo if (producer, variant) == ("libreoffice", via)
            ]
            for folder in sorted({path.parent for path in paths}):
                sources = [path.with_suffix(".docx") for path in paths if path.parent == folder]
                for at in range(0, len(sources), 40):
                    printed.office(sources[at : at + 40], folder, via)
    finally:
        done = {path: key for path, key in keys.items() if Path(path).exists()}
        cache.write_text(json.dumps(known | done))
