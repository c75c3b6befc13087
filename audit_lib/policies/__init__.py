"""Policy packs: one dated, cited YAML file a jurisdiction, loaded and checked.

Categories, thresholds, digits, clocks, gates, wording and the way each ambiguity of a law is resolved live in
these files and nowhere in code. Stages ask the pack.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import yaml
from pydantic import ValidationError

from audit_lib.errors import SpecError
from audit_lib.policies.parts import Clock, Gate, RequiredField
from audit_lib.policies.policy import Category, Policy
from audit_lib.registry import did_you_mean

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

__all__ = [
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


def policy_of(spec: AuditSpec) -> Policy:
    """Return the pack that a spec names, as it stands for this spec: switches set, free tables filled.

    Raises
    ------
    SpecError
        If there is no such pack, switch or value.
    """
    return load_policy(spec.report.policy).of(spec.groups, spec.report.switches)


def policy_names() -> list[str]:
    """Return the names of the packs, sorted."""
    folder = files(__name__)
    return sorted(
        entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")
    )


@cache
def load_policy(name: str) -> Policy:
    """Load a policy pack by name.

    Raises
    ------
    SpecError
        If no pack has that name (the message names the nearest one), or the pack breaks a rule.

    Examples
    --------
    >>> load_policy("nyc_l144")
    Traceback (most recent call last):
    audit_lib.errors.SpecError: no policy is named 'nyc_l144'; did you mean 'nyc_ll144'?
    """
    names = policy_names()
    if name not in names:
        raise SpecError(f"no policy is named {name!r}{did_you_mean(name, names)}")
    return parse_policy(files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")


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
