"""Commands that hand evidence on: ``audit export`` and ``audit import``."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit_lib.cli.shared import AddCommand, counted, notify, store_option
from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.privacy.levels import DEFAULT, LEVELS, is_fuller


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    export = command(
        "export",
        _export,
        "Write a sealed run as one file: a BagIt bag in a zip or tar",
        "With SHA-256 and SHA-512 of every file, RO-Crate metadata, and VERIFY.txt for whoever gets it. The same run "
        "gives the same bytes. Texts and ids of applicants are left out unless --privacy full is given; every number "
        "can still be computed again, and the digests of what was left out stay in the manifest.",
    )
    export.add_argument("run", help="URI or folder of a sealed run, or the name of an audit (its latest run)")
    export.add_argument(
        "--out", metavar="FILE", help="FILE.zip or FILE.tar (default: AUDIT_WINDOW_DESIGN.zip)"
    )
    export.add_argument(
        "--privacy",
        choices=sorted(LEVELS),
        help="full: all files; redacted: rows without texts, with numbers for ids; digests: what was published, and "
        f"digests of the rest (default: what the spec's privacy.level says, and at most that; else {DEFAULT})",
    )
    store_option(export)

    imported = command(
        "import",
        _import,
        "Check a bag and put its run into a store",
        "Every name, size and digest is looked at before anything is written. Exit code 1: the bag is not as its lists "
        "say, and nothing was written; 2: it cannot be read, or the store has another file of that name. Verify the "
        "run afterwards: whoever changes a file can write the lists anew.",
    )
    imported.add_argument(
        "bag", help="a zip or tar of `audit export`, or of anybody who packs runs as BagIt bags"
    )
    imported.add_argument("--check", action="store_true", help="check it only, and write nothing")
    store_option(imported)


def _export(options: argparse.Namespace) -> int:
    from audit_lib.bag import export_run

    uri = options.run
    if "/" not in uri and not Path(uri).is_dir():
        from audit_lib.pipeline import latest_run

        uri = latest_run(uri, options.store).uri
    out = options.out
    if out is None:
        out = "_".join(uri.rstrip("/").split("/")[-3:]) + ".zip"
    level = _level(uri, options.privacy)
    made = export_run(uri, Path(out), notify, level=level)
    print(f"wrote {made.path}: {counted(made.files, 'file')}, {made.size:,} bytes, level {level}")
    if made.withheld:
        print(
            f"withheld: {counted(made.withheld, 'file')}, whose digests stay in the manifest; --privacy names another "
            "level"
        )
    print(f"SHA-256 of its tagmanifest-sha256.txt, which covers all of it: {made.tag_manifest_sha256}")
    return 0


def _level(uri: str, asked: PrivacyLevel | None) -> PrivacyLevel:
    """Return the level that is asked for, which may show no more than the spec says, if it says so."""
    from audit_lib.errors import AuditError, InputError
    from audit_lib.run import Run

    try:
        privacy = Run.from_bundle(uri.rstrip("/") or "/").spec.privacy
    except AuditError:
        privacy = None  # of a run that failed before its plan, or that another version made
    if privacy is None:
        return asked or DEFAULT
    if asked is not None and is_fuller(asked, privacy.level):
        raise InputError(f"the run's spec has privacy.level: {privacy.level}; nothing fuller is handed on")
    return asked or privacy.level


def _import(options: argparse.Namespace) -> int:
    from audit_lib.bag import check_bag, open_bag, unpack
    from audit_lib.store import open_store

    with open_bag(Path(options.bag)) as bag:
        findings = check_bag(bag, notify)
        for one in findings:
            print(one)
        if findings:
            print(f"{options.bag}: NOT WHOLE: {len(findings)} findings; nothing was written")
            return 1
        print(
            f"{options.bag}: whole: {len(bag.sizes)} files are as its lists say; {', '.join(bag.runs) or 'no run'}"
        )
        if options.check:
            return 0
        store = open_store(options.store)
        for name in unpack(bag, store, notify):
            print(f"imported {store.uri(name)}")
            print(f"now check what it says: audit verify {store.uri(name)}")
    return 0
