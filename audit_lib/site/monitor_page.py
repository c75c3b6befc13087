"""The page of an audit over all its windows: what is followed, against which baseline, and which alarms were told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from audit_lib.documents.sequences import Alarm, FollowedSequence, Sequences
from audit_lib.errors import EvidenceError
from audit_lib.figures import sequence
from audit_lib.monitor import alarm_line
from audit_lib.monitor.attribution import by_name
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Notice,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    link,
    text,
)
from audit_lib.report.numbers import UNDEFINED, count
from audit_lib.results import Undefined
from audit_lib.site.attribution_part import attribution_blocks
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.window import Window

PAGE: Final = "monitor.html"
_MOST_NAMED: Final = 5
_NAMES: Final = {"selection_rate": "Selection rate", "score": "Score"}
_FOOT: Final = text(
    "Derived from the sealed runs and the baseline; ",
    code("audit trend"),
    " derives it again. An alarm says that a number changed, not why, and is no finding of law.",
)


def read_sequences(store: Store, audit: str) -> Sequences | None:
    """Return what was last followed of an audit; None where nothing was, or another version of the library wrote it."""
    key = f"{audit}/monitor/sequences.json"
    if not store.exists(key):
        return None
    try:
        return decode(Sequences, store.get(key), store.uri(key))
    except EvidenceError:
        return None


def monitor_sections(document: Sequences) -> tuple[Section, ...]:
    """Return what is followed, section by section; sequences with an alarm come first."""
    ordered = sorted(
        document.sequences, key=lambda one: (not any(a.stands for a in one.alarms), not one.alarms)
    )
    return (
        Section("about", "What this shows", tuple(_about(document))),
        *(_section(number, one, document) for number, one in enumerate(ordered, start=1)),
        *_others(document),
    )


def monitor_page(title: str, document: Sequences, *, on_site: bool = True) -> Page:
    """Return the page; those with an alarm come first, `on_site` with links to the other pages of the audit."""
    links = (
        ("All runs", text(link("of this audit", "index.html"))),
        ("All audits", text(link("index", "../index.html"))),
    )
    return Page(
        title="Over all windows",
        subtitle=title,
        kicker=document.audit,
        language="en",
        badges=(),
        status=Facts((("State", text(state_of(document))), *(links if on_site else ())), strip=True),
        sections=monitor_sections(document),
        footer=_FOOT,
    )


def state_of(document: Sequences) -> str:
    """Return the state of the audit in a few words."""
    if isinstance(document.baseline, Undefined):
        return "no baseline: no change is looked for"
    alarms = sum(alarm.stands for one in document.sequences for alarm in one.alarms)
    windows = max((len(one.looks) for one in document.sequences), default=0)
    said = f"{count(alarms)} alarm{'s' * (alarms != 1)}" if alarms else "no alarm"
    return f"{said} after {count(windows)} windows"


def _about(document: Sequences) -> Iterator[Block]:
    baseline = document.baseline
    if isinstance(baseline, Undefined):
        yield Notice("No baseline", text(f"{baseline.reason[0].upper()}{baseline.reason[1:]}."))
    else:
        settings = baseline.settings
        yield Paragraph(
            text(
                f"Windows are compared with the baseline “{baseline.name}”: {count(len(baseline.runs))} windows that "
                f"{baseline.decided_by} decided on, on {baseline.decided_at[:10]} ({_signed(document)}): "
                f"{baseline.reason}. If nothing changes, at most {100 * settings.false_alarms:g}% of such audits ever "
                f"raise an alarm, however many windows there are, over {count(document.hypotheses)} questions."
            ),
            lead=True,
        )
    yield Paragraph(
        text(
            "Each mark is the difference in one window between a group and its reference, in applications or rounds "
            "that hold both. The band is where the mean of all windows so far lies, at every look at once, with 95%."
        )
    )


def _signed(document: Sequences) -> str:
    if document.signed_with is None:
        return "the decision is not signed"
    return f"signed with key {document.signed_with[:16]}, not checked here"


def _section(number: int, one: FollowedSequence, document: Sequences) -> Section:
    name = f"{_NAMES[one.quantity]}: {_cell(one.group.values())} less {_cell(one.reference.values())}"
    blocks: list[Block] = [
        Notice(
            "Alarm" if alarm.stands else "Earlier alarm, no longer told", text(f"{alarm_line(one, alarm)}.")
        )
        for alarm in one.alarms
    ]
    if any(not isinstance(look.difference, Undefined) for look in one.looks):
        blocks.append(_chart(one, document))
    if (attribution := by_name(document.attributions, one)) is not None:
        blocks += attribution_blocks(attribution)
    absent: dict[str, list[str]] = {}
    for look in one.looks:
        if isinstance(look.difference, Undefined):
            absent.setdefault(look.difference.reason, []).append(_span(look.window))
    if absent:
        blocks.append(
            Bullets(
                tuple(
                    text(f"No value in {_listed(windows)}: {reason}.") for reason, windows in absent.items()
                )
            )
        )
    blocks.append(_table(one))
    return Section(f"sequence-{number}", name, tuple(blocks))


def _listed(windows: Sequence[str]) -> str:
    more = f" and {len(windows) - _MOST_NAMED} more windows" if len(windows) > _MOST_NAMED else ""
    return f"{'; '.join(windows[:_MOST_NAMED])}{more}"


def _chart(one: FollowedSequence, document: Sequences) -> Chart:
    windows = [look.window for look in one.looks]
    told: list[Alarm] = [alarm for alarm in one.alarms if alarm.kind == "change"]
    baseline = document.baseline
    draw = [
        sequence(
            [_day(window) for window in windows],
            [math.nan if isinstance(look.difference, Undefined) else look.difference for look in one.looks],
            [[look.interval.low, look.interval.high] for look in one.looks],
            baseline=0 if isinstance(baseline, Undefined) else len(baseline.runs),
            since=windows.index(told[0].since) if told else None,
            versions=[
                windows.index(change.window) for change in document.versions if change.window in windows
            ],
            title=f"{_NAMES[one.quantity]}: difference by window",
            width=width,
        )
        for width in (760, 360)
    ]
    return Chart(draw[0], draw[1], "Difference in each window, and the interval over all windows so far.")


def _table(one: FollowedSequence) -> Fold:
    rows = tuple(
        Row(
            header=_span(look.window),
            cells=(
                Cell(count(look.units)),
                Cell(UNDEFINED if isinstance(look.difference, Undefined) else f"{look.difference:+.3f}"),
                Cell(f"{look.interval.low:+.3f} to {look.interval.high:+.3f}"),
                Cell("" if look.change is None else f"{look.change:.2f}"),
            ),
        )
        for look in reversed(one.looks)
    )
    columns = (
        Column("Window", numeric=False),
        Column("Units"),
        Column("Difference"),
        Column("Mean so far, at all looks"),
        Column("Log evidence of a change"),
    )
    said = f"{_NAMES[one.quantity]}, {_cell(one.group.values())} less {_cell(one.reference.values())}, latest first"
    return Fold("All windows in numbers", (Table(said, columns, rows),))


def _others(document: Sequences) -> Iterator[Section]:
    if document.versions:
        items = tuple(
            text(f"{_span(one.window)}: {', '.join(one.changed)} became another") for one in document.versions
        )
        yield Section("versions", "What became another", (Bullets(items),))
    if document.set_aside:
        aside = tuple(
            text(f"{_span(one.window)}, design ", code(one.spec_digest[:16]), f": {one.reason}")
            for one in document.set_aside
        )
        yield Section("set-aside", "Runs that are in no sequence", (Bullets(aside),))
    if document.left_out:
        left = tuple(text(f"{_NAMES[one.quantity]}: {one.reason}") for one in document.left_out)
        yield Section("left-out", "What is not followed", (Bullets(left),))


def _cell(levels: Iterable[str]) -> str:
    return ", ".join(levels)


def _day(label: str) -> str:
    return f"{Window.from_label(label).end:%Y-%m-%d}"


def _span(label: str) -> str:
    window = Window.from_label(label)
    return f"{window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}"
