"""Codes of an API's errors, as they may be told."""

from __future__ import annotations

import re


def safe_code(code: object, *secrets: str) -> str:
    """Return an API error's code if it looks like one; other texts may repeat the prompt or a secret.

    Examples
    --------
    >>> safe_code("rate_limit_exceeded"), safe_code("no: Ann Lee"), safe_code("my_key", "my_key")
    ('rate_limit_exceeded', 'no code', 'no code')
    """
    told = str(code)
    plain = re.fullmatch(r"[a-z_]{1,64}|\d{3}", told) and not any(secret in told for secret in secrets)
    return told if plain else "no code"
