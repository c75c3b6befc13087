"""The stage ``validation``: whether the tables are fit to be measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

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
from audit_lib.records import VARIATION, as_frame, column_names
from audit_lib.run import Run, StageOutput
from audit_lib.score.requests import OWN_SCORE
from audit_lib.validate.completeness import StatusTally, completeness_suite, of_known_group, variation_suite
from audit_lib.validate.evaluate import Checking, check_table
from audit_lib.validate.named_suites import KEY, run_suite
from audit_lib.validate.noise import noise_suite, noise_table, told_noise
from audit_lib.validate.sampled import SampledPrompts
from audit_lib.validate.suites import beside_suite, prompts_suite, scores_suite, variants_suite
from audit_lib.validate.suites_again import run_suite_again
from audit_lib.validate.tables import parts, scores, whole
from audit_lib.validate.variant_facts import VariantFacts

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import Checks


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
    spec, axes = run.spec, list(run.spec.groups.axes)
    ranked = ["round_id"] if spec.task == "listwise" and spec.model.answers_are_recorded else []
    prompts = SampledPrompts(parts(run, "sample", "prompts", ["prompt_id", *ranked, *axes]), axes)
    variants, usual, beside = _variants(run, prompts)
    checked = [_prompts(run, prompts), variants]
    of_usual = StatusTally(usual, spec.groups)
    of_beside = StatusTally(beside, spec.groups)
    checked += _scores(run, of_usual, of_beside)
    groups, mass = of_usual.by_group(), of_usual.label_mass()
    suites = [*checked[:3], check_table("completeness", *completeness_suite(groups, mass, spec.checks))]
    varied: tuple[VariationCompleteness, ...] = ()
    if beside.variations:
        varied = of_beside.by_variation()
        suites += [*checked[3:], check_table("beside, by variation", *variation_suite(varied, spec.checks))]
    if (noise := noise_table(run)) is not None:
        suites.append(check_table("scoring", *noise_suite(noise)))
    suites += [
        by(name, reference, run.design_file(f"{KEY}.{name}"), _usual_rows(run, name, reference, usual))
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


def _prompts(run: Run, prompts: SampledPrompts) -> SuiteResult:
    derive, suite = prompts_suite(run.spec, run.key.window, prompts)
    checking = Checking("prompts", suite)
    progress = Progress("validation: prompts checked", prompts.rows, run.notify)
    for part in parts(run, "sample", "prompts"):
        checking.add(derive(as_frame(part)))
        progress.one_more(len(part))
    return checking.result()


def _variants(run: Run, prompts: SampledPrompts) -> tuple[SuiteResult, VariantFacts, VariantFacts]:
    """Check the variants that groups are compared by; return what is known of them, and of those beside them."""
    usual, beside = (VariantFacts(list(run.spec.groups.axes)) for _ in range(2))
    derive, suite = variants_suite(run.spec, prompts)
    checking = Checking("variants", suite)
    for part in parts(run, "variants", "variants"):
        if VARIATION in part.column_names:
            own = part[VARIATION].is_null()
            beside.add(part.filter(pc.invert(own)))
            part = part.filter(own)
        usual.add(part)
        checking.add(derive(as_frame(part)))
    usual.close()
    beside.close()
    return checking.result(), usual, beside


def _scores(run: Run, of_usual: StatusTally, of_beside: StatusTally) -> list[SuiteResult]:
    """Check the scores of the variants that groups are compared by, and of those beside them if there are any."""
    spec, usual, beside = run.spec, of_usual.variants, of_beside.variants
    methods, models = set[str](), set[str]()
    for part in scores(run, usual.ids.ids, ["variant_id", "repeat", "model", "method"]):
        own, _ = _apart(part, usual, beside)
        methods.update(pc.unique(own["method"]).to_pylist())
        models.update(pc.unique(own["model"]).to_pylist())
    own_scores = not methods.isdisjoint(OWN_SCORE)
    derive, suite = scores_suite(spec, usual, len(models - {None}), own_scores=own_scores)
    derive_beside, suite_beside = beside_suite(spec, beside)
    checking, checking_beside = Checking("scores", suite), Checking("beside", suite_beside)
    total = (len(usual.ids) + len(beside.ids)) * spec.score.repeats
    progress = Progress("validation: scores checked", total, run.notify)
    for part in scores(run, usual.ids.ids):
        for table, tally, check, made in zip(
            _apart(part, usual, beside),
            (of_usual, of_beside),
            (checking, checking_beside),
            (derive, derive_beside),
            strict=True,
        ):
            frame = as_frame(table)
            tally.add(frame)
            check.add(made(frame))
        progress.one_more(len(part))
    return [checking.result(), *([checking_beside.result()] if beside.variations else [])]


def _apart(part: pa.Table, usual: VariantFacts, beside: VariantFacts) -> tuple[pa.Table, pa.Table]:
    """Take apart the scores of variants that groups are compared by, and all others if any are asked beside them."""
    if not beside.variations:
        return part, part.slice(0, 0)
    own = usual.ids.places(part["variant_id"]) >= 0
    return part.filter(pa.array(own)), part.filter(pa.array(~own))


def _usual_rows(run: Run, name: str, reference: str, usual: VariantFacts) -> pd.DataFrame:
    """Return the rows of a table that a suite of the spec's own is run on."""
    rows = whole(run, name, reference)
    if name == "prompts" or VARIATION not in column_names(run.stage("variants").content("variants.parquet")):
        return rows
    if name == "variants":
        return rows[rows[VARIATION].isna()]
    return rows[usual.ids.places(rows["variant_id"]) >= 0]


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
