"""Single edits of our own pages: how many `audit check-report` finds, and what it says of pages that nobody edited.

    python -m benchmarks.own_pages make clean edits --folder FOLDER

Runs of several kinds are made (screening, ranking and grading; assigned and reported groups; few people; fourteen
groups; hidden cells; English and Spanish), of other seeds and sizes than those that the checks were written with. An
edit changes one numeral, mark or verdict of one page, PDF or report.json: a digit, a sign, two numbers exchanged, a
star, a verdict's word, a flag. The careful editor then makes the transcript, or the digests, anew, so that only numbers
that others determine can tell. The edits are made in the files' own text, by code that the checks do not share.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.stats import beta

from audit_lib.canonical import pretty_json, sha256
from audit_lib.check import check_report
from audit_lib.check.own_page import OwnPage, agreement
from audit_lib.errors import AuditError
from audit_lib.page_transcript import NAME, read_transcript, read_visible, write_transcript
from audit_lib.report.content import gather
from audit_lib.report.document import document_bytes
from audit_lib.report.html import render_html
from audit_lib.report.page import page_in
from audit_lib.report.pdf import render_pdf
from audit_lib.run import Run
from benchmarks.own_pages_edits import Edit, html_edit, json_edit, pdf_edit
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.report.runs import reported, signature

FOUND: Final = frozenset(
    {"numeral_changed", "words_changed", "marks_changed", "transcript_unreadable", "number_contradicted",
     "rate_not_rebuilt", "ratio_not_rebuilt", "share_not_rebuilt", "comparator_not_highest", "truncated",
     "more_selected_than_applied", "ratio_from_printed_rates", "tables_do_not_add_up", "total_mismatch",
     "rate_impossible", "unreadable_number"}
)  # fmt: skip
RACES: Final = (
    "White", "Black", "Asian", "Hispanic or Latino", "Native American or Alaska Native",
    "Native Hawaiian or Pacific Islander", "Two or More Races",
)  # fmt: skip


# --- Runs. ---


def _rows(n: int, seed: int, races: tuple[str, ...], gap: float) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = recorded_rows(n, seed=seed)
    for row in rows:
        row["race"] = str(rng.choice(races))
        row["recorded_selected"] = bool(rng.random() < (0.5 if row["sex"] == "male" else 0.5 - gap))
    return rows


def _screening(folder: Path, seed: int, n: int, races: tuple[str, ...], **sections: Any) -> Run:
    path = recorded_audit(
        folder,
        groups={
            "provenance": "self_reported",
            "attributes": {"sex": ["female", "male"], "race": list(races)},
        },
        decision={"rule": "recorded", "k": None, "round": None},
        measure={"metrics": ["impact_ratio"]},
        **sections,
    )
    rows = _rows(n, seed, races, 0.05 * (seed % 6))
    for row in rows:
        row["recorded_score"] = None
    write_jsonl(folder / "prompts.jsonl", rows)
    return reported(path)


def _ranking(folder: Path, seed: int, n: int) -> Run:
    path = recorded_audit(folder, n, measure={"quotas": [1, 4], "strata": [[]]})
    write_jsonl(folder / "prompts.jsonl", recorded_rows(n, seed=seed))
    return reported(path)


def _grading(folder: Path, seed: int, n: int) -> Run:
    path = recorded_audit(folder, n, decision={"rule": "above_median", "k": None, "round": None})
    write_jsonl(folder / "prompts.jsonl", recorded_rows(n, seed=seed))
    return reported(path)


KINDS: Final[dict[str, Callable[[Path, int], Run]]] = {
    "screening": lambda folder, seed: _screening(folder, seed, 300, RACES[:2]),
    "ranking": lambda folder, seed: _ranking(folder, seed, 240),
    "grading": lambda folder, seed: _grading(folder, seed, 200),
    "fourteen groups": lambda folder, seed: _screening(folder, seed, 900, RACES),
    "few people": lambda folder, seed: _screening(folder, seed, 40, RACES[:2]),
    "hidden cells": lambda folder, seed: _screening(
        folder, seed, 60, RACES[:4], report={"policy": "generic", "tool": "Invites or does not."}
    ),
}


def make(folder: Path, seeds: range, pdfs: int) -> None:
    """Make the pages: of each run English and Spanish, signed and not; PDFs of some."""
    made = 0
    for seed in seeds:
        kind = list(KINDS)[seed % len(KINDS)]
        place = folder / f"{seed}"
        place.mkdir(parents=True)
        try:
            run = KINDS[kind](place, seed)
        except AuditError as error:
            print(f"{kind} {seed}: {error}", file=sys.stderr)
            continue
        drafted = gather(run)
        for state in ("draft", "signed"):
            content = (
                replace(drafted, signature=signature(drafted.policy.name)) if state == "signed" else drafted
            )
            for language in ("en", "es"):
                page, _ = page_in(language, content)
                name = f"{kind.replace(' ', '_')}-{seed}-{state}-{language}"
                (folder / f"{name}.html").write_bytes(render_html(page))
                if made < pdfs and state == "draft" and language == ("en", "es")[made % 3 == 2]:
                    (folder / f"{name}.pdf").write_bytes(render_pdf(page))
                    made += 1
            (folder / f"{kind.replace(' ', '_')}-{seed}-{state}.json").write_bytes(document_bytes(content))
        print(kind, seed, flush=True)


# --- Pages that nobody edited. ---


def clean(folder: Path) -> dict[str, Any]:
    """Check every page as it is, and again as another program would have saved it."""
    said: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    for path in _pages(folder):
        for how, content in _saved(path):
            copy = folder / f"copy{path.suffix}"
            copy.write_bytes(content)
            found = [
                one.id for one in check_report(copy).findings if one.id in FOUND or one.severity == "error"
            ]
            copy.unlink()
            checked[f"{path.suffix[1:]} {how}"] += 1
            said.update(found)
            if found:
                print("FALSE", path.name, how, found, flush=True)
    return {"checked": dict(checked), "total": checked.total(), "false": dict(said)}


def _pages(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.iterdir() if path.suffix in (".html", ".pdf", ".json") and "-" in path.name
    )


def _saved(path: Path) -> Iterator[tuple[str, bytes]]:
    content = path.read_bytes()
    yield "as made", content
    if path.suffix == ".html":
        yield "other line ends and spaces", content.replace(b"\n", b"\r\n  ").replace(b"<td ", b"<td  ")
    elif path.suffix == ".json":
        yield "other white space", json.dumps(json.loads(content), ensure_ascii=False).encode()


# --- Edits. ---


def _again(path: Path, edit: Edit) -> bytes | None:
    """What the careful editor hands out: the transcript or the digests made anew. Of a PDF nothing was written."""
    if path.suffix == ".html":
        return written_anew(path.read_text(encoding="utf-8"), edit.content.decode()).encode()
    if path.suffix == ".json":
        document = json.loads(edit.content)
        document["digests"] = {k: sha256(pretty_json(v)) for k, v in document.items() if k != "digests"}
        return pretty_json(document)
    return None


def written_anew(before: str, page: str) -> str:
    """Return a page with a transcript of what it says now, which names each numeral as the one of before did."""
    names = [one.numerals_of for one in read_transcript(read_visible(before).transcript).texts]
    seen = read_visible(page)
    texts = [
        replace(one, numerals_of=of if len(of) == len(one.numerals) else ())
        for one, of in zip_longest(seen.texts, names[: len(seen.texts)], fillvalue=())
    ]
    written = write_transcript(texts, seen.elements, seen.sources)
    return re.sub(rf'(<meta name="{NAME}" content=")[^"]*', lambda found: found[1] + written, page)


def edits(folder: Path, numbers: dict[str, int], careful: int, seed: int) -> dict[str, Any]:
    """Make edits and check what came of each; the findings that the unedited page has are no answer."""
    rng = random.Random(seed)
    makers: dict[str, Callable[[random.Random, Any], Edit | None]] = {
        ".html": html_edit, ".json": json_edit, ".pdf": pdf_edit,
    }  # fmt: skip
    out: dict[str, Any] = {}
    unedited = cache(_said)
    for suffix, number in numbers.items():
        paths = [path for path in _pages(folder) if path.suffix == suffix]
        told: dict[str, Counter[str]] = {"plain": Counter(), "careful": Counter()}
        missed: dict[str, list[str]] = {"plain": [], "careful": []}
        done = 0
        while done < number and paths:
            path = rng.choice(paths)
            content = path.read_bytes()
            edit = makers[suffix](rng, content.decode() if suffix == ".html" else content)
            if edit is None:
                continue
            done += 1
            versions = {"plain": edit.content}
            if done <= careful and (again := _again(path, edit)) is not None:
                versions["careful"] = again
            for who, version in versions.items():
                found = _is_found(folder, suffix, version, unedited(path))
                told[who][f"{edit.kind} {'found' if found else 'missed'}"] += 1
                if not found:
                    missed[who].append(f"{path.name}: {edit.kind}: {edit.what}")
        out[suffix[1:]] = {
            who: {**_share(counts), "by kind": dict(sorted(counts.items())), "missed": missed[who]}
            for who, counts in told.items() if counts
        }  # fmt: skip
        print(json.dumps({k: v["found"] for k, v in out[suffix[1:]].items()}), suffix, flush=True)
    return out


def _is_found(folder: Path, suffix: str, content: bytes, before: Counter[str]) -> bool:
    # What `check_report` says first of such a file; the rest of it is asked only where this says nothing.
    if suffix == ".html" and agreement(OwnPage(read_visible(content.decode()))):
        return True
    path = folder / f"edited{suffix}"
    path.write_bytes(content)
    try:
        return bool(_said(path) - before)
    except AuditError:
        return True  # refused, with a reason and exit code 2
    finally:
        path.unlink()


def _said(path: Path) -> Counter[str]:
    """Findings of a page that tell of an edit, with how many there are of each."""
    return Counter(one.id for one in check_report(path).findings if one.id in FOUND)


def _share(counts: Counter[str]) -> dict[str, Any]:
    found = sum(n for kind, n in counts.items() if kind.endswith("found"))
    total = counts.total()
    low = 0.0 if not found else float(beta.ppf(0.025, found, total - found + 1))
    high = 1.0 if found == total else float(beta.ppf(0.975, found + 1, total - found))
    return {"found": f"{found} of {total}", "share": found / total, "interval": [low, high]}


def main() -> int:
    """Make pages, check them as they are, and edited."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", choices=["make", "clean", "edits"])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=18)
    parser.add_argument("--first", type=int, default=5000, help="seed of the first run")
    parser.add_argument("--pdfs", type=int, default=8)
    parser.add_argument("--html", type=int, default=550)
    parser.add_argument("--json", type=int, default=330)
    parser.add_argument("--pdf", type=int, default=120)
    parser.add_argument("--careful", type=int, default=150)
    parser.add_argument("--seed", type=int, default=2026)
    given = parser.parse_args()
    if "make" in given.what:
        given.folder.mkdir(parents=True, exist_ok=True)
        make(given.folder, range(given.first, given.first + given.runs), given.pdfs)
    for name in ("clean", "edits"):
        if name in given.what:
            numbers = {".html": given.html, ".json": given.json, ".pdf": given.pdf}
            result = (
                clean(given.folder)
                if name == "clean"
                else edits(given.folder, numbers, given.careful, given.seed)
            )
            (given.folder / f"{name}.result").write_text(json.dumps(result, indent=2, ensure_ascii=False))
            print(json.dumps(result, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
