"""``audit check-corpus FOLDER|LIST``: everybody's published summaries, checked and compared with how they were."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, date_of, json_option, notify, positive, store_option

if TYPE_CHECKING:
    from audit_lib.documents.published_pages import PageSweep

_BETWEEN_S, _PAGE_S, _REQUEST_S = 2, 60, 60


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    parser = command(
        "check-corpus",
        _check_corpus,
        "Check everybody's published summaries, and what became of them since the last time",
        "FOLDER has a saved summary in each file, in a folder for each employer or alone. LIST is a CSV (or YAML, "
        "under `pages:`) with the columns employer, url (or file), and, where known, vendor and auditor. Each page is "
        "kept with its SHA-256, checked as `audit check-report` does, and compared with the sweep before: taken down, "
        "numbers changed with or without a new day of the audit, a new day without new numbers, over a year old; and "
        "pages of different employers with equal counts are named. Exit code 0: every page was seen and read, and "
        "nothing was found; 1: something was found; 2: nothing was found, and of some pages nothing is known; or wrong "
        "input.",
    )
    parser.add_argument(
        "source", metavar="FOLDER|LIST", help="folder of saved summaries, or list of their addresses"
    )
    store_option(parser)
    parser.add_argument(
        "--name", help="of the corpus in the store, under _published/ (default: that of the folder or list)"
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        default="published-pages",
        help="where the page with filters, the tables and sweep.json go; files of a sweep before are written over "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--as-of", type=date_of, help="day on which audits must be recent enough (default: today)"
    )
    parser.add_argument(
        "--policy", default="nyc_ll144", metavar="PACK", help="as in check-report (default: nyc_ll144)"
    )
    parser.add_argument(
        "--processes", type=positive, metavar="N", help="that read at once (default: one a processor)"
    )
    parser.add_argument(
        "--page-seconds",
        type=positive,
        default=_PAGE_S,
        metavar="N",
        help="give up reading one page after (default: %(default)s)",
    )
    asked = parser.add_argument_group(
        "addresses",
        "robots.txt is asked and kept to; a host is asked one thing at a time. Addresses that are not of the public "
        "internet are refused, also where a page leads to them.",
    )
    asked.add_argument(
        "--between",
        type=positive,
        default=_BETWEEN_S,
        metavar="N",
        help="seconds between two requests to one host, or more if its robots.txt asks for more (default: %(default)s)",
    )
    asked.add_argument(
        "--request-seconds",
        type=positive,
        default=_REQUEST_S,
        metavar="N",
        help="give up one request after (default: %(default)s)",
    )
    asked.add_argument("--contact", default="", help="your address or page, told to every site")
    asked.add_argument(
        "--private-host",
        nargs="+",
        default=[],
        metavar="HOST",
        help="hosts of your own network that may be asked",
    )
    json_option(parser, "the sweep")


def _check_corpus(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime
    from pathlib import Path

    from audit_lib.canonical import pretty_json
    from audit_lib.corpus.kept_sweeps import KeptSweeps, corpus_name
    from audit_lib.corpus.listed_pages import read_corpus
    from audit_lib.corpus.one_request import RequestBounds
    from audit_lib.corpus.polite_fetch import FetchManners
    from audit_lib.corpus.sweep import SweepOptions, sweep_pages
    from audit_lib.corpus.sweep_files import sweep_files
    from audit_lib.corpus.text_summary import summary_text
    from audit_lib.errors import ConflictError

    out = Path(options.out)
    if (out / "index.html").exists() and not (out / "sweep.json").exists():
        raise ConflictError(
            f"{out / 'index.html'}: is there already, and of no sweep; name another folder with --out"
        )
    now = datetime.now(UTC).replace(microsecond=0)
    kept = KeptSweeps(options.store, options.name or corpus_name(options.source), notify)
    swept = sweep_pages(
        read_corpus(options.source),
        kept,
        SweepOptions(
            policy=options.policy,
            as_of=options.as_of or now.date(),
            manners=FetchManners(
                between=float(options.between),
                contact=options.contact,
                private_hosts=frozenset(host.lower() for host in options.private_host),
                bounds=RequestBounds(seconds=float(options.request_seconds)),
            ),
            page_seconds=float(options.page_seconds),
            processes=options.processes,
        ),
        now,
        notify,
    )
    out.mkdir(parents=True, exist_ok=True)
    for name, content in sweep_files(swept, kept.root).items():
        (out / name).write_bytes(content)
    if options.format == "json":
        print(pretty_json(swept.sweep.as_dict()).decode(), end="")
    else:
        print(summary_text(swept.sweep), end="")
        print(f"\n{out / 'index.html'}: every page, with filters; the tables are beside it")
    return _exit_code(swept.sweep)


def _exit_code(sweep: PageSweep) -> int:
    """Tell what was found, or else that something could not be looked at."""
    if sweep.shared or any(
        row.errors or row.warnings or any(one.severity != "note" for one in row.changes)
        for row in sweep.pages
    ):
        return 1
    return 2 if any(row.state != "seen" or row.unchecked for row in sweep.pages) else 0
