"""The file that a person reads before a template is used: every span in its context, and every doubt.

It holds the dossier itself, so it belongs with the dossiers and never into a report or the evidence.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from audit_lib.perturb.redact import Redacted
    from audit_lib.perturb.rereading.findings import LeftPassage
    from audit_lib.perturb.rereading.reread import Reread

PRIVATE: Final = (
    "Private: holds the applicant's data. Keep it with the dossiers; it is no part of any report."
)

_STYLE: Final = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;"
    "font:inherit;border:1px solid #999;padding:1rem}mark{background:#cfe8cf}mark.check{background:#ffe08a}"
    "mark.doubt{background:#f6c1b8;border-bottom:2px dashed #900}table{border-collapse:collapse}"
    "td,th{border:1px solid #999;padding:.2rem .5rem;text-align:left}small{font-size:.75em}"
)


def review(
    redacted: Redacted, *, context: int = 40, pages_unread: Sequence[int] = (), reread: Reread | None = None
) -> dict[str, Any]:
    """Return all that a reviewer needs as JSON values; `context` is in characters each side.

    `pages_unread` are the pages of a PDF that hold no text, and `reread` is what the second reader says.

    Examples
    --------
    >>> from audit_lib.perturb.redact import Applicant, redact
    >>> review(redact("Ask Ana.", Applicant(name="Ana Ruiz")))["spans"][0]["original"]
    'Ana'
    """
    text = redacted.text

    def place(start: int, end: int) -> dict[str, Any]:
        return {
            "start": start, "end": end, "original": text[start:end],
            "before": text[max(0, start - context) : start], "after": text[end : end + context],
        }  # fmt: skip

    return {
        "note": PRIVATE,
        "candidates": redacted.candidates,
        "names_found": redacted.names_found,
        "sex": redacted.sex,
        "checks": list(redacted.checks),
        "pages_unread": list(pages_unread),
        "coverage": redacted.coverage(),
        "spans": [
            {**place(s.start, s.end), "kind": s.kind, "slot": slot, "rule": s.rule, "sure": s.sure}
            for s, slot in zip(redacted.spans, redacted.written, strict=True)
        ],
        "doubts": [{**place(d.start, d.end), "kind": d.kind, "why": d.why} for d in redacted.doubts],
        **(
            {}
            if reread is None
            else {
                "status": reread.status,
                "reasons": list(reread.reasons),
                "not_looked": list(reread.not_looked),
                "findings": [
                    {**place(f.start, f.end), "kind": f.kind, "why": f.why} for f in reread.findings
                ],
            }
        ),
        "template": redacted.template,
        "originals": dict(sorted(redacted.originals.items())),
    }


def review_html(
    redacted: Redacted, title: str, pages_unread: Sequence[int] = (), reread: Reread | None = None
) -> str:
    """Return a page that shows the dossier with its spans marked, doubts and unsure spans listed first."""
    text = redacted.text
    rows = [
        ("left as it is", text[d.start : d.end], d.kind, d.why) for d in redacted.doubts
    ] + [
        ("redacted, please check", text[s.start : s.end], s.kind, s.rule) for s in redacted.spans if not s.sure
    ]  # fmt: skip
    second: Sequence[LeftPassage] = () if reread is None else reread.findings
    rows += [("found by the second reader", text[f.start : f.end], f.kind, f.why) for f in second]
    table = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    several = (
        f"<p><strong>This dossier presents {redacted.candidates} people as its applicant.</strong></p>"
        if redacted.candidates > 1
        else ""
    )
    unread = (
        f"<p><strong>Not read: page {', '.join(map(str, pages_unread))} holds no text (a scan). Recognise the text "
        "and redact the file again.</strong></p>"
        if pages_unread
        else ""
    )
    looked = " and ".join(("the rules", *([] if reread is None else ["the second reader"]), *redacted.checks))
    missing = (
        f"<p><strong>Did not look: {html.escape(', '.join(reread.not_looked))}. No dossier is ok without "
        "them.</strong></p>"
        if reread is not None and reread.not_looked
        else ""
    )
    status = (
        "" if reread is None else f"<p>Status: <strong>{reread.status}</strong>. "
        f"{html.escape('; '.join(reread.reasons)) or 'Nothing is left to look at.'}</p>"
    )  # fmt: skip
    absent = (
        ""
        if redacted.names_found
        else "<p><strong>The applicant's name was not found in this dossier.</strong></p>"
    )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<style>{_STYLE}</style><h1>{html.escape(title)}</h1><p>{PRIVATE}</p>{status}{missing}{several}{absent}{unread}"
        f"<p>Looked for by {html.escape(looked)}.</p>"
        f"<h2>To look at ({len(rows)})</h2><table><tr><th>what was done</th><th>text</th><th>kind</th><th>why</th></tr>"
        f"{table}</table><h2>The dossier</h2><p><mark>redacted</mark>, <mark class='check'>redacted, "
        f"please check</mark>, "
        f"<mark class='doubt'>left, doubtful</mark></p><pre>{''.join(_marked(redacted, second))}</pre></html>\n"
    )


def _marked(redacted: Redacted, second: Sequence[LeftPassage]) -> Iterator[str]:
    marks = [
        (s.start, s.end, "" if s.sure else "check", slot)
        for s, slot in zip(redacted.spans, redacted.written, strict=True)
    ] + [(d.start, d.end, "doubt", d.kind) for d in redacted.doubts]
    marks += [(f.start, f.end, "doubt", f.kind) for f in second]
    at = 0
    for start, end, how, label in sorted(marks):
        if start < at:
            continue  # inside a place that is marked already
        yield html.escape(redacted.text[at:start])
        yield f"<mark class='{how}'>{html.escape(redacted.text[start:end])} <small>{html.escape(label)}</small></mark>"
        at = end
    yield html.escape(redacted.text[at:])
