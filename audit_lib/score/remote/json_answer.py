"""The JSON that a server answered with, whatever it says of its type; one that was cut short is asked for again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from audit_lib.score.reading.json_values import RepeatedKeyError
from audit_lib.score.remote.asker import FailedError, TryAgainError


def parsed(content: bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the JSON value that an answer with HTTP 200 holds; `pairs` is what `json` takes as its hook.

    Raises
    ------
    TryAgainError
        If it ends before the value does: the connection was lost on the way, and what was asked was worked off.
    FailedError
        If it is no JSON.

    Examples
    --------
    >>> parsed(b'{"a": [1]}')
    {'a': [1]}
    >>> parsed(b'{"a": [1')
    Traceback (most recent call last):
    audit_lib.score.remote.asker.TryAgainError: the answer was cut short
    """
    try:
        text = content.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=pairs)
    except RepeatedKeyError:
        raise
    except json.JSONDecodeError as error:
        if _is_cut(error):
            raise TryAgainError("the answer was cut short", paid=True) from None
        raise FailedError("the answer is not JSON") from None
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            raise TryAgainError("the answer was cut short", paid=True) from None
        raise FailedError("the answer is not JSON") from None
    except (ValueError, RecursionError):
        raise FailedError("the answer is not JSON") from None


def _is_cut(error: json.JSONDecodeError) -> bool:
    """Whether a text is the beginning of a JSON value."""
    said = error.doc.strip()
    open_ended = said[:1] in ("{", "[") and said[-1:] not in ("}", "]")
    return open_ended or not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated")
