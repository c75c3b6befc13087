"""What a chat completion holds, as parsed JSON: texts, tokens, and whether the model thought before it answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from audit_lib.json_path import steps, value_at
from audit_lib.score.reading.json_values import once, writable
from audit_lib.score.remote.cost import Usage


def said(content: Any) -> str | None:
    """Return the text of a message, which may come in parts; what is thought is none of it.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(content, list):
        texts = (part if isinstance(part, str) else mapping(part) for part in content)
        content = "".join(
            part if isinstance(part, str) else part["text"]
            for part in texts
            if isinstance(part, str) or part.get("type") in ("text", "output_text")
        )
    if content is not None and not isinstance(content, str):
        raise TypeError("not a text")
    return None if content is None else writable(content)


def called(message: Mapping[str, Any], name: str, path: str) -> str | None:
    """Return what the arguments of a message's call of a tool hold at a path; None without one call that does.

    Examples
    --------
    >>> call = {"function": {"name": "rate", "arguments": '{"answer": "Yes"}'}}
    >>> called({"tool_calls": [call]}, "rate", "answer"), called({"tool_calls": [call, call]}, "rate", "answer")
    ('Yes', None)
    """
    calls = message.get("tool_calls")
    listed = [mapping(mapping(call).get("function")) for call in calls] if isinstance(calls, list) else []
    of_tool = [function for function in listed if function.get("name") == name]
    if len(of_tool) != 1:
        return None
    given = of_tool[0].get("arguments")
    try:
        arguments = json.loads(given, object_pairs_hook=once) if isinstance(given, str) else given
        value = value_at(arguments, steps(path))
    except (ValueError, LookupError, RecursionError):
        return None
    if isinstance(value, str):
        return writable(value)
    return None if value is None else json.dumps(value, ensure_ascii=False)


def system_mark(completion: Mapping[str, Any]) -> str | None:
    """Return what a provider says of the system behind the model, if it is a text."""
    mark = completion.get("system_fingerprint")
    return writable(mark) if isinstance(mark, str) else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; what is none holds nothing."""
    return value if isinstance(value, dict) else {}


def count(value: Any) -> int:
    """Return a count of tokens; what is none is not counted."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def used_tokens(completion: Any) -> Usage:
    """Return the tokens of a completion.

    Some servers count what was thought apart from the completion, in the total alone.

    Examples
    --------
    >>> used_tokens({"usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 110}})
    Usage(prompt=9, completion=101)
    """
    usage = mapping(mapping(completion).get("usage"))
    read, generated = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    total = count(usage.get("total_tokens"))
    return Usage(prompt=read, completion=max(generated, total - read) if read else generated)


def thinking_tokens(completion: Any) -> int | None:
    """Return the tokens that were thought; None where the server does not count them.

    Examples
    --------
    >>> thinking_tokens({"usage": {"completion_tokens_details": {"reasoning_tokens": 64}}})
    64
    """
    details = mapping(mapping(mapping(completion).get("usage")).get("completion_tokens_details"))
    return count(details["reasoning_tokens"]) if "reasoning_tokens" in details else None


def thought(completion: Any) -> bool:
    """Whether the model thought before it answered: by the count of its tokens, or by what it thought.

    Servers give that in a field of the message (``reasoning_content``, ``reasoning``), in a part of its content, or
    in its text.
    """
    if thinking_tokens(completion):
        return True
    choices = mapping(completion).get("choices")
    for choice in choices if isinstance(choices, list) else []:
        message = mapping(mapping(choice).get("message"))
        content = message.get("content")
        if message.get("reasoning_content") or message.get("reasoning"):
            return True
        if isinstance(content, list) and any(mapping(part).get("type") == "thinking" for part in content):
            return True
        if isinstance(content, str) and content.lstrip().startswith("<think"):
            return True
    return False


def has_logprobs(completion: Any) -> bool:
    """Whether the first answer shows the most probable tokens of its beginning."""
    content = mapping(mapping(completion["choices"][0]).get("logprobs")).get("content")
    return bool(content and content[0].get("top_logprobs"))


def _answered(parts: list[Any]) -> list[Any]:
    """Return the parts of a content that say something, and are no thought."""
    return [part for part in parts if not isinstance(part, dict) or part.get("text")]


def nothing_said(completion: Any) -> bool:
    """Whether no answer holds a text, and one was cut at its most tokens."""
    choices = mapping(completion).get("choices")
    listed = [mapping(choice) for choice in choices] if isinstance(choices, list) else []
    texts = [mapping(choice.get("message")).get("content") for choice in listed]
    texts = [_answered(content) if isinstance(content, list) else content for content in texts]
    return not any(texts) and any(choice.get("finish_reason") == "length" for choice in listed)
