"""The site's own pages: the index, one page an audit, and its trend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from audit_lib.documents.journal import JournalEntry, attempts_among
from audit_lib.documents.sequences import Sequences
from audit_lib.figures import Dot, dot_chart
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Facts,
    Heading,
    Notice,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    Text,
    code,
    link,
    text,
)
from audit_lib.report.blocks import TextRun as Words
from audit_lib.report.numbers import UNDEFINED, count, guarded, interval
from audit_lib.site.attempts_page import PAGE as ATTEMPTS
from audit_lib.site.audits_pages import FOLDER as LIST
from audit_lib.site.catalogue import Catalogue, CataloguedRun, latest
from audit_lib.site.monitor_page import PAGE, state_of
from audit_lib.site.owed_windows import OwedWindows, windows_section
from audit_lib.site.trend import TrendPoint

_FOOT = (
    "Made by audit_lib from sealed evidence. Pages of single runs never change; a signed report is superseded, "
    "not edited."
)
NONE_CURRENT = "none that is current: each was superseded, and what superseded it is not shown"
NO_REPORT = "no valid report: every run failed its validation, so nothing was published of any"


def front_page(catalogue: Catalogue, stale: Sequence[str] = ()) -> Page:
    """Return the index of all audits; `stale` are paths on the site that no run in the store backs."""
    sections = [
        _audit(audit, entries, catalogue.windows.get(audit)) for audit, entries in catalogue.audits.items()
    ]
    sections = [panel.section() for panel in catalogue.panels] + sections
    if not sections:
        sections = [
            Section("none", "No audits yet", (Paragraph(text("Nothing was sealed in this store so far.")),))
        ]
    if catalogue.left_out:
        left = tuple(text(reason) for reason in catalogue.left_out)
        notice = Notice(
            "Not shown",
            text("The evidence or the sign-offs of these runs do not hold, so they are not published."),
        )
        sections.append(Section("not-shown", "Runs that are not shown", (notice, Bullets(left))))
    if stale:
        notice = Notice(
            "No run backs them",
            text(
                "These were published earlier, and their runs or statements are gone from the store or do not verify "
                "any more; or somebody else put them here. Do not rely on them."
            ),
        )
        paths = tuple(text(code(path)) for path in stale)
        sections.append(Section("left-over", "Pages left from earlier", (notice, Bullets(paths))))
    runs = sum(map(len, catalogue.audits.values()))
    return Page(
        title="Audit reports",
        subtitle="Reports, latest and earlier",
        kicker="Published from sealed evidence",
        language="en",
        badges=(),
        status=Facts(
            (
                ("Audits", text(_all_audits(catalogue))),
                ("Runs", text(count(runs))),
                *((("Panels", text(count(len(catalogue.panels)))),) if catalogue.panels else ()),
                ("Feeds", text(link("Atom", "feed.atom"), ", ", link("JSON", "feed.json"))),
            ),
            strip=True,
        ),
        sections=tuple(sections),
        footer=text(_FOOT),
    )


def _all_audits(catalogue: Catalogue) -> Words:
    words = count(len(catalogue.audits))
    return link(f"{words}: their windows", f"{LIST}/index.html") if catalogue.windows else Words(words)


def _audit(audit: str, entries: list[CataloguedRun], windows: OwedWindows | None) -> Section:
    spec = entries[0].run.spec
    last, reported = latest(entries), any(entry.document is not None for entry in entries)
    facts: list[tuple[str, Text]] = []
    if last is not None:
        facts.append(("Latest report", text(link(window(last), f"{last.path}/report.html"))))
        facts.append(("Status", text(last.status)))
        if last.last_day is not None:
            facts.append(("No use after", text(f"{last.last_day:%Y-%m-%d}")))
    else:
        facts.append(("Latest report", text(NONE_CURRENT if reported else NO_REPORT)))
    facts.append(("Runs", text(link(f"{count(len(entries))} in all", f"{audit}/index.html"))))
    if windows is not None:
        facts.append(("Windows", text(link(windows.said, f"{audit}/index.html#windows"))))
    if reported:
        facts.append(("Trend", text(link("ratios over time", f"{audit}/trend.html"))))
    blocks: list[Block] = [Paragraph(text(spec.description))] if spec.description else []
    return Section(audit, spec.title, (*blocks, Facts(tuple(facts))))


def audit_page(
    audit: str,
    entries: list[CataloguedRun],
    windows: OwedWindows | None = None,
    followed: Sequences | None = None,
    journal: Sequence[JournalEntry] | None = None,
    *,
    airflow: str = "",
) -> Page:
    """Return the page of one audit: its runs, the latest first."""
    valid = any(entry.document is not None for entry in entries)
    trend = ("Trend", text(link("ratios over time", "trend.html")))
    attempted: list[tuple[str, Text]] = []
    if journal is not None:
        n = count(len(attempts_among(journal)))
        attempted = [("Attempts", text(link(f"{n} in the journal", ATTEMPTS)))]
    owed = () if windows is None else (windows_section(windows),)
    none = Section(
        "no-report", "No valid report", (Notice("No valid report", text(f"There is {NO_REPORT}.")),)
    )
    return Page(
        title=entries[0].run.spec.title,
        subtitle="All runs, latest first",
        kicker=audit,
        language="en",
        badges=(),
        status=Facts(
            (
                ("Runs", text(count(len(entries)))),
                *((trend,) if valid else ()),
                *attempted,
                *([] if followed is None else [("Over all windows", text(link(state_of(followed), PAGE)))]),
                *([("Airflow", text(link("DAG runs", f"{airflow}/dags/{audit}/runs")))] if airflow else []),
                ("All audits", text(link("index", "../index.html"))),
            ),
            strip=True,
        ),
        sections=(*(() if valid else (none,)), *owed, *(_run(entry) for entry in entries)),
        footer=text(_FOOT),
    )


def _run(entry: CataloguedRun) -> Section:
    key = entry.run.key
    here = entry.path.removeprefix(f"{key.audit}/")
    facts: list[tuple[str, Text]] = [("Status", text(entry.status))]
    if entry.last_day is not None:
        facts.append(("No use after", text(f"{entry.last_day:%Y-%m-%d}")))
    if entry.superseded_by is not None:
        later = entry.superseded_by.removeprefix(f"{key.audit}/")
        facts.append(("Superseded by", text(link("the later audit", f"{later}/report.html"))))
    if entry.document is not None:
        facts.append(("Summary and cards", _links(here, entry.reading_names)))
        facts.append(("Report", _links(here, sorted(entry.report_names, key=_page_first))))
    for one in entry.sign_offs:
        said = one.predicate
        where = f"{here}/signoff/{one.number}"
        words: list[str | Words] = [
            f"{said.auditor}, {said.organisation}, {one.signed_at:%Y-%m-%d}: ",
            link("signed report", f"{where}/report.html"), ", ", link("statement", f"{where}/statement.dsse.json"),
        ]  # fmt: skip
        if said.supersedes:
            before = said.supersedes.run.removeprefix(f"{key.audit}/")
            words += [", supersedes ", link("the earlier one", f"{before}/report.html")]
            words.append(f" ({said.supersedes.reason})")
        facts.append((f"Sign-off {one.number}", text(*words)))
    if (no := entry.rejection) is not None:
        words = [
            f"{no.predicate.auditor}, {no.predicate.organisation}, {no.rejected_at:%Y-%m-%d}: {no.predicate.reason} (",
            link("statement", f"{here}/rejection/statement.dsse.json"), ")",
        ]  # fmt: skip
        facts.append(("Rejection", text(*words)))
    if entry.not_recomputable:
        n = entry.not_recomputable
        records = "1 score record" if n == 1 else f"{count(n)} score records"
        facts.append(
            (
                "Not recomputable",
                text(
                    f"{records}: the data of these people were erased after this was sealed. The report stays as it "
                    "was; its digests hold, and numbers are computed again from rows without texts and ids."
                ),
            )
        )
    facts += [
        ("Model", text(entry.run.spec.model.name)),
        ("Policy", text(f"{entry.policy.name} {entry.policy.version}")),
        ("Sealed", text(f"{entry.sealed_at:%Y-%m-%d %H:%M} UTC")),
        ("Design", text(code(key.spec_digest[:16]))),
    ]
    return Section(
        f"run-{key.window.label}-{key.spec_digest[:8]}".lower(), window(entry), (Facts(tuple(facts)),)
    )


def _links(folder: str, names: Sequence[str]) -> Text:
    links: list[str | Words] = []
    for name in names:
        links += [", "] if links else []
        links.append(link(name, f"{folder}/{name}"))
    return text(*links)


def _page_first(name: str) -> tuple[bool, str]:
    return name != "report.html", name


def trend_page(audit: str, entries: list[CataloguedRun], found: list[TrendPoint]) -> Page:
    """Return the page that shows how the leading impact ratio of each headline table moved."""
    series = list(dict.fromkeys(point.table for point in found))
    lead = Paragraph(
        text(
            "Of each headline table the impact ratio with the most evidence, run by run, with its interval, which "
            "allows for the comparator being picked by the data. Which category leads may change from run to run; a "
            "ratio that rests on too few people never does. Runs are samples: ratios move by chance, and a change "
            "counts only where intervals say so."
        ),
        lead=True,
    )
    sections = [Section("about", "What this shows", (lead,))]
    for number, name in enumerate(series, start=1):
        chosen = [point for point in found if point.table == name]
        sections.append(Section(f"trend-{number}", ", ".join(name), tuple(_series(name, chosen))))
    if not series:
        sections.append(
            Section("none", "No ratios", (Paragraph(text("No run of this audit has ratio tables.")),))
        )
    return Page(
        title="Trend",
        subtitle=entries[0].run.spec.title,
        kicker=audit,
        language="en",
        badges=(),
        status=Facts(
            (
                ("All runs", text(link("of this audit", "index.html"))),
                ("All audits", text(link("index", "../index.html"))),
            ),
            strip=True,
        ),
        sections=tuple(sections),
        footer=text(_FOOT),
    )


def _series(name: tuple[str, str], chosen: list[TrendPoint]) -> Iterator[Block]:
    policy = chosen[-1].entry.policy
    digits, threshold = policy.rounding.ratio, policy.guidance.threshold
    dots = [
        Dot(
            label=window(point.entry) + (" *" if point.changes else ""),
            value=None if point.ratio is None else float(point.ratio),
            printed=UNDEFINED if point.ratio is None else guarded(point.ratio, digits, threshold),
            low=point.low,
            high=point.high if point.high is not None or point.low is None else float("inf"),
            flagged=point.flagged,
        )
        for point in chosen
    ]
    title = f"Leading impact ratio, {', '.join(name)}"
    described = "; ".join(f"{dot.label}: {dot.printed}" for dot in dots)
    guide = (float(threshold), f"{float(threshold):g}")
    top = max([1.25, *(dot.value for dot in dots if dot.value is not None)])
    draw = [
        dot_chart(title, described, dots, span=(0.0, top), guide=guide, origin=1.0, width=width, names=names)
        for width, names in ((760, 250), (360, 0))
    ]
    yield Chart(
        draw[0],
        draw[1],
        f"{title}. Dashed: {policy.guidance.name}. * something changed since the run before.",
    )
    rows = tuple(
        Row(
            header=window(point.entry),
            cells=(
                Cell(dots[place].printed, mark="below" if point.below else "", note=point.label),
                Cell(_limits(point, digits, threshold)),
                Cell("" if point.ratio is None else f"{count(point.selected)} of {count(point.n)}"),
                Cell("; ".join(point.changes) or ("nothing" if place else "no run before it is shown")),
            ),
        )
        for place, point in enumerate(chosen)
    )
    columns = (
        Column("Window", numeric=False),
        Column("Leading ratio"),
        Column("Interval, picked comparator"),
        Column("Selected"),
        Column("Changed since the run before", numeric=False),
    )
    yield Heading("The numbers")
    yield Table(title, columns, rows)


def _limits(point: TrendPoint, digits: int, threshold: Fraction) -> str:
    if point.low is None:
        return UNDEFINED
    return interval(point.low, point.high, digits, threshold)


def window(entry: CataloguedRun) -> str:
    """Return a run's window in words."""
    span = entry.run.key.window
    return f"{span.start:%Y-%m-%d} to {span.end:%Y-%m-%d}"
