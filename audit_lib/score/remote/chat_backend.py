"""What the backends that ask chat models share: their options, bodies and part of the run's limits."""

from __future__ import annotations

from typing import Any, ClassVar

from audit_lib.score.backends import Backend
from audit_lib.score.remote.chat import Chat
from audit_lib.score.remote.chat_calls import kept_capabilities
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.score.remote.cost import Usage
from audit_lib.score.remote.limiter import Allotment
from audit_lib.score.requests import AnswerKind, Request
from audit_lib.spec import Model


class ChatBackend(Backend):
    """A backend whose questions are bodies of chat completions.

    Parameters
    ----------
    model : Model
        The spec's section.
    options : ChatOptions
        Its options, as the backend's own type.
    """

    pool: ClassVar[str] = "llm_api"
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")
    pack_size = 64

    def __init__(self, model: Model, options: ChatOptions) -> None:
        self._chat = Chat(model, options)
        self._allotment = Allotment()

    def allot(self, allotment: Allotment) -> None:
        """Take the shard's part of the run's limits, and where its batches are noted."""
        self._allotment = allotment

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls, or lines of a batch, and the tokens that a request takes at most."""
        return self._chat.estimate(request)

    def capabilities(self) -> dict[str, Any] | None:
        """Return what the model was found to take and give, if that was looked at."""
        kept = kept_capabilities(self._allotment)
        return None if kept is None else kept.as_dict()

    def close(self) -> None:
        """Nothing is held between calls of `score`."""
