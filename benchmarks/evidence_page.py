"""The measured part of docs/reference/evidence.md, made of what `benchmarks.evidence` kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.specs import REPOSITORY

PAGE = REPOSITORY / "docs/reference/evidence.md"
BEGIN = "<!-- written by python -m benchmarks.evidence page -->"
END = "<!-- end of what was written -->"


def write_page(results: Path, page: Path = PAGE) -> None:
    """Put the tables between the marks of the page, or behind its end where it has none."""
    text = page.read_text(encoding="utf-8")
    made = f"{BEGIN}\n{measured(results)}\n{END}\n"
    if BEGIN in text:
        before, rest = text.split(BEGIN)
        text = before + made + rest.split(f"{END}\n")[1]
    else:
        text = f"{text.rstrip()}\n\n{made}"
    page.write_text(text, encoding="utf-8")


def measured(results: Path) -> str:
    """Return the section: only parts that were measured are in it."""
    parts = {"clean": _clean, "structured": _changes, "random": _changes, "attacks": _attacks}
    out = [
        "## Measured",
        "",
        "By `python -m benchmarks.evidence clean attacks structured random readers whole --results FOLDER`, then "
        "`page`. CPU seconds are those of the one process that measured; it ran at low priority on a machine that "
        "others used, so that wall time says little.",
    ]
    for name, write in parts.items():
        path = results / f"{name}.json"
        if path.exists():
            out += ["", *write(name, json.loads(path.read_bytes()))]
    fuzzed = [path for name in ("readers", "whole") if (path := results / f"{name}.json").exists()]
    if fuzzed:
        out += ["", *_fuzzing([json.loads(path.read_bytes()) for path in fuzzed])]
    return "\n".join(out)


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in lines]


def _time(document: dict[str, Any]) -> str:
    day = f" on {document['day']}" if "day" in document else ""
    return f"{document['cpu_s']:.0f} s of CPU in {document['wall_s']:.0f} s{day}"


def _clean(_: str, document: dict[str, Any]) -> Iterator[str]:
    kinds = document["kinds"]
    whole: Counter[str] = sum((Counter(one) for one in kinds.values()), Counter())
    yield "### Bundles that nobody touched"
    yield ""
    yield (
        f"{whole['bundles']} bundles of {len(kinds)} kinds, all computed again that can be ({_time(document)}). `audit "
        f"verify` has something against {whole['here: not verified']} of them and no verdict on "
        f"{whole['here: no verdict']}; the second verifier has something against {whole['there: not verified']} and "
        f"leaves {whole['there: no verdict']} open; {whole['there: not read']} it does not read: panels and "
        "buckets. The copies are runs in their stores and bags that were exported "
        "and imported at each level; those of the golden bundles are held against their digests and records alone."
    )
    yield ""
    rows = [
        (
            kind,
            one["bundles"],
            "; ".join(
                f"{n} {name.removeprefix('copy: ')}"
                for name, n in sorted(one.items())
                if name.startswith("copy")
            ),
            one.get("here: not verified", 0),
            one.get("there: not verified", 0),
            one.get("there: no verdict", 0),
            one.get("there: not read", 0),
        )
        for kind, one in sorted(kinds.items())
    ]
    header = (
        "kind",
        "bundles",
        "copies",
        "false alarms",
        "of the second verifier",
        "left open by it",
        "not read by it",
    )
    yield from _table(header, rows)
    for one in document["said"]:
        yield ""
        yield f"Said: {one}"


def _changes(name: str, document: dict[str, Any]) -> Iterator[str]:
    yield "### Structured changes" if name == "structured" else "### Random changes"
    yield ""
    what = (
        "Each value of each record and manifest changed as the library would have written it; each JSON document in "
        "19 odd forms; each file flipped in its middle, cut, one byte longer, and emptied."
        if name == "structured"
        else "Bits, bytes, spans, digits and times of files drawn by chance."
    )
    stopped = "" if document["whole"] else " Stopped before its end."
    yield f"{what} Digests, records and signatures alone were looked at ({_time(document)}).{stopped}"
    yield ""
    header = (
        "run", "changes", "found", "file named", "found by the second verifier", "file named", "tracebacks", "missed",
    )  # fmt: skip
    keys = ("tried", "found", "named", "found_second", "named_second", "tracebacks")
    rows = [(run, *(one[key] for key in keys), len(one["missed"])) for run, one in document["runs"].items()]
    yield from _table(header, rows)
    for one in document["runs"].values():
        for said in one["missed"][:10]:
            yield ""
            yield f"Missed: `{said}`"
        if one["unnamed"]:
            yield ""
            files = ", ".join(f"{file} ({times})" for file, times in sorted(one["unnamed"].items()))
            yield f"Found, and the file not named by one of the two: {files}."


def _attacks(_: str, document: dict[str, Any]) -> Iterator[str]:
    yield "### Named attacks"
    yield ""
    yield (
        "On a run of recorded decisions, which come out again, whose plan and result are signed and stamped (where an "
        "attempt is dropped: one whose first attempt failed), in its store with the journal. With trust: a "
        "trust file that requires signatures, stamps and the journal, and holds its head. A bag "
        f"is refused before anything of it is written, whoever is trusted ({_time(document)})."
    )
    yield ""
    header = (
        "attack",
        "`audit verify`",
        "second verifier",
        "with trust",
        "second, with trust",
        "what it says",
    )
    keys = ("alone", "alone_second", "trusted", "trusted_second")
    rows = [
        (
            one["attack"],
            *("found" if one[key] else "not found" for key in keys),
            one["said"][:160].encode("ascii", "backslashreplace").decode(),
        )
        for one in document["rows"]
    ]
    yield from _table(header, rows)


def _fuzzing(documents: list[dict[str, Any]]) -> Iterator[str]:
    yield "### Fuzzing"
    yield ""
    wall, cpu = (sum(one[key] for one in documents) for key in ("wall_s", "cpu_s"))
    yield (
        f"{wall / 60:.0f} minutes in all, of which the processor worked {cpu / 60:.1f} minutes. A fault is an "
        "exception that is not the reader's own, more than 20 s of the processor, 512 MiB more, a changed run that is "
        "found whole, or two readers of which one takes what the other refuses."
    )
    yield ""
    header = ("what is fed", "chosen", "inputs", "CPU s", "slowest, CPU s", "faults")
    rows = [
        (
            name,
            said["engine"],
            one["inputs"],
            f"{one['cpu_s']:.0f}",
            f"{one['slowest_s']:.2f}",
            len(one["faults"]),
        )
        for said in documents
        for name, one in said["targets"].items()
    ]
    yield from _table(header, rows)
    for said in documents:
        for name, one in said["targets"].items():
            for what, fault in one["faults"].items():
                yield ""
                yield f"Fault of {name}: {what}, {fault['times']} times."
