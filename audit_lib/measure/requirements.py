"""Whether an audit's metrics can be computed from what its task and its classifiers give."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from typing import Final

from audit_lib.errors import SpecError, UndefinedMetricError
from audit_lib.figures.by_metric import try_figure
from audit_lib.measure.experiment.effects import experiment_only
from audit_lib.measure.margins import check_margins
from audit_lib.measure.metric import METRICS, MetricInput, record_of
from audit_lib.measure.rows.word_lists import Words
from audit_lib.measure.statutory.thresholds import applicants_only
from audit_lib.metrics.text.stop_words import ENGLISH_STOP_WORDS
from audit_lib.registry import did_you_mean
from audit_lib.score.classifiers import check_classifiers, resolved
from audit_lib.score.classifiers.lexicon import read_words
from audit_lib.score.requests import kinds_asked
from audit_lib.spec import UNDECIDED, AuditSpec

_BESIDE: Final = {
    "controls": "perturb.controls: true, perturb.formats, or score.repeats",
    "checks": "a section manipulation with a question about each attribute",
}
_ALIKE: Final = ("transformers", "embedding", "vllm")
"""Backends in this process, whose answers are a function of what is asked; a service's may differ at temperature 0."""

BY_COMPETITION: Final = (
    "decision.rule top_k selects a version by the other candidates of its round, so that a flip need not come from "
    "what it shows; choose threshold or above_median"
)
"""Why no flips are counted where candidates compete."""

_PROVENANCE: Final[dict[str, Callable[[AuditSpec], None]]] = {
    "assigned": experiment_only,
    "observed": applicants_only,
}


TAKE_WEIGHTS: Final = ("decision_rate_gap", "score_gap")
"""Metrics that are weighted where the spec names sampling weights."""

OF_IMPUTED: Final = ("imputed_rate_gap", "imputed_impact_ratio")
"""Metrics of groups whose members are known as probabilities."""

_COUNTS: Final = ("impact_ratio", "scoring_rate_impact_ratio")
"""Statutory tables: counts of people, which no weight changes."""


def check_metrics(spec: AuditSpec, files: Mapping[str, bytes]) -> None:
    """Check the metrics, the classifiers and the word lists of a spec.

    Parameters
    ----------
    files : mapping of str to bytes
        The design files, by their key in the spec.

    Raises
    ------
    SpecError
        If a metric is not registered, or needs what the audit does not give; says what to add.
    PluginError
        If a metric, or the figure that draws it, is of a package and cannot be used.
    LexiconError
        If a word list has a fault.
    """
    check_classifiers(spec.classifiers)
    given = _given(spec)
    words = Words.read(spec, files.__getitem__)
    for section in spec.classifiers:
        if (content := files.get(key := f"classifiers.{section.name}")) is not None:
            read_words(content, key)
    for name in spec.measure.metrics:
        METRICS.get(name)  # an unknown name is refused here
        any_of = record_of(name).needs
        _check_provenance(name, spec)
        if (fault := _lacking(name, spec, given)) is not None:
            raise SpecError(f"measure.metrics: {fault}")
        _check_packages(name, any_of)
        try_figure(record_of(name).figure)
    if "words" in given and not any(words.protected.values()):
        raise SpecError("texts.protected: no word names a level of any attribute")
    if "cooccurrence_bias_score" in spec.measure.metrics and (
        stopped := [word for word in words.targets if word in ENGLISH_STOP_WORDS]
    ):
        raise SpecError(f"texts.targets: {stopped[0]!r} is a stop word; take it out of the list")
    if spec.measure.application_effects and spec.perturb is not None and spec.perturb.design == "two_sample":
        raise SpecError(
            "measure.application_effects: with perturb.design two_sample each application is shown in one group, so "
            "its own constant would take up its group's effect; set it to false, or choose another design"
        )
    if spec.framework is not None and importlib.util.find_spec("ahocorasick_rs") is None:
        raise SpecError(
            "framework: its first question is what the prompts mention, and counting that needs ahocorasick_rs; pip "
            "install 'audit-lib[text]', or leave the section out"
        )
    _check_shares(spec)
    _check_condition(spec)
    _check_weights(spec)
    _check_imputed(spec)
    check_margins(spec)
    _check_repeats(spec)


def _check_condition(spec: AuditSpec) -> None:
    """Refuse what would show only after the model was asked: a column that is not there, and flips by competition."""
    name, asked = spec.measure.condition, spec.measure.metrics
    if "conditional_demographic_disparity" in asked and name != "position" and name not in spec.source.fields:
        raise SpecError(
            f"measure.condition: {name!r} is neither position nor one of source.fields"
            f"{did_you_mean(name, ['position', *spec.source.fields])}"
        )
    known = ["position", "model", *spec.source.fields]
    for column in spec.measure.outcomes_at_random or ():
        if column not in known:
            raise SpecError(
                f"measure.outcomes_at_random: {column!r} is neither position, model nor one of source.fields"
                f"{did_you_mean(column, known)}"
            )
    if "decision_flip_share" in asked and spec.decision.rule == "top_k":
        raise SpecError(f"measure.metrics: decision_flip_share: {BY_COMPETITION}")


def _check_weights(spec: AuditSpec) -> None:
    """Refuse what would be printed of the rows alone next to what is of the population."""
    name = spec.measure.weights
    if name is None:
        return
    if name not in spec.source.fields:
        raise SpecError(
            f"measure.weights: {name!r} is not one of source.fields{did_you_mean(name, spec.source.fields)}; add it "
            "there"
        )
    if other := [one for one in spec.measure.metrics if one not in (*TAKE_WEIGHTS, *_COUNTS)]:
        raise SpecError(
            f"measure.weights: {', '.join(other)} cannot take sampling weights; leave out of measure.metrics what "
            f"cannot ({' and '.join(TAKE_WEIGHTS)} take them), or measure it in an audit without measure.weights, "
            "which is then of the rows and not of the population"
        )
    if not set(TAKE_WEIGHTS) & set(spec.measure.metrics):
        raise SpecError(
            f"measure.weights: no metric of measure.metrics takes them; add {' or '.join(TAKE_WEIGHTS)}, or leave the "
            "weights out: statutory tables are counts of people"
        )
    if spec.decision.rule in ("above_median", "top_k") and "decision_rate_gap" in spec.measure.metrics:
        raise SpecError(
            f"measure.weights: decision.rule {spec.decision.rule} decides by the other rows of the sample, without "
            "their weights, so that its rate is of no population; choose threshold or recorded, or leave "
            "decision_rate_gap out"
        )


def _check_imputed(spec: AuditSpec) -> None:
    """Refuse imputed groups that nothing bounds, and metrics of members where nobody's group is known."""
    groups, asked = spec.groups, spec.measure.metrics
    bounded = [name for name in asked if name in OF_IMPUTED]
    if not groups.imputed:
        if bounded:
            raise SpecError(
                f"measure.metrics: {bounded[0]} bounds rates of imputed groups; say in groups.imputed which columns "
                "hold their probabilities, or how many people of each label belong to each level"
            )
        return
    if not bounded:
        raise SpecError(
            f"groups.imputed: only {' and '.join(OF_IMPUTED)} use it, and measure.metrics names neither"
        )
    for axis, imputed in groups.imputed.items():
        for level, column in imputed.probabilities.items():
            if column not in spec.source.fields:
                near = did_you_mean(column, spec.source.fields)
                raise SpecError(
                    f"groups.imputed.{axis}.probabilities.{level}: {column!r} is not in source.fields{near}"
                )
    if not (probable := groups.axes_of_probabilities):
        return
    known = [axis for axis in groups.axes if axis not in probable]
    if known or spec.demographics is not None:
        raise SpecError(
            f"groups.imputed.{probable[0]}.probabilities: nobody's level is known, so that {probable[0]} cannot be "
            "crossed with other attributes or joined by demographics; audit those apart, and write the probabilities "
            "into the source"
        )
    if other := [name for name in asked if name not in OF_IMPUTED]:
        raise SpecError(
            f"measure.metrics: {', '.join(other)}: compares people whose group is known, and {probable[0]} is known as "
            f"probabilities; leave it out ({' and '.join(OF_IMPUTED)} bound what can be known)"
        )
    split = {name for names in (*spec.measure.strata, spec.sample.strata) for name in names}
    if taken := [axis for axis in probable if axis in split]:
        raise SpecError(
            f"measure.strata, sample.strata: nobody's {taken[0]} is known, so that nothing can be split by it"
        )


def _check_shares(spec: AuditSpec) -> None:
    for axis, shares in spec.texts.shares.items():
        levels = spec.groups.attributes.get(axis)
        if levels is None or set(shares) != set(levels):
            raise SpecError(
                f"texts.shares: {axis}: give a share for each level of an attribute of groups.attributes"
            )
        if not math.isclose(math.fsum(shares.values()), 1, abs_tol=1e-9):
            raise SpecError(f"texts.shares: {axis}: the shares sum to {math.fsum(shares.values()):g}, not 1")


def lacking(name: str, spec: AuditSpec) -> str | None:
    """Say what a metric needs that the audit does not give, by its spec alone; None where nothing is known to lack."""
    return _lacking(name, spec, _given(spec))


def _lacking(name: str, spec: AuditSpec, given: set[MetricInput]) -> str | None:
    any_of = record_of(name).needs
    if given & set(any_of):
        if record_of(name).paired and spec.perturb is not None and spec.perturb.design == "two_sample":
            return (
                f"{name} compares answers about versions of one application in two groups, and perturb.design "
                "two_sample shows each application in one; choose design full, or a metric of groups"
            )
        return None
    if any_of[0] in _BESIDE:
        return f"{name} is computed from rows that the audit does not ask; add {_BESIDE[any_of[0]]}"
    if {"scores", "pairs"} & set(any_of) or spec.task not in UNDECIDED:
        able = [other for other in METRICS.names() if given & set(record_of(other).needs)]
        wanted = {"scores": "scores", "pairs": "answers about pairs of candidates"}.get(
            any_of[0], "generated texts"
        )
        return f"{name} is computed from {wanted}, which task {spec.task} does not give; it can have {', '.join(able)}"
    if "words" in any_of:
        return f"{name} needs texts.protected and texts.targets (word lists)"
    if "lists" in any_of:
        return f"{name} compares lists; ask for them with task: recommendation"
    return (
        f"{name} needs a classifier that measures {' or '.join(any_of)}; name one in the section classifiers"
    )


def _check_repeats(spec: AuditSpec) -> None:
    """Refuse to ask again what is answered alike each time: repeats would show a noise of 0 that nothing has shown."""
    if spec.score.repeats == 1:
        return
    asked = f"score.repeats: {spec.score.repeats} answers to each prompt"
    if spec.model.answers_are_recorded:
        if spec.task not in UNDECIDED:
            raise SpecError(
                f"{asked} are one recorded decision said again; set repeats to 1, or choose a backend that asks a live "
                "model again"
            )
    elif spec.task in UNDECIDED:
        if spec.generation.temperature == 0:
            raise SpecError(
                f"{asked} at generation.temperature 0 are one answer said again; set a temperature, or repeats to 1"
            )
    elif spec.model.backend in _ALIKE:
        generated = spec.prompt is not None and "text" in kinds_asked(spec)
        if not generated:
            raise SpecError(
                f"{asked} are one answer said again: {spec.model.backend} gives the same numbers each time; set "
                "repeats to 1"
            )
        if spec.prompt is not None and spec.prompt.temperature == 0:
            raise SpecError(
                f"{asked} at prompt.temperature 0 are one answer said again; set a temperature, or repeats to 1"
            )


def _check_provenance(name: str, spec: AuditSpec) -> None:
    """Keep what an experiment shows apart from what real applicants got."""
    try:
        if (check := _PROVENANCE.get(record_of(name).provenance)) is not None:
            check(spec)
    except UndefinedMetricError as error:
        raise SpecError(f"measure.metrics: {name}: {error}") from None


def _check_packages(name: str, any_of: tuple[MetricInput, ...]) -> None:
    lacking = [
        module for module in ("ahocorasick_rs", "rapidfuzz") if importlib.util.find_spec(module) is None
    ]
    if any_of == ("texts",) and lacking:
        raise SpecError(
            f"measure.metrics: {name} needs {' and '.join(lacking)}; pip install 'audit-lib[text]'"
        )


def _given(spec: AuditSpec) -> set[MetricInput]:
    if spec.task not in UNDECIDED:
        beside: set[MetricInput] = {"pairs"} if spec.task == "pairwise" else set()
        again = spec.perturb is not None and (spec.perturb.controls or spec.perturb.formats)
        if again or spec.score.repeats > 1:
            beside.add("controls")
        if spec.manipulation is not None:
            beside.add("checks")
        return {"scores", *beside}
    given: set[MetricInput] = {"texts"}
    if spec.task == "recommendation":
        given.add("lists")
    if spec.texts.protected is not None and spec.texts.targets is not None:
        given.add("words")
    return given | {resolved(section)[0] for section in spec.classifiers}
