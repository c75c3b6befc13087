"""Which numbers and verdicts of a report would change: ``metrics.json`` made again from the new scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from audit_lib.archive.artefact_differences import ABSOLUTE, RELATIVE
from audit_lib.documents.reproduction import MetricsComparison, NumberChange
from audit_lib.errors import AuditError
from audit_lib.measure.stage import measure
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.validate import require_valid, validate

_NAMED_BY: Final = (
    "metric", "kind", "family", "table", "label", "group", "reference", "stratum", "over", "parameters", "name",
    "question", "material", "attribute", "level",
)  # fmt: skip
_SAID: Final = ("kind", "size", "comparator", "flags", "four_fifths_flag")
"""Keys whose words are findings; other words are names and methods."""
_VERDICTS: Final = (".verdict.kind", ".verdict.size", ".four_fifths_flag", ".comparator")


def compare_metrics(archived: Run, again: Run) -> MetricsComparison | Undefined:
    """Validate and measure the new scores by the archived design, and compare what comes out.

    Returns
    -------
    MetricsComparison or Undefined
        Undefined, with the reason, where one of the two has no metrics.
    """
    if not archived.stage("metrics").is_complete():
        return Undefined("the run failed its validation and has no metrics")
    for name, function in (("validation", validate), ("metrics", measure)):
        folder = again.stage(name)
        if folder.is_complete():
            continue
        started = datetime.now(UTC)
        try:
            folder.commit(function(again), started)
            if name == "validation":
                require_valid(again)
        except AuditError as error:
            return Undefined(f"with the new scores the audit would fail: {error}")
    return changes(
        archived.stage("metrics").read_json("metrics.json"), again.stage("metrics").read_json("metrics.json")
    )


def changes(archived: Mapping[str, Any], here: Mapping[str, Any]) -> MetricsComparison:
    """Compare two documents of metrics, number by number.

    Examples
    --------
    >>> one = {"estimates": [{"metric": "score_gap", "value": 0.12, "verdict": {"kind": "undecided"}}]}
    >>> other = {"estimates": [{"metric": "score_gap", "value": 0.31, "verdict": {"kind": "difference"}}]}
    >>> found = changes(one, other)
    >>> found.changed, found.verdicts[0].where, found.numbers[0].here
    (2, 'estimates score_gap.verdict.kind', 0.31)
    """
    before, now = dict(_leaves(archived, "")), dict(_leaves(here, ""))
    different = [
        NumberChange(
            where=where,
            archived=before.get(where),
            here=now.get(where),
            prints_differently=_printed(before.get(where)) != _printed(now.get(where)),
        )
        for where in sorted({*before, *now})
        if not _agree(before.get(where), now.get(where))
    ]
    verdicts = [one for one in different if one.where.endswith(_VERDICTS)]
    printed = [one for one in different if one.prints_differently and one not in verdicts]
    return MetricsComparison(
        compared=len({*before, *now}),
        changed=len(different),
        printed=len(printed) + len(verdicts),
        verdicts=tuple(verdicts),
        numbers=tuple(printed),
    )


def _leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield each number, flag and finding with where it stands, by names and not by places."""
    if isinstance(value, Mapping):
        if "undefined" in value:
            yield where, "undefined"
            return
        for key, inner in value.items():
            yield from _leaves(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        names = [_name(entry) for entry in value]
        counts, seen = Counter(names), Counter[str]()
        for place, (name, entry) in enumerate(zip(names, value, strict=True)):
            seen[name] += 1
            told = name or str(place)
            yield from _leaves(
                entry, f"{where} {told}{f' #{seen[name]}' if name and counts[name] > 1 else ''}"
            )
    elif isinstance(value, str):
        key = where.rsplit(".", 1)[-1].split(" ")[0]
        if key in _SAID and not where.endswith(("interval.kind", "intervals.kind")):
            yield where, value
    elif value is not None:
        yield where, value


def _name(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return ""
    said = [_label(entry[key]) for key in _NAMED_BY if entry.get(key) not in (None, {}, [], "")]
    return " ".join(said)


def _label(value: Any) -> str:
    if isinstance(value, Mapping):
        return "+".join(f"{key}={inner}" for key, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "+".join(map(str, value))
    return str(value)


def _agree(one: Any, other: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    if not numbers:
        return bool(one == other)
    return bool(abs(one - other) <= max(RELATIVE * max(abs(one), abs(other)), ABSOLUTE))


def _printed(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.3f}".replace("-0.000", "0.000")
    return str(value)
