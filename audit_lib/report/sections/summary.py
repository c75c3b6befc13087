"""What was done, what came out, and what cannot be concluded: before anything else."""

from __future__ import annotations

from fractions import Fraction

from audit_lib.report.blocks import Bullets, Figure, Figures, Notice, Paragraph, Section, Text, strong, text
from audit_lib.report.content import Content, RateTable, TableRow
from audit_lib.report.numbers import count, guarded, interval, percent
from audit_lib.report.rate_table import tally
from audit_lib.report.sections.standing import others, standing
from audit_lib.report.sections.varied import experiment_words


def summary(content: Content) -> Section:
    """Make the section."""
    spec, policy = content.spec, content.policy
    notices = []
    if not spec.model.valid_judge:
        notices.append(Notice("This model is no valid judge", text(policy.wording["invalid_judge"])))
    if content.is_experiment:
        wording = "experiment" if spec.perturb is not None else "experiment_recorded"
        words = policy.wording[wording].format(varied=experiment_words(content))
        notices.append(Notice("An experiment, not a bias audit", text(words), "note"))
    elif content.is_refused:
        notices.append(Notice("Demographics that the law does not accept", text(policy.wording["refused"])))
    rows = content.metrics["rows"]
    groups = len(spec.groups.cells())
    lead = text(
        f"{count(rows['total'])} decisions of {spec.model.name} were examined over {groups} groups "
        f"({', '.join(spec.groups.axes)}). {count(rows['answered'])} of them have an answer. ",
        _verdict(content),
    )
    return Section(
        "summary",
        "In short",
        (
            *notices,
            Paragraph(lead, lead=True),
            Figures(tuple(_figures(content))),
            Bullets(tuple(_limits(content))),
        ),
    )


def widest(content: Content) -> tuple[RateTable, TableRow] | None:
    """Return the headline row with the smallest impact ratio, and its table."""
    found = [
        (row.ratio, number, table, row)
        for number, (table, row) in enumerate((t, r) for t in content.headline for r in t.rows)
        if isinstance(row.ratio, Fraction)
    ]
    if not found:
        return None
    _, _, table, row = min(found, key=lambda entry: (entry[0], entry[1]))
    return table, row


def _verdict(content: Content) -> str:
    found = tally(content.headline)
    hidden = f" {count(found.hidden)} more {_are(found.hidden)} hidden." if found.hidden else ""
    if not found.compared:
        return f"No impact ratio is {'printed' if hidden else 'defined'} for these data.{hidden}"
    guidance = content.policy.guidance
    return (
        f"{found.below} of {found.compared} impact ratios in the headline tables {_are(found.below)} below "
        f"{float(guidance.threshold):g}, the {guidance.name}; comparators, whose ratio is 1, are not counted.{hidden}"
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _figures(content: Content) -> list[Figure]:
    digits, threshold = content.policy.rounding, content.policy.guidance.threshold
    figures = []
    for kind in ("selection", "scoring"):
        tables = [t for t in content.headline if t.kind == kind]
        rows = [(r.ratio, t, r) for t in tables for r in t.rows if isinstance(r.ratio, Fraction)]
        if not rows:
            continue
        ratio, table, row = min(rows, key=lambda entry: entry[0])
        limits = row.estimate["interval"]
        uncertain = (
            f"{_level(content)} interval {interval(limits['low'], limits['high'], digits.ratio, threshold)}, "
            "comparator held fixed. "
            if "low" in limits
            else ""
        )
        figures.append(
            Figure(
                f"Smallest {'printed ' if tally(tables).hidden else ''}impact ratio, "
                f"{content.policy.table(kind).title.lower()}",
                guarded(ratio, digits.ratio, threshold),
                f"{row.label}: {row.selected} of {row.n}. {uncertain}"
                + ("Below the guideline." if row.below else "Not below the guideline.")
                + _few(content, tables, table, row),
                "flag" if row.below else "plain",
            )
        )
    total, answered = content.metrics["rows"]["total"], content.metrics["rows"]["answered"]
    if total:
        figures.append(
            Figure(
                "Answered",
                percent(Fraction(answered, total), digits.rate_percent),
                f"{count(answered)} of {count(total)} rows",
            )
        )
    return figures


def _limits(content: Content) -> list[Text]:
    items = []
    found = widest(content)
    if found is not None:
        items.append(_reading(content, *found))
    items = [*standing(content), *items, *_family(content)]
    detectable = [p["smallest_detectable_ratio"] for p in content.plan["power"] if p["group"]]
    numbers = [value for value in detectable if isinstance(value, float)]
    if numbers:
        items.append(
            text(
                strong("What this audit could have found. "),
                f"Before the model was asked, the plan put the smallest detectable ratio between "
                f"{min(numbers):.2f} and "
                f"{max(numbers):.2f}, depending on the comparison. Smaller differences can be there and stay unseen.",
            )
        )
    items.append(
        text(
            "An impact ratio says that rates differ. It does not say why, nor whether the difference is lawful."
        )
    )
    return items


def _rests_on(table: RateTable, row: TableRow) -> TableRow | None:
    """The smaller of the two rows of a ratio, if it is a small cell."""
    both = [one for one in table.rows if one.label in (row.label, table.comparator)]
    fewer = min(both, key=lambda one: one.n)
    return fewer if fewer.small else None


def _people(number: int) -> str:
    return f"{count(number)} {'person' if number == 1 else 'people'}"


def _few(content: Content, tables: list[RateTable], table: RateTable, row: TableRow) -> str:
    """Say how few people the smallest ratio rests on, and what it is among those that rest on more."""
    fewer = _rests_on(table, row)
    if fewer is None:
        return ""
    digits, guidance = content.policy.rounding.ratio, content.policy.guidance
    limit = content.spec.measure.small_cell
    said = f" It rests on {_people(fewer.n)} ({fewer.label}), fewer than {limit}."
    larger = [
        (r.ratio, r)
        for t in tables
        for r in t.rows
        if isinstance(r.ratio, Fraction) and r.label != t.comparator and _rests_on(t, r) is None
    ]
    if not larger:
        return f"{said} No printed ratio rests on more."
    ratio, other = min(larger, key=lambda entry: entry[0])
    return (
        f"{said} Smallest where both groups have {limit} people or more: "
        f"{guarded(ratio, digits, guidance.threshold)} ({other.label}: {other.selected} of {other.n})."
    )


def _family(content: Content) -> list[Text]:
    family = content.metrics.get("multiplicity")
    if not family or not family.get("family_size"):
        return []
    found, alpha = family["findings"], family["alpha"]
    expected = alpha * family["family_size"]
    return [
        text(
            strong("Many questions were asked. "),
            f"{count(found['unadjusted'])} of {count(family['family_size'])} tests fall below {alpha:g} taken one "
            f"by one; "
            f"at most about {expected:.0f} would be expected to if nothing differed. After Holm's adjustment for their "
            f"number, "
            f"{count(found['holm'])} remain.",
        )
    ]


def _reading(content: Content, table: RateTable, row: TableRow) -> Text:
    """What the smallest ratio shows, once it is allowed for that the comparator was picked by the data."""
    few = _rests_on(table, row)
    where = f"{row.label}, {table.where}" + (f"; {_people(few.n)} in {few.label}" if few else "")
    wide = next((i for i in row.estimate["intervals"] if i["kind"] == "simultaneous"), None)
    if wide is None:
        return text(
            strong("How sure the smallest ratio is, is not known. "),
            f"The comparator was picked after looking, and no interval that allows for this is "
            f"{'printed: it would tell of hidden rows' if tally((table,)).hidden else 'defined'} ({where}).",
        )
    if wide["high"] is None or wide["high"] >= 1:
        return text(
            strong("The smallest ratio is not distinguishable from 1. "),
            f"The comparator is the highest of several rates, picked after looking. The interval that allows for this "
            f"reaches 1 ({where}).{others(content)}",
        )
    return text(
        strong("The smallest ratio is distinguishable from 1 "),
        f"even where it is allowed for that the comparator was picked after looking ({where}). {_method(row)}"
        "Other tables were looked at too.",
    )


def _method(row: TableRow) -> str:
    said = str(row.estimate.get("method", ""))
    return f"How: {said}. " if said else ""


def _level(content: Content) -> str:
    return f"{content.spec.measure.level:.0%}"
