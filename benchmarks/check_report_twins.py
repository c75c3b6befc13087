"""What `audit check-report` finds, misses and invents in files with one fault, next to their clean twins.

A fault is found by an error or a warning of the right name, whatever table, row or field it names; those that say
something which is not said of the clean twin are counted as well.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.check_report_published import check_all, print_given, state, wilson

Checked = dict[str, tuple[int, list[dict]]]
Told = set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files of an author, as of which day they are checked, and which findings say what is wrong with one."""

    as_of: dt.date
    right: dict[str, set[str]]
    """Kind of fault -> names of findings that say it."""
    write: Callable[[Path, argparse.Namespace], list[dict]]
    not_counted: str = ""
    """A finding that isn't counted on clean files."""

    def told(self, kind: str, findings: list[dict]) -> Told:
        """Errors and warnings, by name and message, that say what is wrong; any table, row or field will do."""
        return told(self.right, kind, findings)

    def counted(self, findings: list[dict]) -> list[dict]:
        return [finding for finding in findings if finding["id"] != self.not_counted]

    def verdict(self, label: dict, got: tuple[int, list[dict]]) -> str:
        code, findings = got
        if label["kind"] == "clean":
            return state((code, self.counted(findings)))
        return "not read" if code > 1 else "found" if self.told(label["kind"], findings) else "missed"

    def told_of_clean_twin(self, label: dict, checked: Checked) -> bool:
        """Whether all that says what is wrong is said of the clean twin too."""
        found, twin = (checked[f"{folder}/{Path(label['file']).name}"][1] for folder in ("faults", "twins"))
        return self.told(label["kind"], found) <= self.told(label["kind"], twin)


def told(right: dict[str, set[str]], kind: str, findings: list[dict]) -> Told:
    return {(f["id"], f["message"]) for f in findings if f["severity"] != "note" and f["id"] in right[kind]}


def groups(labels: list[dict], verdicts: dict[str, str], by: str) -> dict[str, Counter[str]]:
    names = sorted({label[by] for label in labels})
    return {name: Counter(verdicts[x["file"]] for x in labels if x[by] == name) for name in names}


def print_clean(corpus: Corpus, labels: list[dict], verdicts: dict[str, str], checked: Checked) -> None:
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
    counted = corpus.counted(findings)
    print_given(counted)
    if corpus.not_counted:
        print(f"  not counted: {len(findings) - len(counted)} {corpus.not_counted}")


def print_faults(corpus: Corpus, labels: list[dict], verdicts: dict[str, str], checked: Checked) -> None:
    tally = Counter(verdicts[label["file"]] for label in labels)
    print(f"\n{len(labels)} files with a fault")
    for name in ("found", "missed", "not read"):
        print(f"  {name:<46}{wilson(tally[name], len(labels))}")
    alone = sum(not corpus.told_of_clean_twin(label, checked) for label in labels)
    print(f"  {'found by what is not said of its clean twin':<46}{wilson(alone, len(labels))}")
    for by in ("kind", "layout", "producer"):
        print(f"\n  found by {by}")
        for name, given in groups(labels, verdicts, by).items():
            rest = ", ".join(f"{n} {verdict}" for verdict, n in sorted(given.items()) if verdict != "found")
            print(f"    {name:<44}{wilson(given['found'], given.total()):<34}{rest}".rstrip())


def arguments(doc: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("learn", "held", "all"), default="learn")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--to", type=Path, help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--only-render", action="store_true")
    parser.add_argument("--only-check", action="store_true", help="check the files that lie in --to")
    parser.add_argument("--layouts", nargs="*", help="check only files of these")
    parser.add_argument("--producers", nargs="*", help="check only files of these")
    parser.add_argument(
        "--kept", type=Path, help="write each file's label, verdict and findings here, as JSON"
    )
    return parser


def compare(corpus: Corpus, args: argparse.Namespace) -> None:
    """Write the files unless they are there, check them, and print what was found."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.to or Path(temporary)
        if args.only_check:
            labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
        else:
            labels = corpus.write(folder, args)
            if args.only_render:
                return
        labels = [label for label in labels if args.part in (label["part"], "all")]
        for by, wanted in (("layout", args.layouts), ("producer", args.producers)):
            labels = [label for label in labels if not wanted or label[by] in wanted]
        checked = check_all(folder, labels, args.processes, corpus.as_of)
    verdicts = {label["file"]: corpus.verdict(label, checked[label["file"]]) for label in labels}
    print_clean(corpus, [label for label in labels if label["kind"] == "clean"], verdicts, checked)
    print_faults(corpus, [label for label in labels if label["kind"] != "clean"], verdicts, checked)
    if args.kept:
        kept = [x | {"verdict": verdicts[x["file"]], "findings": checked[x["file"]][1]} for x in labels]
        args.kept.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
