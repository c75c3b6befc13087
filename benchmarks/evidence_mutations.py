"""Changes of single files of a sealed run and of one that failed: whether they are found, and the file is named."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from audit_lib.archive.verify import verify
from audit_lib.canonical import canonical_json, pretty_json
from benchmarks.evidence_changes import of_bytes, other, places
from tests.archive.test_odd_documents import JSON
from tests.verifier.conftest import found_here


@dataclass
class Tally:
    """How many changes were tried, found and named, by either verifier."""

    tried: int = 0
    found: int = 0
    named: int = 0
    found_second: int = 0
    named_second: int = 0
    tracebacks: int = 0
    missed: list[str] = field(default_factory=list)
    unnamed: dict[str, int] = field(default_factory=dict)


def structured(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every structured change: each value of each record, more keys, odd forms, and each file gone or cut."""
    for path in files_of(folder):
        content = path.read_bytes()
        yield from ((path, one) for one in (content[:-1], content + b"\x00", b"", _flipped(content)))
        if path.suffix != ".json" and not path.name.startswith("_"):
            continue
        for name, change in JSON.items():
            if b"}" in content or name not in ("NaN", "a number beyond doubles", "a huge number"):
                yield path, change(content)
        if path.name.startswith("_") or path.name == "manifest.json":
            write = pretty_json if content[1:2] == b"\n" else canonical_json
            for place in list(places(json.loads(content))):
                document = json.loads(content)
                holder = document
                for key in place[:-1]:
                    holder = holder[key]
                if place[0] not in (
                    "artefacts",
                    "records",
                    "redacted",
                ):  # digests: the changes of files are about them
                    holder[place[-1]] = other(holder[place[-1]])
                    yield path, write(document)


def by_chance(folder: Path, number: int, seed: str) -> Iterator[tuple[Path, bytes]]:
    """Yield random changes of bytes of random files."""
    draw, files = random.Random(seed), files_of(folder)
    for _ in range(number):
        path = draw.choice(files)
        yield path, of_bytes(path.read_bytes(), draw)


def files_of(folder: Path) -> list[Path]:
    """Return the files of a run; sign-offs have their own signatures."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and "signoff" not in path.parts)


def try_each(folder: Path, changes: Iterator[tuple[Path, bytes]], tally: Tally) -> Iterator[Tally]:
    """Make each change, look at what both verifiers say, and put back what was there."""
    for path, content in changes:
        kept, name = path.read_bytes(), path.relative_to(folder).as_posix()
        if content == kept:
            continue
        path.write_bytes(content)
        try:
            _look(folder, name, content, tally)
        finally:
            path.write_bytes(kept)
        yield tally


def _look(folder: Path, name: str, content: bytes, tally: Tally) -> None:
    tally.tried += 1
    try:
        found = verify(str(folder), recompute={})
        there = found_here(folder)
    except Exception as error:  # noqa: BLE001 - it is what is counted
        tally.tracebacks += 1
        tally.missed.append(f"{name}: {type(error).__name__}: {content[:100]!r}")
        return
    tally.tracebacks += "Traceback" in found.summary()
    here = [one for one in found.findings if one.path == name or name in one.detail]
    tally.found += not found.ok
    tally.named += bool(here)
    tally.found_second += bool(there)
    tally.named_second += any(name in one for one in there)
    if found.ok or not there:
        tally.missed.append(f"{name}: {content[:100]!r}")
    if not here or not any(name in one for one in there):
        tally.unnamed[name] = tally.unnamed.get(name, 0) + 1


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :] if content else b"x"


def two_runs(made: Path, folder: Path) -> list[Path]:
    """Copy a sealed run and what its failed attempt had left, to be changed."""
    return [Path(shutil.copytree(made / kind, folder / kind)) for kind in ("sealed", "failed")]
