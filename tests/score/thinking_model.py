"""A model that thinks before it answers, behind servers in the shapes of providers.

It thinks for some tokens that follow from what it is asked. Where the tokens it is given do not hold these and the
answer, it is cut, as providers cut: what is generated is at most what is allowed, and is counted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ONE_OF = re.compile(r"Answer with exactly one of these and nothing else: (.+)\.$", re.MULTILINE)
_NAMES = re.compile(r"(?<=Applicant \d: )[^\n]+")


@dataclass(frozen=True)
class Thought:
    """An answer, and what it took."""

    text: str
    thinking: int
    answer: int
    cut: bool
    read: int

    @property
    def generated(self) -> int:
        return self.thinking + self.answer


def think(
    prompt: str,
    room: int,
    schema: Mapping[str, Any] | None = None,
    draw: int = 0,
    *,
    thinks: bool = True,
) -> Thought:
    """Answer a prompt within so many tokens; `draw` makes answers to one prompt differ."""
    digest = hashlib.sha256(f"{prompt}/{draw}".encode()).digest()
    thinking = 20 + digest[0] % 200 if thinks else 0
    text = json.dumps(_filled(schema, digest)) if schema is not None else _in_words(prompt, digest)
    answer = -(-len(text) // 4)
    read = -(-len(prompt) // 4)
    if thinking + answer > room:
        kept = max(room - thinking, 0)
        return Thought(text=text[: 4 * kept], thinking=min(thinking, room), answer=kept, cut=True, read=read)
    return Thought(text=text, thinking=thinking, answer=answer, cut=False, read=read)


def _filled(schema: Mapping[str, Any], digest: bytes) -> Any:
    if schema["type"] == "object":
        return {key: _filled(inner, digest) for key, inner in schema["properties"].items()}
    if schema["type"] == "array":
        return sorted(
            schema["items"]["enum"], key=lambda name: hashlib.sha256(digest + name.encode()).digest()
        )
    return schema["enum"][digest[1] % len(schema["enum"])]


def _in_words(prompt: str, digest: bytes) -> str:
    if labels := _ONE_OF.findall(prompt):
        options = labels[-1].split(", ")
        return f"**{options[digest[1] % len(options)]}**"
    names = sorted(
        set(_NAMES.findall(prompt)), key=lambda name: hashlib.sha256(digest + name.encode()).digest()
    )
    return "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1)) or "Yes"
