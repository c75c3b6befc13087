"""The words of a PDF of ours as it shows them, in the order of its structure, and the transcript that it carries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from audit_lib.check.pdf_tags import (
    ContentMark,
    StructureNode,
    marked_characters,
    marks_below,
    structure_tree,
)
from audit_lib.page_transcript import NAME

_BULLET: Final = "\N{BULLET}"
_Content = Mapping[ContentMark, Sequence[Mapping[str, Any]]]


@dataclass(slots=True)
class PdfWords:
    """What a PDF shows.

    Parameters
    ----------
    transcript : str
        The transcript that it carries.
    words : list of str
        Its texts in order, white space not kept where a line ends.
    alternatives : list of str
        What stands for each picture when it is read aloud.
    around : list of str
        What is printed around each page, such as its number.
    over : list of str
        Pictures and notes, of which a PDF of ours has none.
    title : str
        Its title, as a reader shows it.
    pages : int
        How many pages it has.
    numbered : int
        The last number that a list was set with.
    """

    transcript: str
    title: str = ""
    pages: int = 0
    words: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    numbered: int = 0


def own_pdf(pdf: Any) -> PdfWords | None:
    """Read an open pdfplumber PDF; None where it carries no transcript."""
    info: dict[str, Any] = {}
    for part in reversed(pdf.doc.info):
        info |= part
    written = _text(info.get(NAME))
    if not written:
        return None
    made = PdfWords(written, title=_text(info.get("Title")), pages=len(pdf.pages))
    content: dict[ContentMark, list[Mapping[str, Any]]] = defaultdict(list)
    for number, page in enumerate(pdf.pages):
        for mark, char in marked_characters(page.chars):
            content[number, mark].append(char)
    root = structure_tree(pdf)
    if root is not None:
        _walk(root, content, made, [""])
    held = set() if root is None else set(marks_below(root))
    made.around = [""] * len(pdf.pages)
    for place, found in content.items():
        if place not in held:
            made.around[place[0]] += _letters(found)
    for page in pdf.pages:
        made.over += ["a picture"] * len(page.images)
        made.over += [
            f"a note ({kind})" for kind in map(_kind_of, page.annots) if kind not in ("Link", "Popup")
        ]
    return made


def _kind_of(annotation: Mapping[str, Any]) -> str:
    return str(getattr(annotation["data"].get("Subtype"), "name", "?"))


def _text(raw: Any) -> str:
    from pdfminer.pdftypes import resolve1
    from pdfminer.utils import decode_text

    found = resolve1(raw)
    return str(decode_text(found)) if isinstance(found, bytes) else ""


def _walk(node: StructureNode, content: _Content, made: PdfWords, last_head: list[str]) -> None:
    if node.alternative:
        made.alternatives.append(node.alternative)
    for kid in node.kids:
        if not isinstance(kid, StructureNode):
            made.words.append(_letters(content.get(kid, ())))
        elif kid.kind == "Lbl" and _is_label(_all_words(kid, content).strip(), made):
            continue
        elif kid.kind == "THead":
            # A table that goes on over a page begins there with the same header, and without its caption.
            head = _all_words(kid, content)
            if head != last_head[0] or node.has("Caption"):
                _walk(kid, content, made, last_head)
            last_head[0] = head
        else:
            _walk(kid, content, made, last_head)


def _is_label(words: str, made: PdfWords) -> bool:
    """Whether words are those that a list is set with: a bullet, or the number after the one before, or 1."""
    if words == _BULLET:
        return True
    if words not in ("1.", f"{made.numbered + 1}."):
        return False
    made.numbered = int(words[:-1])
    return True


def _all_words(node: StructureNode, content: _Content) -> str:
    return "".join(_letters(content.get(mark, ())) for mark in marks_below(node))


def _letters(chars: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(char["text"]) for char in chars)
