"""Commands of those who sign and publish: ``audit keygen | sign | reject | publish | oscal``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, counted, date_of, find_run, notify, store_option

if TYPE_CHECKING:
    from audit_lib.run import Run


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser's."""
    keygen = command(
        "keygen",
        _keygen,
        "Make a key pair that signs: an auditor's, or that of runs (AUDIT_SIGNER)",
        "The private key is encrypted if AUDIT_SIGNING_PASSPHRASE is set. Give the .pub file to whoever verifies.",
    )
    keygen.add_argument("file", help="where the private key goes; the public one lies next to it as FILE.pub")
    keygen.add_argument(
        "--privacy",
        action="store_true",
        help="make the key that wraps applicants' keys (AUDIT_PRIVACY_KEY) instead: one file, of 32 bytes",
    )

    sign = command(
        "sign",
        _sign,
        "Sign a sealed run, as its auditor",
        "Verifies the evidence first, then appends your signed statement and the report that carries it. "
        "Nothing that was signed is ever changed.",
    )
    sign.add_argument(
        "run", help="URI of a sealed run, or the name of an audit in the store (its latest run)"
    )
    sign.add_argument("--key", required=True, help="your private key (`audit keygen`)")
    sign.add_argument("--auditor", required=True, help="your full name")
    sign.add_argument("--organisation", required=True, help="your organisation")
    sign.add_argument(
        "--attest",
        nargs="+",
        default=[],
        metavar="ID",
        help="the attestations that you make; without any they are printed and nothing is signed",
    )
    sign.add_argument("--remarks", default="", help="printed in the signed report")
    sign.add_argument("--supersede", metavar="REASON", help="supersede an earlier statement, and why")
    sign.add_argument(
        "--corrects", metavar="RUN", help="URI of the signed run that this one takes the place of"
    )
    store_option(sign)

    no = command(
        "reject",
        _reject,
        "Reject a sealed run, as its auditor",
        "Adds your signed rejection with its reason. It stands for good: nobody can sign the run any more, and every "
        "page of it says so.",
    )
    no.add_argument("run", help="URI of a sealed run, or the name of an audit in the store (its latest run)")
    no.add_argument("--key", required=True, help="your private key (`audit keygen`)")
    no.add_argument("--auditor", required=True, help="your full name")
    no.add_argument("--organisation", required=True, help="your organisation")
    no.add_argument("--reason", required=True, help="why, printed wherever the run is shown")
    store_option(no)

    site = command(
        "publish",
        _publish,
        "Write the public site of a store: index, reports, trends, feeds",
        "It lies in the folder site/ of the store. Publishing again changes nothing that is up to date.",
    )
    site.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="KEY.pub",
        help="public keys of auditors, got from them; runs that another key signed are left out",
    )
    site.add_argument(
        "--as-of", type=date_of, help="day for which audits are called past their validity (default: today)"
    )
    site.add_argument(
        "--base", default="", help="address it is served under, such as https://audits.example.org/"
    )
    site.add_argument("--airflow", default="", help="address of Airflow's UI, for links to DAG runs")
    store_option(site)

    oscal = command(
        "oscal",
        _oscal,
        "Write a sealed run as OSCAL assessment results",
        "Needs the extra [oscal].",
    )
    oscal.add_argument(
        "run", help="URI of a sealed run, or the name of an audit in the store (its latest run)"
    )
    oscal.add_argument(
        "--out", default="assessment-results.json", help="file to write (default: %(default)s)"
    )
    store_option(oscal)


def _keygen(options: argparse.Namespace) -> int:
    from audit_lib.signing.keys import key_id
    from audit_lib.signoff import generate_key, load_public_key

    if options.privacy:
        from audit_lib.privacy.applicant_keys import KEY, make_key_of_keys

        make_key_of_keys(Path(options.file))
        print(f"wrote {options.file} (keep it secret, apart from the runs): {KEY}=file:{options.file}")
        return 0
    public = generate_key(Path(options.file))
    print(f"wrote {options.file} (keep it secret) and {public}")
    print(f"key id {key_id(load_public_key(public))}")
    return 0


def _sign(options: argparse.Namespace) -> int:
    from audit_lib.errors import InputError
    from audit_lib.run import Run
    from audit_lib.signoff import AuditorAnswers, attestations, load_private_key, sign_off

    run: Run = find_run(options.run, options.store, notify)
    asked = attestations(run)
    if asked and not options.attest:
        lines = "\n".join(f"  {name}: {sentence}" for name, sentence in asked.items())
        raise InputError(f"signing needs these attestations; name those you make with --attest:\n{lines}")
    made = sign_off(
        run,
        AuditorAnswers(
            auditor=options.auditor,
            organisation=options.organisation,
            attested=tuple(options.attest),
            remarks=options.remarks,
        ),
        load_private_key(Path(options.key)),
        supersede=options.supersede,
        corrects=Run.load(options.corrects) if options.corrects else None,
    )
    print(f"signed    {run.uri}")
    print(f"statement {made.digest}")
    print(f"report    {made.folder.store.uri(made.folder.prefix)}/report.html")
    print("next      audit publish, and send the statement's digest to the employer")
    return 0


def _reject(options: argparse.Namespace) -> int:
    from audit_lib.signoff import RejectionAnswers, load_private_key, reject

    run: Run = find_run(options.run, options.store, notify)
    said = RejectionAnswers(auditor=options.auditor, organisation=options.organisation, reason=options.reason)
    made = reject(run, said, load_private_key(Path(options.key)))
    print(f"rejected  {run.uri}")
    print(f"statement {made.digest}")
    print("next      audit publish, and send the statement's digest to the employer")
    return 0


def _publish(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from audit_lib.signoff import load_public_key
    from audit_lib.site import publish

    trusted = [load_public_key(Path(path)) for path in options.trust]
    done = publish(options.store, base=options.base, airflow=options.airflow, trusted=trusted, notify=notify)
    print(f"{done.uri}: {counted(done.files, 'file')}, {done.written:,} new or changed")
    day = options.as_of or datetime.now(UTC).date()
    for one in done.validity:
        print(f"WARNING {one.on(day)}" if one.is_past(day) else one.on(day))
    for audit in done.without_report:
        print(f"NO REPORT {audit}: every run failed its validation; the site says so")
    for reason in done.left_out:
        print(f"NOT PUBLISHED {reason}")
    for path in done.withdrawn:
        print(f"WITHDRAWN site/{path}: it says so now")
    for path in done.stale:
        print(
            f"NOTHING BEHIND site/{path}: no run or statement that holds is in the store; it was published earlier, "
            "or somebody else put it there"
        )
    return 1 if done.left_out or done.stale else 0


def _oscal(options: argparse.Namespace) -> int:
    from audit_lib.oscal import assessment_results

    Path(options.out).write_bytes(assessment_results(find_run(options.run, options.store)))
    print(f"wrote {options.out}")
    return 0
