"""A pack that extends another one: it holds only what differs, and cites its own law for it.

A mapping is merged key by key, and a key whose value is null is taken out. A list of named entries (``id``, ``name`` or
``term``) says which entries there are and in which order: a bare name is the entry of the other pack as it is, an entry
with the same name has its other keys from there. A list that is not mentioned is the other pack's. Everything else
replaces what was there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from audit_lib.errors import SpecError
from audit_lib.registry import did_you_mean

IDENTITY: Final = ("schema", "name", "version", "as_of", "jurisdiction", "law", "short_law", "citations")
"""What no pack takes from another one."""

OWN_ONLY: Final = ("in_force", "binds", "not_claimed", "changes")
"""What is true of one law alone: another pack that does not say it has none."""

_NAMES: Final = ("id", "name", "term")

PackDocument = Mapping[str, Any]


def extended(own: PackDocument, base: PackDocument, where: str) -> dict[str, Any]:
    """Return a pack's document with everything that it does not say taken from the pack that it extends.

    Parameters
    ----------
    own, base : mapping
        The documents of the pack and of the one that it extends.
    where : str
        What errors name.

    Raises
    ------
    SpecError
        If it lacks what no pack takes from another one, names an entry that is not there, or differs where the other
        pack cites a source without a citation of its own.

    Examples
    --------
    >>> identity = {key: "theirs" for key in IDENTITY}
    >>> base = {**identity, "switches": [{"name": "median", "value": "all", "cite": "s. 1"}, {"name": "unknown"}]}
    >>> own = {**identity, "switches": ["unknown", {"name": "median", "value": "known", "cite": "s. 2"}]}
    >>> extended(own, base, "ours.yaml")["switches"]
    [{'name': 'unknown'}, {'name': 'median', 'value': 'known', 'cite': 's. 2'}]
    """
    faults = [f"{key}: each pack says its own" for key in IDENTITY if key not in own]
    merged = _merged(own, {key: value for key, value in base.items() if key not in OWN_ONLY}, "", faults)
    if faults:
        raise SpecError("\n".join(f"{where}: {fault}" for fault in faults))
    return {str(key): value for key, value in merged.items()}


def check_own_law(own: PackDocument, others: Collection[PackDocument], where: str) -> None:
    """Refuse a pack that cites no law but that of other packs: it would be one of them under another name.

    Raises
    ------
    SpecError
        If no source of `own` is absent from all `others`, or nothing in it rests on (``cite``) what none of them cites.
    """
    known = {_title(one) for other in others for one in other["citations"]}
    if not {_title(one) for one in own.get("citations") or ()} - known:
        raise SpecError(
            f"{where}: cites no law of its own: `citations` holds no source that is not in another pack; to change "
            "how a law is read, set report.switches of the spec"
        )
    if not set(_cites(own)) - {cite for other in others for cite in _cites(other)}:
        raise SpecError(f"{where}: cites no law of its own: every `cite` in it is one of another pack")


def _merged(own: PackDocument, base: PackDocument, path: str, faults: list[str]) -> dict[Any, Any]:
    differs = set(own) - {"cite", *_NAMES}
    if differs and "cite" in base and "cite" not in own:
        faults.append(f"{path}: differs in {', '.join(sorted(differs))}; give the `cite` that this rests on")
    result = {key: value for key, value in base.items() if not (key in own and own[key] is None)}
    for key, value in own.items():
        if value is not None or key not in base:
            result[key] = _value(value, base.get(key), f"{path}.{key}".lstrip("."), faults)
    return result


def _value(own: Any, base: Any, path: str, faults: list[str]) -> Any:
    if isinstance(own, Mapping) and isinstance(base, Mapping):
        return _merged(own, base, path, faults)
    if isinstance(own, Sequence) and isinstance(base, Sequence) and base and all(map(_name, base)):
        return _entries(own, {_name(one): one for one in base}, path, faults) if own else []
    return own


def _entries(own: Sequence[Any], base: Mapping[str, PackDocument], path: str, faults: list[str]) -> list[Any]:
    found: list[Any] = []
    for one in own:
        name = one if isinstance(one, str) else _name(one)
        if name in base:
            found.append(base[name] if one is name else _merged(one, base[name], f"{path}.{name}", faults))
        elif isinstance(one, str):
            faults.append(f"{path}: no entry is named {one!r}{did_you_mean(one, list(base))}")
        else:
            found.append(one)
    return found


def _name(entry: Any) -> str:
    """Return the name of an entry of a list, or nothing where it has none."""
    if not isinstance(entry, Mapping):
        return ""
    return next((str(entry[key]) for key in _NAMES if key in entry), "")


def _title(citation: Any) -> str:
    return (
        " ".join(str(citation.get("title", "")).casefold().split()) if isinstance(citation, Mapping) else ""
    )


def _cites(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("cite"), str):
            yield " ".join(node["cite"].casefold().split())
        for value in node.values():
            yield from _cites(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _cites(value)
