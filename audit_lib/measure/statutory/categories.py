"""From the spec's levels to the policy's categories."""

from __future__ import annotations

from audit_lib.errors import SpecError
from audit_lib.policies import Policy
from audit_lib.registry import did_you_mean
from audit_lib.spec import Groups


def category_of(groups: Groups, policy: Policy) -> dict[str, dict[str, str]]:
    """Return attribute -> (level -> category), for the policy's attributes that the spec has.

    A level that `groups.categories` does not map must itself be the name of a category.

    Raises
    ------
    SpecError
        If a level has no category in the policy's taxonomy.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> groups = Groups(attributes={"sex": ["f", "Male"]}, reference={"sex": "Male"}, provenance="assigned",
    ...                 categories={"sex": {"f": "Female"}})
    >>> category_of(groups, load_policy("nyc_ll144"))
    {'sex': {'f': 'Female', 'Male': 'Male'}}
    """
    mapped: dict[str, dict[str, str]] = {}
    for name in policy.attribute_names:
        if name not in groups.attributes:
            continue
        known = [level.name for level in policy.attribute(name).categories]
        mapped[name] = {}
        for level in groups.attributes[name]:
            category = groups.categories.get(name, {}).get(level, level)
            if category not in known:
                raise SpecError(
                    f"groups.categories.{name}: {category!r} is not a category of {policy.name}"
                    f"{did_you_mean(category, known)}; map the level {level!r} to one"
                )
            mapped[name][level] = category
    return mapped
