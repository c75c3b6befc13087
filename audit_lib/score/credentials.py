"""Secrets: named in a spec, never written there, and taken out of whatever repeats them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from audit_lib.errors import BackendError
from audit_lib.score.requests import Response

NAMED: Final = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
"""``${NAME}`` stands for the environment variable NAME."""

_SECRET_NAME: Final = re.compile(
    r"api[-_ ]?key|authorization|secret|passw(or)?d|credential|(access|auth|bearer|session)[-_ ]?token|^token$",
    re.I,
)
_SECRET_HEADER: Final = re.compile(
    r"authori[sz]|authenti|auth(?![a-z])|key(?![a-z])|token(?!s)|secret|cookie|passw|credential|signature|session",
    re.I,
)
_SECRET_VALUE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][A-Za-z0-9]|gh[pousr]_[A-Za-z0-9]{8}|xox[abprs]-|AKIA[0-9A-Z]{12}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.)|^(?i:bearer|basic)\s+(?=\D*\d)[\w.~+/-]{6,}=*$"
)
_SCHEME: Final = r"(?i:(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|DPoP|Negotiate)\s+)?"
_WHOLLY_NAMED: Final = re.compile(_SCHEME + NAMED.pattern)
_COOKIES: Final = re.compile(rf"[\w.-]+={NAMED.pattern}(;\s*[\w.-]+={NAMED.pattern})*")
_SHORTEST: Final = 8  # characters; a server without keys takes any word, which texts may hold
_WRITE: Final = "write ${NAME} and put it into the environment variable NAME"


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret.

    Examples
    --------
    >>> [is_secret_name(name) for name in ("api_key", "Password", "max_tokens", "token", "cache_prompt")]
    [True, True, False, True, False]
    """
    return bool(_SECRET_NAME.search(name))


def looks_secret(value: str) -> bool:
    """Whether a text has the form of a key.

    Examples
    --------
    >>> [looks_secret(v) for v in ("sk-live-12", "Bearer abc123", "Bearer ${KEY}", "task-based", "Basic skills")]
    [True, True, False, False, False]
    """
    return bool(_SECRET_VALUE.search(value))


def check_header(name: str, value: str) -> None:
    """Check that a header's secret is named and nothing of it is written.

    Raises
    ------
    ValueError
        If a header for credentials holds anything but a scheme's word and ``${NAME}`` (a cookie: pairs of a
        name and ``${NAME}``), or another one what looks like a key.
    """
    if _SECRET_HEADER.search(name):
        named = _COOKIES if name.lower() == "cookie" else _WHOLLY_NAMED
        if not (named.fullmatch(value.strip()) or _WHOLLY_NAMED.fullmatch(value.strip())):
            raise ValueError(
                f"{name} looks like a secret, which is never written here; {_WRITE}, alone or after a word such as "
                "Bearer"
            )
    elif looks_secret(value):
        raise ValueError(f"the value of {name} looks like a secret; {_WRITE}")


def check_fields(content: Any, *, named: bool = False) -> None:
    """Check that no field of a JSON value holds a secret; with `named`, ``${NAME}`` may stand for one.

    Raises
    ------
    ValueError
        With the field's name, never its value.
    """
    instead = _WRITE if named else "put the key into the variable that api_key_env names"
    for name, value in _fields(content):
        bad = is_secret_name(name) or (isinstance(value, str) and looks_secret(value))
        if bad and not (named and isinstance(value, str) and NAMED.fullmatch(value)):
            raise ValueError(f"{name} looks like a secret; {instead}")


def _fields(content: Any, under: str = "") -> list[tuple[str, Any]]:
    """Return the names and values of all fields; a list's values have the list's name."""
    if isinstance(content, dict):
        return [
            one for key, value in content.items() for one in [(str(key), value), *_fields(value, str(key))]
        ]
    if isinstance(content, list):
        return [
            one
            for value in content
            for one in [("" if isinstance(value, dict | list) else under, value), *_fields(value, under)]
        ]
    return []


def plain_url(value: str) -> str:
    """Return a URL without what might be a secret, less its last slash.

    Raises
    ------
    ValueError
        If it is no http(s) URL, its port is none, or it holds a user, a password, a query, a fragment, or a path that
        looks like a key.
    """
    parts = urlsplit(value)
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("its port is not a number from 1 to 65535")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("needs http:// or https:// and a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "must not hold a user, a password or a query; name the variable that holds the key instead"
        )
    path = unquote(parts.path)
    if looks_secret(path) or any(is_secret_name(piece) for piece in re.findall(r"([^/;=]+)=", path)):
        raise ValueError(
            "its path looks like it holds a secret; name the variable that holds the key instead"
        )
    return value.rstrip("/")


def read_variable(name: str, where: str, *, spaces: bool = False) -> str:
    """Return the secret that an environment variable holds; `where` is the option that names it.

    With `spaces` it may have several words, such as ``Bearer`` and a key.

    Raises
    ------
    BackendError
        If it is not set, or holds what no header can carry.
    """
    if not (found := os.environ.get(name)):
        raise BackendError(
            f"the environment variable {name} ({where}) is not set; put the endpoint's key there, or any word if it "
            "asks for none"
        )
    if not (found.isascii() and found.isprintable()) or " " in (found[0] + found[-1] if spaces else found):
        raise BackendError(
            f"the environment variable {name} ({where}) holds white space, a line's end or a character that is not "
            "ASCII, which no header can carry; set it to the key alone"
        )
    return found


def masked(response: Response, secrets: Iterable[str]) -> Response:
    """Return a response whose texts do not repeat a secret that a server echoed.

    Examples
    --------
    >>> said = Response(request_id="r", model="m", method="generated", text="your key sk-12345678")
    >>> masked(said, ["sk-12345678"]).text
    'your key [key]'
    """
    # A server may repeat the key without the word before it. Longest first: one may be the beginning of another.
    words = {word for secret in secrets for word in (secret, *secret.split()) if len(word) >= _SHORTEST}
    hidden = sorted(words, key=lambda word: (-len(word), word))
    changed: dict[str, str] = {}
    for name in ("text", "detail", "model", "system_fingerprint"):
        text = getattr(response, name)
        for secret in hidden:
            if text and secret in text:
                changed[name] = text = text.replace(secret, "[key]")
    return replace(response, **changed) if changed else response  # type: ignore[arg-type]
