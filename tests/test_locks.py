"""The locks: hashed, of one mind, without a registry's address, and up to what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.specs import REPOSITORY

PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", re.M)
LOCKS = ("requirements.lock", "requirements-dev.lock")


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((REPOSITORY / name).read_text(encoding="utf-8")))


def project() -> dict:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_hashes_and_no_address(name: str) -> None:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.M)[1:]
    assert len(blocks) > 100
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


def test_the_files_agree() -> None:
    small, full, constraints = pins(LOCKS[0]), pins(LOCKS[1]), pins("constraints.txt")
    assert small.items() <= full.items()
    assert constraints == full | {"torch": "2.13.0"}


def test_torch_is_left_to_the_machine_and_named_once() -> None:
    assert "torch" not in pins(LOCKS[1])
    asked = [each for extra in project()["optional-dependencies"].values() for each in extra]
    assert [each for each in asked if each.startswith("torch")] == ["torch==2.13.0"]


def test_the_lock_satisfies_the_project() -> None:
    locked = pins(LOCKS[1]) | {"torch": "2.13.0"}
    asked = project()["dependencies"] + [
        each for extra in project()["optional-dependencies"].values() for each in extra
    ]
    for each in map(Requirement, asked):
        if each.name != "audit-lib":
            version = locked[each.name.lower().replace("_", "-")]
            assert each.specifier.contains(version, prereleases=True), each
