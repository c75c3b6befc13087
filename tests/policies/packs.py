"""Policy packs of others, for tests."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

SHIPPED: Final = files("audit_lib.policies")

OWN: Final = """\
schema: audit-policy/1
name: example_county
version: 1.0.0
as_of: 2026-11-22
jurisdiction: Example County
law: Example County Ordinance 7 of 2026
short_law: Ordinance 7
extends: generic
citations:
  - id: ordinance
    title: Example County Ordinance 7 of 2026, sections 1 to 9
    publisher: Example County Council
    dated: "2026"
    seen: recalled
  - guidelines
clocks:
  - {name: audit, what: Reliance on an audit, amount: 6, unit: months, cite: section 4, status: new, seen: recalled}
  - evidence
"""
"""A small pack of a county that does not exist."""


def shipped(name: str) -> str:
    """Return the text of a pack that is shipped."""
    return SHIPPED.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def own_pack(old: str, new: str, text: str | None = None) -> bytes:
    """Return New York's pack as one of somebody else's, with one thing changed."""
    text = shipped("nyc_ll144").replace("name: nyc_ll144", "name: a_pack") if text is None else text
    assert old in text
    return text.replace(old, new, 1).encode()
