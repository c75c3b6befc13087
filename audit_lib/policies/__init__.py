"""Policy packs: one dated, cited YAML file a jurisdiction, loaded and checked.

Packs are files here, and of installed packages: the entry point NAME in the group ``audit_lib.policies`` names the
Python package that holds NAME.yaml.

Categories, thresholds, digits, clocks, gates, wording and the way each ambiguity of a law is resolved live in
these files and nowhere in code. Stages ask the pack.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import yaml
from pydantic import ValidationError

from audit_lib.errors import PluginError, SpecError
from audit_lib.policies.parts import Clock, Gate, RequiredField
from audit_lib.policies.policy import Category, Policy
from audit_lib.registry import Plugins, did_you_mean

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

__all__ = [
    "PACKS",
    "Category",
    "Clock",
    "Gate",
    "Policy",
    "RequiredField",
    "load_policy",
    "parse_policy",
    "policy_names",
    "policy_of",
]

PACKS: Final = Plugins("policies")
"""Packs of installed packages."""


def policy_of(spec: AuditSpec) -> Policy:
    """Return the pack that a spec names, as it stands for this spec: switches set, free tables filled.

    Raises
    ------
    SpecError
        If there is no such pack, switch or value.
    """
    return load_policy(spec.report.policy).of(spec.groups, spec.report.switches)


def policy_names() -> list[str]:
    """Return the names of the packs, sorted: those shipped here, and those of installed packages."""
    return sorted({*_shipped(), *PACKS.names()})


def _shipped() -> list[str]:
    return [
        entry.name.removesuffix(".yaml")
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".yaml")
    ]


@cache
def load_policy(name: str) -> Policy:
    """Load a policy pack by name.

    Raises
    ------
    SpecError
        If no pack has that name (the message names the nearest one), or the pack breaks a rule.
    PluginError
        If an installed package brings the pack and has no such file, or one with the name of another pack.

    Examples
    --------
    >>> load_policy("nyc_l144")
    Traceback (most recent call last):
    audit_lib.errors.SpecError: no policy is named 'nyc_l144'; did you mean 'nyc_ll144'?
    """
    names = policy_names()
    if name not in names:
        raise SpecError(f"no policy is named {name!r}{did_you_mean(name, names)}")
    return parse_policy(_text_of(name), f"{name}.yaml")


def _text_of(name: str) -> str:
    package = PACKS.package_of(name)
    if package is None:
        return files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    where = f"policy {name!r} of the package {package}"
    if name in _shipped():
        raise PluginError(f"{where}: audit_lib has a pack of this name; uninstall the package")
    folder = PACKS.load(name)
    try:
        return files(folder).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    except (OSError, TypeError) as error:
        raise PluginError(
            f"{where}: {name}.yaml cannot be read ({type(error).__name__}); the entry point names the Python package "
            "that holds it"
        ) from None


def parse_policy(text: str, where: str) -> Policy:
    """Check the text of a pack; `where` is what errors name.

    Raises
    ------
    SpecError
        If it is not YAML or breaks a rule; every fault is named with its key.
    """
    try:
        policy = Policy.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise SpecError(f"{where}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise SpecError(
            "\n".join(f"{where}: {'.'.join(str(p) for p in f['loc'])}: {f['msg']}" for f in faults)
        ) from None
    return policy
