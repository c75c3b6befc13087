"""Elements of a page that are in the file and not on the screen: hidden by an attribute, a style or a style sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_DECLARED: Final = re.compile(
    r"(?:^|;)\s*(display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE
)
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_CONTROLS: Final = re.compile(
    r"""\b(?:aria-controls|data-(?:bs-)?target)\s*=\s*["']?#?([\w:. -]+)""", re.IGNORECASE
)
_START: Final = re.compile(r"<([a-z][\w-]*)\b([^<>]*)>", re.IGNORECASE)
_HTML_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
# What a reader can click: not any element that says what it controls.
_CLICKED: Final = re.compile(r"""\brole\s*=\s*["']?(?:tab|button)\b|\bdata-(?:bs-)?toggle\b""", re.IGNORECASE)
_LEADS_AWAY: Final = re.compile(r"""\bhref\s*=\s*["']?\s*(?!#|javascript:)[^"'\s>]""", re.IGNORECASE)
_UNSEEN: Final = re.compile(
    r"""(?:^|\s)hidden(?=[\s=/]|$)|display\s*:\s*none|opacity\s*:\s*0(?![.\d])""", re.IGNORECASE
)
_DISABLED: Final = frozenset({"disabled", "inert"})
_NAME: Final = re.compile(r"[a-z][\w-]*|[a-z]*[.#][\w-]+", re.IGNORECASE)
# An element whose end is not written ends where one of these begins, or where what holds it ends.
_NEXT: Final[Mapping[str, frozenset[str]]] = {
    "tr": frozenset({"tr", "thead", "tbody", "tfoot"}),
    "td": frozenset({"td", "th", "tr", "thead", "tbody", "tfoot"}),
    "th": frozenset({"td", "th", "tr", "thead", "tbody", "tfoot"}),
    "tbody": frozenset({"thead", "tbody", "tfoot"}),
    "li": frozenset({"li"}),
    "p": frozenset({"p", "div", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "section"}),
}
_HOLDERS: Final[Mapping[str, frozenset[str]]] = {
    "tr": frozenset({"table", "thead", "tbody", "tfoot"}),
    "td": frozenset({"table", "thead", "tbody", "tfoot", "tr"}),
    "th": frozenset({"table", "thead", "tbody", "tfoot", "tr"}),
    "tbody": frozenset({"table"}),
    "li": frozenset({"ul", "ol"}),
    "p": frozenset({"div", "section", "td", "body"}),
}


@dataclass(slots=True)
class HiddenElement:
    """An open element that is not on the screen, or that a reader of screens passes over, with its words.

    Parameters
    ----------
    tag : str
        Its tag.
    table, row : str
        The table that it is in, and what the row before it is about; empty outside tables.
    is_shown : bool
        Whether it is on the screen all the same (``aria-hidden``).
    keeps_place : bool
        Whether it is a cell that leaves its place empty rather than to the next one.
    """

    tag: str
    table: str
    row: str
    is_shown: bool = False
    keeps_place: bool = False
    words: list[str] = field(default_factory=list)
    holds_table: bool = False
    depth: int = 1
    tables: int = 0

    def is_left_by(self, tag: str) -> bool:
        """Whether the start of another element ends this one, which nothing has ended so far."""
        return not self.tables and self.depth == 1 and tag in _NEXT.get(self.tag, ())

    def opens(self, tag: str, role: str = "") -> None:
        """Take in an element that begins in it, and the role that it says it has."""
        self.depth += tag == self.tag
        self.tables += tag == "table"
        self.holds_table |= "table" in (tag, role)
        self.words.append(" ")

    def closes(self, tag: str) -> bool:
        """Take in an end; whether it ends this element."""
        if tag == self.tag:
            self.depth -= 1
        elif tag == "table" and self.tables:
            self.tables -= 1
        elif not self.tables and tag in _HOLDERS.get(self.tag, ()):
            self.depth = 0
        return self.depth <= 0


@dataclass(slots=True)
class TabPanels:
    """Panels of tabs, which only look hidden: each tab on the screen shows one of them, after it in the file.

    A panel for which no tab is left is hidden from everybody.
    """

    _tabs: int = 0

    def shows(self, attributes: Mapping[str, str | None], how: str) -> bool:
        """Take in an element, and what takes it off the screen; whether it is a panel that a tab shows."""
        role = (attributes.get("role") or "").strip().lower()
        leads_away = not (attributes.get("href") or "#").startswith(("#", "javascript:"))
        seen = not how and not _UNSEEN.search(attributes.get("style") or "")
        if role == "tab" and seen and not leads_away and not _DISABLED & set(attributes):
            self._tabs += attributes.get("aria-disabled") != "true"
        is_shown = role == "tabpanel" and self._tabs > 0
        self._tabs -= is_shown
        return is_shown


def hidden_by(tag: str, attributes: Mapping[str, str | None], sheet: frozenset[str]) -> str:
    """Say what takes an element off the screen: ``display`` or ``visibility``; empty if nothing does.

    Examples
    --------
    >>> hidden_by("td", {"style": "color: red; display:none"}, frozenset())
    'display'
    >>> hidden_by("tr", {"class": "row old"}, hidden_names("table {color: red} .old, #x { display: none }"))
    'display'
    """
    found = _DECLARED.search(attributes.get("style") or "")
    if "hidden" in attributes or (found and found[1].lower().startswith("display")):
        return "display"
    classes = [f".{name}" for name in (attributes.get("class") or "").split()]
    names = [*classes, f"#{attributes.get('id')}", ""]
    if any(f"{kind}{name}" in sheet for name in names for kind in ("", tag) if kind or name):
        return "display"
    return "visibility" if found else ""


def unfolded_names(page: str) -> frozenset[str]:
    """Return the ids of what a click on the page shows: panels of tabs and accordions, which only look hidden.

    Examples
    --------
    >>> sorted(unfolded_names('<button aria-controls="sex race">Show</button> <a data-bs-target="#all">All</a>'))
    ['all', 'race', 'sex']
    """
    names: set[str] = set()
    for tag, attributes in _START.findall(_HTML_COMMENT.sub("", page)):
        can_be_clicked = tag.lower() in ("button", "summary", "a") or _CLICKED.search(attributes)
        if can_be_clicked and not _LEADS_AWAY.search(attributes) and not _UNSEEN.search(attributes):
            names |= {name for found in _CONTROLS.finditer(attributes) for name in found[1].split()}
    return frozenset(names)


def hidden_names(sheet: str) -> frozenset[str]:
    """Return what a style sheet hides by plain names (``.old``, ``#x``, ``tr.old``); rules for some media do not count.

    Examples
    --------
    >>> sorted(hidden_names(".a, tr.b {display: none} @media print { .c {display: none} } .d .e {display:none}"))
    ['.a', 'tr.b']
    """
    depth, at_rule, start, selector = 0, False, 0, ""
    found: set[str] = set()
    text = _COMMENT.sub("", sheet)
    for i, letter in enumerate(text):
        if letter == "{":
            if depth == 0:
                selector, start = text[start:i].strip(), i + 1
                at_rule = selector.startswith("@")
            depth += 1
        elif letter == "}" and depth:
            depth -= 1
            if depth == 0:
                if not at_rule and _DECLARED.search(text[start:i]):
                    found |= {name.strip() for name in selector.split(",")}
                start = i + 1
        elif letter == ";" and depth == 0:
            start = i + 1
    return frozenset(name for name in found if _NAME.fullmatch(name))
