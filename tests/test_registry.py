"""Parts of installed packages: found by entry point, imported when they are named, refused with the package's name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import audit_lib.policies as policies
from audit_lib.errors import PluginError, SpecError
from audit_lib.registry import Plugins, Registry
from tests.policies.packs import OWN

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Lay out an installed package, as pip does: its modules, and its metadata with entry points."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {*sys.modules}

    def installed(name: str, group: str, points: dict[str, str], **files: str) -> None:
        info = tmp_path / f"{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = "".join(f"{point} = {value}\n" for point, value in points.items())
        (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for file, content in files.items():
            (folder / file.replace("__", ".")).write_text(content)

    assert "acme" not in before
    yield installed
    for module in {*sys.modules} - before:
        if module.split(".")[0] in ("acme", "bolt"):
            del sys.modules[module]


def shapes() -> Registry[Any]:
    registry = Registry[Any]("shapes", "audit_lib.policies")
    registry("square")(object())
    return registry


def test_a_part_of_a_package_is_found_by_its_name_and_imported_when_it_is_named(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"circle": "acme.round:CIRCLE"}, round__py="CIRCLE = ['round']\n")
    registry = shapes()
    assert registry.names() == ["circle", "square"]
    registry.get("square")
    assert "acme" not in sys.modules
    assert registry.get("circle") == ["round"]
    assert registry.get("circle") is registry.get("circle")
    assert [name for name, _ in registry] == ["circle", "square"]


def test_a_near_name_is_one_of_a_package_too(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"circle": "acme:CIRCLE"})
    with pytest.raises(SpecError, match="no shape is named 'cirle'; did you mean 'circle'?"):
        shapes().get("cirle")


def test_a_package_that_does_not_import_says_so_and_stops_no_other_part(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"circle": "acme.round:CIRCLE"}, round__py="import nowhere_to_be\n")
    registry = shapes()
    registry.get("square")
    said = (
        "shape 'circle' of the package acme 1.2: acme.round:CIRCLE cannot be imported "
        "(ModuleNotFoundError: No module named 'nowhere_to_be'); install the package again, or uninstall it"
    )
    with pytest.raises(PluginError) as caught:
        registry.get("circle")
    assert str(caught.value) == said
    with pytest.raises(PluginError):
        dict(registry)


def test_an_entry_point_to_nothing_is_refused(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"circle": "acme:CIRCLE"})
    with pytest.raises(PluginError, match="acme:CIRCLE cannot be imported .AttributeError"):
        shapes().get("circle")


def test_two_packages_with_one_name_are_both_named(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"circle": "acme:CIRCLE"})
    install("bolt", "audit_lib.shapes", {"circle": "bolt:CIRCLE"})
    with pytest.raises(
        PluginError,
        match="shape 'circle': brought by (acme 1.2 and by bolt|bolt 1.2 and by acme) 1.2; uninst",
    ):
        shapes().get("circle")


def test_the_name_of_a_part_of_ours_is_refused_and_not_passed_over(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"square": "acme.round:SQUARE"}, round__py="SQUARE = ['another']\n")
    with pytest.raises(
        PluginError, match="'square' of the package acme 1.2: audit_lib has another of this name"
    ):
        shapes().get("square")


def test_a_part_that_names_itself_otherwise_is_refused(install: Install) -> None:
    install("acme", "audit_lib.shapes", {"circle": "acme.round:CIRCLE"}, round__py="CIRCLE = ['round']\n")
    registry = shapes()
    registry("disc")(Plugins("shapes").load("circle"))
    with pytest.raises(PluginError, match="its decorator says 'disc'"):
        registry.get("circle")


def test_a_pack_of_a_package_is_loaded_by_its_name(install: Install) -> None:
    install("acme", "audit_lib.policies", {"example_county": "acme"}, example_county__yaml=OWN)
    found = Plugins("policies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policies, "PACKS", found)
        assert "example_county" in policies.policy_names()
        pack = policies.load_policy.__wrapped__("example_county")
        assert (pack.name, pack.clock("validity").amount) == ("example_county", 6)
        assert pack.switches == policies.load_policy("generic").switches


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("generic", "policy 'generic' of the package acme 1.2: audit_lib has a pack of this name"),
        ("acme_county", "policy 'acme_county' of the package acme 1.2: acme_county.yaml cannot be read"),
    ],
)
def test_a_pack_that_cannot_be_had_is_refused(install: Install, name: str, said: str) -> None:
    install("acme", "audit_lib.policies", {name: "acme"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policies, "PACKS", Plugins("policies"))
        with pytest.raises(PluginError, match=said):
            policies.load_policy.__wrapped__(name)
