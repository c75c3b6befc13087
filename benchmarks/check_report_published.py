"""`audit check-report` on published summaries that were written without sight of its rules.

``python -m benchmarks.check_report_published --half learn|held|third``: 100 clean files, 300 with one fault, 40
without a category, over 8 producers and 10 layouts in a half; `third`, by another author, has 60, 121 and 24 in 13
layouts, mostly web pages, with few scans. No layout is in two of them, nor is a title or a sentence. Needs Chromium,
LibreOffice, LaTeX, poppler's pdftoppm and the packages python-docx, reportlab and weasyprint. What is rendered is kept
in the folder of ``--to``; with ``--only-render`` it is left there for another environment to check.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import json
import math
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.published.judge import CAUGHT, judge
from benchmarks.published.truth import AS_OF

# clean files, with one fault, without a category
SIZES = {"learn": (100, 300, 40), "held": (100, 300, 40), "third": (60, 120, 24)}


def check(file: str, as_of: dt.date) -> tuple[int, list[dict]]:
    """The exit code of ``audit check-report FILE --format json`` and what it found."""
    from audit_lib.cli.main import main as audit

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = audit(["check-report", file, "--format", "json", "--as-of", as_of.isoformat()])
    return code, json.loads(said.getvalue())["findings"] if code < 2 else []


def check_all(
    folder: Path, labels: list[dict], processes: int, as_of: dt.date = AS_OF
) -> dict[str, tuple[int, list[dict]]]:
    files = [label["file"] for label in labels]
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(partial(check, as_of=as_of), [str(folder / file) for file in files], chunksize=2)
        return dict(zip(files, found, strict=True))


def wilson(k: int, n: int) -> str:
    """Share with its 95% interval."""
    if not n:
        return "none"
    p, z = k / n, 1.959964
    mid, wide = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (mid - wide) / (1 + z * z / n), (mid + wide) / (1 + z * z / n)
    return f"{k}/{n} = {100 * p:.1f}% ({100 * low:.1f} to {100 * high:.1f})"


def state(got: tuple[int, list[dict]]) -> str:
    """What a reader is told of a clean file."""
    code, findings = got
    severities = {finding["severity"] for finding in findings}
    return "not read" if code > 1 else next((s for s in ("error", "warning") if s in severities), "nothing")


def print_groups(labels: list[dict], verdicts: dict[str, str], by: str) -> None:
    groups = defaultdict(list)
    for label in labels:
        groups[label[by]].append(verdicts[label["file"]])
    print(f"\n  by {by}")
    for name, given in sorted(groups.items()):
        tally = Counter(given)
        rest = ", ".join(f"{n} {verdict}" for verdict, n in sorted(tally.items()))
        print(f"    {name:<44}{wilson(sum(tally[verdict] for verdict in CAUGHT), len(given)):<34}{rest}")


def print_given(findings: list[dict]) -> None:
    """How often each error and warning was given."""
    ids = Counter((f["severity"], f["id"]) for f in findings if f["severity"] != "note")
    given = ", ".join(f"{n} {severity} {name}" for (severity, name), n in sorted(ids.items()))
    print(f"\n  findings: {given or 'none'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=tuple(SIZES), default="learn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clean", type=int)
    parser.add_argument("--faults", type=int)
    parser.add_argument("--dropped", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--to", type=Path, help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--only-render", action="store_true")
    parser.add_argument("--only-check", action="store_true", help="check the files that lie in --to")
    parser.add_argument("--producers", nargs="*", help="check only files of these")
    parser.add_argument("--every", type=int, default=1, help="check only every Nth clean file, and its twins")
    parser.add_argument(
        "--kept", type=Path, help="write each file's label, verdict and findings here, as JSON"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.to or Path(temporary)
        if args.only_check:
            labels = json.loads((folder / "labels.json").read_text())
        else:
            from benchmarks.published import corpus

            asked = zip((args.clean, args.faults, args.dropped), SIZES[args.half], strict=True)
            sizes = [usual if given is None else given for given, usual in asked]
            labels = corpus.write(args.half, folder, args.seed, *sizes)
            if args.only_render:
                return
        labels = [label for label in labels if int(label["clean"][6:9]) % args.every == 0]
        labels = [label for label in labels if not args.producers or label["producer"] in args.producers]
        got = check_all(folder, labels, args.processes)
    verdicts = {}
    for label in labels:
        mine = got[label["file"]]
        if label["kind"] == "clean":
            verdicts[label["file"]] = state(mine)
        else:
            verdicts[label["file"]] = (
                "not read" if mine[0] > 1 else judge(label, mine[1], got[label["clean"]][1])
            )
    print_all(labels, verdicts, got)
    if args.kept:
        kept = [x | {"verdict": verdicts[x["file"]], "findings": got[x["file"]][1]} for x in labels]
        args.kept.write_text(json.dumps(kept, indent=1, ensure_ascii=False))


def print_all(labels: list[dict], verdicts: dict[str, str], got: dict[str, tuple[int, list[dict]]]) -> None:
    clean = [label for label in labels if label["kind"] == "clean"]
    tally = Counter(verdicts[label["file"]] for label in clean)
    print(f"{len(clean)} clean files")
    for name in ("error", "warning", "not read", "nothing"):
        print(f"  {name:<46}{wilson(tally[name], len(clean))}")
    for by in ("layout", "producer"):
        print(f"\n  by {by}")
        for name in sorted({label[by] for label in clean}):
            given = Counter(verdicts[label["file"]] for label in clean if label[by] == name)
            print(f"    {name:<44}{', '.join(f'{n} {verdict}' for verdict, n in sorted(given.items()))}")
    print_given([finding for label in clean for finding in got[label["file"]][1]])
    for place, name in (("faults", "faults"), ("dropped", "dropped categories")):
        part = [label for label in labels if label["file"].startswith(f"{place}/")]
        print(f"\n{name} found: {wilson(sum(verdicts[x['file']] in CAUGHT for x in part), len(part))}")
        for by in ("kind", "layout", "producer"):
            print_groups(part, verdicts, by)


if __name__ == "__main__":
    sys.exit(main())
