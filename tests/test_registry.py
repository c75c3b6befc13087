"""Parts of installed packages: found by entry point, imported when they are named, refused with the package's name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import audit_lib.policies as policies
from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.errors import PluginError, SpecError
from audit_lib.figures.by_metric import FIGURES, try_figure
from audit_lib.measure.metric import METRICS, metric
from audit_lib.registry import Plugins, Registry, is_whole
from audit_lib.run import Run
from audit_lib.sample.sources import Source
from audit_lib.spec import AuditSpec, installed_packs
from audit_lib.window import Window
from tests.inputs import recorded_audit
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


@pytest.mark.parametrize("value", ["['round']", "int", "Abstract", "bool()"])
def test_a_part_of_another_kind_is_refused_with_its_package(install: Install, value: str) -> None:
    code = "from audit_lib.sample.sources import Source\nclass Abstract(Source): ...\n"
    install(
        "acme", "audit_lib.sources", {"circle": "acme.round:CIRCLE"}, round__py=f"{code}CIRCLE = {value}\n"
    )
    registry = Registry[Any]("sources", "audit_lib.policies", lambda part: is_whole(part, Source))
    with pytest.raises(
        PluginError, match="source 'circle' of the package acme 1.2: the entry point leads to no"
    ):
        registry.get("circle")


def test_a_metric_that_no_decorator_registered_is_refused(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        "acme", "audit_lib.metrics", {"circle": "acme.round:circle"}, round__py="def circle(*rows): ...\n"
    )
    monkeypatch.setattr(METRICS, "plugins", Plugins("metrics"))
    with pytest.raises(
        PluginError, match="'circle' of the package acme 1.2: the entry point leads to no metric"
    ):
        METRICS.get("circle")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": " "}, "title: ' ' says nothing"),
        ({"parity": float("nan")}, "parity: nan is no finite number"),
        ({"better": "down"}, "better: 'down' is none of parity, higher, lower"),
        ({"provenance": "magic"}, "provenance: 'magic' is none of any, assigned, observed"),
        ({"needs": ("unicorn",)}, "needs: 'unicorn' is none of scores, "),
    ],
)
def test_a_metric_whose_record_no_page_could_print_is_refused(change: dict[str, Any], said: str) -> None:
    record = {"title": "T", "parity": 0.0, "better": "parity", "unit": "share", "meaning": "M.", "cite": "C"}
    with pytest.raises(ValueError, match=said):
        metric("circle", **record | change)


def test_a_part_of_a_package_that_fails_is_named_with_the_line_and_without_its_words(
    install: Install,
) -> None:
    code = "def circle():\n    raise RuntimeError('password=1234')\n"
    install("acme", "audit_lib.shapes", {"circle": "acme.round:circle"}, round__py=code)
    registry = shapes()
    with pytest.raises(PluginError) as caught, registry.naming("circle"):
        registry.get("circle")()
    assert "shape 'circle' of the package acme 1.2: RuntimeError in " in str(caught.value)
    assert "round.py, line 2; tell its authors" in str(caught.value)
    assert "1234" not in str(caught.value)
    with pytest.raises(ZeroDivisionError), registry.naming("square"):  # ours: an error of ours
        1 / 0  # noqa: B018


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise RuntimeError('secret')", "RuntimeError in "),
        ("return None", "gave NoneType and no text"),
        ("return '<svg>'", "gave no XML"),
        ("return '<script/>'", "gave <script>"),
        ("return '<svg><g onclick=\"x()\"/></svg>'", "gave the attribute onclick"),
        ("return '<svg><script>x()</script></svg>'", "gave <script> in its <svg>"),
        ("return '<svg><g style=\"fill:url(//a)\"/></svg>'", "gave the attribute style"),
        ("return '<svg><image/></svg>'", "gave <image> in its <svg>"),
    ],
)
def test_a_figure_that_cannot_be_part_of_a_page_is_refused_before_a_run(
    install: Install, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    install(
        "acme",
        "audit_lib.figures",
        {"circle": "acme.round:circle"},
        round__py=f"def circle(*a, **b): {body}\n",
    )
    monkeypatch.setattr(FIGURES, "plugins", Plugins("figures"))
    monkeypatch.setattr(FIGURES, "_parts", {**FIGURES._parts})
    with pytest.raises(PluginError, match="figure 'circle' of the package acme 1.2: ") as caught:
        try_figure("circle")
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_pack_of_a_package_is_loaded_by_its_name(install: Install) -> None:
    install("acme", "audit_lib.policies", {"example_county": "acme"}, example_county__yaml=OWN)
    found = Plugins("policies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policies, "PACKS", found)
        patch.setattr(installed_packs, "PACKS", found)
        assert "example_county" in policies.policy_names()
        pack = policies.load_policy.__wrapped__("example_county")
        assert (pack.name, pack.clock("validity").amount) == ("example_county", 6)
        assert pack.switches == policies.load_policy("generic").switches


def test_packs_of_packages_are_archived_and_verification_needs_no_package(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = (
        OWN.replace("example_county", "acme_base").replace("Ordinance", "Act").replace("section", "article")
    )
    own = OWN.replace("example_county", "bolt_county").replace("extends: generic", "extends: acme_base")
    install("acme", "audit_lib.policies", {"acme_base": "acme"}, acme_base__yaml=base)
    install("bolt", "audit_lib.policies", {"bolt_county": "bolt"}, bolt_county__yaml=own)
    checks = {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5}

    def packages(found: Plugins) -> None:
        for module in (policies, installed_packs):
            monkeypatch.setattr(module, "PACKS", found)

    packages(installed := Plugins("policies"))
    (tmp_path / "audit").mkdir()
    path = recorded_audit(
        tmp_path / "audit",
        report={"policy": "bolt_county"},
        checks=checks,
    )
    run = pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store"))
    pipeline.run_all(run)
    packages(Plugins("nothing"))  # both packages are uninstalled
    archived = Run.load(run.uri)
    assert archived.design_file("packs.bolt_county") == own.encode()
    assert policies.policy_of(archived.spec).clock("validity").amount == 6
    checked = verify(run.uri)
    assert not checked.findings and {"plan", "metrics", "report"} <= {*checked.recomputed}
    packages(installed)
    (tmp_path / "acme" / "acme_base.yaml").write_text(
        OWN.replace("example_county", "acme_base") + "\n# edited\n"
    )
    assert AuditSpec.load(path).digest() != run.key.spec_digest, "another version of a pack is another run"
    assert not verify(run.uri).findings


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
        patch.setattr(policies, "PACKS", found := Plugins("policies"))
        patch.setattr(installed_packs, "PACKS", found)
        with pytest.raises(PluginError, match=said):
            policies.load_policy.__wrapped__(name)
