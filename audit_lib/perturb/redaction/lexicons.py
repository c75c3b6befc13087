"""The word lists of redaction, in ``include/lexicons/redaction``."""

from __future__ import annotations

from functools import cache

from audit_lib.perturb.persona import read_lexicon
from audit_lib.perturb.redaction.folding import fold
from audit_lib.resources import include_dir


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, for lists that stand in code."""
    return frozenset(text.split())


@cache
def rows(name: str, *columns: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a list.

    Raises
    ------
    LexiconError
        If it is empty or lacks a column.
    """
    path = include_dir() / "lexicons" / "redaction" / f"{name}.csv"
    return tuple(read_lexicon(path.read_bytes(), f"redaction.{name}", columns, path.name))


@cache
def nicknames() -> dict[str, tuple[str, ...]]:
    """Return folded first name -> folded nicknames."""
    found: dict[str, list[str]] = {}
    for row in rows("nicknames", "first_name", "nickname"):
        found.setdefault(fold(row["first_name"]).text, []).append(fold(row["nickname"]).text)
    return {name: tuple(sorted(set(short))) for name, short in found.items()}


@cache
def first_names() -> frozenset[str]:
    """Return folded first names and nicknames that are known to be such."""
    known = set(nicknames()) | {short for all_ in nicknames().values() for short in all_}
    path = include_dir() / "lexicons" / "names.csv"
    listed = read_lexicon(path.read_bytes(), "names", ("first_name",), path.name)
    return frozenset(known | {fold(row["first_name"]).text for row in listed})


@cache
def honorifics() -> dict[str, str]:
    """Return folded title -> the sex that it says, or nothing."""
    return {fold(row["title"]).text: row["sex"] for row in rows("honorifics", "title", "sex")}


@cache
def places() -> frozenset[str]:
    """Return names that are those of countries, states or cities too."""
    return frozenset(fold(row["place"]).text for row in rows("places", "place"))


@cache
def words() -> frozenset[str]:
    """Return names that are words too: in lower case, or at the start of a sentence, they may be no name."""
    return frozenset(row["word"] for row in rows("words", "word"))
