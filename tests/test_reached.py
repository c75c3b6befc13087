"""No module that nothing reaches: from the commands, the stages, the DAGs, the registries or the benchmarks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENTRANCES = ["pyproject.toml", "dags", "benchmarks", "tools"]
NAMED = re.compile(r"audit_lib(?:\.\w+)+")
IMPORTED = re.compile(r"from (audit_lib[\w.]*) import (\([^)]*\)|[^\n]*)")
DEFINES = re.compile(r"^(?:def|class|@\w+)", re.M)
REGISTRY = re.compile(r"Registry(?:\[[^\]]*\])?\(\s*\"\w+\",\s*\"(audit_lib[\w.]*)\"")


def modules() -> dict[str, str]:
    """Module -> its source."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path.read_text(
            "utf-8"
        )
        for path in (ROOT / "audit_lib").rglob("*.py")
    }


def named(source: str, known: Mapping[str, str]) -> set[str]:
    """Modules that a text names: in an import, or as a string such as ``audit_lib.measure.stage:measure``.

    A package that hands a name on leads to the module it has it from, and not to all others that it hands on.
    """
    found: set[str] = set()
    for name in NAMED.findall(IMPORTED.sub("", source)):
        parts = name.split(".")
        whole = [one for n in range(len(parts), 0, -1) if (one := ".".join(parts[:n])) in known]
        found |= set(whole[:1])
    for module, names in IMPORTED.findall(source):
        for name in re.findall(r"\w+", names):
            found |= {f"{module}.{name}"} & known.keys() or givers(module, name, known)
    for package in REGISTRY.findall(source):
        found |= {one for one in known if one.startswith(f"{package}.")}
    return found


def givers(module: str, name: str, known: Mapping[str, str]) -> set[str]:
    """The module that a name comes from, through the packages that hand it on."""
    for giver, names in IMPORTED.findall(known.get(module, "")):
        if giver.startswith(f"{module}.") and name in re.findall(r"\w+", names):
            return {module, *givers(giver, name, known)}
    return {module} & known.keys()


def unreached(known: Mapping[str, str], entrances: str) -> list[str]:
    """Modules that no chain of names leads to from the entrances; packages are judged by their modules."""
    packages = {one for one in known if any(other.startswith(f"{one}.") for other in known)}
    open_, reached = named(entrances, known), set()
    while open_:
        one = open_.pop()
        reached.add(one)
        only_hands_on = one in packages and not DEFINES.search(known[one])
        source = IMPORTED.sub("", known[one]) if only_hands_on else known[one]
        open_ |= named(source, known) - reached
    return sorted(one for one in known.keys() - reached - packages if not one.endswith(".__main__"))


def entrances() -> str:
    """What is run: the console script, the DAGs, the benchmarks and the tools."""
    paths = [ROOT / name for name in ENTRANCES]
    files = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    return "\n".join(file.read_text("utf-8") for file in files)


def test_every_module_is_reached() -> None:
    found = unreached(modules(), entrances())
    assert not found, f"nothing reaches {', '.join(found)}; wire them, or delete them"


def test_an_unreached_module_is_seen() -> None:
    known = {
        "audit_lib": "",
        "audit_lib.p": "from audit_lib.p.a import x\nfrom audit_lib.p.c import y",
        "audit_lib.p.a": "from audit_lib.p.b import z",
        "audit_lib.p.b": "",
        "audit_lib.p.c": "",
    }
    assert unreached(known, "from audit_lib.p import x") == ["audit_lib.p.c"]
