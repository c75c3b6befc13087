"""What the backends that ask chat models share: their options, bodies and part of the run's limits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from audit_lib.score.backends import Backend, parse_options
from audit_lib.score.packs import Pack
from audit_lib.score.remote.chat import Chat
from audit_lib.score.remote.chat_calls import ChatCalls, kept_capabilities
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.cost import Usage
from audit_lib.score.remote.limiter import Allotment, Limiter
from audit_lib.score.requests import AnswerKind, Request, Response
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
        self.options: ChatOptions = options
        self._chat = Chat(model, options)
        self._allotment = Allotment()

    def allot(self, allotment: Allotment) -> None:
        """Take the shard's part of the run's limits, and where its batches are noted."""
        self._allotment = allotment

    @classmethod
    def says_yes_or_no(cls, model: Model) -> bool:
        """Tell whether one sampled answer is all that a score is made of."""
        options = parse_options(cls.Options, model)
        return isinstance(options, ChatOptions) and options.method == "sampled" and options.samples == 1

    @abstractmethod
    def reach(self) -> AbstractContextManager[tuple[Conversation, ChatCalls]]:
        """Open a conversation with the endpoint, and what is known of its calls.

        Raises
        ------
        BackendError
            If the key is missing, or a proxy or provider cannot be used.
        """

    @property
    def limiter(self) -> Limiter:
        """The shard's part of the limits."""
        return self._allotment.limiter or Limiter(self.options)

    def find_out(self, requests: Sequence[Request]) -> None:
        """Find out, before anything is paid for, whether the model can be asked requests like these."""
        with self.reach() as (conversation, calls):
            conversation.run(calls.find_out_early(requests))

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request, as they come.

        Raises
        ------
        BackendError
            If the key is missing or refused, the model is unknown or cannot be asked as the spec says, nothing answers,
            or a limit is reached.
        """
        requests = [request for pack in packs for request in pack]
        with self.reach() as (conversation, calls):
            if self.options.probes_first:
                conversation.run(calls.find_out_first(requests))
            yield from conversation.ask(requests, calls)

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls, or lines of a batch, and the tokens that a request takes at most."""
        return self._chat.estimate(request)

    def capabilities(self) -> dict[str, Any] | None:
        """Return what the model was found to take and give, if that was looked at."""
        kept = kept_capabilities(self._allotment)
        return None if kept is None else kept.as_dict()

    def close(self) -> None:
        """Nothing is held between calls of `score`."""
