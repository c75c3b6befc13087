"""Secrets: named in a spec, never written there, and taken out of whatever repeats them."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote, urlsplit

from audit_lib.errors import BackendError
from audit_lib.score.requests import Response

NAMED: Final = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
"""``${NAME}`` stands for the environment variable NAME."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_STEM: Final = re.compile(r"secret|passw|passphrase|credential|authori[sz]|authenti|apikey", re.I)
_GLUED: Final = frozenset({"accesskey", "accesstoken", "authtoken", "apitoken", "privatekey", "refreshtoken"})
_SECRET_WORDS: Final = (
    frozenset({"pwd", "auth", "oauth", "jwt", "bearer"}) | _GLUED | {f"{w}s" for w in _GLUED}
)
_SECRET_LAST: Final = frozenset({"key", "token", "pass"})
_KEYS_TO: Final = (
    "api",
    "access",
    "private",
    "signing",
    "encryption",
    "refresh",
    "subscription",
    "ssh",
    "master",
)
_SECRET_PAIRS: Final = frozenset(
    {(kind, what) for kind in _KEYS_TO for what in ("key", "keys", "token", "tokens")}
    | {("token", "value"), ("key", "pem"), ("pass", "word"), ("pass", "phrase")}
)
_SECRET_OF_HEADERS: Final = (
    frozenset({"cookie", "signature", "session", "keys"}) | _SECRET_WORDS | _SECRET_LAST
)
_AT_THE_START: Final = r"(?<![A-Za-z0-9])"
_SECRET_VALUE: Final = re.compile(
    # Prefixes of well-known issuers. A hyphen alone makes no key: sk-learn is a library.
    rf"{_AT_THE_START}(?:(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct|admin)[-_]"
    r"|sk[-_]\d{3}|(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_]){0,4}(?=[A-Za-z]*\d)[A-Za-z0-9]{10}"
    r"|gh[pousr]_[A-Za-z0-9]{8}|github_pat_[A-Za-z0-9]{8}|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza[\w-]{20}"
    r"|glpat-[\w-]{10}|hf_[A-Za-z0-9]{16}|eyJ[A-Za-z0-9_-]{8,}\.)"
    r"|-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY"
    r"|://[^/\s:@]*:[^/\s@]+@"
    # Words after the scheme's: a bearer of news and basic skills are none.
    r"|^(?i:bearer|basic)\s+(?=\S*\d|\S{16})[\w.~+/-]{6,}=*$"
    rf"|{_AT_THE_START}(?i:bearer)\s+(?=[^\s\d]*\d)(?=[\d\W]*[A-Za-z])[\w.~+/-]{{8,}}"
    r"|(?i:authorization)\W{1,4}(?i:bearer\s+|(?:basic|token|api-?key)\s+(?=\S*[\d=]|\S{16}))[\w.~+/-]{6,}"
)
_WHOLE_VALUE: Final = re.compile(rf"(?:{_SECRET_VALUE.pattern})\S*")
_SLOT: Final = re.compile(r"\{\{\s*[a-z_]+\s*\}\}")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OF_THE_CLIENT: Final = ("host", "content-length", "transfer-encoding", "accept-encoding")
_SCHEME: Final = r"(?i:(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|DPoP|Negotiate)\s+)?"
_WHOLLY_NAMED: Final = re.compile(_SCHEME + NAMED.pattern)
_COOKIES: Final = re.compile(rf"[\w.-]+={NAMED.pattern}(;\s*[\w.-]+={NAMED.pattern})*")
_CAPITALS: Final = "capital letters, digits and _, and } at once after them"
_SHORTEST: Final = 8  # characters; a server without keys takes any word, which texts may hold
_VARIABLE: Final = re.compile(r"\$\{\s*\w")
_WRITE: Final = "write ${NAME} and put it into the environment variable NAME"


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret, by its words: those of ``apiToken`` are api and token.

    Some words say so wherever they stand (auth, secret), as some pairs do (access key), others as the last one: a
    ``pass_mark`` is none.

    Examples
    --------
    >>> [is_secret_name(name) for name in ("api_key", "clientSecret", "X-Pass", "pwd", "apiToken2", "key")]
    [True, True, True, True, True, True]
    >>> [is_secret_name(name) for name in ("X-Api-Keys", "access_key_id", "tokenValue", "private_key_pem")]
    [True, True, True, True]
    >>> [is_secret_name(name) for name in ("max_tokens", "keyboard", "key_skills", "author", "cache_prompt")]
    [False, False, False, False, False]
    """
    words = _words(name)
    return (
        _SECRET_STEM.search(name) is not None
        or not _SECRET_WORDS.isdisjoint(words)
        or not _SECRET_PAIRS.isdisjoint(pairwise(words))
        or (bool(words) and words[-1] in _SECRET_LAST)
    )


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def looks_secret(value: str) -> bool:
    """Whether a text has the form of a key, or holds one: a PEM block, a URL's password, a bearer's token.

    Examples
    --------
    >>> [looks_secret(v) for v in ("sk-live-12", "Bearer abc123", "Bearer ${KEY}", "task-based", "Basic skills")]
    [True, True, False, False, False]
    >>> [looks_secret(v) for v in ("see https://me:pw@host/x", "https://host:8443/@me", "sk-learn")]
    [True, False, False]
    """
    return bool(_SECRET_VALUE.search(value))


def check_header(name: str, value: str) -> None:
    """Check that a header can be sent, that its secret is named, and nothing of it is written.

    Raises
    ------
    ValueError
        If a name or value holds what no header can carry, or the client writes that header itself. If one
        for credentials holds anything but a scheme's word and ``${NAME}`` (a cookie: pairs of a name and
        ``${NAME}``), or another one what looks like a key, or ``${`` without the name of a variable.
    """
    if _TOKEN.fullmatch(name) is None:
        raise ValueError("the name of a header is letters, digits and - or _, without spaces")
    if name.lower() in _OF_THE_CLIENT:
        raise ValueError(f"{name} is written by the client itself; leave it out")
    if not (value.isascii() and (value.isprintable() or not value)):
        raise ValueError(f"the value of {name} holds a line's end or a character that is not ASCII")
    if is_secret_name(name) or not _SECRET_OF_HEADERS.isdisjoint(_words(name)):
        named = _COOKIES if name.lower() == "cookie" else _WHOLLY_NAMED
        if not (named.fullmatch(value.strip()) or _WHOLLY_NAMED.fullmatch(value.strip())):
            raise ValueError(
                f"{name} looks like a secret, which is never written here; {_WRITE}, alone or after a word such as "
                "Bearer"
            )
    elif looks_secret(value):
        raise ValueError(f"the value of {name} looks like a secret; {_WRITE}")
    elif _VARIABLE.search(NAMED.sub("", value)):
        raise ValueError(f"{name} holds ${{ without the name of a variable: {_CAPITALS}")


def check_fields(content: Any, *, named: bool = False) -> None:
    """Check that no field of a JSON value holds a secret; with `named`, ``${NAME}`` may stand for one.

    What is inside of a field with a secret's name is one too, apart from true, false, null and the slots of a
    template, such as ``{{user}}``. Where nothing would be filled in, ``${NAME}`` is refused too: it would be sent as
    it stands.

    Raises
    ------
    ValueError
        With the field's name, never its value.
    """
    instead = _WRITE if named else "put the key into the variable that api_key_env names"
    for path, value in _leaves(content):
        if any(looks_secret(name) for name in path):
            raise ValueError(f"the name of a field looks like a secret; {instead}")
        secret = [name for name in path if is_secret_name(name)]
        bad = isinstance(value, str) and looks_secret(value)
        if secret and isinstance(value, str | int | float) and not isinstance(value, bool):
            bad = bad or not (isinstance(value, str) and _SLOT.fullmatch(value))
        if bad and not (named and isinstance(value, str) and NAMED.fullmatch(value)):
            raise ValueError(f"{secret[-1] if secret else '.'.join(path)} looks like a secret; {instead}")
        _check_variable(path, value, named)


def _check_variable(path: tuple[str, ...], value: Any, named: bool) -> None:
    """Check that a field does not name a variable where none is filled in."""
    where = ".".join(path)
    if any(_VARIABLE.search(name) for name in path):
        raise ValueError(
            f"{where}: a field's name is sent as it stands; ${{NAME}} is filled in as a value alone"
        )
    if not isinstance(value, str):
        return
    if named and _VARIABLE.search(value) and not NAMED.fullmatch(value):
        raise ValueError(
            f"{where} holds ${{ inside of a longer text, which would be sent as it stands; write ${{NAME}} "
            f"({_CAPITALS}) as the whole value, and put all of the text, such as Bearer and a key, into the variable"
        )
    if not named and NAMED.fullmatch(value):
        raise ValueError(f"{where} is ${{NAME}}, which is not filled in here; leave the field out")


def _leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value that holds no others, with the names of the fields that it is in."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(content, list):
        for value in content:
            yield from _leaves(value, path)
    else:
        yield path, content


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
    if _VARIABLE.search(parts.netloc + path):
        raise ValueError(
            "holds ${NAME}, which is not filled in here; write the URL out, its secret in a header"
        )
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
    """Return a response whose texts do not repeat a secret that a server echoed, in any case, plain or escaped.

    Escaped is by percent signs, as in JSON, or in base64.

    Examples
    --------
    >>> said = Response(request_id="r", model="m", method="generated", text="your key sk-12345678")
    >>> masked(said, ["sk-12345678"]).text
    'your key [key]'
    """
    texts = {name: getattr(response, name) for name in ("text", "detail", "model", "system_fingerprint")}
    if (repeated := _repeated(secrets)) is None:
        return response
    changed = {
        name: repeated.sub("[key]", text) for name, text in texts.items() if text and repeated.search(text)
    }
    return replace(response, **changed) if changed else response  # type: ignore[arg-type]


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text without the given secrets, and without what looks like another.

    Examples
    --------
    >>> without_secrets("your key word-12345678 is wrong", ["word-12345678"])
    'your key [key] is wrong'
    """
    repeated = _repeated(secrets)
    return _WHOLE_VALUE.sub("[key]", text if repeated is None else repeated.sub("[key]", text))


def _repeated(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of the secrets in every form that a server may repeat them in; None where there are none."""
    # A server may repeat the key without the word before it. Longest first: one may be the beginning of another.
    words = {word for secret in secrets for word in (secret, *secret.split()) if len(word) >= _SHORTEST}
    forms = sorted({form for word in words for form in _forms(word)}, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(re.escape, forms)), re.IGNORECASE) if forms else None


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is and as a server may escape it."""
    yield secret
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret))
    for ascii_only in (True, False):
        yield (escaped := json.dumps(secret, ensure_ascii=ascii_only)[1:-1])
        yield escaped.replace("/", r"\/")
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(secret.encode()).decode().rstrip("=")
