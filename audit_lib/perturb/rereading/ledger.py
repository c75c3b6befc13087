"""The books of a redaction: the original less the listed removals is the result, character by character."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from audit_lib.perturb.rereading.findings import GONE, LeftPassage, plain, words

_SLOT: Final = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_.]*)\}\}")
_BRACES: Final = "{{open_braces}}"
_LONGEST: Final = 200
_NAME_WORDS: Final = words(
    "jr sr ii iii iv v phd md esq de da di do du del dela della la le los las van von der den ter bin ibn "
    "al el ap y e dos das st san santa mac mc nic ni bint bin binti abu mr mrs ms dr née nee"
)


def remaining(text: str, template: str, removed: Sequence[tuple[int, int]]) -> str | None:
    """Return the original with `GONE` for every removed character; None where the books do not agree.

    Parameters
    ----------
    removed : sequence of (int, int)
        The listed removals, in order.

    Examples
    --------
    >>> remaining("Ana sings", "{{first_name}} sings", [(0, 3)]).replace(GONE, "*")
    '*** sings'
    >>> remaining("Ana sings", "{{first_name}}", [(0, 3)]) is None
    True
    """
    left, at, number = list(text), 0, 0
    chunk_start = 0
    for match in [*_SLOT.finditer(template), None]:
        chunk = template[chunk_start : match.start() if match else len(template)]
        if text[at : at + len(chunk)] != chunk:
            return None
        at += len(chunk)
        if match is None:
            break
        chunk_start = match.end()
        if match.group() == _BRACES:
            if text[at : at + 2] != "{{":
                return None
            at += 2
            continue
        if number >= len(removed) or removed[number][0] != at:
            return None
        start, end = removed[number]
        left[start:end] = [GONE] * (end - start)
        at, number = end, number + 1
    return "".join(left) if at == len(text) and number == len(removed) else None


def unexplained(
    text: str, spans: Sequence[tuple[int, int, str, str]], names: Collection[str]
) -> Iterator[LeftPassage]:
    """Yield removals that hold more than what they are listed as.

    Parameters
    ----------
    spans : sequence of (int, int, str, str)
        Start, end, kind and slot of each.
    names : collection of str
        The names that were given or found, in any form.
    """
    parts = {word for name in names for word in re.findall(r"[^\W\d_]+", plain(name))}
    for start, end, kind, slot in spans:
        shown = text[start:end]
        if len(shown) > _LONGEST or shown.count("\n") > (3 if kind == "address" else 1):
            yield LeftPassage(start=start, end=end, kind=kind, why="a long passage was removed as one")
        elif slot.startswith(("name", "first_name", "last_name", "middle_name")):
            for word in re.finditer(r"[^\W\d_]+", plain(shown)):
                if not _of_the_name(word.group(), parts):
                    at = start + word.start()
                    why = "removed with the name, and no part of it"
                    yield LeftPassage(start=at, end=at + len(word.group()), kind="name", why=why)


def _of_the_name(word: str, parts: Collection[str]) -> bool:
    return (
        len(word) < 3
        or word in _NAME_WORDS
        or any(word[:3] == part[:3] or word in part or part in word for part in parts if len(part) > 1)
        or word in {"".join(sorted(parts))}
    )
