"""The words of the comparison's page: whole English sentences with named places, as a catalogue of texts takes them."""

from __future__ import annotations


def say(english: str, /, **values: object) -> str:
    """Return a text with its places filled in; without values it is taken as it is.

    Examples
    --------
    >>> say("{first} less {second}", first="a", second="b")
    'a less b'
    """
    return english.format(**values) if values else english
