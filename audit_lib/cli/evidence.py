"""The commands that check what was published: ``verify | prove | verify-record | check-report``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audit_lib.cli import verify_all
from audit_lib.cli.shared import (
    AddCommand,
    date_of,
    json_option,
    notify,
    positive,
    run_at,
    sha256_of,
    write_private,
)
from audit_lib.privacy.levels import LABEL, LEVELS, is_fuller

if TYPE_CHECKING:
    from audit_lib.archive.findings import EvidenceFinding

_FIRST: Final = 20
"""Findings that are told at once; the verdict lists them all."""


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    verify = command(
        "verify",
        _verify,
        "Verify archived evidence",
        "Hashes every artefact again, recomputes every published number from the archived scores, and checks who "
        "signed. Of a panel: its records, each run that the last one names, and the comparison. The first line is the "
        "verdict on all of it. What costs little is checked first, and a fault in it is told at once. "
        "Exit code 1: it does not verify; 2: it could not be checked; 3: with --no-recompute, no fault was found.",
    )
    verify.add_argument(
        "bundle",
        help="URI or folder of a run, of which a copy will do; or of a panel in its store; with --all of a store",
    )
    verify.add_argument("--as-of", type=date_of, help="day of use, for which the audit must be recent enough")
    verify.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="FILE",
        help="public keys of auditors, got from them (a sign-off by another key is then a finding, and so is none); or "
        "a trust file, or several versions of it, the oldest first",
    )

    verify.add_argument(
        "--head",
        nargs="+",
        type=sha256_of,
        default=[],
        metavar="SHA256",
        help="digests of entries of the audit's journal that you knew earlier; the run must lie in its store",
    )

    verify.add_argument(
        "--level",
        choices=sorted(LEVELS),
        help="the level that you were promised: a copy that shows less is then a finding",
    )
    verify.add_argument(
        "--locked",
        action="store_true",
        help="a file that its bucket does not lock now (S3 Object Lock, COMPLIANCE) is a finding",
    )
    verify.add_argument(
        "--no-recompute",
        action="store_true",
        help="check files, digests, records, signatures and the journal alone; no number is computed again, so it is "
        "no verification: exit code 3 where nothing is found",
    )
    verify.add_argument(
        "--processes",
        type=positive,
        metavar="N",
        help="that work at once (default: one a processor and GiB of free memory, one for a small run; with --all one "
        "a processor)",
    )
    verify.add_argument(
        "--table-gb",
        type=positive,
        metavar="N",
        help="what a table may unpack to; one that is larger is a finding, and nothing is computed again (default: "
        "1 GB, or 200 times its size if that is more)",
    )
    verify_all.add_options(verify)

    prove = command(
        "prove",
        _prove,
        "Write one applicant's score records, with the proof that they are all in the evidence",
        "Or, of an application that has none, the proof that it has none. Nobody else's records are in it, and "
        "only its owner can read it.",
    )
    prove.add_argument("run", help="URI or folder of a sealed run")
    prove.add_argument("--application", required=True, metavar="ID", help="its application_id")
    prove.add_argument("--out", default="record.json", help="file to write (default: %(default)s)")

    record = command(
        "verify-record",
        _verify_record,
        "Check the file of `audit prove` or `audit access`, without the run",
        "Exit code 1: it does not show what it says, or is of another manifest.",
    )
    record.add_argument("file", help="file of `audit prove` or `audit access`")
    record.add_argument(
        "--manifest",
        type=sha256_of,
        metavar="SHA256",
        help="digest of the run's manifest, got from elsewhere than the file",
    )

    checked = command(
        "check-report",
        _check_report,
        "Check anyone's published summary of a bias audit",
        "Rebuilds every printed rate and ratio from its counts and looks for what the law asks for. "
        "Exit code 1: an error or a warning was found; 2: the file cannot be read.",
    )
    checked.add_argument("file", help="saved HTML page, CSV tables, PDF, DOCX, XLSX or a picture")
    json_option(checked)
    checked.add_argument(
        "--policy",
        default="nyc_ll144",
        metavar="PACK",
        help="the law that the summary is held against: name of a policy pack, or a pack's file (default: nyc_ll144)",
    )
    checked.add_argument("--as-of", type=date_of, help="day for which the audit must be recent enough")
    checked.add_argument(
        "--numerals",
        metavar="FILE",
        help="of a page (HTML or PDF) that this library made: write each of its numerals as CSV, with its type, what "
        "it is, where it stands, and the run's files that determine it",
    )


def _verify(options: argparse.Namespace) -> int:
    return verify_all.verify(options) if options.all else _verify_one(options)


def _verify_one(options: argparse.Namespace) -> int:
    from dataclasses import replace
    from datetime import UTC, datetime

    from audit_lib.archive.findings import EvidenceFinding
    from audit_lib.archive.lock_check import not_locked
    from audit_lib.archive.verification_json import verification_json
    from audit_lib.errors import AuditError, GateError, SpecError, UncheckedError
    from audit_lib.signing.trust import read_trusted
    from audit_lib.signoff import VerificationOptions, verify_signed

    verify_all.refuse_without_all(options)
    now = datetime.now(UTC)
    trusted, trust = read_trusted([Path(path) for path in options.trust], now)
    try:
        panel = _is_panel(options.bundle)
        loose = not_locked(options.bundle) if options.locked else []
        of_a_run = options.trust or options.head or options.locked or options.as_of is not None
        table_bytes = None if options.table_gb is None else options.table_gb << 30
        if panel and (of_a_run or options.no_recompute):
            raise SpecError(
                "--trust, --head, --locked, --as-of and --no-recompute are for a run: give one of the panel's runs"
            )
        if panel:
            from audit_lib.panel.verify_panel import verify_panel

            verification = verify_panel(options.bundle, notify, options.processes, table_bytes)
        else:
            verification = verify_signed(
                options.bundle,
                trusted,
                trust=trust,
                heads=options.head,
                recompute={} if options.no_recompute else None,
                now=now,
                options=VerificationOptions(
                    processes=options.processes,
                    table_bytes=table_bytes,
                    first=_tell_first,
                    notify=notify,
                ),
            )
    except AuditError as error:
        raise UncheckedError(f"{options.bundle}: could not be checked: {error}") from None
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything: it is no verdict
        raise UncheckedError(f"{options.bundle}: could not be checked ({type(error).__name__})") from None
    verification = replace(verification, findings=(*verification.findings, *loose))
    # Of what does not verify no age can be trusted.
    if options.as_of is not None and verification.ok:
        try:
            note = _age(options.bundle, options.as_of)
            verification = replace(verification, notes=(*verification.notes, note))
        except GateError as error:
            old = EvidenceFinding(kind="age", path="metrics", detail=str(error))
            verification = replace(verification, findings=(old,))
    if options.level is not None and is_fuller(options.level, verification.level):
        less = f"is a copy of level {verification.level}, and {options.level} was asked for"
        found = EvidenceFinding(kind="level", path=LABEL, detail=less)
        verification = replace(verification, findings=(*verification.findings, found))
    print(verification_json(verification) if options.format == "json" else verification.summary())
    if verification.unchecked:
        return 2
    if not verification.ok:
        return 1
    return 3 if verification.not_computed else 0


def _is_panel(uri: str) -> bool:
    """Tell whether a folder is that of a panel; of one that has a plan nothing more need be asked, or loaded."""
    from audit_lib.store import open_store

    if open_store(uri.rstrip("/") or "/").list("plan"):
        return False
    from audit_lib.panel.verify_panel import is_panel

    return is_panel(uri)


def _tell_first(findings: Sequence[EvidenceFinding]) -> None:
    """Tell what the checks that cost little have found, while the others go on."""
    what = "verify: files, digests, manifest, records, signatures and journal"
    if not findings:
        notify(f"{what}: nothing was found")
        return
    more = [f"  and {len(findings) - _FIRST} more"] if len(findings) > _FIRST else []
    said = [f"  finding: {one}" for one in findings[:_FIRST]]
    notify("\n".join([f"{what}: {len(findings)} found, and this run will not verify", *said, *more]))


def _age(uri: str, on: date) -> str:
    """Say until when an audit may be relied on, or raise `GateError` where that is past or there is none."""
    from audit_lib.documents.sample import Sample
    from audit_lib.errors import GateError
    from audit_lib.policies import policy_of
    from audit_lib.policies.clocks import valid_until
    from audit_lib.policies.gates import check_validity
    from audit_lib.policies.timeline import timeline_of
    from audit_lib.run import Run
    from audit_lib.signoff.sign_off_files import read_sign_offs
    from audit_lib.signoff.statement import why_no_audit_of

    run = Run.from_bundle(uri.rstrip("/") or "/")
    policy = policy_of(run.spec)
    gate = policy.gate("validity")
    if gate is None:
        clock = policy.clock("validity")
        return f"{policy.short_law} sets no period of validity ({clock.cite}): whether to rely on it on {on} is open"
    signed = read_sign_offs(run)
    last = signed[-1] if signed else None
    occurred = run.stage("sample").read_document(Sample, "sample.json").occurred
    times = timeline_of(
        policy,
        run.spec,
        run.stage("metrics").success().finished,
        window=run.key.window,
        decided=None if occurred is None else (occurred.first, occurred.last),
        signed_at=None if last is None else last.signed_at,
        signer=None if last is None else (last.predicate.auditor, last.predicate.organisation),
    )
    why = why_no_audit_of(times, None if last is None else last.predicate)
    if why is not None:
        raise GateError(f"{policy.short_law}, {gate.cite}: there is no audit to rely on: {why}")
    check_validity(policy, times.audited, on)
    return f"audit of {times.audited}, valid until {valid_until(policy, times.audited)}: may be relied on on {on}"


def _prove(options: argparse.Namespace) -> int:
    from audit_lib.archive.record_proof import check_proof, prove

    content = prove(run_at(options.run), options.application)
    write_private(Path(options.out), content)
    print(f"wrote {options.out}: {check_proof(content, options.out).records} records")
    return 0


def _verify_record(options: argparse.Namespace) -> int:
    from audit_lib.archive.personal_data import check_personal_data
    from audit_lib.archive.record_proof import check_proof
    from audit_lib.canonical import strict_json
    from audit_lib.documents.access import ACCESS_SCHEMA
    from audit_lib.errors import EvidenceError
    from audit_lib.plain_text import quoted

    content, questions = Path(options.file).read_bytes(), None
    try:
        said = strict_json(content)
    except ValueError as error:
        raise EvidenceError(f"{options.file}: {error}") from None
    if isinstance(said, dict) and said.get("schema") == ACCESS_SCHEMA:
        found, questions = check_personal_data(content, options.file)
    else:
        found = check_proof(content, options.file)
    if options.manifest is not None and options.manifest != found.manifest_sha256:
        raise EvidenceError(
            f"{options.file}: is of the manifest {found.manifest_sha256}, not of {quoted(options.manifest)}"
        )
    what = f"all {found.records} records of it are in" if found.records else "it has no records in"
    print(f"PROVED  application {quoted(found.application)}: {what} the evidence")
    if questions is not None:
        print(
            f"  {questions} questions have the digests of these records; other rows of the file are not proved"
        )
    print(f"  audit {found.audit}, window {found.window}")
    print(
        f"  of {found.tree.records} records of {found.tree.applications} applications, root {found.tree.root}"
    )
    known = "the one that was given" if options.manifest else "compare with one that you have from elsewhere"
    print(f"  manifest SHA-256 {found.manifest_sha256} ({known})")
    return 0


def _check_report(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.check import check_report
    from audit_lib.check.text_report import report_text

    if options.numerals is not None:
        _write_numerals(options.file, Path(options.numerals))
    report = check_report(options.file, as_of=options.as_of, policy=options.policy)
    as_json = options.format == "json"
    print(pretty_json(report.as_dict()).decode() if as_json else report_text(report), end="")
    return 0 if report.ok else 1


def _write_numerals(page: str, path: Path) -> None:
    from audit_lib.check.own_numerals import COLUMNS, own_numerals
    from audit_lib.errors import InputError
    from audit_lib.report.tables import csv_bytes

    if path.exists() and Path(page).exists() and path.samefile(page):
        raise InputError(f"--numerals {path}: is the page itself; name another file")
    found = own_numerals(page)
    path.write_bytes(csv_bytes(COLUMNS, found))
    print(f"wrote {path}: {len(found):,} numerals", file=sys.stderr)
