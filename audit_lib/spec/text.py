"""The text of a spec: YAML as a mapping without doubled keys, and a model's faults in the user's words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, get_args

import yaml
from pydantic import BaseModel, ValidationError

from audit_lib.errors import SpecError
from audit_lib.registry import did_you_mean

LONGEST: Final = 1_000_000
"""Characters of a spec: a scheduler reads all of them again and again, and one must not take the others' time."""

_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_CRON: Final[tuple[tuple[str, int, int, dict[str, int]], ...]] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, {name: place for place, name in enumerate(_MONTHS, start=1)}),
    ("day of the week", 0, 7, {name: place for place, name in enumerate(_DAYS)}),
)
_HALF: Final = re.compile("[\ud800-\udfff]")
_FAST: Final[Any] = getattr(yaml, "CSafeLoader", None)
_MOST_LEVELS: Final = 2000


def read_spec_text(path: Path) -> str:
    """Return the text of a spec's file.

    Raises
    ------
    SpecError
        If it cannot be read, is not UTF-8, or is longer than `LONGEST`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror}); `audit init` writes a spec") from None
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    if len(text) > LONGEST:
        raise SpecError(f"{path}: has {len(text)} characters; a spec has at most {LONGEST}")
    return text


def read_yaml(text: str, path: Path, what: str = "spec") -> dict[str, Any]:
    r"""Read a mapping from YAML; `path` and `what` it is are what errors name.

    Raises
    ------
    SpecError
        If the text is not YAML, not a mapping, gives a key twice (YAML would keep the last one), or holds half of a
        surrogate pair (``\ud83d`` alone), which can neither be written down nor sent.
    """
    content = _read_fast(text, path)
    if content is _UNREAD:
        content = _read_slow(text, path)
    if not isinstance(content, dict):
        hint = "; `audit init` writes one" if what == "spec" else ""
        raise SpecError(f"{path}: a {what} is a mapping of keys to values{hint}")
    return content


_UNREAD: Final = object()


def _read_fast(text: str, path: Path) -> Any:
    """Read with libyaml, ten times as fast. What it refuses is left to the slow reader, whose messages say more."""
    if _FAST is None or _levels(text) > _MOST_LEVELS:
        return _UNREAD
    try:
        return _construct(_FAST(text), path)
    except SpecError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError):
        return _UNREAD


def _read_slow(text: str, path: Path) -> Any:
    try:
        return _construct(yaml.SafeLoader(text), path)
    except yaml.YAMLError as error:
        raise SpecError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise SpecError(f"{path}: not a spec: its YAML is nested too deep to be read") from None
    except ValueError as error:  # such as the date 2026-13-01
        raise error if isinstance(error, SpecError) else SpecError(f"{path}: not YAML: {error}") from None


def _construct(loader: Any, path: Path) -> Any:
    try:
        node = loader.get_single_node()
        _check_nodes(node, path)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _levels(text: str) -> int:
    """Return how deep a text can be nested at most: libyaml reads level by level on the C stack, without a limit."""
    indent = max((len(line) - len(line.lstrip(" ")) for line in text.splitlines()), default=0)
    return indent + sum(map(text.count, "[{-?"))


def _check_nodes(root: yaml.Node | None, path: Path) -> None:
    waiting, seen = [root] if root is not None else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode) and _HALF.search(node.value):
            raise SpecError(
                f"{path}: line {node.start_mark.line + 1}: half of a surrogate pair (\\ud800 to \\udfff alone), which "
                "no text holds; write the character itself"
            )
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys: set[tuple[str, str]] = set()
            for key, value in node.value:
                waiting += [key, value]
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if (key.tag, key.value) in keys:
                    raise SpecError(
                        f"{path}: line {key.start_mark.line + 1}: the key {key.value!r} is given twice; keep one"
                    )
                keys.add((key.tag, key.value))


def faults(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    """Yield each fault that pydantic found, with its key; never with the value."""
    found = error.errors(include_url=False, include_context=False)
    # A misspelt key is also a missing one: name the misspelling first.
    for fault in sorted(found, key=lambda f: f["type"] != "extra_forbidden"):
        location = [str(part) for part in fault["loc"]]
        where = ".".join(location) or "spec"
        if fault["type"] == "extra_forbidden":
            known = list(_fields_at(model, location[:-1]))
            yield f"{where}: unknown key{did_you_mean(location[-1], known)}"
        elif fault["type"] == "string_type" and isinstance(fault["input"], (bool, int, float, date)):
            # Unquoted, YAML reads Yes and No as truth values, and 2026-01-05 as a date.
            kind = "truth value" if isinstance(fault["input"], bool) else type(fault["input"]).__name__
            yield f"{where}: should be a text, and YAML reads a {kind}; put it in quotes"
        else:
            yield f"{where}: {fault['msg'].removeprefix('Value error, ')}"


def _fields_at(model: type[BaseModel], location: list[str]) -> Mapping[str, Any]:
    for name in location:
        if name not in model.model_fields:  # a place in a list, or a key of a mapping of sections
            continue
        annotation = model.model_fields[name].annotation
        nested = [
            a for a in (annotation, *get_args(annotation)) if isinstance(a, type) and issubclass(a, BaseModel)
        ]
        if not nested:
            return {}
        model = nested[0]
    return model.model_fields


def check_cron(expression: str) -> str:
    """Return a five-field cron expression as it is: numbers, names, ``*``, lists, ranges and steps.

    Raises
    ------
    ValueError
        If it is not one; names the field.

    Examples
    --------
    >>> check_cron("*/15 6-18 * * mon-fri")
    '*/15 6-18 * * mon-fri'
    >>> check_cron("0 24 * * 1")
    Traceback (most recent call last):
    ValueError: the hour '24' of the cron expression is not in 0-23
    """
    fields = expression.split()
    if len(fields) != len(_CRON):
        raise ValueError(
            f"a cron expression has five fields (minute hour day month weekday), such as 0 6 * * 1; "
            f"{expression!r} has {len(fields)}"
        )
    for text, (what, low, high, names) in zip(fields, _CRON, strict=True):
        for part in text.lower().split(","):
            match = re.fullmatch(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?", part, re.ASCII)
            ends = [str(names.get(end, end)) for end in match.groups()[:2] if end] if match else [""]
            numbers = [int(end) for end in ends if end.isdigit()]
            in_range = all(low <= number <= high for number in numbers) and numbers == sorted(numbers)
            if match is None or len(numbers) < len(ends) or not in_range or match[3] in ("0", "00"):
                raise ValueError(f"the {what} {part!r} of the cron expression is not in {low}-{high}")
    if not _ever(expression):
        raise ValueError(f"the cron expression {expression!r} names a day that no year has")
    return expression


def _ever(expression: str) -> bool:
    from croniter import CroniterBadDateError, croniter

    try:
        croniter(expression, datetime(2024, 1, 1)).get_next()  # a leap year
    except CroniterBadDateError:
        return False
    return True


def check_time_format(value: str) -> str:
    """Return how instants are written: ``iso8601``, ``unix_s``, or a format of strptime that tells day, month and year.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> check_time_format("%d.%m.%Y %H:%M")
    '%d.%m.%Y %H:%M'
    >>> check_time_format("%d.%m.")
    Traceback (most recent call last):
    ValueError: '%d.%m.' does not tell day, month and year; such as %m/%d/%Y, iso8601 or unix_s
    """
    if value in ("iso8601", "unix_s"):
        return value
    told = datetime(2027, 11, 23)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # 3.13 warns of a missing year
            again = datetime.strptime(told.strftime(value), value)
    except ValueError:
        again = None
    if again is None or again.date() != told.date():
        raise ValueError(f"{value!r} does not tell day, month and year; such as %m/%d/%Y, iso8601 or unix_s")
    return value


def read_file(key: str, reference: str, path: Path, base: Path) -> bytes:
    """Read a file that a spec names, at `key`, as `reference`, from the folder `base`.

    Raises
    ------
    SpecError
        If it cannot be read, or is no file.
    """
    if path.exists() and not path.is_file():  # a named pipe would wait for ever, a device never end
        raise SpecError(f"{key}: {reference} in {base} is not a file; give a file's path")
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(f"{key}: {reference} cannot be read from {base} ({error.strerror})") from None
