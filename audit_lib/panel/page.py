"""A panel as a page: what became of each model, then the comparison of those that are sealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from audit_lib.compare.page import comparison_page
from audit_lib.documents.comparison import Comparison
from audit_lib.documents.panel import PanelMember, PanelRecord
from audit_lib.documents.validity import ValidityStudy
from audit_lib.report.blocks import (
    Block,
    Cell,
    Column,
    Facts,
    Notice,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    text,
)
from audit_lib.report.numbers import count
from audit_lib.translation import t
from audit_lib.window import Window

Linked = Callable[[PanelMember], str]
"""Where the report of a model's run is; empty where there is none."""


def panel_page(
    record: PanelRecord,
    comparison: Comparison | None,
    linked: Linked = lambda member: "",
    validity: ValidityStudy | None = None,
) -> Page:
    """Return the page's blocks.

    Parameters
    ----------
    record : PanelRecord
        What became of each model.
    comparison : Comparison or None
        Of those that are sealed; None where there is none.
    linked : callable
        Where each run's report is from this page.
    validity : ValidityStudy, optional
        Which metric foretells the gaps of these models; the comparison says why there is none.
    """
    models = _models(record, linked)
    if comparison is not None:
        page = comparison_page(comparison, (models,), record.title, validity)
    else:
        page = Page(
            title="",
            subtitle=record.title,
            kicker="",
            language="en",
            badges=((t("Not a bias audit"), "flag"), (t("No comparison"), "flag")),
            status=Facts((), strip=True),
            sections=(models,),
            footer=text(t("Made by audit_lib from the archived artefacts of the runs that it names.")),
        )
    window = Window.from_label(record.window)
    facts = (
        (t("Models"), text(count(len(record.members)))),
        (t("Not sealed and valid"), text(count(len(record.failed)))),
        (t("Window"), text(f"{window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}")),
        (t("Panel"), text(code(record.panel_digest[:16]))),
    )
    failed = ((t("{n} not compared", n=count(len(record.failed))), "flag"),) if record.failed else ()
    return replace(
        page,
        title=t("A panel of {n} models", n=count(len(record.members))),
        kicker=t("Panel \N{MIDDLE DOT} {audit}", audit=record.audit),
        badges=(*page.badges, *failed),
        status=Facts((*facts, *(one for one in page.status.items if one[0] != t("Runs"))), strip=True),
    )


def _models(record: PanelRecord, linked: Linked) -> Section:
    blocks: list[Block] = [
        Paragraph(
            text(
                t(
                    "Each model was audited by itself, over the same applicants in the same versions and with the same "
                    "seeds; each run has its own evidence, which verifies alone. A model that failed is a row here and "
                    "in no number below."
                )
            )
        )
    ]
    if record.why_no_comparison is not None:
        blocks.append(Notice(t("No comparison"), text(record.why_no_comparison)))
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("What became of it"), numeric=False),
        Column(t("Asked by"), numeric=False),
        Column(t("Requests")),
        Column(t("Evidence (SHA-256 of the manifest)"), numeric=False),
    )
    times = Counter(one.model for one in record.members)
    rows = tuple(
        Row(
            one.model if times[one.model] == 1 else f"{one.model}, {one.name.replace('_', ' ')}",
            (
                Cell(
                    t(one.state),
                    mark="" if one.state == "sealed" else t("not compared"),
                    note="; ".join(f"{fault.stage}: {fault.message}" for fault in one.faults[:1]),
                ),
                Cell(one.backend, note=one.revision or ""),
                Cell("\N{EN DASH}" if one.asked is None else count(one.asked.requests)),
                Cell((one.manifest_sha256 or "\N{EN DASH}")[:16]),
            ),
            link=linked(one),
        )
        for one in record.members
    )
    blocks.append(Table(t("Models"), columns, rows))
    return Section("models", t("The models of the panel"), tuple(blocks))
