"""The command line: what is given, what is read, and what is said of it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from datetime import datetime, timezone
from typing import Sequence

from verifier import VERSION
from verifier.bag import check_bag
from verifier.documents import LaterError
from verifier.findings import Verdict, printable
from verifier.journal import journal_next_to
from verifier.record_proof import check_record
from verifier.run import Given, check_run
from verifier.source import AttackError, RefusedError, Source, open_source
from verifier.strict_json import LARGEST, OddError
from verifier.trust import Trust, read_trust

_RUN = re.compile(r"(?:(.+)/)?(?:evidence/manifest\.json|plan/_SUCCESS|attempts/[1-9][0-9]*/manifest\.json)")
_PLACE = re.compile(r"[a-z][a-z0-9_]{0,63}/[0-9]{8}T[0-9]{6}Z_[0-9]{8}T[0-9]{6}Z/[0-9a-f]{16}")
_LEVELS = ("digests", "redacted", "full")
"""From the least to the most."""
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_EPILOGUE = """exit codes: 0 everything that was looked at holds; 1 something does not; 2 it could not be decided here,
or nothing could be read. A verifier that came with the evidence proves nothing: get this file from the project."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify what the command line names; return the exit code."""
    options = _parser().parse_args(arguments)
    verdict = Verdict(options.evidence)
    try:
        given = _given(options)
    except (OSError, OddError) as error:
        print(printable(f"verify.pyz: cannot use what was given: {error}"), file=sys.stderr)
        return 2
    try:
        _check(options, verdict, given)
    except AttackError as error:
        verdict.find("attack", "", str(error))
    except RefusedError as error:
        if not verdict.findings:
            verdict.undecided.append(str(error))
        else:
            verdict.notes.append(str(error))
    except LaterError as error:
        verdict.undecided.append(str(error))
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything: it is no verdict
        verdict.undecided.append(f"could not be checked ({type(error).__name__}); say so to the project")
    said = verdict.as_json() if options.format == "json" else verdict.as_text()
    sys.stdout.buffer.write(said.encode("utf-8", "backslashreplace"))
    return verdict.code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="verify.pyz",
        description="Checks the evidence of an audit: files, records, signatures, counts, rates and ratios.",
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "evidence",
        help="a zip or tar as it was handed on, or a folder: of a bag, or of a run; or one person's proof "
        "(the file of `audit prove` or `audit access`)",
    )
    parser.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="FILE",
        help="a trust file, or several versions of it, the oldest first; or public keys of auditors",
    )
    parser.add_argument(
        "--manifest", metavar="SHA256", type=_digest, help="digest of the run's manifest, got from elsewhere"
    )
    parser.add_argument(
        "--head",
        nargs="+",
        default=[],
        metavar="SHA256",
        type=_digest,
        help="heads of the journal that you knew",
    )
    parser.add_argument("--journal", default="", metavar="FOLDER", help="the journal of the run's audit")
    parser.add_argument(
        "--run", default="", metavar="PATH", help="which run, where the evidence holds several"
    )
    parser.add_argument(
        "--level",
        choices=_LEVELS,
        help="the level that you were promised: a copy that shows less is a finding",
    )
    parser.add_argument(
        "--stamps-checked",
        action="store_true",
        help="you checked who signed the time stamps, with openssl ts",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--version", action="version", version=f"verify.pyz {VERSION}")
    return parser


def _digest(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise argparse.ArgumentTypeError("is no SHA-256: 64 digits from 0 to f")
    return text.lower()


def _given(options: argparse.Namespace) -> Given:
    contents: list[bytes] = []
    for path in options.trust:
        with open(path, "rb") as stream:
            contents.append(stream.read(1 << 24))
    now = datetime.now(timezone.utc)
    trust = read_trust(contents, now) if contents else Trust()
    journal = options.journal or journal_next_to(options.evidence)
    return Given(trust, options.head, journal, now, stamps=options.stamps_checked)


def _check(options: argparse.Namespace, verdict: Verdict, given: Given) -> None:
    if (record := _record(options.evidence)) is not None:
        check_record(record, verdict)
    else:
        _check_evidence(options, verdict, given)
    if options.manifest is not None and options.manifest != verdict.manifest_sha256:
        verdict.find(
            "manifest", "evidence/manifest.json", f"is not the one that was given: {options.manifest}"
        )


def _record(path: str) -> bytes | None:
    """Return a file that holds a JSON document; None where it is anything else."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        return stream.read(LARGEST + 1) if stream.peek(1)[:1] == b"{" else None


def _check_evidence(options: argparse.Namespace, verdict: Verdict, given: Given) -> None:
    source = open_source(options.evidence)
    bag = _bag(source)
    if bag is not None:
        check_bag(source.below(bag), verdict)
    runs = sorted({found[1] or "" for path in source.sizes for found in [_RUN.fullmatch(path)] if found})
    if options.run:
        runs = [run for run in runs if run == options.run.strip("/")]
    if len(runs) != 1:
        some = ", ".join(run for run in runs[:5]) + (", ..." if len(runs) > 5 else "")
        what = f"{len(runs)} runs ({some}); name one with --run" if runs else "no audit run"
        raise RefusedError(f"{options.evidence}: holds {what}")
    prefix = f"{runs[0]}/" if runs[0] else ""
    if bag is None and not options.run:
        for path in [*source.sizes, *(path for path, _ in source.odd)]:
            if not path.startswith(prefix):
                verdict.find("extra", path, "lies outside the run and in no bag")
    elif bag is not None:
        for path in source.sizes:
            if not path.startswith((prefix, bag)):
                verdict.find("extra", path, "lies outside the bag")
    check_run(source.below(prefix), verdict, given)
    _check_place(options.evidence, prefix, verdict)
    if options.level and _LEVELS.index(verdict.level) < _LEVELS.index(options.level):
        less = f"is a copy of level {verdict.level}, and {options.level} was asked for"
        verdict.find("level", "privacy.json", less)


def _check_place(evidence: str, prefix: str, verdict: Verdict) -> None:
    """A run may be copied anywhere, but to the place of another run."""
    folder = os.path.abspath(evidence).replace(os.sep, "/") if os.path.isdir(evidence) else ""
    place = "/".join(f"{folder}/{prefix}".rstrip("/").split("/")[-3:])
    said = verdict.identity
    own = f"{said['audit']}/{said['window']}/{said['design'][:16]}"
    if said["audit"] and _PLACE.fullmatch(place) and place != own:
        verdict.find("manifest", "evidence/manifest.json", f"is of {own}, and lies in the place of {place}")


def _bag(source: Source) -> str | None:
    """Return the folder of the bag, which ends with a slash; None where it is none."""
    found = [
        path[: -len("bagit.txt")]
        for path in source.sizes
        if path == "bagit.txt" or path.endswith("/bagit.txt")
    ]
    tops = [folder for folder in found if folder.count("/") < 2]
    return tops[0] if len(tops) == 1 else None
