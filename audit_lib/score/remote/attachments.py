"""Images and files of a question in the form of the chat API, as pydantic-ai has them.

What they hold stands in the question itself (a data URL): an address would be fetched by the provider's library or by
the provider, from a place that the spec does not name, and may hold another thing the next time.

References
----------
Pydantic AI, Image, audio, video and document input, https://ai.pydantic.dev/input/.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from audit_lib.score.remote.asker import FailedError

_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,(.*)", re.DOTALL)
_AUDIO: Final[Mapping[str, str]] = {"mp3": "audio/mpeg", "wav": "audio/wav"}
"""Format of `input_audio` -> media type."""


def attachment(part: Mapping[str, Any]) -> Any:
    """Return one part as pydantic-ai's content.

    Raises
    ------
    FailedError
        If it is of another type, or holds no data URL; nothing is asked then.

    Examples
    --------
    >>> attachment({"type": "image_url", "image_url": {"url": "https://x.org/a.png"}})
    Traceback (most recent call last):
    audit_lib.score.remote.asker.FailedError: a part (image_url) holds no data URL (data:TYPE;base64,...)
    """
    from pydantic_ai.messages import BinaryContent

    kind = part.get("type")
    inner = part.get(str(kind))
    content: Mapping[str, Any] = inner if isinstance(inner, dict) else {}
    if kind == "input_audio" and content.get("format") in _AUDIO:
        return BinaryContent(data=_decoded(content.get("data"), kind), media_type=_AUDIO[content["format"]])
    if kind not in ("image_url", "file"):
        raise FailedError(
            f"a part ({kind}) is none that goes through pydantic-ai: image_url, file, input_audio"
        )
    found = _DATA_URL.fullmatch(str(content.get("url" if kind == "image_url" else "file_data", "")))
    if found is None:
        raise FailedError(f"a part ({kind}) holds no data URL (data:TYPE;base64,...)")
    detail = {"detail": content["detail"]} if "detail" in content else None
    return BinaryContent(data=_decoded(found[2], kind), media_type=found[1], vendor_metadata=detail)


def require_sent(messages: Sequence[Mapping[str, Any]], sent: Any) -> None:
    """Raise FailedError if what a provider's library sent holds not every image and file of the messages."""
    wanted = [
        attachment(part)
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] != "text"
    ]
    if not wanted:
        return
    written = _standard(json.dumps(sent))
    for one in wanted:
        plain = one.media_type.startswith("text/") and json.dumps(one.data.decode(errors="replace"))[1:-1]
        if one.base64 not in written and not (plain and _standard(plain) in written):
            raise FailedError(f"a part ({one.media_type}) is not sent to this provider by its library")


def _standard(text: str) -> str:
    """Return text whose base64 is in the standard alphabet, where a library writes that of addresses."""
    return text.replace("-", "+").replace("_", "/")


def _decoded(data: Any, kind: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise FailedError(f"a part ({kind}) is not base64") from None
