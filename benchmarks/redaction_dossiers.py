"""How much of 60 marked dossiers by other authors redaction removes, and what it leaves in silence, in two halves.

    python -m benchmarks.redaction_dossiers [--checks spacy presidio] [--data FOLDER]

The dossiers, and the tool that scores, are beside the project: ``../shared``, or ``$AUDIT_SHARED_DATA``. They are no
part of it. The half `development` (the 30 with the smallest SHA-256 of their id) was read while rules were made; the
half `held out` was only scored. Removed places between which nothing but a comma, a slash, a hyphen, a dot or a space
is left count as one: a template keeps that sign.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from audit_lib.perturb.redact import Applicant, redact
from audit_lib.perturb.rereading.reread import reread


def shared() -> Path:
    """Return the folder that lies beside the project."""
    return Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).resolve().parents[2] / "shared")


def halves(dossiers: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Split dossiers by the SHA-256 of their ids."""
    ordered = sorted(dossiers, key=lambda d: hashlib.sha256(d["id"].encode()).hexdigest())
    middle = len(ordered) // 2
    return {"development": ordered[:middle], "held out": ordered[middle:]}


def answer(dossier: dict[str, Any], checks: tuple[str, ...]) -> dict[str, Any]:
    """Redact a dossier whose applicant's names are known, and read it again."""
    known = dossier["applicant"]
    applicant = Applicant(
        name=f"{known['given']} {known['family']}".strip(),
        first_name=known["given"],
        last_name=known["family"],
        other_names=tuple(known["other_forms"]),
    )
    made = redact(dossier["text"], applicant, checks=checks)
    again = reread(made, applicant)
    told = [(p.start, p.end) for p in (*made.doubts, *again.findings)]
    return {
        "id": dossier["id"],
        "removed": _joined(dossier["text"], [(s.start, s.end) for s in made.spans]),
        "doubtful": [list(place) for place in told if place[0] < place[1]],
        "status": again.status,
        "kinds": [(s.start, s.end, s.kind) for s in made.spans],
    }


def precision_by_kind(scorer: Any, dossiers: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Print how many removed places of each of our kinds touch a mark and no passage to keep."""
    counts: dict[str, list[int]] = {}
    for dossier, row in zip(dossiers, rows, strict=True):
        for start, end, kind in row["kinds"]:
            marks, keeps = (
                any(start < p["end"] and p["start"] < end for p in dossier[which])
                for which in ("marks", "keep")
            )
            count = counts.setdefault(kind, [0, 0])
            count[0] += marks and not keeps
            count[1] += 1
    print("\n| removed as | places | right | precision |\n|---|---|---|---|")
    for kind, (right, n) in sorted(counts.items()):
        print(f"| {kind} | {n} | {right} | {_share(scorer, right, n)} |")


def _joined(text: str, spans: list[tuple[int, int]]) -> list[list[int]]:
    joined: list[list[int]] = []
    for start, end in sorted(spans):
        if joined and re.fullmatch(r"[,./\-‐ ]{0,2}", text[joined[-1][1] : start]):
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return joined


def table(scorer: Any, scores: list[Any]) -> None:
    """Print recall, silence and precision, by kind of mark and whose it is."""
    marks = [mark for score in scores for mark in score.marks]
    groups = {"all marks": marks}
    groups |= {f"of {whose}": [m for m in marks if m.whose == whose] for whose in ("applicant", "other")}
    groups |= {kind: [m for m in marks if m.kind == kind] for kind in sorted({mark.kind for mark in marks})}
    print("| | marks | removed | recall | in silence | silent share |\n|---|---|---|---|---|---|")
    for name, group in groups.items():
        found, silent = sum(m.found for m in group), sum(m.silent for m in group)
        print(
            f"| {name} | {len(group)} | {found} | {_share(scorer, found, len(group))} | {silent} "
            f"| {_share(scorer, silent, len(group))} |"
        )
    spans, wrong = sum(s.spans for s in scores), sum(s.wrong for s in scores)
    keeps, touched = sum(s.keeps for s in scores), sum(len(s.touched) for s in scores)
    kept_ok = [s for s in scores if s.status == "ok" and not all(m.found for m in s.marks)]
    print(
        f"\nprecision of removed places: {spans - wrong} of {spans}, {_share(scorer, spans - wrong, spans)}"
    )
    print(f"passages to keep that were touched: {touched} of {keeps}")
    print(
        f"status ok: {sum(s.status == 'ok' for s in scores)} of {len(scores)}; of them with a mark left: {len(kept_ok)}"
    )


def _share(scorer: Any, hits: int, n: int) -> str:
    low, high = scorer.wilson(hits, n)
    return f"{hits / n:.3f} [{low:.3f}, {high:.3f}]" if n else "-"


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure both halves and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", nargs="+", default=[], choices=("spacy", "presidio"))
    parser.add_argument("--data", type=Path, default=None, help="folder with dossiers/dossiers.jsonl")
    options = parser.parse_args(None if arguments is None else list(arguments))
    data = options.data or shared() / "data"
    found = importlib.util.spec_from_file_location(
        "score_redaction", shared() / "tools" / "score_redaction.py"
    )
    assert found is not None and found.loader is not None
    scorer = importlib.util.module_from_spec(found)
    sys.modules["score_redaction"] = scorer
    found.loader.exec_module(scorer)
    lines = (data / "dossiers" / "dossiers.jsonl").read_text(encoding="utf-8").splitlines()
    for half, dossiers in halves([json.loads(line) for line in lines]).items():
        scores, rows = [], []
        started = time.process_time()
        for dossier in dossiers:
            row = answer(dossier, tuple(options.checks))
            rows.append(row)
            given = scorer.Answer(
                removed=tuple(map(tuple, row["removed"])),
                doubtful=tuple(map(tuple, row["doubtful"])),
                status=row["status"],
            )
            scores.append(scorer.score_dossier(dossier, given, ignore_space=True))
        seconds = (time.process_time() - started) / len(dossiers)
        print(f"\n{half}: {len(dossiers)} dossiers, checks: {', '.join(options.checks) or 'none'}\n")
        table(scorer, scores)
        precision_by_kind(scorer, dossiers, rows)
        places = sum(len(row["doubtful"]) for row in rows)
        print(
            f"\nplaces told to the reviewer: {places / len(dossiers):.1f} a dossier; {seconds:.2f} s CPU a dossier"
        )


if __name__ == "__main__":
    main()
