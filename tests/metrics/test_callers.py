"""One definition of each number: what `audit_lib.metrics` offers is what the audit computes by."""

from __future__ import annotations

import ast
import importlib
import inspect
import typing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import audit_lib.metrics
import audit_lib.metrics.text

ROOT = Path(__file__).parents[2]
OFFERED = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (audit_lib.metrics, audit_lib.metrics.text)
    for name in module.__all__
}

FOR_STUDIES = {
    "audit_lib.metrics.auc_by_group": "the AUC of each subgroup behind auc_gap, for a figure",
    "audit_lib.metrics.column_selection_rates": "rates of 1e5 rounds at once, where one column is one group",
    "audit_lib.metrics.rank_counts_by_group": "the counts behind rabbi of many groups, for a benchmark",
    "audit_lib.metrics.scoring_rates": "median_split and counts in one call, for scores and labels without a run",
    "audit_lib.metrics.selection_shares": "pool_standing and fractional_shares in one call, for scores without a run",
    "audit_lib.metrics.text.mask_protected_words": "how texts are masked before they are compared, alone",
    "audit_lib.metrics.text.mentions_protected_words": "fairness through unawareness of prompts, alone",
}
"""What the audit does not call, and why it is offered: replications and figures of several runs, or of none, do."""

IN_ONE_CALL = {
    "audit_lib.metrics.conditional_demographic_disparity": "StrataShares",
    "audit_lib.metrics.decision_flip_share": "flips",
    "audit_lib.metrics.imputed_rate_bounds": "overlap",
    "audit_lib.metrics.ndkl": "divergences",
    "audit_lib.metrics.ndkl_at_random": "divergences",
    "audit_lib.metrics.skew_at_k": "skew_of_shares",
    "audit_lib.metrics.theil_between": "theil_of_groups",
    "audit_lib.metrics.theil_index": "theil_of_shares",
}
"""What takes people or scores without a run, and the definition that it shares with the audit."""


@cache
def names_used(folder: str) -> frozenset[str]:
    """Names that the code of a folder loads from `audit_lib.metrics`, itself left out."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if path.is_relative_to(ROOT / "audit_lib" / "metrics"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own: dict[str, str] = {}
        modules: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("audit_lib"):
                for alias in node.names:
                    if (node.module or "").startswith("audit_lib.metrics"):
                        own[alias.asname or alias.name] = alias.name
                    if node.module in ("audit_lib", "audit_lib.metrics"):
                        modules.add(alias.asname or alias.name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in own:
                found.add(own[node.id])
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
            ):
                found.add(node.attr)
    return frozenset(found)


def results_of(parts: dict[str, Any]) -> set[str]:
    """Names of all types in what the functions return, and in the fields of those."""
    found: set[str] = set()
    for part in parts.values():
        hints = typing.get_type_hints(part) if inspect.isfunction(part) or inspect.isclass(part) else {}
        wanted = [hints.get("return")] if inspect.isfunction(part) else list(hints.values())
        found |= {name for hint in wanted for name in _names(hint)}
    return found


def _names(hint: Any) -> set[str]:
    return {getattr(hint, "__name__", "")} | {name for one in typing.get_args(hint) for name in _names(one)}


@pytest.mark.parametrize("path", OFFERED)
def test_a_public_name_has_a_caller_in_the_audit(path: str) -> None:
    part, name = OFFERED[path], path.rsplit(".", 1)[1]
    if inspect.isfunction(part):
        assert name in names_used("audit_lib") or path in {**FOR_STUDIES, **IN_ONE_CALL}, (
            f"{path}: nothing in the audit calls it"
        )
    elif inspect.isclass(part):
        assert name in names_used("audit_lib") | results_of(OFFERED), f"{path}: nothing gives it"


@pytest.mark.parametrize("path", FOR_STUDIES)
def test_what_the_audit_does_not_call_is_called_by_a_study(path: str) -> None:
    name = path.rsplit(".", 1)[1]
    studies = names_used("benchmarks")
    figures = (ROOT / "docs" / "howto" / "figures.md").read_text(encoding="utf-8")
    assert name in studies or f"metrics.{name}(" in figures
    assert name not in names_used("audit_lib"), "the audit calls it: take it off the list"


@pytest.mark.parametrize(("path", "shared"), IN_ONE_CALL.items())
def test_what_takes_people_without_a_run_computes_by_what_the_audit_calls(path: str, shared: str) -> None:
    module = importlib.import_module(OFFERED[path].__module__)
    tree = ast.parse(inspect.getsource(module))
    bodies = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    wanted, seen = {path.rsplit(".", 1)[1]}, set()
    while wanted:  # what it calls, and what that calls
        seen.add(name := wanted.pop())
        used = (
            {node.id for node in ast.walk(bodies[name]) if isinstance(node, ast.Name)}
            if name in bodies
            else set()
        )
        wanted |= used - seen
    assert shared in seen
    assert shared in names_used("audit_lib") and path.rsplit(".", 1)[1] not in names_used("audit_lib")


@pytest.mark.parametrize("path", [path for path, part in OFFERED.items() if inspect.isfunction(part)])
def test_a_public_function_has_an_example_that_runs(path: str) -> None:
    import doctest

    part = inspect.unwrap(OFFERED[path])
    module = importlib.import_module(part.__module__)
    tests = doctest.DocTestFinder(recurse=False).find(part, part.__name__, module, module.__dict__)
    assert sum(len(test.examples) for test in tests), f"{path}: no example"
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        assert not runner.run(test).failed
