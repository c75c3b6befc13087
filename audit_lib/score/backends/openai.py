"""``openai``: any OpenAI-compatible endpoint (OpenAI, Azure, vLLM, SGLang, llama.cpp) through the official client."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from audit_lib.backends import Probe, Secret
from audit_lib.errors import BackendError
from audit_lib.options import Options
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.remote.answer_size import PLAIN, bounded
from audit_lib.score.remote.asker import FailedError, TryAgainError, TurnedAwayError
from audit_lib.score.remote.chat import Chat
from audit_lib.score.remote.chat_backend import ChatBackend
from audit_lib.score.remote.chat_calls import ChatCalls
from audit_lib.score.remote.chat_options import ChatOptions, chat_probe, chat_secrets
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.credentials import read_variable
from audit_lib.score.remote.error_codes import safe_code
from audit_lib.score.remote.error_texts import provider_message, told
from audit_lib.score.remote.json_answer import parsed
from audit_lib.score.remote.limiter import Allotment, Limiter
from audit_lib.score.remote.limits import asked_wait
from audit_lib.score.remote.stated_errors import stated_error
from audit_lib.score.requests import Request
from audit_lib.spec import Model

KEY_OPTION: Final = "model.options.api_key_env"


class OpenAIOptions(ChatOptions):
    """Options of the backend. None of them holds a secret."""


@backend("openai")
class OpenAI(ChatBackend):
    """Labels by the log-probabilities of the answer's first token, or by sampling; or texts.

    With ``logprobs`` a label's probability is that of the tokens ``label`` and `` label`` among the 20
    likeliest, which is all that the API shows. One that is not among them counts as 0, so probabilities
    and mass are lower bounds, each short by at most the 20th token's probability for each way of writing;
    an answer without log-probabilities is a row with status ``error``.

    Every request ends as one row: failures that retries do not heal are rows with status ``error``.
    What would fail for every row stops the shard instead, so that nothing is written and it can be run
    again: a refused key, an unknown model, a server that no longer answers, a limit that is reached. Whether
    it would is found out by asking again what was answered before (`give_up_after`).
    """

    Options: ClassVar[type[Options]] = OpenAIOptions
    extra: ClassVar[str | None] = "openai"
    packages: ClassVar[tuple[str, ...]] = ("openai",)
    answers_alone: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True

    def __init__(self, model: Model) -> None:
        super().__init__(model, parse_options(OpenAIOptions, model))

    @classmethod
    def variables(cls, model: Model) -> list[Secret]:
        """Return the variable that holds the key."""
        return chat_secrets(parse_options(OpenAIOptions, model))

    @classmethod
    def probe(cls, model: Model) -> Probe:
        """Ask for the list of models."""
        return chat_probe(parse_options(OpenAIOptions, model))

    def describe(self) -> dict[str, Any]:
        """Return the endpoint and the options, apart from those that change no answer."""
        return self._chat.describe("openai")

    @contextmanager
    def reach(self) -> Iterator[tuple[Conversation, ChatCalls]]:
        """Open a conversation through the official client."""
        chat, limiter = self._chat, self.limiter
        with client_of(chat, self._allotment, limiter) as (conversation, client, key):
            post = ClientPost(chat, client, key)
            yield conversation, ChatCalls(chat, post, self.options.base_url, self._allotment, limiter)


@contextmanager
def client_of(
    chat: Chat, allotment: Allotment, limiter: Limiter, check: Callable[[Any], Awaitable[None]] | None = None
) -> Iterator[tuple[Conversation, Any, str]]:
    """Open a conversation, the official client in its loop, and the key; `check` looks at each answer's size.

    Raises
    ------
    BackendError
        If the key is missing, or a proxy of the environment is none.
    """
    options = chat.options
    key = read_variable(options.api_key_env, KEY_OPTION)
    with Conversation(options.base_url, limiter, [key], allotment.keep) as conversation:
        client = conversation.run(connect(key, options, check))
        try:
            yield conversation, client, key
        finally:
            conversation.end(client.close())


async def connect(
    key: str, options: ChatOptions, check: Callable[[Any], Awaitable[None]] | None = None
) -> Any:
    """Return the official client, made in the loop that uses it; `check` looks at each answer's size.

    Raises
    ------
    BackendError
        If a proxy of the environment is none.
    """
    import httpx2
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    for name in ("openai", "httpx2", "httpcore2"):
        # At the level DEBUG they log whole prompts, which are about people.
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))
    try:
        # A redirect would carry prompts, which are about people, to a host that the spec does not name.
        http_client = DefaultAsyncHttpxClient(
            timeout=options.timeout,
            follow_redirects=False,
            event_hooks={"response": [check or bounded(options.max_answer_bytes)]},
        )
    except (ValueError, ImportError, httpx2.InvalidURL):
        raise BackendError(
            "the environment names a proxy that cannot be used; mend or unset HTTP_PROXY, HTTPS_PROXY, ALL_PROXY "
            "and NO_PROXY"
        ) from None
    azure: dict[str, Any] = {}
    headers = dict(PLAIN)
    if options.api_version is not None:
        azure = {"default_query": {"api-version": options.api_version}}
        headers["api-key"] = key
    # Retries are ours: the client's own know neither our limits nor our deadlines.
    return AsyncOpenAI(
        api_key=key,
        base_url=options.base_url,
        timeout=options.timeout,
        max_retries=0,
        default_headers=headers,
        http_client=http_client,
        **azure,
    )


class ClientPost:
    """Calls of the official client.

    Parameters
    ----------
    chat : Chat
        For its options, and the model's name.
    client : openai.AsyncOpenAI
    key : str
        What no message may repeat.
    """

    def __init__(self, chat: Chat, client: Any, key: str) -> None:
        self._chat, self._client, self._key = chat, client, key

    async def __call__(self, request: Request, body: dict[str, Any]) -> Any:
        """Make one attempt at one call."""
        import httpx2
        import openai

        options = self._chat.options
        try:
            answer = await self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)
            completion = parsed(answer.content)
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            said = self._said(request, error)
            raise TurnedAwayError(
                f"{options.base_url}: HTTP {error.status_code}, the key in {options.api_key_env} is refused"
                + (f": {said}" if said else "")
            ) from None
        except openai.NotFoundError as error:
            said = self._said(request, error)
            raise TurnedAwayError(
                f"{options.base_url}: HTTP 404, no model {self._chat.model.name!r} there, or a wrong base_url"
                + (f": {said}" if said else "")
            ) from None
        except openai.APIStatusError as error:
            code = error.status_code
            if 300 <= code < 400:
                raise FailedError(
                    f"HTTP {code}: a redirect is not followed; give its goal in base_url"
                ) from None
            said = self._said(request, error)
            status, detail = self._chat.refused_or_failed(code, safe_code(getattr(error, "code", None)), said)
            if code in (408, 409, 429) or code >= 500:
                wait = asked_wait(error.response.headers, datetime.now(UTC))
                raise TryAgainError(detail, wait) from None
            raise FailedError(detail, status, said=error.response.text) from None
        except openai.APIConnectionError as error:
            timed_out = isinstance(error, openai.APITimeoutError)
            raise TryAgainError("timeout" if timed_out else "no connection") from None
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise FailedError(f"the answer is not a chat completion ({type(error).__name__})") from None
        if (stated := stated_error(completion, request.asked, [self._key])) is not None:
            raise stated
        return completion

    def _said(self, request: Request, error: Any) -> str:
        """Return what the provider says of an error, as it may be told."""
        body = error.response.text if error.body is None else error.body
        return told(provider_message(body), request.asked, [self._key])
