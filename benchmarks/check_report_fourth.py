"""`audit check-report` on published summaries by a fourth author, who had seen nothing of its rules.

``python -m benchmarks.check_report_fourth --part learn|held|all``: for each of two parts 35 clean files and 70 with one
fault, each of these with its clean twin, in seven layouts: pages of employers and vendors, what Excel, Word, Google
Docs and Notion save as web pages, DOCX, XLSX, and PDF by Chromium, WeasyPrint, ReportLab and fpdf2. Needs Chromium and
the packages fpdf2, openpyxl, python-docx, reportlab, weasyprint and xlsxwriter. The same seed gives the same words and
numbers. What is rendered is kept in the folder of ``--to``; with ``--only-render`` it is left there for another
environment to check. Both parts have been looked at since they were first read: figures of today are not those of
files unseen.

Files are checked as of 20 November 2026. A clean page's own date is often of an earlier year, at which its audit was
fresh, so the finding `audit_too_old` isn't counted on clean files. It is what finds the fault `stale_audit`, where it
shows that the date was read and no more. A fault is found by an error or a warning of the right name, whatever table,
row or field it names; those that say something which is not said of the clean twin are counted as well.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.check_report_published import check_all, print_given, state, wilson
from benchmarks.published_fourth.draw import AS_OF
from benchmarks.published_fourth.judge import told

NOT_COUNTED = "audit_too_old"  # on clean files
Checked = dict[str, tuple[int, list[dict]]]


def verdict(label: dict, got: tuple[int, list[dict]]) -> str:
    code, findings = got
    if label["kind"] == "clean":
        return state((code, [finding for finding in findings if finding["id"] != NOT_COUNTED]))
    return "not read" if code > 1 else "found" if told(label["kind"], findings) else "missed"


def told_of_clean_twin(label: dict, checked: Checked) -> bool:
    """Whether all that says what is wrong is said of the clean twin too."""
    found, twin = (checked[f"{folder}/{Path(label['file']).name}"][1] for folder in ("faults", "twins"))
    return told(label["kind"], found) <= told(label["kind"], twin)


def groups(labels: list[dict], verdicts: dict[str, str], by: str) -> dict[str, Counter[str]]:
    names = sorted({label[by] for label in labels})
    return {name: Counter(verdicts[x["file"]] for x in labels if x[by] == name) for name in names}


def print_clean(labels: list[dict], verdicts: dict[str, str], checked: Checked) -> None:
    twins = sum(label["file"].startswith("twins/") for label in labels)
    tally = Counter(verdicts[label["file"]] for label in labels)
    print(f"{len(labels)} clean files, {twins} of them twins of files with a fault")
    for name in ("error", "warning", "not read", "nothing"):
        print(f"  {name:<46}{wilson(tally[name], len(labels))}")
    for by in ("layout", "producer"):
        print(f"\n  by {by}")
        for name, given in groups(labels, verdicts, by).items():
            print(f"    {name:<44}{', '.join(f'{n} {verdict}' for verdict, n in sorted(given.items()))}")
    findings = [finding for label in labels for finding in checked[label["file"]][1]]
    print_given([finding for finding in findings if finding["id"] != NOT_COUNTED])
    print(f"  not counted: {sum(finding['id'] == NOT_COUNTED for finding in findings)} {NOT_COUNTED}")


def print_faults(labels: list[dict], verdicts: dict[str, str], checked: Checked) -> None:
    tally = Counter(verdicts[label["file"]] for label in labels)
    print(f"\n{len(labels)} files with a fault")
    for name in ("found", "missed", "not read"):
        print(f"  {name:<46}{wilson(tally[name], len(labels))}")
    alone = sum(not told_of_clean_twin(label, checked) for label in labels)
    print(f"  {'found by what is not said of its clean twin':<46}{wilson(alone, len(labels))}")
    for by in ("kind", "layout", "producer"):
        print(f"\n  found by {by}")
        for name, given in groups(labels, verdicts, by).items():
            rest = ", ".join(f"{n} {verdict}" for verdict, n in sorted(given.items()) if verdict != "found")
            print(f"    {name:<44}{wilson(given['found'], given.total()):<34}{rest}".rstrip())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("learn", "held", "all"), default="learn")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--to", type=Path, help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--only-render", action="store_true")
    parser.add_argument("--only-check", action="store_true", help="check the files that lie in --to")
    parser.add_argument("--layouts", nargs="*", help="check only files of these")
    parser.add_argument(
        "--kept", type=Path, help="write each file's label, verdict and findings here, as JSON"
    )
    return parser.parse_args()


def main() -> None:
    args = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.to or Path(temporary)
        if args.only_check:
            labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
        else:
            from benchmarks.published_fourth import corpus

            seed = corpus.SEED if args.seed is None else args.seed
            labels = corpus.write(folder, args.part, seed, args.processes)
            if args.only_render:
                return
        labels = [label for label in labels if args.part in (label["part"], "all")]
        labels = [label for label in labels if not args.layouts or label["layout"] in args.layouts]
        checked = check_all(folder, labels, args.processes, AS_OF)
    verdicts = {label["file"]: verdict(label, checked[label["file"]]) for label in labels}
    print_clean([label for label in labels if label["kind"] == "clean"], verdicts, checked)
    print_faults([label for label in labels if label["kind"] != "clean"], verdicts, checked)
    if args.kept:
        kept = [x | {"verdict": verdicts[x["file"]], "findings": checked[x["file"]][1]} for x in labels]
        args.kept.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
