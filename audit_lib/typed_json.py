"""JSON documents as dataclasses: written with the keys in the order of the fields, and read strictly.

A `Typed` dataclass is the one description of an object: what writes it makes one, what reads it gets one, and its JSON
Schema is made from it. A key that is not a field is refused, and so is a missing one; a field marked `OPTIONAL` is
a key that is left out where it is None.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar, cast

from audit_lib.errors import EvidenceError

if TYPE_CHECKING:
    # At run time it is imported where a document is read: who computes a metric reads none.
    from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter
    from pydantic_core import CoreSchema, ErrorDetails

T = TypeVar("T")


class _NotNegative:
    """Refuses numbers below 0."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = cast(dict[str, Any], handler(source))
        return cast("CoreSchema", schema | {"ge": 0})


Count = Annotated[int, _NotNegative()]
"""A whole number of at least 0."""

_OPTIONAL: Final = "optional"
OPTIONAL: Final[Mapping[str, bool]] = {_OPTIONAL: True}
"""Metadata of a field whose key is left out where it is None: ``field(default=None, metadata=OPTIONAL)``."""

_LATER: Final = "later"
LATER: Final[Mapping[str, bool]] = {_LATER: True}
"""Metadata of a field that is always written, and that documents of earlier versions lack."""

_KEY: Final = "key"

_SHOWN: Final = 3


def keyed(name: str) -> Mapping[str, str]:
    """Return the metadata of a field that is written under another key: ``field(metadata=keyed("undefined"))``."""
    return {_KEY: name}


class Typed:
    """Base of the dataclasses that a document is made of; make them ``frozen``, with ``slots`` and ``kw_only``."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = {
        "extra": "forbid", "strict": True, "use_attribute_docstrings": False, "allow_inf_nan": False,
    }  # fmt: skip

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Require every key that is always written, though its field has a default; refuse null for one left out."""
        schema = handler(source)
        resolved = cast("dict[str, Any]", handler.resolve_ref_schema(schema))
        own = {one.name: one.metadata for one in fields(cast(Any, cls))}
        while resolved["type"] != "dataclass":
            resolved = resolved["schema"]
        for one in resolved["schema"]["fields"]:
            if (key := own[one["name"]].get(_KEY)) is not None:
                one["validation_alias"] = one["serialization_alias"] = key
            if one["schema"]["type"] != "default" or own[one["name"]].get(_LATER):
                continue
            if not own[one["name"]].get(_OPTIONAL):
                one["schema"] = one["schema"]["schema"]
            elif one["schema"]["schema"]["type"] == "nullable":
                one["schema"]["schema"] = one["schema"]["schema"]["schema"]
        return schema

    def as_dict(self) -> dict[str, Any]:
        """JSON form, with keys in the order of the fields."""
        found: dict[str, Any] = {}
        for name, left_out in _written(cast(Any, type(self))):
            value = getattr(self, name)
            if value is not None:
                found[name] = value if type(value) in _PLAIN else as_json(value)
            elif not left_out:
                found[name] = None
        return found


@cache
def _written(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Return the names of a document's fields, and whether each is left out where it is None."""
    return tuple((one.name, bool(one.metadata.get(_OPTIONAL))) for one in fields(kind))


_PLAIN: Final = frozenset({str, int, float, bool})
"""Types of most values, told before anything that takes longer is asked of them."""


def as_json(value: Any) -> Any:
    """Turn documents, results, tuples and mappings into what ``json`` can write, leaving plain values alone."""
    kind = type(value)
    if value is None or kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [as_json(item) for item in value]
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if kind is dict or isinstance(value, Mapping):
        return {str(key): item if type(item) in _PLAIN else as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def decode(kind: type[T], content: bytes | str, where: str) -> T:
    """Read a document.

    Parameters
    ----------
    kind : type
        A `Typed` dataclass, or a type made of them, such as ``tuple[Row, ...]``.
    content : bytes or str
        JSON.
    where : str
        The file, for messages.

    Raises
    ------
    EvidenceError
        If it is no JSON, or not a document of this kind; the message names the keys.

    Examples
    --------
    >>> from audit_lib.results import Undefined
    >>> decode(Undefined, b'{"undefined": "nobody"}', "metrics.json")
    Undefined(reason='nobody')
    >>> decode(Undefined, b'{"undefined": "nobody", "why": 1}', "metrics.json")
    Traceback (most recent call last):
    audit_lib.errors.EvidenceError: metrics.json: why: is not a key of this version
    """
    from pydantic import ValidationError

    try:
        return cast(T, adapter(cast(Any, kind)).validate_json(content))
    except ValidationError as error:
        raise EvidenceError(f"{where}: {_told(error.errors(include_url=False), content)}") from None


def decode_value(kind: type[T], value: Any, where: str) -> T:
    """Read a document, or a part of one, that is parsed already; see `decode`."""
    return decode(kind, json.dumps(value), where)


_DESCRIBING: Final = Lock()


def described(kind: Any) -> TypeAdapter[Any]:
    """Return what knows the JSON Schema of a type, with what is written below its fields.

    Finding that takes the source of every class: who only reads documents does without.
    """
    config = Typed.__pydantic_config__
    with _DESCRIBING:
        config["use_attribute_docstrings"] = True
        try:
            return adapter.__wrapped__(kind)
        finally:
            config["use_attribute_docstrings"] = False


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what reads a type."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind) if _typed(kind) else TypeAdapter(kind, config=Typed.__pydantic_config__)


def _typed(kind: Any) -> bool:
    return is_dataclass(getattr(kind, "__origin__", kind))


def _told(errors: list[ErrorDetails], content: bytes | str) -> str:
    """Say what is wrong where."""
    if errors[0]["type"] == "json_invalid":
        return "is not JSON that can be read"
    document = json.loads(content)
    # A value that may be one of several is read as each; it was meant as the one with the fewest faults, deepest in.
    readings: dict[tuple[str, ...], dict[str, list[tuple[int, str]]]] = {}
    for error in errors:
        path, reading, place = _place(error, document)
        words = f"{_printable('.'.join(path)) or 'the document'}: {_words(error)}"
        readings.setdefault(place, {}).setdefault(reading, []).append((-len(path), words))
    meant = [
        min(tried.values(), key=lambda faults: (len(faults), min(faults))) for tried in readings.values()
    ]
    said = [words for faults in meant for _, words in faults]
    more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return "; ".join(said[:_SHOWN]) + more


def _printable(key: str) -> str:
    """A key may be anybody's words: nothing of it may steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in key)


def _place(error: ErrorDetails, document: Any) -> tuple[list[str], str, tuple[str, ...]]:
    """Return the keys that lead to a fault, and what the value at which keys was read as, if it may be several."""
    path: list[str] = []
    reading, place = "", None
    at: Any = document
    for number, key in enumerate(error["loc"]):
        if _holds(at, key):
            path.append(str(key))
            at = at[key]
        elif number + 1 == len(error["loc"]) and error["type"] == "missing":
            path.append(str(key))
        elif place is None:
            reading, place = str(key), tuple(path)
    return path, reading, tuple(path) if place is None else place


def _holds(value: Any, key: int | str) -> bool:
    return key in value if isinstance(value, dict) else isinstance(value, list) and isinstance(key, int)


def _words(error: ErrorDetails) -> str:
    words = error["msg"].removeprefix("Value error, ")
    return {
        "missing": "is missing",
        "unexpected_keyword_argument": "is not a key of this version",
        "extra_forbidden": "is not a key of this version",
    }.get(error["type"], words[:1].lower() + words[1:])
