"""Print the reference page of the shipped metrics, from their records (`audit_lib.measure.metric.MetricRecord`).

python tools/metric_page.py > docs/reference/metrics.md
"""

from __future__ import annotations

from typing import Final

from audit_lib.measure.metric import METRICS, MetricColumn, MetricInput, MetricRecord, record_of
from audit_lib.plan.hypotheses import RATIOS, question_of

START: Final = """\
# Metrics

<!-- Made by `python tools/metric_page.py` from each metric's record; edit the record, then make this page again. -->

What a spec can name in `measure.metrics`. Each metric is described once, by the record in its own file
(`audit_lib/measure/metrics/NAME.py`); this page, the report and the checks of a spec read it there. Formulas, units and
errors are in the docstrings of `audit_lib.metrics`. How to add one: [parts of your own](../howto/own-parts.md).

- **Parity** is the value at which a group and its reference fare the same. "None" means that no value says so.
- **Good values** are those near parity, the higher, or the lower.
- **Question**: metrics of one question do not contradict each other ([verdicts](../explanation/verdicts.md)); most ask
  their own. **Margin**: the one that holds where `measure.margins` gives none; without one, groups are never called
  equivalent.
- **Needs** are alternatives: any one of them is enough; what follows "and" is wanted too.
"""

GOOD: Final = {"parity": "near parity", "higher": "the higher", "lower": "the lower"}
NEEDS: Final[dict[MetricInput, str]] = {
    "scores": "scores or decisions",
    "controls": "controls: rows in which nothing of a group was changed (`perturb.controls`, `perturb.formats`, "
    "`score.repeats`)",
    "checks": "a manipulation check (`manipulation`)",
    "pairs": "answers about pairs (`task: pairwise`)",
    "texts": "generated texts",
    "lists": "generated lists (`task: recommendation`)",
    "words": "word lists (`texts.protected`, `texts.targets`)",
    "toxicity": "a classifier of toxicity",
    "stereotype": "a classifier of stereotypes",
    "terms": "a classifier that looks for the words of a list",
    "sentiment": "a classifier of sentiment",
    "embedding": "a classifier that gives embeddings",
}
COLUMNS: Final[dict[MetricColumn, str]] = {
    "score": "scores next to recorded decisions",
    "round_id": "who competes with whom (`round_id`, or `decision.round`)",
    "qualified": "who is qualified (`qualified`, or `outcome`)",
}
PROVENANCE: Final = {
    "any": "of an experiment's versions, or of real people",
    "assigned": "of an experiment's versions only",
    "observed": "of real people only",
}


def page() -> str:
    """Return the page, of the metrics shipped here."""
    of_packages = METRICS.plugins.names()
    records = {name: record_of(name) for name in METRICS.names() if name not in of_packages}
    rows = [
        f"| [`{name}`](#{name}) | {said.title} | {_number(said.parity)} | {GOOD[said.better]} | {said.unit} "
        f"| {_question(name)} | {'the guideline' if name in RATIOS else 'none'} |"
        for name, said in records.items()
    ]
    table = [
        "| metric | title | parity | good values | unit | question | margin |",
        "|---|---|---:|---|---|---|---|",
        *rows,
    ]
    parts = [START, "\n".join(table) + "\n", *(_section(name, said) for name, said in records.items())]
    return "\n".join(parts)


def _question(name: str) -> str:
    """Return the question that a metric shares with others; a dash for one of its own."""
    return "\N{EN DASH}" if question_of(name) == name else question_of(name)


LANGUAGES = {
    "any": "any",
    "classifier": "those that the classifier was made for",
    "spaced": "those written with spaces between words",
    "words": "those written with spaces between words; Chinese, Japanese, Thai, Lao, Khmer and Burmese by ICU",
}


def _section(name: str, said: MetricRecord) -> str:
    data = "; and ".join(COLUMNS[column] for column in said.columns)
    lines = [
        f"- **Parity**: {_number(said.parity)}; good values are {_good(said)}",
        f"- **Unit**: {_unit(said.unit)}",
        f"- **Needs**: {'; or '.join(NEEDS[need] for need in said.needs)}{f'; and {data}' if data else ''}",
        f"- **Groups**: {PROVENANCE[said.provenance]}",
        f"- **Sign**: {'printed, + or -' if said.signed else 'not printed'}",
        f"- **Figure**: `{said.figure}`",
        f"- **Source**: {said.cite}",
    ]
    if said.languages:
        lines.insert(3, f"- **Languages**: {LANGUAGES[said.languages]}")
    if said.gap:
        lines.insert(1, f"- **Differences**: `{name}_gap`, {said.gap[0].lower() + said.gap[1:]}; parity 0")
    for end, fields in said.further.items():
        lines.insert(1, f"- **Too**: `{name}_{end}`, {fields['title']}. {fields['meaning']}")
    if said.paired:
        lines.insert(2, "- **Compares** answers about versions of one application in two groups")
    if said.generations:
        lines.insert(
            2, f"- **Generations**: grows with the answers to each prompt (m); {said.generations} are usual"
        )
    if said.of_groups:
        own = (
            said.of_groups[0].lower() + said.of_groups[1:] if said.of_groups[1].islower() else said.of_groups
        )
        lines.insert(1, f"- **Of each group**: `{name.removesuffix('_gap')}`, {own}")
    return f"## {name}\n\n**{said.title}.** {said.meaning}\n\n" + "\n".join(lines) + "\n"


def _good(said: MetricRecord) -> str:
    return "those near it" if said.better == "parity" else GOOD[said.better] + " ones"


def _unit(unit: str) -> str:
    return "that of the scores" if unit == "score" else unit


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


if __name__ == "__main__":
    print(page(), end="")
