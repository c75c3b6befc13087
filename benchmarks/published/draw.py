"""Draw a corpus: clean pages, twins with one fault, twins without a category, each with its label."""

from __future__ import annotations

import copy
import hashlib
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from benchmarks.published import (
    drops,
    faults,
    layouts_held,
    layouts_learn,
    layouts_third,
    rebuild,
    words_held,
    words_learn,
    words_third,
)
from benchmarks.published.pages import Layout, Page
from benchmarks.published.shown import Shown, draw_convention, draw_wording, show
from benchmarks.published.truth import draw_audit

PRODUCERS = ("chromium", "weasyprint", "libreoffice", "latex", "word", "reportlab", "excel", "scan")
VARIANTS = {
    "chromium": ("html", "site", "pdf"),
    "weasyprint": ("tagged", "plain"),
    "libreoffice": ("docx", "odt"),
    "excel": ("xlsx", "html"),
    "scan": ("chromium", "latex", "reportlab"),
}
# as often as they publish: web pages most, scans (slow to read) seldom
OFTEN = (
    *("chromium", "weasyprint", "libreoffice", "word", "chromium", "excel", "reportlab", "chromium", "latex"),
    *("weasyprint", "chromium", "libreoffice", "word", "chromium", "excel", "reportlab", "libreoffice"),
    *("chromium", "weasyprint", "scan"),
)
HALVES = {
    "learn": (layouts_learn.LAYOUTS, words_learn, PRODUCERS),
    "held": (layouts_held.LAYOUTS, words_held, PRODUCERS),
    "third": (layouts_third.LAYOUTS, words_third, OFTEN),
}
# Kinds of fault that the printed numbers alone must prove.
NUMERIC = {
    "count of applicants",
    "count of selected",
    "rate",
    "ratio",
    "ratios over a row that is not the highest",
    "rates that are no quotient",
    "impossible number",
    "totals do not add up",
}
Make = Callable[[str, Shown, "Base", random.Random], "dict | None"]


@dataclass
class Base:
    """A clean page; its faulty twins are made from the same draw."""

    at: int
    seed: str
    producer: str
    variant: str
    layout: Layout
    shown: Shown
    options: dict

    def page(self, shown: Shown) -> Page:
        return self.layout.build(copy.deepcopy(shown), random.Random(f"{self.seed} layout"))

    def suffix(self) -> str:
        if self.producer == "chromium":
            return ".pdf" if self.variant == "pdf" else ".html"
        if self.producer == "excel":
            return f".{self.variant}"
        return ".docx" if self.producer == "word" else ".pdf"


def draw_base(at: int, seed: str, producer: str, layout: Layout, words: ModuleType) -> Base:
    rng = random.Random(seed)
    rare = producer not in ("excel", "scan") and rng.random() < 0.04
    positions = rng.choice((2, 2, 3)) if layout.positions > 1 else 1
    scoring = None if layout.show_k is None else rng.random() < 0.3
    audit = draw_audit(rng, positions, scoring, zero=layout.zero and rng.random() < 0.5)
    if audit.data == "test":
        audit.published = min(audit.published, audit.distribution)
    convention = draw_convention(rng, words, rare)
    wording = draw_wording(rng, words, audit)
    show_k = layout.show_k if layout.show_k is not None else rng.random() < (0.35 if audit.scoring else 0.85)
    options = {
        "show_k": show_k,
        "totals": rng.random() < 0.5,
        "highest": layout.highest and rng.random() < 0.5,
    }
    allowed = VARIANTS.get(producer, ("",))
    if layout.web:
        allowed = ("html", "site")
    if producer == "scan" and "latex" not in layout.producers:
        allowed = ("chromium", "reportlab")
    shown = shown_in(layout, audit, convention, wording, options)
    if wrong := rebuild.page(shown):
        raise AssertionError((seed, wrong))
    return Base(at, seed, producer, rng.choice(allowed), layout, shown, options)


def shown_in(layout: Layout, audit, convention, wording, options: dict) -> Shown:
    """What is printed, with total rows only where the layout has them."""
    shown = show(audit, convention, wording, **options)
    for position in shown.positions:
        for family, table in position.tables.items():
            if family not in layout.totals:
                table.total = None
    return shown


def bases(half: str, seed: int, count: int) -> list[Base]:
    layouts, words, producers = HALVES[half]
    used = {layout.name: 0 for layout in layouts}
    made = []
    for at in range(count):
        producer = producers[at % len(producers)]
        able = [layout for layout in layouts if producer in layout.producers]
        layout = min(able, key=lambda x: (used[x.name], mixed(f"{seed} {at} {x.name}")))
        used[layout.name] += 1
        made.append(draw_base(at, f"{half} {seed} {at}", producer, layout, words))
    return made


def mixed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plan(
    found: list[Base], quotas: dict[str, int], make: Make, limit: int, scanned: int
) -> list[tuple[Base, str, Shown, dict]]:
    """Spread faults over the bases, the rarest kinds first: no kind twice, `limit` at most (of a scan `scanned`)."""

    def attempt(kind: str, base: Base) -> tuple[Shown, dict] | None:
        shown = copy.deepcopy(base.shown)
        label = make(kind, shown, base, random.Random(f"{base.seed} {kind}"))
        return None if label is None else (label.pop("shown", shown), label)

    can = {kind: {base.at: made for base in found if (made := attempt(kind, base))} for kind in quotas}
    loads = {base.at: 0 for base in found}
    made = []
    for kind in sorted(quotas, key=lambda k: len(can[k]) / quotas[k]):
        able = [base for base in found if base.at in can[kind]]
        got = 0
        for base in sorted(able, key=lambda b: (loads[b.at], mixed(b.seed + kind))):
            most = scanned if base.producer == "scan" else limit
            if got == quotas[kind] or loads[base.at] >= most:
                continue
            loads[base.at] += 1
            got += 1
            made.append((base, kind, *can[kind][base.at]))
        if got < quotas[kind]:
            print(f"only {got} of {quotas[kind]}: {kind}", file=sys.stderr)
    return made


def fault(kind: str, shown: Shown, base: Base, rng: random.Random) -> dict | None:
    label = faults.KINDS[kind][1](shown, base.layout, rng)
    if label is None:
        return None
    label["contradictions"] = rebuild.page(shown)
    if kind in NUMERIC and not label["contradictions"]:
        raise AssertionError((base.seed, kind, label))
    if label.get("category"):
        position = next(p for p in base.shown.positions if p.name == label["position"])
        label["rows"] = [row.label for row in position.tables[label["family"]].rows]
    return label


def drop(kind: str, shown: Shown, base: Base, rng: random.Random) -> dict | None:
    if kind == "one family":
        label = drops.one_family(shown, base.layout, rng)
    elif kind == "totals hold them":
        label = drops.from_tables(shown, base.layout, rng)
    else:
        found = drops.everywhere(shown.audit, rng)
        if found is None:
            return None
        audit, race = found
        shown = shown_in(base.layout, audit, shown.convention, shown.words, base.options)
        label = {
            "family": "race",
            "category": shown.words.race[race],
            "keys": [[race]],
            "race": shown.words.race[race],
        }
        label["shown"] = shown
    if label is not None:
        label["contradictions"] = rebuild.page(shown)
        if kind == "everywhere" and label["contradictions"]:
            raise AssertionError(label)
    return label


def scaled(quotas: dict[str, int], total: int) -> dict[str, int]:
    whole = sum(quotas.values())
    return (
        quotas if total == whole else {kind: max(1, round(n * total / whole)) for kind, n in quotas.items()}
    )
