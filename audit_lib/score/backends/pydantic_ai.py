"""``pydantic_ai``: a model of any provider that pydantic-ai knows: Anthropic, Gemini, Vertex, Bedrock and others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from audit_lib.backends import Secret
from audit_lib.errors import BackendError
from audit_lib.options import Options
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.remote.asker import FailedError, TryAgainError, TurnedAwayError
from audit_lib.score.remote.attachments import require_sent
from audit_lib.score.remote.chat_backend import ChatBackend
from audit_lib.score.remote.chat_calls import ChatCalls
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.credentials import read_variable
from audit_lib.score.remote.exchanges import EXCHANGE, Exchange, meaning
from audit_lib.score.remote.json_answer import parsed
from audit_lib.score.remote.provider_models import (
    KEYLESS,
    Access,
    ProviderModel,
    check_provider,
    ended_in_error,
    is_void,
    key_variable,
    unsent,
    with_not_sent,
)
from audit_lib.score.remote.stated_errors import stated_error
from audit_lib.score.requests import Request
from audit_lib.spec import Model

KEY_OPTION: Final = "model.options.api_key_env"


class PydanticAIOptions(ChatOptions):
    """Options of the backend. None of them holds a secret."""

    provider: str = Field(
        pattern=r"^[a-z][a-z0-9-]*$",
        description="Who serves the model, as pydantic-ai names it: `anthropic`, `google` (Gemini), `google-cloud` "
        "(Vertex), `bedrock`, `azure`, `mistral`, `groq`, `ollama`, `openai`, `deepseek`, `openrouter` and others.",
    )
    base_url: str = Field("", description="Where the endpoint is; empty: the provider's own.")
    api_key_env: str = Field(
        "",
        pattern=r"^([A-Z][A-Z0-9_]*)?$",
        description="NAME of the environment variable that holds the key; never the key. Empty: the provider's usual "
        "one, such as ANTHROPIC_API_KEY. `bedrock` and `google-cloud` use the machine's credentials where it is "
        "not set.",
    )
    method: Literal["sampled", "logprobs"] = Field(
        "sampled", description="How labels are read: `sampled`; providers give no log-probabilities this way."
    )
    region: str | None = Field(None, description="Of Bedrock or Vertex; null: the machine's own.")
    project: str | None = Field(None, description="Of Vertex; null: the machine's own.")

    @model_validator(mode="after")
    def _no_tool(self) -> PydanticAIOptions:
        if self.tool is not None:
            raise ValueError("tool: calls are read by the backend openai alone; use structured instead")
        return self

    @property
    def key_variable(self) -> str:
        """Name of the variable that holds the key."""
        return self.api_key_env or key_variable(self.provider)

    @property
    def probes_first(self) -> bool:
        """What the model can do is found out before the first row, unless the spec says not to."""
        return self.probe is not False


@backend("pydantic_ai")
class PydanticAI(ChatBackend):
    """Sampled labels, rankings and texts of a model behind any provider's own API.

    Bodies, limits, budget, rows and faults are those of the backend ``openai``: one row for each request, whatever the
    provider does. What of a question the provider's library would leave out is found out before the first row
    (``capabilities.json``): the spec's method is adapted or refused.
    """

    Options: ClassVar[type[Options]] = PydanticAIOptions
    extra: ClassVar[str | None] = "providers"
    packages: ClassVar[tuple[str, ...]] = ("pydantic_ai",)
    answers_alone: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True

    options: PydanticAIOptions

    def __init__(self, model: Model) -> None:
        super().__init__(model, parse_options(PydanticAIOptions, model))

    @classmethod
    def check(cls, model: Model) -> None:
        """Look whether pydantic-ai knows the provider, and its library is there."""
        super().check(model)
        check_provider(parse_options(PydanticAIOptions, model).provider)

    @classmethod
    def variables(cls, model: Model) -> list[Secret]:
        """Return the variable that holds the key, unless the machine's own credentials may do."""
        options = parse_options(PydanticAIOptions, model)
        if options.provider in KEYLESS and not options.api_key_env:
            return []
        return [Secret(variable=options.key_variable, where=KEY_OPTION)]

    def describe(self) -> dict[str, Any]:
        """Return the provider and the options, apart from those that change no answer."""
        return self._chat.describe("pydantic_ai", packages=("pydantic-ai-slim",))

    @contextmanager
    def reach(self) -> Iterator[tuple[Conversation, ChatCalls]]:
        """Open a conversation through the provider's own library."""
        options, limiter, key = self.options, self.limiter, self._key()
        where, secrets = options.base_url or options.provider, [] if key is None else [key]
        with Conversation(where, limiter, secrets, self._allotment.keep) as conversation:
            model = conversation.run(self._connect(key))
            try:
                post = ProviderPost(model, options, where, secrets)
                yield conversation, ChatCalls(self._chat, post, where, self._allotment, limiter)
            finally:
                conversation.end(model.close())

    def _key(self) -> str | None:
        options = self.options
        if options.provider in KEYLESS and not options.api_key_env and options.key_variable not in os.environ:
            return "none" if options.provider == "ollama" else None
        return read_variable(options.key_variable, KEY_OPTION)

    async def _connect(self, key: str | None) -> ProviderModel:
        options = self.options
        access = Access(
            provider=options.provider,
            key=key,
            base_url=options.base_url or None,
            api_version=options.api_version,
            region=options.region,
            project=options.project,
            timeout=options.timeout,
            most_bytes=options.max_answer_bytes,
            connections=options.max_concurrency,
        )
        return ProviderModel(self._chat.model.name, access)


class ProviderPost:
    """Calls through a provider's own library.

    Parameters
    ----------
    model : ProviderModel
    options : PydanticAIOptions
    where : str
        The endpoint, for messages.
    secrets : sequence of str
        What no message may repeat.
    """

    def __init__(
        self, model: ProviderModel, options: PydanticAIOptions, where: str, secrets: Sequence[str]
    ) -> None:
        self._model, self._options, self._where, self._secrets = model, options, where, secrets

    async def __call__(self, request: Request, body: dict[str, Any]) -> Any:
        """Make one attempt at one call."""
        exchange = Exchange()
        token = EXCHANGE.set(exchange)
        try:
            completion = await self._model.ask(body, self._options.thinking_tokens, self._options.extra_body)
            if (stated := stated_error(parsed(exchange.content), request.asked, self._secrets)) is not None:
                raise stated
            require_sent(body["messages"], exchange.sent)
            if lacking := unsent(self._options.extra_body, exchange):
                raise FailedError(
                    f"model.options.extra_body: {lacking[0]} is not sent to this provider; leave it out"
                )
            if ended_in_error(completion):
                raise TryAgainError("the provider ended the answer with an error", paid=True)
            if is_void(completion):
                raise FailedError("the answer is not that of a model (it says nothing, and not why)")
        except (asyncio.CancelledError, BackendError):
            raise
        except (TryAgainError, FailedError, TurnedAwayError):
            raise
        except Exception as error:  # noqa: BLE001 - each library has errors of its own; the exchange says what it is
            raise meaning(exchange, error, request.asked, self._secrets, self._where) from None
        finally:
            EXCHANGE.reset(token)
        return with_not_sent(completion, body, exchange)
