"""The page as PDF/UA-1, from the same blocks: tagged, every figure described, the same bytes on a rerun.

Conformance is declared and checked by tools in the tests; nobody certifies it. The bytes also depend on the
fonts of the machine and the version of WeasyPrint.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from audit_lib.canonical import sha256
from audit_lib.errors import InputError
from audit_lib.page_transcript import NAME, read_visible
from audit_lib.report.blocks import Page
from audit_lib.report.html import render_html

_LIBRARIES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


def why_no_pdf() -> str | None:
    """Return why no PDF can be made on this machine, or None where one can."""
    try:
        import weasyprint  # noqa: F401
    except ImportError:
        return "WeasyPrint is not installed; pip install 'audit-lib[pdf]'"
    except OSError:
        return (
            f"a system library of WeasyPrint is missing; on Debian and Ubuntu: apt-get install {_LIBRARIES}"
        )
    return None


def render_pdf(page: Page, *, short: bool = False) -> bytes:
    """Return the page as PDF/UA-1; a `short` one set close.

    Raises
    ------
    InputError
        If no PDF can be made on this machine; `why_no_pdf` says why.
    """
    if (reason := why_no_pdf()) is not None:
        raise InputError(f"report.pdf: {reason}")
    from weasyprint import HTML, URLFetcher

    content = render_html(page, paper=True, short=short)
    # Charts come as data; nothing is fetched from anywhere.
    fetcher = URLFetcher(allowed_protocols=("data",), fail_on_errors=True)
    document = HTML(string=content.decode(), url_fetcher=fetcher)
    told = partial(_finish, transcript=read_visible(content.decode()).transcript)
    made: bytes = document.write_pdf(
        finisher=told, pdf_variant="pdf/ua-1", pdf_tags=True, pdf_identifier=sha256(content)[:32].encode()
    )
    return made


def _finish(document: Any, pdf: Any, *, transcript: str) -> None:
    """Say of each header cell what it heads, and let links print: WeasyPrint leaves both out. Add the transcript."""
    import pydyf

    pdf.info[NAME] = pydyf.String(transcript)
    by_reference: dict[Any, Any] = {item.reference: item for item in pdf.objects if hasattr(item, "get")}
    for item in list(by_reference.values()):
        if item.get("S") == "/TH":
            row = by_reference[item["P"]]
            heads = by_reference[row["P"]].get("S") == "/THead"
            item["A"]["Scope"] = "/Column" if heads else "/Row"
        elif item.get("Subtype") == "/Link":
            item["F"] = int(item.get("F", 0)) | 4
