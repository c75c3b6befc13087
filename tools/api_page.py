"""Print the reference page of the Python interface, from the docstrings of what is public.

python tools/api_page.py > docs/reference/api.md
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

START: Final = """\
# Python interface

<!-- Made by `python tools/api_page.py` from the docstrings; edit those, then make this page again. -->

Every example on this page is run by the tests. `import audit_lib` and `import audit_lib.metrics` are light: what needs
pandas, SciPy or pydantic imports it when it is called. Guides: [tables in notebooks](../howto/notebooks.md),
[figures](../howto/figures.md).

- `audit_lib.frame` measures a table as an audit's run would: start here.
- `audit_lib.metrics` are pure functions, arrays in and numbers out; `audit_lib.stats` says how sure a number is.
- What does not exist is `Undefined(reason)` in a result, and `UndefinedMetricError` from a function that gives one
  number.
"""

PARTS: Final = (
    ("audit_lib", "A table", ("frame",)),
    ("audit_lib.dataframe", "", ("FrameResult", "DrawnFigure")),
    ("audit_lib.dataframe.settings", "", ("Settings",)),
    (
        "audit_lib.results",
        "Results",
        ("Estimate", "Interval", "TestResult", "Multiplicity", "HeldToMargin", "Verdict", "Undefined"),
    ),
    ("audit_lib.metrics", "Metrics", ()),
    ("audit_lib.stats", "Inference", ()),
    ("audit_lib.figures", "Figures", ()),
)
_SECTION: Final = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.M)
_MATH: Final = re.compile(r":math:`([^`]+)`")
_ROLE: Final = re.compile(r":(?:func|class|mod|meth):`~?([^`]+)`")
_FOLDED: Final = ("Examples", "Notes", "References", "Raises")


def page() -> str:
    """Return the page."""
    return (
        "\n".join([START, *_contents(), *(line for part in PARTS for line in _part(*part))]).rstrip() + "\n"
    )


def _names(module: ModuleType, names: tuple[str, ...]) -> tuple[str, ...]:
    return names or tuple(module.__all__)


def _contents() -> Iterator[str]:
    for name, title, names in PARTS:
        module = importlib.import_module(name)
        links = " · ".join(f"[`{one}`](#{one.lower()})" for one in _names(module, names))
        yield f"**{title or name}**: {links}\n"


def _part(name: str, title: str, names: tuple[str, ...]) -> Iterator[str]:
    module = importlib.import_module(name)
    if title:
        yield f"## {title}\n"
    for own in _names(module, names):
        yield from _entry(name, own, getattr(module, own))


def _entry(module: str, name: str, what: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if not callable(what):
        yield f"`{module}.{name}`\n"
        return
    yield f"```text\n{module}.{name}{_signature(what)}\n```\n"
    yield from _docstring(what)
    if inspect.isclass(what):
        yield from _members(what)


def _members(kind: type) -> Iterator[str]:
    """Yield the public methods and properties of a class, with the first sentence of each."""
    for name, member in vars(kind).items():
        if name.startswith("_") or not (
            isinstance(member, property | classmethod) or inspect.isfunction(member)
        ):
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        summary = _plain((inspect.getdoc(function) or "").split("\n\n")[0])
        called = "" if isinstance(member, property) else _signature(function)
        yield f"- `.{name}{called}`: {summary}"
    yield ""


def _signature(what: Any) -> str:
    if inspect.isclass(what) and dataclasses.is_dataclass(what):
        fields = ", ".join(one.name for one in dataclasses.fields(what) if one.init)
        return f"({fields})"
    if inspect.isclass(what):
        return ""
    parts = []
    kinds = inspect.Parameter
    for one in inspect.signature(what).parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is kinds.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        star = {kinds.VAR_KEYWORD: "**", kinds.VAR_POSITIONAL: "*"}.get(one.kind, "")
        default = "" if one.default is kinds.empty else f"={_default(one.default)}"
        parts.append(f"{star}{one.name}{default}")
    return f"({', '.join(parts)})"


def _default(value: Any) -> str:
    """Return a default value as it prints the same each time: sets have no order, and functions an address."""
    if isinstance(value, frozenset | set) or " at 0x" in repr(value):
        return "..."
    return repr(value)


def _docstring(what: Any) -> Iterator[str]:
    """Yield a numpydoc docstring as Markdown."""
    text = inspect.getdoc(what) or ""
    pieces = _SECTION.split(text)
    yield _prose(pieces[0])
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = body.strip("\n")
        if title == "Examples":
            yield from ("**Examples**\n", *_examples(body))
        elif title in ("Parameters", "Returns", "Raises", "Attributes"):
            yield f"**{title}**\n\n" + "\n".join(_entries(body)) + "\n"
        else:
            yield f"**{title}.** {_prose(body)}"


def _entries(body: str) -> Iterator[str]:
    """Yield name, type and description of each entry of a section as a list."""
    for block in re.split(r"\n(?=\S)", body):
        head, _, said = block.partition("\n")
        name, _, kind = head.partition(" : ")
        words = " ".join(line.strip() for line in said.splitlines())
        typed = f" ({_plain(kind)})" if kind else ""
        yield f"- `{name.strip()}`{typed}" + (f": {_plain(words)}" if words else "")


def _examples(body: str) -> Iterator[str]:
    """Yield prose, and code with what it prints."""
    for block in body.split("\n\n"):
        yield f"```pycon\n{block}\n```\n" if block.lstrip().startswith(">>>") else _prose(block)


def _prose(text: str) -> str:
    blocks = []
    for block in text.strip().split("\n\n"):
        math = re.match(r"\.\. math::\s*(.*)", block, re.S)
        if math:
            blocks.append(f"$${' '.join(math[1].split())}$$")
        elif re.match(r"(\||=====|[*-] |\d+\. |::)", block):
            blocks.append(f"```text\n{block.removeprefix('::').strip()}\n```")
        else:
            blocks.append(_plain(" ".join(block.split())))
    return "\n\n".join(blocks) + "\n"


def _plain(words: str) -> str:
    """Return prose as Markdown: one kind of quotes for code, and nothing that Markdown would take for markup."""
    words = _ROLE.sub(r"`\1`", _MATH.sub(r"$\1$", " ".join(words.split())))
    words = words.replace("``", "`")
    parts = words.split("`")
    parts[::2] = [re.sub(r"([<*])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    print(page(), end="")
