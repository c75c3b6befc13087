"""Models of any provider through pydantic-ai: made with our own HTTP client, asked and read as chat completions are.

References
----------
Pydantic AI, Models and providers, https://ai.pydantic.dev/models/overview/.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.errors import BackendError, SpecError
from audit_lib.score.remote.answer_size import PLAIN
from audit_lib.score.remote.attachments import attachment
from audit_lib.score.remote.capability_probe import NOT_SENT
from audit_lib.score.remote.exchanges import BoundedSession, Exchange, hooks

KEYS: Final[Mapping[str, str]] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK",
    "google": "GOOGLE_API_KEY",
    "google-cloud": "GOOGLE_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "ollama": "OLLAMA_API_KEY",
}
"""Provider -> the variable that holds its key, where it is not its name in capitals and ``_API_KEY``."""
KEYLESS: Final = ("bedrock", "google-cloud", "ollama")
"""Providers that may be asked without a key: by the credentials of the machine, or by none."""

_LOGGERS: Final = (
    *("anthropic", "botocore", "google_genai", "groq", "openai"),
    *("httpcore", "httpcore2", "httpx", "httpx2", "urllib3"),
)
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "max_completion_tokens": ("max_completion_tokens", "max_tokens", "maxOutputTokens", "maxTokens", "num_predict"),
    "temperature": ("temperature",),
    "seed": ("seed", "random_seed"),
    "reasoning_effort": (
        "reasoning_effort", "reasoning", "thinking", "thinkingConfig", "output_config", "reasoning_config", "effort",
    ),
    "response_format": (
        "response_format", "responseJsonSchema", "responseSchema", "output_config", "output_format", "outputConfig",
    ),
}  # fmt: skip
"""Field of a chat body -> the names under which providers take it."""


def key_variable(provider: str) -> str:
    """Return the variable that usually holds a provider's key.

    Examples
    --------
    >>> key_variable("google"), key_variable("deepseek"), key_variable("openai-chat")
    ('GOOGLE_API_KEY', 'DEEPSEEK_API_KEY', 'OPENAI_API_KEY')
    """
    name = "openai" if provider.startswith("openai-") else provider
    return KEYS.get(name, f"{name.upper().replace('-', '_')}_API_KEY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a provider is reached.

    Attributes
    ----------
    provider : str
        As pydantic-ai names it.
    key : str or None
        None: none is needed, or the machine's credentials are used.
    base_url, api_version, region, project : str or None
        Where it is; None: where the provider's library looks.
    timeout : float
        Seconds of one attempt.
    most_bytes : int
        Largest answer.
    connections : int
        Most at a time.
    """

    provider: str
    key: str | None
    base_url: str | None
    api_version: str | None
    region: str | None
    project: str | None
    timeout: float
    most_bytes: int
    connections: int


def check_provider(provider: str) -> None:
    """Raise SpecError if pydantic-ai does not know a provider, or what reaches it is not installed."""
    from pydantic_ai.providers import infer_provider_class

    try:
        infer_provider_class(provider)
    except (ValueError, ImportError) as error:
        raise SpecError(f"model.options.provider: {provider}: {str(error).splitlines()[0][:300]}") from None


class ProviderModel:
    """A model of a provider. Make, use and close it in one event loop.

    Parameters
    ----------
    name : str
    access : Access

    Raises
    ------
    BackendError
        If pydantic-ai does not know the provider, or cannot reach it with what is given.
    """

    def __init__(self, name: str, access: Access) -> None:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        for logger in map(logging.getLogger, _LOGGERS):
            # At the level DEBUG they log whole prompts, which are about people.
            logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))
        self._access = access
        self._http: Any = None
        kind = "openai-chat" if access.provider == "openai" else access.provider
        try:
            self.model = infer_model(f"{kind}:{name}", provider_factory=self._provider)
        except (UserError, ValueError, ImportError, TypeError) as error:
            raise BackendError(
                f"model.options.provider: {access.provider}: {str(error).splitlines()[0][:300]}"
            ) from None
        client: Any = getattr(self.model, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0  # retries are ours

    async def close(self) -> None:
        """Close its connections."""
        if self._http is not None:
            await self._http.aclose()

    async def ask(
        self, body: Mapping[str, Any], thinking_tokens: int | None, extra: Mapping[str, Any]
    ) -> Any:
        """Return the answer to a body of ``/chat/completions``, as a completion; `extra`: the server's own fields."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        settings = self._settings(body, thinking_tokens) | ({"extra_body": dict(extra)} if extra else {})
        parameters = ModelRequestParameters()
        if (form := body.get("response_format")) is not None:
            wanted = form["json_schema"]
            output = OutputObjectDefinition(
                json_schema=dict(wanted["schema"]), name=wanted["name"], strict=wanted["strict"]
            )
            parameters = ModelRequestParameters(
                output_mode="native", output_object=output, allow_text_output=True
            )
        return _completion(await self.model.request(_turns(body["messages"]), settings, parameters))

    def _settings(self, body: Mapping[str, Any], thinking_tokens: int | None) -> Any:
        """Return pydantic-ai's settings of a body."""
        settings: dict[str, Any] = {"timeout": self._access.timeout}
        settings["max_tokens"] = body.get("max_completion_tokens", body.get("max_tokens"))
        for name in ("temperature", "seed"):
            if name in body:
                settings[name] = body[name]
        effort = body.get("reasoning_effort")
        if effort is not None:
            settings["thinking"] = False if effort == "none" else effort
        if thinking_tokens and effort != "none":
            settings |= self._thinking_budget(thinking_tokens, effort)
        return settings

    def _thinking_budget(self, tokens: int, effort: str | None) -> dict[str, Any]:
        """Return the settings by which a provider takes a budget of tokens for thinking, where it takes one."""
        profile, provider = self.model.profile, self._access.provider
        if provider in ("google", "google-cloud") and not profile.get("google_supports_thinking_level", True):
            return {"google_thinking_config": {"thinking_budget": tokens}}
        if effort is None or profile.get("anthropic_disallows_budget_thinking"):
            return {}
        budget = {"type": "enabled", "budget_tokens": tokens}
        if provider == "anthropic":
            return {"anthropic_thinking": budget}
        if provider == "bedrock" and profile.get("bedrock_thinking_variant") == "anthropic":
            return {"bedrock_additional_model_requests_fields": {"thinking": budget}}
        return {}

    def _provider(self, name: str) -> Any:
        """Return a provider that asks with a client of ours."""
        from pydantic_ai.providers import infer_provider_class

        access = self._access
        kind: Any = infer_provider_class(name)
        if name == "bedrock":
            return kind(bedrock_client=_bedrock_client(access))
        given: dict[str, Any] = {"http_client": self._client(name)}
        if access.key is not None:
            given["api_key"] = access.key
        if name == "azure":
            given |= {"azure_endpoint": access.base_url, "api_version": access.api_version}
        elif name == "google-cloud":
            given |= {"base_url": access.base_url}
            if access.key is None:
                given |= {"project": access.project, "location": access.region}
        elif access.base_url is not None:
            given["base_url"] = access.base_url
        return kind(**given)

    def _client(self, name: str) -> Any:
        if name == "groq":
            import httpx as library
        else:
            import httpx2 as library  # type: ignore[no-redef]

        access = self._access
        self._http = library.AsyncClient(
            timeout=access.timeout + 1,  # each attempt is ended by us before
            follow_redirects=False,
            headers=PLAIN,
            limits=library.Limits(max_connections=access.connections),
            event_hooks=hooks(access.most_bytes, library),
        )
        return self._http


def _bedrock_client(access: Access) -> Any:
    """Return a boto3 client that tries nothing again."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session
    from botocore.tokens import FrozenAuthToken

    class TokenSession(Session):  # type: ignore[misc]
        """Signs with the key alone, and looks for no other credentials."""

        def get_auth_token(self, **options: Any) -> Any:
            return FrozenAuthToken(access.key)

        def get_credentials(self) -> None:
            return None

    more = {} if access.key is None else {"signature_version": "bearer"}
    session = None if access.key is None else TokenSession()
    config = Config(
        read_timeout=access.timeout,
        connect_timeout=access.timeout,
        retries={"total_max_attempts": 1},
        max_pool_connections=access.connections,
        **more,
    )
    try:
        client = boto3.Session(botocore_session=session, region_name=access.region).client(
            "bedrock-runtime", endpoint_url=access.base_url, config=config
        )
    except (BotoCoreError, ValueError) as error:
        raise ValueError(f"{type(error).__name__}: {error}; say the region in model.options.region") from None
    endpoint = client._endpoint
    endpoint.http_session = BoundedSession(endpoint.http_session, access.most_bytes, access.timeout)
    return client


def not_sent(body: Mapping[str, Any], exchange: Exchange) -> list[str]:
    """Return the fields of a chat body that the provider's library did not pass on."""
    known = set(_names(exchange.sent))
    missing = [name for name, names in _FIELDS.items() if name in body and known.isdisjoint(names)]
    if "max_tokens" in body and known.isdisjoint(_FIELDS["max_completion_tokens"]):
        missing.append("max_tokens")
    return missing + [name for name in ("n", "logprobs") if name in body and body[name] not in (1, False)]


def unsent(extra: Mapping[str, Any], exchange: Exchange) -> list[str]:
    """Return the server's own fields that the spec gives and the provider's library did not pass on."""
    known = set(_names(exchange.sent))
    return [name for name in extra if name not in known]


def ended_in_error(completion: Mapping[str, Any]) -> bool:
    """Whether the provider says that it failed on the way."""
    return bool(completion["choices"][0]["finish_reason"] == "error")


def is_void(completion: Mapping[str, Any]) -> bool:
    """Whether an answer holds no text, no reason why it ended and no count: some libraries make one of anything."""
    choice = completion["choices"][0]
    return not (
        choice["message"]["content"] or choice["finish_reason"] or completion["usage"]["completion_tokens"]
    )


def with_not_sent(completion: dict[str, Any], body: Mapping[str, Any], exchange: Exchange) -> dict[str, Any]:
    """Return a completion that says what of its question was not passed on."""
    return completion | {NOT_SENT: not_sent(body, exchange)}


def _names(content: Any) -> Iterable[str]:
    """Yield the names of all fields of a JSON value, but not what is inside of a schema."""
    if isinstance(content, dict):
        for name, value in content.items():
            yield str(name)
            if name not in ("schema", "responseJsonSchema", "json_schema", "messages", "contents"):
                yield from _names(value)
    elif isinstance(content, list):
        for value in content:
            yield from _names(value)


def _turns(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the turns of a conversation as pydantic-ai has them."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    turns: list[Any] = []
    for message in messages:
        if message["role"] == "assistant":
            turns.append(ModelResponse(parts=[TextPart(content=message["content"])]))
            continue
        kind = SystemPromptPart if message["role"] == "system" else UserPromptPart
        if not turns or isinstance(turns[-1], ModelResponse):
            turns.append(ModelRequest(parts=[]))
        turns[-1] = ModelRequest(parts=[*turns[-1].parts, kind(content=_content(message["content"]))])
    return turns


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [part["text"] if part["type"] == "text" else attachment(part) for part in content]


def _completion(response: Any) -> dict[str, Any]:
    """Return pydantic-ai's response as a chat completion."""
    from pydantic_ai.messages import TextPart, ThinkingPart

    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    thoughts = [part for part in response.parts if isinstance(part, ThinkingPart)]
    usage, details = response.usage, response.usage.details
    thought = details.get("reasoning_tokens", details.get("thoughts_tokens"))
    counted: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
    }
    if thought is not None:
        counted["completion_tokens_details"] = {"reasoning_tokens": thought}
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    if thoughts:
        message["reasoning"] = "thought"
    return {
        "model": response.model_name,
        "choices": [{"index": 0, "message": message, "finish_reason": response.finish_reason}],
        "usage": counted,
    }
