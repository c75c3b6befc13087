"""What was published and is no more: runs that are gone from the store, or that do not verify any more.

Addresses of an audit that are always about its latest state say that it is withdrawn, and why. What was published
of single runs stays, since a law may want it kept, and is named.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.documents.withdrawn import Withdrawn
from audit_lib.report.blocks import Bullets, Facts, Notice, Page, Paragraph, Section, link, text
from audit_lib.report.html import render_html
from audit_lib.report.pdf import render_pdf, why_no_pdf
from audit_lib.site.audits_pages import FOLDER as LIST
from audit_lib.site.catalogue import Catalogue

_LATEST: Final = "latest"
_GONE: Final = "no current report of this audit is in the store any more"
_FEWER: Final = "the list of all audits has fewer pages now"
_OTHER: Final = "the latest report of this audit has no such file"
_SAID: Final = "What was published here is withdrawn. Do not rely on copies of it."


def stale_paths(there: Iterable[str], files: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the paths on the site that no run backs.

    Parameters
    ----------
    there : iterable of str
        Paths that lie in the site.
    files : collection of str
        Paths of which the site consists of now.

    Returns
    -------
    tuple of two lists of str
        Of single runs: files, or the whole folder (``AUDIT/WINDOW/DIGEST/``) where nothing of the run is published;
        and pages next to the index that are none of the site's (a favicon or a CNAME may lie there).
        And the addresses that are about an audit's latest state.

    Examples
    --------
    >>> stale_paths(["a/w/d/report.html", "a/index.html", "b/index.html", "x.html"], ["b/index.html"])
    (['a/w/d/', 'x.html'], ['a/index.html'])
    """
    runs = {_folder(path) for path in files if path.count("/") > 2}
    old = [path for path in sorted(there) if path not in files]
    outdated = [path for path in old if path.count("/") == 1 or path.split("/")[1:2] == [_LATEST]]
    single = [path for path in old if path not in outdated and ("/" in path or path.endswith(".html"))]
    whole = {path for path in single if "/" in path and _folder(path) not in runs}
    return sorted({_folder(path) if path in whole else path for path in single}), outdated


def withdrawn_files(paths: Iterable[str], catalogue: Catalogue) -> dict[str, bytes]:
    """Return what is written over each of the addresses of `stale_paths`."""
    made: dict[str, bytes] = {}
    for path in paths:
        audit = path.split("/")[0]
        is_current = any(entry.is_current for entry in catalogue.audits.get(audit, []))
        reasons = [reason for reason in catalogue.left_out if reason.startswith(f"{audit}/")]
        if audit == LIST:
            made[path] = _content(path, [_FEWER])
            continue
        made[path] = _content(path, [_OTHER] if is_current else [_GONE, *reasons])
    return made


def _folder(path: str) -> str:
    return "/".join(path.split("/")[:3]) + "/"


def _content(path: str, reasons: list[str]) -> bytes:
    if path.endswith(".html"):
        return render_html(_page(path, reasons))
    if path.endswith(".json"):
        return pretty_json(Withdrawn(reasons=tuple(reasons)).as_dict())
    if path.endswith(".pdf") and why_no_pdf() is None:
        return render_pdf(_page(path, reasons))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("withdrawn", "reason"), *(("", why) for why in reasons)])
    return out.getvalue().encode()


def _page(path: str, reasons: list[str]) -> Page:
    up = "../" * path.count("/")
    return Page(
        title="Withdrawn",
        subtitle="What was published at this address does not stand any more",
        kicker=path.split("/")[0],
        language="en",
        badges=(),
        status=Facts((("All audits", text(link("index", f"{up}index.html"))),), strip=True),
        sections=(
            Section(
                "withdrawn",
                "Withdrawn",
                (Notice("Withdrawn", text(_SAID)), Bullets(tuple(text(reason) for reason in reasons))),
            ),
            Section(
                "kept",
                "What is kept",
                (
                    Paragraph(
                        text(
                            "Reports of single runs that were published before may still lie at their own addresses. "
                            "The index names those that no run in the store backs."
                        )
                    ),
                ),
            ),
        ),
        footer=text("Made by audit_lib when the site was published again."),
    )
