"""``audit_lib.frame``: the numbers of an audit, of a table that somebody holds in Python.

The table becomes the rows that a run's stage `metrics` works on, and the same functions measure them: a run of the
same rows has the same numbers, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit_lib.dataframe.columns import GivenTable, frequencies, labels, numbers, yes_or_no
from audit_lib.dataframe.groups import OURS, GivenAttribute, attributes
from audit_lib.dataframe.result import FrameResult
from audit_lib.dataframe.settings import MODEL, Given, Settings, check_keywords, references, spec_of
from audit_lib.dataframe.unanswered import unevenly_answered, without_verdicts
from audit_lib.errors import InputError
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.rows.split_columns import WEIGHT
from audit_lib.measure.stage import measure_rows
from audit_lib.policies import policy_of
from audit_lib.records import SHOWN_NAME
from audit_lib.sample.values import sampling_weights
from audit_lib.stats import kish_effective_size
from audit_lib.translation import LANGUAGES, mark

_EVERYWHERE: Final = "all"
"""The position of all rows, which a table does not name."""


def frame(
    df: Any,
    *,
    groups: Any,
    decision: Any = None,
    score: Any = None,
    clusters: Any = None,
    rounds: Any = None,
    weights: Any = None,
    **settings: Unpack[Settings],
) -> FrameResult:
    """Measure a table as an audit's run would: rates, ratios and gaps, with intervals, tests and n.

    Columns are given by name, or as values: a pandas Series is put into the order of the table's index, an array is
    taken row by row where the table's rows are numbered 0, 1, .... Missing decisions, scores and groups are counted and
    shown; nothing is dropped without a word.

    Parameters
    ----------
    df : DataFrame
        pandas, Polars, an Arrow table, whatever offers Arrow's C stream, or a dict of columns. One row a decision.
    groups : str, list of str, array_like, mapping or DataFrame
        Columns of labels, each an attribute; or masks, ``{"women": "is_woman", "men": "is_man"}`` or a DataFrame of
        booleans, the groups of one attribute. Masks may not overlap unless `also` is given.
    decision : str, array_like or mapping, optional
        Who was selected: true or false, 1 or 0; or a rule as in a spec's section `decision`, such as
        ``{"rule": "top_k", "k": 1}`` or ``{"rule": "threshold", "threshold": 3}``, which the scores are held to.
    score : str or array_like, optional
        Higher is better.
    clusters : str or array_like, optional
        The person or dossier that each row is of; rows of one depend on each other. By default each row is its own.
    rounds : str or array_like, optional
        Who competes with whom. Without `clusters` the rounds are the independent units of all numbers.
    weights : str or array_like, optional
        Frequencies: the whole number of people that a row stands for. Sampling weights, whole or not, are given as
        `sampling_weights`.
    **settings
        `reference`, `qualified`, `by`, `also`, `assigned`, `names`, `sampling_weights`, `metrics`, `seed`, `policy`,
        `measure`, `maximum_answered_gap`, `language`: see `audit_lib.dataframe.settings.Settings`.

    Returns
    -------
    FrameResult
        Prints itself in a notebook; `to_frame`, `plot`, `rates`, `ratios`, `gaps`.

    Raises
    ------
    InputError
        If a column is not what it should be, or nothing says how rows belong together.
    SpecError
        If a setting breaks a rule of a spec, or a metric needs what the table has not.

    Examples
    --------
    >>> people = {"sex": ["f"] * 50 + ["m"] * 50, "hired": [1] * 15 + [0] * 35 + [1] * 30 + [0] * 20}
    >>> result = frame(people, decision="hired", groups="sex", reference="m")
    >>> [(one.group["sex"], one.value) for one in result.ratios]
    [('f', 0.5), ('m', 1.0)]
    >>> result.to_frame().query("metric == 'decision_rate_gap'")[["group", "value", "n"]].values.tolist()
    [['f', -0.3, 100]]
    """
    check_keywords(settings)
    table = GivenTable.read(df)
    if not table.size:
        raise InputError("the table has no row")
    found = attributes(groups, table, settings.get("also"))
    rule = decision if isinstance(decision, Mapping) else None
    given = Given(
        attributes=found,
        rule=rule,
        decided=decision is not None,
        scored=score is not None,
        qualified="qualified" in settings,
        rounds=rounds is not None,
        clusters=clusters is not None,
    )
    _check(given)
    size = table.size
    decided = pa.nulls(size, pa.bool_())
    if decision is not None and rule is None:
        decided = yes_or_no(table.column(decision, "decision"), "decision")
    scored = pa.nulls(size, pa.float64()) if score is None else numbers(table.column(score, "score"), "score")
    columns: dict[str, pa.Array] = {
        "round_id": pa.nulls(size, pa.string())
        if rounds is None
        else labels(table.column(rounds, "rounds"), "rounds"),
        "qualified": _qualified(table, settings),
        "recorded_selected": decided,
    }
    if clusters is not None:
        columns["application_id"] = _complete(table, clusters, "clusters", "where they depend on no other")
    if (language := settings.get("language", "en")) not in LANGUAGES:
        raise InputError(f"language: {language!r} is none of {', '.join(LANGUAGES)}")
    if "names" in settings:
        if not settings.get("assigned", False):
            raise InputError(
                "names: they signal the groups of an experiment; add assigned=True if this is one"
            )
        columns[SHOWN_NAME] = _complete(table, settings["names"], "names", "if each showed another")
    splits = dict(_splits(table, settings, found))
    columns |= {one.name: one.column for one in found} | splits
    if "sampling_weights" in settings:
        if weights is not None:
            raise InputError(
                "weights and sampling_weights: give one of the two; a row has one kind of weight"
            )
        given_weights = numbers(
            table.column(settings["sampling_weights"], "sampling_weights"), "sampling_weights"
        )
        columns[WEIGHT] = sampling_weights(given_weights.to_pylist(), "sampling_weights")
    weighed = None if weights is None else frequencies(table.column(weights, "weights"), "weights")
    if weighed is not None:
        people = pa.array(np.repeat(np.arange(size), weighed))
        columns = {name: column.take(people) for name, column in columns.items()}
        scored = scored.take(people)
        if not len(people):
            raise InputError("weights: all are 0, so that nobody is left")
    sizes = [_sizes(columns[one.name], one) for one in found]
    reference = references(found, settings.get("reference"), sizes)
    spec = spec_of(given, settings, list(splits), reference)
    rows, _ = make_rows(*_tables(columns, scored, given), spec)
    policy = policy_of(spec)
    metrics = measure_rows(rows, spec, policy)
    answers = [one for one in (columns["recorded_selected"], scored) if one.null_count < len(one)]
    apart = unevenly_answered(columns, [one.name for one in found], answers, spec.checks.maximum_answered_gap)
    if apart is not None:
        metrics = without_verdicts(metrics, apart)
    return FrameResult(
        metrics=metrics,
        spec=spec,
        policy=policy,
        called={one.name: one.called for one in found},
        notes=(
            *_notes(found, settings, reference, weighed),
            *_effective(rows.weights),
            *_silent(columns, scored, given),
            *([] if apart is None else [apart]),
        ),
        language=language,
    )


def _check(given: Given) -> None:
    if not (given.decided or given.scored):
        raise InputError(
            "nothing to compare: name a column of decisions (decision=), of scores (score=), or both"
        )
    if given.rule is not None and not given.scored:
        raise InputError("decision: a rule is held to scores; name their column (score=)")
    if given.decided and given.rule is None and given.rounds and given.clusters:
        raise InputError(
            "decisions taken in rounds depend on each other within a round, and `clusters` says within a cluster: give "
            "one of the two"
        )


def _qualified(table: GivenTable, settings: Settings) -> pa.Array:
    if "qualified" not in settings:
        return pa.nulls(table.size, pa.bool_())
    return yes_or_no(table.column(settings["qualified"], "qualified"), "qualified")


def _complete(table: GivenTable, given: Any, role: str, when: str) -> pa.Array:
    found = labels(table.column(given, role), role)
    if found.null_count:
        raise InputError(f"{role}: {found.null_count} rows have none; give each its own {when}")
    return found


def _splits(
    table: GivenTable, settings: Settings, found: list[GivenAttribute]
) -> Iterator[tuple[str, pa.Array]]:
    """Yield the columns to split by; an attribute is there already."""
    given = settings.get("by", ())
    for called in [given] if isinstance(given, str) else given:
        own = next((one for one in found if called == one.called), None)
        if own is not None:
            yield own.name, own.column
            continue
        if called in OURS or any(called == one.name for one in found):
            raise InputError(
                f"by: {called!r} is the name of a column of ours, or of an attribute; rename yours"
            )
        yield called, labels(table.column(called, "by"), f"by ({called})")


def _sizes(column: pa.Array, one: GivenAttribute) -> dict[str, int]:
    counted = {pair["values"]: pair["counts"] for pair in pc.value_counts(column).to_pylist()}
    return {level: counted.get(level, 0) for level in one.levels}


def _tables(columns: dict[str, pa.Array], scored: pa.Array, given: Given) -> tuple[pa.Table, list[pa.Table]]:
    """Make the variants and the scores of a run that recorded these rows."""
    size = len(scored)
    width = len(str(size))
    ids = pa.array([f"{row:0{width}d}" for row in range(size)], pa.string())
    decided = columns["recorded_selected"]
    # A run writes a recorded decision as the score 1 or 0 where nobody has another.
    score = scored if given.scored else decided.cast(pa.float64())
    answered = pc.is_valid(score)
    variants = {
        "variant_id": ids,
        "application_id": ids,
        "position": pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), [_EVERYWHERE]),
        "outcome": pa.nulls(size, pa.float64()),
        **columns,
    }
    scores = {
        "variant_id": ids,
        "repeat": pa.array(np.zeros(size, np.int32)),
        "model": pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), [MODEL]),
        "label_mass": pa.nulls(size, pa.float64()),
        "score": score,
        "selected": pc.if_else(answered, decided, pa.scalar(None, pa.bool_())),
        "status": pc.if_else(answered, "ok", "unparsed"),
    }
    return pa.table(variants), [pa.table(scores)]


def _notes(
    found: list[GivenAttribute],
    settings: Settings,
    reference: Mapping[str, str],
    weighed: np.ndarray[Any, Any] | None,
) -> Iterator[str]:
    if weighed is not None:
        left = int((weighed == 0).sum())
        many = mark("{n} rows stand for {people} people by their weights.")
        none = mark(
            "{n} rows stand for {people} people by their weights; {left} rows have the weight 0 and stand for nobody."
        )
        yield (none if left else many).format(n=weighed.size, people=int(weighed.sum()), left=left)
    if "reference" not in settings:
        chosen = ", ".join(f"{one.called}: {reference[one.name]}" for one in found)
        words = mark("Gaps are against the largest group ({chosen}); choose another with reference.")
        yield words.format(chosen=chosen)


def _effective(weights: np.ndarray[Any, Any] | None) -> Iterator[str]:
    if weights is not None:
        words = mark(
            "{n} rows with sampling weights from {least} to {most}; they are worth {effective} rows of equal weight "
            "(Kish)."
        )
        yield words.format(
            n=weights.size,
            least=f"{weights.min():.4g}",
            most=f"{weights.max():.4g}",
            effective=f"{kish_effective_size(weights):.1f}",
        )


def _silent(columns: Mapping[str, pa.Array], scored: pa.Array, given: Given) -> Iterator[str]:
    """Count what is missing."""
    asked = {
        mark("{n} of {total} rows have no decision, and are in no number that needs it."): given.decided
        and given.rule is None,
        mark("{n} of {total} rows have no score, and are in no number that needs it."): given.scored,
        mark(
            "{n} of {total} rows have no outcome (qualified), and are in no number that needs it."
        ): given.qualified,
        mark("{n} of {total} rows have no round, and are in no number that needs it."): given.rounds,
    }
    parts = (columns["recorded_selected"], scored, columns["qualified"], columns["round_id"])
    for (words, wanted), column in zip(asked.items(), parts, strict=True):
        if wanted and column.null_count:
            yield words.format(n=f"{column.null_count:,}", total=f"{len(column):,}")
