"""The stage ``validation``: whether the tables are fit to be measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from audit_lib.canonical import pretty_json
from audit_lib.documents.validation import (
    Completeness,
    Expected,
    SuiteResult,
    Validation,
    VariationCompleteness,
)
from audit_lib.errors import ValidationFailedError
from audit_lib.progress import Progress
from audit_lib.records import VARIATION, as_frame, column_names, read_parquet
from audit_lib.run import Run, StageOutput
from audit_lib.validate.completeness import (
    completeness_by_group,
    completeness_by_variation,
    completeness_suite,
    label_mass,
    of_known_group,
    variation_suite,
)
from audit_lib.validate.evaluate import check_table
from audit_lib.validate.lookup import among
from audit_lib.validate.named_suites import KEY, names, read_suite, run_suite
from audit_lib.validate.noise import noise_suite, noise_table, told_noise
from audit_lib.validate.suites import beside_suite, prompts_suite, scores_suite, variants_suite
from audit_lib.validate.suites_again import run_suite_again

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from audit_lib.spec import Checks

_TEXTS: Final = {
    "prompts": ("fields", "recorded_response"),
    "variants": ("messages", "edits", "recorded_response"),
    "scores": ("text",),
}
"""Columns of long texts, of which a check asks no more than whether there is one."""

_UNREAD: Final = {
    "prompts": ("recorded_response", "recorded_model", "recorded_score", "recorded_selected", "qualified", "outcome"),
    "variants": (
        "edits", "recorded_response", "recorded_model", "recorded_score", "recorded_selected", "qualified", "outcome",
        "perturbation", "provenance",
    ),
    "scores": ("request_digest", "items"),
}  # fmt: skip
"""Columns of which no check of ours asks anything."""

_CODED: Final = {
    "prompts": ("position", "provenance"),
    "variants": ("position",),
    "scores": ("model", "model_fingerprint", "method"),
}
"""Columns of few different texts."""


def validate_again(run: Run) -> StageOutput:
    """Do the stage again to verify it: named suites without Great Expectations, as far as that can be."""
    return _validated(run, run_suite_again)


def validate(run: Run) -> StageOutput:
    """Check prompts, variants, scores, and completeness by group.

    A failure is a result, not an exception: it is archived, and `require_valid` stops what follows.

    Returns
    -------
    StageOutput
        ``validation.json``.

    Raises
    ------
    SpecError
        If the spec names suites of Great Expectations, and it is not installed.
    InputError
        If an expectation cannot be evaluated on the table it is about.
    """
    return _validated(run, run_suite)


def _validated(run: Run, by: Callable[[str, str, bytes, pd.DataFrame], SuiteResult]) -> StageOutput:
    spec = run.spec
    prompts = as_frame(_table(run, "sample", "prompts"))
    variants = as_frame(_table(run, "variants", "variants"))
    scores = _scores(run)
    asked = len(variants) * spec.score.repeats
    variants, scores, beside = _ordinary(variants, scores)
    groups = completeness_by_group(scores, variants, spec.groups)
    mass = label_mass(scores)
    progress = Progress("validation: rows checked", len(prompts) + len(variants) + len(scores), run.notify)
    suites = []
    for name, table, suite in (
        ("prompts", *prompts_suite(spec, run.key.window, prompts, variants)),
        ("variants", *variants_suite(spec, variants, prompts)),
        ("scores", *scores_suite(spec, scores, variants)),
    ):
        suites.append(check_table(name, table, suite))
        progress.one_more(len(table))
    suites += [
        check_table("completeness", *completeness_suite(groups, mass, spec.checks)),
    ]
    varied: tuple[VariationCompleteness, ...] = ()
    if beside is not None:
        suites.append(
            check_table("beside", *beside_suite(spec, *beside, asked - len(variants) * spec.score.repeats))
        )
        varied = completeness_by_variation(beside[1], beside[0], spec.groups)
        suites.append(check_table("beside, by variation", *variation_suite(varied, spec.checks)))
    if (noise := noise_table(run)) is not None:
        suites.append(check_table("scoring", *noise_suite(noise)))
    tables = {"prompts": prompts, "variants": variants, "scores": scores}
    suites += [
        by(name, reference, run.design_file(f"{KEY}.{name}"), tables[name])
        for name, reference in spec.checks.suites.items()
    ]
    failed = [one.severity for suite in suites for one in suite.expectations if not one.success]
    severity: Literal["warning", "error"] | None = (
        "error" if "error" in failed else "warning" if failed else None
    )
    document = Validation(
        success=severity is None or (severity == "warning" and not spec.checks.fail_on_warning),
        severity_failed=severity,
        suites=tuple(suites),
        completeness=groups,
        beside=varied or None,
        label_mass=mass,
    )
    counts = {
        "expectations": sum(len(suite.expectations) for suite in suites),
        "errors": failed.count("error"),
        "warnings": failed.count("warning"),
    }
    return StageOutput({"validation.json": pretty_json(document.as_dict())}, counts)


def require_valid(run: Run) -> None:
    """Stop an audit whose tables are not fit to be measured.

    Raises
    ------
    ValidationFailedError
        If the validation did not succeed; names each failed expectation and where the record is.
    IncompleteRunError
        If there was no validation.
    """
    folder = run.stage("validation")
    document = folder.read_document(Validation, "validation.json")
    if document.success:
        return
    failures = [
        _failure(suite.table if suite.suite is None else f"{suite.table} ({suite.suite})", one)
        + (
            _detail(document, one.column, run.spec.checks)
            if suite.table == "completeness"
            else told_noise(run, one.column)
            if suite.table == "scoring"
            else ""
        )
        for suite in document.suites
        for one in suite.expectations
        if not one.success
    ]
    by_checks = any(suite.table == "completeness" and not suite.success for suite in document.suites)
    raise ValidationFailedError(
        f"the audit's tables are not fit to be measured: {'; '.join(failures)}. "
        f"See {folder.store.uri(f'{folder.prefix}/validation.json')}"
        + ("; `checks` in the spec holds the thresholds of completeness" if by_checks else "")
    )


def _ordinary(
    variants: pd.DataFrame, scores: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[pd.DataFrame, pd.DataFrame] | None]:
    """Take apart the rows that groups are compared by, and controls, other prompts and checks beside them."""
    if VARIATION not in variants or variants[VARIATION].isna().all():
        return variants, scores, None
    own = variants[VARIATION].isna()
    theirs = among(scores["variant_id"], variants.loc[own, "variant_id"])
    return variants[own], scores[theirs], (variants[~own], scores[~theirs])


def _failure(table: str, failed: Expected) -> str:
    observed = failed.observed
    name = f"{table}: {failed.expectation}"
    if failed.column is not None:
        name += f" on {failed.column}"
    if "unexpected_count" in observed:
        name += f" ({observed['unexpected_count']} of {observed['element_count']} rows)"
    elif "observed_value" in observed:
        name += f" (observed {observed['observed_value']})"
    return f"{name}, {failed.severity}"


def _detail(document: Validation, column: str | None, checks: Checks) -> str:
    """Name value, threshold and group of a failed check of completeness."""
    groups = [one for one in document.completeness or () if one.n]
    if column == "answered_share":
        n, answered = sum(one.n for one in groups), sum(one.answered for one in groups)
        return f": {answered} of {n} answered, and at least {checks.minimum_answered_share:g} must be"
    known = of_known_group(groups)
    if column == "answered_gap" and known:
        low, high = (f(known, key=_share) for f in (min, max))
        return f": {_named(low)} against {_named(high)}, and at most {checks.maximum_answered_gap:g} may lie between"
    if column == "mean_label_mass" and document.label_mass is not None:
        return f": {document.label_mass.mean:.4g}, and at least {checks.minimum_label_mass:g} is asked"
    return ""


def _share(group: Completeness) -> float:
    return group.answered_share or 0.0


def _named(group: Completeness) -> str:
    return f"{', '.join(map(str, group.group.values()))} {_share(group):.4g}"


def _table(run: Run, stage: str, name: str) -> pa.Table:
    """Read what the checks ask of a table, and of long texts nothing that nobody asks for.

    A suite of the spec's own may look at any column, if only for its name or its nulls; a text it has to name.
    """
    content = run.stage(stage).content(f"{name}.parquet")
    if name in run.spec.checks.suites:
        suite = read_suite(run.design_file(f"{KEY}.{name}"), f"{KEY}.{name}: {run.spec.checks.suites[name]}")
        return read_parquet(content, emptied=[text for text in _TEXTS[name] if not names(suite, text)])
    present = [one for one in column_names(content) if one not in _UNREAD[name]]
    return read_parquet(content, present, emptied=_TEXTS[name], coded=_CODED[name])


def _scores(run: Run) -> pd.DataFrame:
    import pyarrow as pa

    from audit_lib.score import shards

    tables = [_table(run, f"scores/{shard}", "scores") for shard in shards(run)]
    scores = pa.concat_tables(tables).unify_dictionaries()
    return as_frame(scores.sort_by([("variant_id", "ascending"), ("repeat", "ascending")]))
