"""The page of one audit as it is now: its windows, each with its runs, and all that is followed over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from audit_lib.documents.run_index import AuditState
from audit_lib.documents.sequences import Sequences
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Fold,
    Notice,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    Text,
    link,
    text,
)
from audit_lib.report.numbers import count
from audit_lib.site.monitor_page import monitor_sections
from audit_lib.site.window_strip import in_words, strip_chart
from audit_lib.window import Window
from audit_lib.windows import OwedWindow, summary


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlaces:
    """Where things of an audit are, from its page.

    Parameters
    ----------
    report : callable
        Of the folder of a run in the store.
    all_audits : str
        The list of all audits.
    dag_runs : str
        All DAG runs of the audit; empty where no Airflow is known.
    dag_run : mapping
        Of the folder of a run: the DAG run that made it, as its last attempt says.
    """

    report: Callable[[str], str]
    all_audits: str
    dag_runs: str = ""
    dag_run: Mapping[str, str]


def audit_state_page(
    state: AuditState, owed: Sequence[OwedWindow], followed: Sequences | None, places: AuditPlaces
) -> Page:
    """Return the page."""
    facts: list[tuple[str, Text]] = [("Over all windows", text(state.drift))]
    if state.next_window is not None:
        facts.append(("Next window ends", text(_minute(Window.from_label(state.next_window).end))))
    if (latest := state.latest) is not None:
        facts.append(("Latest report", text(link("report", places.report(latest.run)))))
        rejected = f"rejected by {latest.rejected_by}" if latest.rejected_by else "not signed"
        facts.append(("Signed", text(latest.signed_by or rejected)))
        if latest.no_use_after is not None:
            facts.append(("Valid until", text(latest.no_use_after)))
        elif latest.why_no_audit is not None:
            facts.append(("No audit to rely on", text(latest.why_no_audit)))
        if latest.finding is not None:
            facts.append(("Ratio with the most evidence", text(latest.finding)))
    if places.dag_runs:
        facts.append(("Airflow", text(link("DAG runs", places.dag_runs))))
    facts.append(("All audits", text(link("list", places.all_audits))))
    nothing = Section(
        "not-followed",
        "Over all windows",
        (
            Paragraph(
                text(
                    "Nothing is followed yet: `audit trend` or the DAG drift_monitor follows the sealed runs, and "
                    "`audit baseline set` decides what later windows are compared with."
                )
            ),
        ),
    )
    return Page(
        title=state.title,
        subtitle="The audit over its windows",
        kicker=state.audit,
        language="en",
        badges=(),
        status=Facts(tuple(facts), strip=True),
        sections=(
            _windows(state, owed, places),
            *((nothing,) if followed is None else monitor_sections(followed)),
        ),
        footer=text(
            "Derived from the schedule and the runs in the store; digests are checked by audit verify, not here."
        ),
    )


def _windows(state: AuditState, owed: Sequence[OwedWindow], places: AuditPlaces) -> Section:
    blocks: list[Block] = [
        Paragraph(
            text(
                f"{count(len(owed))} window{'s' * (len(owed) != 1)} of the schedule {state.cron} ({state.timezone}) "
                f"{'was' if len(owed) == 1 else 'were'} owed on "
                f"{state.as_of[:16].replace('T', ' ')} UTC: {summary(owed) or 'none has ended yet'}. The latest: "
                f"{in_words(state.strip)}."
            )
        )
    ]
    if owed:
        blocks.append(strip_chart(owed))
    if state.notes:
        blocks.append(
            Notice(
                "Something is wrong with its windows", text("Nothing is averaged over what is named here.")
            )
        )
        blocks.append(Bullets(tuple(text(note) for note in state.notes)))
    if owed:
        blocks.append(Fold("Each window", (_table(owed, places),)))
    return Section("windows", "Windows", tuple(blocks))


def _table(owed: Sequence[OwedWindow], places: AuditPlaces) -> Table:
    columns = (
        Column("Window (UTC)", numeric=False),
        Column("State", numeric=False),
        Column("Report", numeric=False),
        Column("DAG run", numeric=False),
    )
    rows = []
    for one in reversed(owed):
        runs = one.runs or ("",)
        for run in runs:
            made_by = places.dag_run.get(run, "")
            rows.append(
                Row(
                    header=f"{_minute(one.window.start)} to {_minute(one.window.end)}",
                    cells=(
                        Cell(one.state, note=f"one of {len(runs)} runs" if len(runs) > 1 else ""),
                        Cell("report", link=places.report(run)) if one.state == "audited" else Cell("none"),
                        Cell("DAG run", link=made_by) if made_by else Cell("not known"),
                    ),
                )
            )
    return Table("Each window, latest first", columns, tuple(rows))


def _minute(instant: object) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"
