"""What others' errors say, as it may be told: in one line, without secrets and without what was asked.

Providers repeat a key, a prompt, or a part of one, in what they say. A word is told unless it is in what was asked;
the ordinary words of such messages are told also then, but not four of them in the order in which they were asked.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote

MOST: Final = 300
"""Characters of a message that are told."""
LEFT_OUT: Final = "[...]"

_SAYS: Final = (
    "message", "msg", "error_message", "error_description", "detail", "details", "description", "faultstring",
    "reason", "title", "error", "errors", "fault", "text",
)  # fmt: skip
_DEEPEST: Final = 8
_LONGEST: Final = 100_000  # characters of a text that are looked at
_WORD: Final = re.compile(r"\w+")
_RUN: Final = 4
_LEAST_PART: Final = 3  # characters of a word that may be the beginning or the end of one that was asked
_CODED: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\([nrt\"'/\\])")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_MARKUP: Final = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<!--.*?-->|</?[a-z!][^<>]{0,2000}>")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'(?!\w)|`[^`]*`|“[^”]*”|‘[^’]*’")
_HIDDEN: Final = re.compile(
    r"(?i)\b(?:bearer|basic|token|api[-_ ]?key)[\s:=]+[\w.~+/*-]*\d[\w.~+/=*-]*"  # an authorisation
    r"|\b(?:sk|pk|rk|hf|gh[a-z]|xox[a-z]|AKIA|AIza|eyJ)[-_A-Za-z0-9]*[-_*\d][\w.*-]{3,}"  # a key, also a part of one
    r"|[\w.+-]+@[\w-]+\.[\w.]+"  # an address
    r"|(?<=://)[^\s/@]+@"  # a URL's password
    r"|(?<=\?)[^\s\"'<>]+=[^\s\"'<>]*"  # a URL's query
    r"|(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[A-Za-z0-9+/=_-]{32,}"  # coded
    r"|[A-Za-z0-9+/=]{40,}"
)
_ORDINARY: Final = frozenset(
    re.findall(
        r"\w+",
        """
        a about above access account active after again all allowed already also an and any api app are argument
        arguments as ask at authentication authorization available azure bad balance batch be been before below but by
        call calls can cannot capacity change character characters chat check choose client code column combined
        common completion completions config configuration connection contact contain contains content context could
        count create credentials current currently data default deployment deployments deprecated detail details did
        different disabled do documentation does doesn don due during each either empty enable encountered endpoint
        ensure equal error errors exceed exceeded exceeds exist exists expected expired failed file filter filtered
        following for forbidden format found from function gateway get given got greater had has have header headers
        help however id if in incorrect increase input inputs instead insufficient integer internal invalid is isn it
        its json key keys large larger later least length less let limit limited limits line list llm load loaded log
        logprobs made make management many max maximum message messages method min minimum missing model models more
        most must name need needs new no none not null number object of off on one only operation option or
        organization other our out output over overloaded parameter parameters parse path per permission permissions
        plan please policy present project prompt prompts property provide provided provider proxy quota range rate
        reached read received reduce refused region rejected remove request requested requests require required
        requires resource resources response restricted result resulted retry return returned safety see seed send
        sent server service set should size some specified start status stop stream string submit such support
        supported supports system take temperature temporarily than that the their them then there these they this
        those through time timeout to token tokens too tool tools top triggered true try turn two type types unable
        unauthorized unavailable unexpected unknown unprocessable unrecognized unsupported until update upgrade
        upstream url usage use used user uses using valid validation value values version was we were when where which
        while with within without would you your
        """,
    )
)


def failure(status: int, code: str, message: str) -> str:
    """Return how a call failed: its HTTP status, the code of the error if that says more, and its message.

    Examples
    --------
    >>> failure(400, "400", "max_tokens is too large"), failure(429, "rate_limit_exceeded", "")
    ('HTTP 400: max_tokens is too large', 'HTTP 429 (rate_limit_exceeded)')
    """
    coded = "" if code == str(status) or (message and code == "no code") else f" ({code})"
    return f"HTTP {status}{coded}" + (f": {message}" if message else "")


def provider_message(body: object) -> str | None:
    """Return what the body of an error says, or None; a body is parsed JSON, or text.

    Examples
    --------
    >>> provider_message({"error": {"message": "The model does not exist", "code": "model_not_found"}})
    'The model does not exist'
    >>> provider_message({"detail": [{"loc": ["body", "n"], "msg": "Input should be 1", "input": "Ann Lee"}]})
    'n: Input should be 1'
    >>> provider_message("<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>")
    '502 Bad Gateway'
    """
    if isinstance(body, bytes | bytearray):
        body = bytes(body).decode("utf-8", errors="replace")
    if isinstance(body, str):
        stripped = body.strip()
        if stripped[:1] in ("{", "["):
            try:
                return provider_message(json.loads(stripped))
            except (ValueError, RecursionError):
                pass
        titled = _TITLE.search(stripped) if stripped.startswith("<") else None
        text = titled[1] if titled else stripped
        return _MARKUP.sub(" ", text).strip() or None
    return "; ".join(dict.fromkeys(_said(body))) or None


def _said(body: Any, depth: int = 0) -> Iterator[str]:
    """Yield the messages of a body: at the first names that have any, outermost first."""
    if isinstance(body, str):
        if (
            found := provider_message(body)
            if depth and body.lstrip()[:1] in ("{", "[") and depth < 3
            else body
        ):
            yield found
    elif isinstance(body, list) and depth < _DEEPEST:
        for one in body[:3]:
            yield from _said(one, depth + 1)
    elif isinstance(body, dict) and depth < _DEEPEST:
        if isinstance(body.get("msg"), str) and isinstance(body.get("loc"), list):
            # What a checker of bodies says, such as FastAPI's: without its place it says nothing.
            yield ": ".join(filter(None, [".".join(map(str, body["loc"][1:]))[:100], body["msg"]]))
            return
        for name in _SAYS:
            value = body.get(name)
            if isinstance(value, str | list | dict) and (said := list(_said(value, depth + 1))):
                yield from said
                return


def told(text: str | None, asked: Iterable[str] | None, secrets: Sequence[str] = (), most: int = MOST) -> str:
    """Return a message as it may be told, "" if nothing of it may be.

    Parameters
    ----------
    text : str or None
    asked : iterable of str or None
        What was asked; None where it is not known: then ordinary words, names of fields and numbers are told alone.
    secrets : sequence of str
        What must not be repeated.
    most : int
        Characters that are told.

    Examples
    --------
    >>> told("Invalid prompt: 'Ann Lee, a welder' is too long", ["Judge Ann Lee, a welder from Ohio."])
    'Invalid prompt: [...] is too long'
    >>> told("Incorrect API key provided: sk-proj-ab****12. See docs.", ["Judge Ann Lee."])
    'Incorrect API key provided: [...] See docs.'
    """
    if not text:
        return ""
    line = _one_line(text)
    for secret in sorted((s for s in secrets if len(s) >= 4), key=len, reverse=True):
        line = re.sub(re.escape(secret), LEFT_OUT, line, flags=re.IGNORECASE)
    line = _HIDDEN.sub(LEFT_OUT, line)
    hidden = _hidden(line, None if asked is None else " \n ".join(map(_one_line, asked)).casefold())
    words = list(_WORD.finditer(line))
    if not words or all(hidden):
        return ""
    kept = _cut_out(line, [word.span() for word, hide in zip(words, hidden, strict=True) if hide])
    return kept if len(kept) <= most else kept[: most - 3].rstrip() + "..."


def _one_line(text: str) -> str:
    """Return a text without escapes, control characters and line ends."""
    plain = html.unescape(text[:_LONGEST])
    plain = unquote(plain) if _PERCENT.search(plain) else plain
    plain = _CODED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", plain)
    return " ".join("".join(c if c.isprintable() else " " for c in plain).split())


def _hidden(line: str, asked: str | None) -> list[bool]:
    """Tell for each word of a line whether it is left out."""
    words = [word.casefold() for word in _WORD.findall(line)]
    if asked is None:
        return [word not in _ORDINARY and not word.isdigit() and "_" not in word for word in words]
    asked_words = _WORD.findall(asked)
    known = set(asked_words)
    hidden = [word not in _ORDINARY and _was_asked(word, known, asked) for word in words]
    runs = {tuple(asked_words[i : i + _RUN]) for i in range(len(asked_words) - _RUN + 1)}
    for i in range(len(words) - _RUN + 1):
        if tuple(words[i : i + _RUN]) in runs:
            hidden[i : i + _RUN] = [True] * _RUN
    return hidden


def _was_asked(word: str, known: set[str], asked: str) -> bool:
    if word in known:
        return True
    if not word.isascii():  # scripts without spaces: any two characters side by side
        return any(word[i : i + 2] in asked for i in range(max(len(word) - 1, 1)))
    return len(word) >= _LEAST_PART and any(
        k.startswith(word) or k.endswith(word) or (len(k) > _LEAST_PART and k in word) for k in known
    )


def _cut_out(line: str, spans: Sequence[tuple[int, int]]) -> str:
    """Leave out spans, with all of a quotation that one is in, and what lies between two without a word."""
    quotes = [found.span() for found in _QUOTED.finditer(line)]
    whole = [next((q for q in quotes if q[0] <= start and end <= q[1]), (start, end)) for start, end in spans]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(set(whole)):
        if merged and not _WORD.search(line[merged[-1][1] : start]):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    for start, end in reversed(merged):
        line = line[:start] + LEFT_OUT + line[end:]
    return line
