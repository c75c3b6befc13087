"""Policy packs: one dated, cited YAML file a jurisdiction, loaded and checked.

Packs are files here, of installed packages (the entry point NAME in the group ``audit_lib.policies`` names the
Python package that holds NAME.yaml), and files that a spec names, whose bytes its plan archives. A pack may extend
another one by name, and then holds only what differs (`audit_lib.policies.extending`).

Categories, thresholds, digits, clocks, gates, wording and the way each ambiguity of a law is resolved live in
these files and nowhere in code. Stages ask the pack.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from audit_lib.errors import PluginError, SpecError
from audit_lib.policies.extending import check_own_law, extended
from audit_lib.policies.pack_schema import Clock, Gate, RequiredField
from audit_lib.policies.policy import Category, Policy
from audit_lib.registry import did_you_mean
from audit_lib.spec.installed_packs import PACKS, installed_pack
from audit_lib.spec.text import read_yaml

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

__all__ = [
    "Category",
    "Clock",
    "Gate",
    "Policy",
    "RequiredField",
    "load_policy",
    "pack_of",
    "parse_policy",
    "policy_named",
    "policy_names",
    "policy_of",
]

Archived = tuple[tuple[str, bytes], ...]
"""Packs of packages as they were when an audit was planned: names and bytes."""

POLICY_FILE: Final = "report.policy"
"""The design file that a pack next to the spec is."""


def policy_of(spec: AuditSpec) -> Policy:
    """Return the pack that a spec names, as it stands for this spec: switches set, free tables filled.

    Raises
    ------
    SpecError
        If there is no such pack, switch or value.
    """
    return pack_of(spec).of(spec.groups, spec.report.switches)


def pack_of(spec: AuditSpec) -> Policy:
    """Return the pack that a spec names, as its authors wrote it.

    Raises
    ------
    SpecError
        If there is no such pack, or it breaks a rule.
    """
    packs = tuple(spec.installed_packs().items())
    if spec.report.policy_file is None:
        return load_policy(spec.report.policy, packs)
    return parse_policy(spec.design_file(POLICY_FILE), spec.report.policy, packs)


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
def load_policy(name: str, archived: Archived = ()) -> Policy:
    """Load a policy pack by name.

    Parameters
    ----------
    name : str
        Its name.
    archived : tuple of (str, bytes)
        Packs of packages that are taken in place of the installed ones.

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
    where = f"{name}.yaml"
    if name in _shipped() and PACKS.package_of(name) is None:  # the tests look for the law of each
        return _checked(_document(name, archived), where)
    own = _read(_text_of(name, archived), where)
    if own.get("name") != name:
        raise SpecError(f"{where}: name: should be {name}, as its package calls it")
    return _of_others(own, where, archived, (name,))


def _document(name: str, archived: Archived, extending: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a pack's document with all that it extends; `extending` are the packs that led to it."""
    if name in extending:
        raise SpecError(f"{name}.yaml: extends: {' extends '.join((*extending, name))}")
    where = f"{name}.yaml"
    return _whole(_read(_text_of(name, archived), where), where, archived, (*extending, name))


def _whole(
    own: dict[str, Any], where: str, archived: Archived, extending: tuple[str, ...] = ()
) -> dict[str, Any]:
    if "extends" not in own:
        return own
    base, said = own["extends"], {key: value for key, value in own.items() if key != "extends"}
    if not isinstance(base, str):
        raise SpecError(f"{where}: extends: should be the name of a pack, such as generic")
    if base not in (names := [*policy_names(), *dict(archived)]):
        raise SpecError(f"{where}: extends: no policy is named {base!r}{did_you_mean(base, names)}")
    return extended(said, _document(base, archived, extending), where)


def _of_others(
    own: dict[str, Any], where: str, archived: Archived, extending: tuple[str, ...] = ()
) -> Policy:
    """Check a pack that is not shipped here; it needs a law of its own."""
    document = _whole(own, where, archived, extending)
    policy = _checked(document, where)
    others = {*_shipped(), own.get("extends", "generic")}
    check_own_law(document, [_document(name, archived) for name in sorted(others)], where)
    return policy


def _read(content: bytes, where: str) -> dict[str, Any]:
    try:
        return read_yaml(content.decode("utf-8"), Path(where), what="policy pack")
    except UnicodeDecodeError as error:
        raise SpecError(f"{where}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def _text_of(name: str, archived: Archived) -> bytes:
    if (content := dict(archived).get(name)) is not None:
        return content
    if name not in (names := policy_names()):
        raise SpecError(f"no policy is named {name!r}{did_you_mean(name, names)}")
    package = PACKS.package_of(name)
    if package is not None and name in _shipped():
        raise PluginError(
            f"policy {name!r} of the package {package}: audit_lib has a pack of this name; uninstall the package"
        )
    content = installed_pack(name)
    return files(__name__).joinpath(f"{name}.yaml").read_bytes() if content is None else content


def policy_named(name: str) -> Policy:
    """Load a policy pack by its name, or from a file whose path ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    SpecError
        If there is no such pack or file, or the pack breaks a rule.

    Examples
    --------
    >>> policy_named("nyc_ll144").short_law
    'LL144'
    """
    if not name.endswith((".yaml", ".yml")):
        return load_policy(name)
    path = Path(name)
    if not path.is_file():
        raise SpecError(f"{name}: no policy pack is there, or it is not a file")
    try:
        return parse_policy(path.read_bytes(), name)
    except OSError as error:
        raise SpecError(f"{name}: cannot be read ({error.strerror})") from None


@cache
def parse_policy(content: bytes, where: str, archived: Archived = ()) -> Policy:
    """Check the content of a pack that is not shipped here; `where` is what errors name, `archived` as `load_policy`.

    Raises
    ------
    SpecError
        If it is not YAML, breaks a rule (every fault is named with its key), has the name of another pack, or cites no
        law of its own.
    """
    own = _read(content, where)
    if (name := own.get("name")) in policy_names():
        raise SpecError(
            f"{where}: name: a pack named {name!r} is there already; give this one a name of its own"
        )
    return _of_others(own, where, archived)


def _checked(document: dict[str, Any], where: str) -> Policy:
    try:
        return Policy.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise SpecError(
            "\n".join(f"{where}: {'.'.join(str(p) for p in f['loc'])}: {f['msg']}" for f in faults)
        ) from None
