"""What was done, what came out, and what cannot be concluded: before anything else."""

from __future__ import annotations

from fractions import Fraction

from audit_lib.documents.estimates import defined
from audit_lib.measure.multiplicity import NOT_ALLOWED_FOR
from audit_lib.plan.power_limits import NOT_PROMISED, THESE_NAMES, of_names
from audit_lib.report.answerers import whose
from audit_lib.report.blocks import Bullets, Figure, Figures, Notice, Paragraph, Section, Text, strong, text
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.exact_tables import tally
from audit_lib.report.leading import Leading, convincing, distinguishable, leading, picked
from audit_lib.report.numbers import count, guarded, interval, percent
from audit_lib.report.sections.strongest_evidence import distinguishable_ratios, strongest_evidence
from audit_lib.report.sections.what_was_varied import experiment_words
from audit_lib.results import Estimate, Interval, Undefined


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
    rows = content.metrics.rows
    groups = len(spec.groups.cells())
    lead = text(
        f"{count(rows.total)} decisions of {whose(content)} were examined over {groups} groups "
        f"({', '.join(spec.groups.axes)}). {count(rows.answered)} of them have an answer. ",
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
    figures = leaders(content)
    total, answered = content.metrics.rows.total, content.metrics.rows.answered
    if total:
        figures.append(
            Figure(
                "Answered",
                percent(Fraction(answered, total), content.policy.rounding.rate_percent),
                f"{count(answered)} of {count(total)} rows",
            )
        )
    return figures


def leaders(content: Content) -> list[Figure]:
    """Return what leads the page, for each kind of table: the ratio with the most evidence, or that there is none."""
    by_kind = {
        kind: [table for table in content.headline if table.kind == kind] for kind in ("selection", "scoring")
    }
    return [_leader(content, kind, tables) for kind, tables in by_kind.items() if tally(tables).compared]


def _leader(content: Content, kind: str, tables: list[ExactTable]) -> Figure:
    """The ratio with the most evidence, or that none can lead."""
    found, name = leading(content, tables), content.policy.table(kind).title.lower()
    if found.best is None:
        return Figure(
            f"Impact ratio, {name}", "too few to tell", f"No ratio leads. {_kept_back(content, found)}"
        )
    table, row, ratio = found.best
    top = table.row(str(table.comparator))
    words = [f"{row.label}: {row.selected} of {row.n}, against {top.selected} of {top.n} ({top.label})."]
    if (aside := table.aside) is not None:
        words.append(
            f"The highest rate of all is that of {aside.label}, {aside.selected} of {aside.n}: so few are set aside "
            f"here, and the categories of at least {found.least} people compared with each other."
        )
    if limits := picked(row):
        words.append(
            f"{_level(content)} interval {_between(content, limits)}, comparator picked by the data."
        )
    side = "Below the guideline" if row.below else "Not below the guideline"
    words.append(
        f"{side}{', and not distinguishable from 1' if limits and not distinguishable(row) else ''}."
    )
    return Figure(
        f"Impact ratio with the most evidence, {name}",
        guarded(ratio, content.policy.rounding.ratio, content.policy.guidance.threshold),
        " ".join(filter(None, [*words, _kept_back(content, found)])),
        "flag" if convincing(content, table, row) else "plain",
    )


def _kept_back(content: Content, found: Leading) -> str:
    """Say which ratios cannot lead, and why."""
    words = []
    if found.few:
        below = f", {count(found.few_below)} of them below the guideline" if found.few_below else ""
        words.append(
            f"{count(found.few)} {'ratio rests' if found.few == 1 else 'ratios rest'} on fewer than {found.least} "
            f"people in one of {'its' if found.few == 1 else 'their'} two groups{below}: these cannot lead."
        )
    if found.untold:
        words.append(
            f"{count(found.untold)} below the guideline {_are(found.untold)} too few to tell, by the tests of "
            f"{content.policy.short_law}."
        )
    return " ".join(words)


def _between(content: Content, limits: Interval) -> str:
    digits, threshold = content.policy.rounding.ratio, content.policy.guidance.threshold
    return interval(limits.low, limits.high, digits, threshold)


def _limits(content: Content) -> list[Text]:
    reading = _reading(content)
    items = [*strongest_evidence(content), *([reading] if reading is not None else []), *_family(content)]
    detectable = [defined(entry.smallest_detectable_ratio) for entry in content.plan.power if entry.group]
    numbers = [value for value in detectable if value is not None]
    if numbers:
        items.append(
            text(
                strong("What this audit could have found. "),
                f"Before the model was asked, the plan put the smallest detectable ratio between "
                f"{min(numbers):.2f} and "
                f"{max(numbers):.2f}, depending on the comparison. {NOT_PROMISED} Differences of that size, and "
                "smaller ones more so, can be there and stay unseen.",
            )
        )
    if of_names(content.spec):
        items.append(text(strong("These names only. "), THESE_NAMES))
    items.append(
        text(
            "An impact ratio says that rates differ. It does not say why, nor whether the difference is lawful."
        )
    )
    return items


def _family(content: Content) -> list[Text]:
    family = content.metrics.multiplicity
    if isinstance(family, Undefined) or not family.family_size:
        return []
    found, alpha = family.findings, family.alpha
    expected = alpha * family.family_size
    return [
        text(
            strong("Many questions were asked. "),
            f"{count(found.unadjusted)} of {count(family.family_size)} tests fall below {alpha:g} taken one "
            f"by one; "
            f"at most about {expected:.0f} would be expected to if nothing differed and every comparison had been "
            f"fixed beforehand. After the adjustment {count(found.holm)} "
            f"{'does' if found.holm == 1 else 'do'}." + (f" {NOT_ALLOWED_FOR}" if content.tables else ""),
        )
    ]


def _reading(content: Content) -> Text | None:
    """What the ratio that leads shows, once it is allowed for that the comparator was picked by the data."""
    best = leading(content, content.headline).best
    if best is None:
        return None
    table, row, _ = best
    where = f"{row.label}, {table.where}"
    if not picked(row):
        return text(
            strong("How sure the leading ratio is, is not known. "),
            f"The comparator was picked after looking, and no interval that allows for this is "
            f"{'printed: it would tell of hidden rows' if tally((table,)).hidden else 'defined'} ({where}).",
        )
    if not distinguishable(row):
        return text(
            strong("The leading ratio is not distinguishable from 1. "),
            f"The comparator is the highest of several rates, picked after looking. The interval that allows for this "
            f"reaches 1 ({where}).{distinguishable_ratios(content)}",
        )
    return text(
        strong("The leading ratio is distinguishable from 1 "),
        f"even where it is allowed for that the comparator was picked after looking ({where}). {_method(row)}"
        "Other tables were looked at too.",
    )


def _method(row: ExactRow) -> str:
    return f"How: {row.estimate.method}. " if isinstance(row.estimate, Estimate) else ""


def _level(content: Content) -> str:
    return f"{content.spec.measure.level:.0%}"
