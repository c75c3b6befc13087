"""What the tables of a policy, and the categories in them, are called on a page in its language."""

from __future__ import annotations

import re
from typing import Final

from audit_lib.policies import Policy
from audit_lib.report.exact_tables import ExactTable
from audit_lib.translation import known, t

_PART: Final = re.compile(r"[^\s,()](?:[^,()]*[^\s,()])?")
"""A name in a label such as ``Male, White`` or ``White (Not Hispanic or Latino)``."""


def category_name(label: str) -> str:
    """Return a category's label as it prints: what the catalogue knows of it in the page's language.

    Examples
    --------
    >>> category_name("White (Not Hispanic or Latino)")
    'White (Not Hispanic or Latino)'
    """
    whole = known(label)
    return _PART.sub(lambda part: known(part[0]), label) if whole == label else whole


def kind_name(policy: Policy, kind: str) -> str:
    """Return the title of a kind of table.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> kind_name(load_policy("generic"), "selection")
    'Selection rates'
    """
    return t(policy.table(kind).title)


def family_name(policy: Policy, family: str) -> str:
    """Return the title of a family of tables; of a policy without categories of its own an attribute's is the spec's.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> family_name(load_policy("nyc_ll144"), "sex")
    'Sex categories'
    """
    found = policy.family(family)
    of_spec = policy.is_free and len(found.attributes) == 1
    return known(found.title) if of_spec else t(found.title)


def table_name(policy: Policy, table: ExactTable) -> str:
    """Return what a table is of: the kind of its rates, and its family of categories."""
    return f"{kind_name(policy, table.kind)}, {family_name(policy, table.family).lower()}"
