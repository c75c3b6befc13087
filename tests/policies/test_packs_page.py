"""The reference page of the packs is what the packs say now, and can be found."""

from __future__ import annotations

from audit_lib.policies import load_policy, policy_names
from tests.specs import REPOSITORY
from tools import packs_page

PAGE = REPOSITORY / "docs/reference/packs.md"


def test_the_published_page_is_the_packs() -> None:
    assert PAGE.read_text(encoding="utf-8") == packs_page.page(), (
        "renew it: python tools/packs_page.py > docs/reference/packs.md"
    )


def test_each_pack_has_its_law_its_day_and_its_changes_there() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in policy_names():
        pack = load_policy(name)
        own = page.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]
        assert pack.law in own and f"Version {pack.version}" in own
        assert all(one.change in own for one in pack.changes)
        assert all(f"| {duty.cite} | {duty.seen} |" in own for duty in pack.duties)
        assert pack.in_force is None or str(pack.in_force.since) in own


def test_it_can_be_found() -> None:
    for path in ("docs/index.md", "docs/reference/policies.md"):
        assert "packs.md" in (REPOSITORY / path).read_text(encoding="utf-8")
