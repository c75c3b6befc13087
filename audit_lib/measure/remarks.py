"""What a valid spec leaves open: metrics that will be undefined, mentions that nobody counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from audit_lib.errors import AuditError
from audit_lib.framework import recommend_for
from audit_lib.measure.inference import NOBODY_QUALIFIED
from audit_lib.measure.metric import record_of
from audit_lib.measure.requirements import lacking
from audit_lib.perturb.unawareness import first_mentions
from audit_lib.sample.read import first_columns
from audit_lib.spec import RECORDED, AuditSpec


def remarks(spec: AuditSpec) -> list[str]:
    """Return what a user ought to know of a valid spec before it is run: metrics that will be undefined, and why.

    Local files are looked into as far as their first row, for the columns they have.
    """
    columns = _columns(spec)
    reasons: dict[str, list[str]] = {}
    for name in spec.measure.metrics:
        if (reason := undefined(name, spec, columns)) is not None:
            reasons.setdefault(reason, []).append(name)
    found = [
        f"measure.metrics has {', '.join(names)}, undefined in every group: {reason}"
        for reason, names in reasons.items()
    ]
    found += _few_generations(spec)
    if spec.framework is None:
        return found
    found += [] if spec.framework.ftu is not True else _unaware(spec)
    recommended = recommend_for(spec)
    for name in recommended.metrics():
        if name not in spec.measure.metrics and (reason := undefined(name, spec, columns)) is not None:
            found.append(f"framework recommends {name}, which this spec leaves undefined: {reason}")
    return [*found, *recommended.warnings]


def _few_generations(spec: AuditSpec) -> Iterator[str]:
    """Say which metrics grow with the answers to each prompt, where the spec asks for fewer than is usual."""
    growing = [n for n in spec.measure.metrics if spec.score.repeats < record_of(n).generations]
    if growing:
        usual = max(record_of(name).generations for name in growing)
        yield (
            f"measure.metrics has {', '.join(growing)}, which grow with the generations of each prompt (m), and "
            f"score.repeats is {spec.score.repeats}; {usual} are usual: hold them against no number of another m"
        )


def undefined(name: str, spec: AuditSpec, columns: Collection[str] | None) -> str | None:
    """Say why a metric would have no number in any group of this audit; None where nothing is known against it.

    Parameters
    ----------
    name : str
        A registered metric.
    columns : collection of str or None
        Our columns that the source gives; None where that is not known yet.
    """
    if (fault := lacking(name, spec)) is not None:
        return fault
    return next((reason for _, reason in without_columns(name, spec, columns)), None)


def without_columns(
    name: str, spec: AuditSpec, columns: Collection[str] | None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the columns that a metric wants and the source has not (any one of each is enough), and what that means.

    Parameters
    ----------
    name, columns
        As in `undefined`.
    """
    wanted = record_of(name).columns
    compete = spec.decision.round is not None or spec.measure.random_rounds is not None
    if "round_id" in wanted and not compete and not _may_have("round_id", spec, columns):
        yield (
            ("round_id",),
            "candidates do not compete: it compares who gets the places of a round, and there is none; name the "
            "rounds in decision.round, draw them by measure.random_rounds, or give the source a column round_id",
        )
    decided = spec.decision.rule == RECORDED and spec.model.decides
    if "score" in wanted and decided and not _may_have("recorded_score", spec, columns):
        yield (
            ("recorded_score",),
            "only decisions are recorded, and it is made of scores; give the source a column recorded_score",
        )
    if "qualified" in wanted and not any(_may_have(key, spec, columns) for key in ("qualified", "outcome")):
        yield ("qualified", "outcome"), f"{NOBODY_QUALIFIED}, or `outcome`"


def _may_have(column: str, spec: AuditSpec, columns: Collection[str] | None) -> bool:
    return columns is None or column in columns or column in spec.source.columns


def _columns(spec: AuditSpec) -> Collection[str] | None:
    """Look at the first row of the source, where it can be read."""
    try:
        return first_columns(spec)
    except (AuditError, OSError):
        return None


def _unaware(spec: AuditSpec) -> list[str]:
    """Say what speaks against ``framework.ftu: true`` before a run: a persona, or the first prompts of the source."""
    if spec.perturb is not None and spec.perturb.kind == "persona":
        return [
            "framework.ftu: true says that no prompt mentions a protected word, and perturb puts names, pronouns or "
            "other signals of a group into every prompt; answer false"
        ]
    try:
        looked, found = first_mentions(spec)
    except (AuditError, OSError):
        looked, found = 0, []
    if not found:
        first = f"of the first {looked} prompts none does" if looked else "nobody has looked yet"
        return [
            "framework.ftu: true says that no prompt mentions a protected word; "
            f"{first}, and the run counts them all"
        ]
    return [
        "framework.ftu: true says that no prompt mentions a protected word, and of the first "
        f"{looked} prompts {len(found)} do ({', '.join(sorted(set().union(*found)))}); answer false, or reword them"
    ]
