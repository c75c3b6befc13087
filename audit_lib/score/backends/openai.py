"""``openai``: any OpenAI-compatible endpoint (OpenAI, Azure, vLLM, SGLang, llama.cpp) through the official client."""

from __future__ import annotations

import importlib.util
import math
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from audit_lib.errors import BackendError, SpecError
from audit_lib.score.backends import Options, backend, parse_options
from audit_lib.score.labels import read_label
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Kind, Method, Request, Response
from audit_lib.spec_sections import Model

_NO_ANSWER = 20
"""Requests that may fail one after the other, without one that succeeded, before the shard is given up."""


class OpenAIOptions(Options):
    """Options of the backend. None of them holds a secret."""

    base_url: str = Field(
        "https://api.openai.com/v1", description="Where the endpoint is, up to and with /v1."
    )
    api_key_env: str = Field(
        "OPENAI_API_KEY",
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="NAME of the environment variable that holds the key; never the key.",
    )
    method: Literal["logprobs", "sampled"] = Field(
        "logprobs",
        description="How labels are read, for every row alike: `logprobs` of the first token (labels of one token), or "
        "the share of `samples` sampled answers that begin with the label.",
    )
    samples: int = Field(20, ge=1, le=1000, description="Answers sampled for each request (method sampled).")
    samples_per_call: int = Field(
        1,
        ge=1,
        le=128,
        description="How many of them one call asks for (`n`); 1 works everywhere, more saves prompt tokens.",
    )
    temperature: float | None = Field(None, ge=0, le=2, description="Null: 1 for sampled labels, else 0.")
    max_tokens: int = Field(
        1024, ge=1, description="Longest answer, in tokens; for sampled labels at most 16."
    )
    seed: int | None = Field(
        None, ge=0, description="Sent with each request, plus the repeat; not all servers heed it."
    )
    prefill: bool = Field(
        False,
        description="The server goes on from a last assistant turn (llama.cpp and vLLM do, OpenAI does not). If "
        "false, that turn becomes an instruction at the end of the user's.",
    )
    max_concurrency: int = Field(8, ge=1, le=256, description="Requests under way at a time.")
    timeout: float = Field(60.0, gt=0, description="Seconds that one attempt may take.")
    retries: int = Field(
        4, ge=0, le=20, description="Further attempts after 408, 409, 429, 5xx or no connection."
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict,
        description="Fields of the server's own, such as {cache_prompt: false}; no secrets.",
    )

    @field_validator("base_url")
    @classmethod
    def _plain(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("needs http:// or https:// and a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "must not hold a user, a password or a query; name the key's variable in api_key_env"
            )
        return value.rstrip("/")


_CLIENT_ONLY = frozenset({"api_key_env", "max_concurrency", "timeout", "retries"})


@backend("openai")
class OpenAI:
    """Labels by the log-probabilities of the answer's first token, or by sampling; or texts.

    With ``logprobs`` a label's probability is that of the tokens ``label`` and `` label`` among the 20
    likeliest, which is all that the API shows. One that is not among them counts as 0, so probabilities
    and mass are lower bounds, each short by at most the 20th token's probability for each way of writing;
    an answer without log-probabilities is a row with status ``error``.

    Every request ends as one row: failures that retries do not heal are rows with status ``error``.
    What would fail for every row stops the shard instead, so that nothing is written and it can be run
    again: a refused key, an unknown model, a server that answers none of the first 20 requests.
    """

    Options: ClassVar[type[Options]] = OpenAIOptions
    gives: ClassVar[tuple[Kind, ...]] = ("labels", "text")
    pack_size = 64

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(OpenAIOptions, model)
        self._client: Any = None

    @classmethod
    def check(cls, model: Model) -> None:
        """Check that the client is installed."""
        if importlib.util.find_spec("openai") is None:
            raise SpecError("model.backend: openai needs the package openai; install audit-lib[openai]")

    def describe(self) -> dict[str, Any]:
        """Return the endpoint and the options, apart from those that change no answer."""
        from importlib.metadata import version

        options = self.options.model_dump()
        return {
            "backend": "openai",
            "name": self.model.name,
            "revision": self.model.revision,
            "options": {key: value for key, value in options.items() if key not in _CLIENT_ONLY},
            "client": {key: options[key] for key in sorted(_CLIENT_ONLY)},
            "versions": {"openai": version("openai")},
        }

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request, in their order.

        Raises
        ------
        BackendError
            If the key is missing or refused, the model is unknown, or nothing answers.
        """
        self._connect()
        lost = 0
        for response, reached in self._concurrently(request for pack in packs for request in pack):
            lost = -1 if reached or lost < 0 else lost + 1
            if lost == min(_NO_ANSWER, sum(map(len, packs))):
                raise BackendError(
                    f"{self.options.base_url}: no answer to any of the first {lost} requests, each tried "
                    f"{self.options.retries + 1} times (last: {response.detail}); nothing was kept, run it again"
                )
            yield response

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connect(self) -> None:
        from openai import OpenAI as Client

        if not (key := os.environ.get(self.options.api_key_env)):
            raise BackendError(
                f"the environment variable {self.options.api_key_env} (model.options.api_key_env) is not set; "
                "put the endpoint's key there, or any word if it asks for none"
            )
        self._client = Client(
            api_key=key,
            base_url=self.options.base_url,
            timeout=self.options.timeout,
            max_retries=self.options.retries,
        )

    def _concurrently(self, requests: Iterable[Request]) -> Iterator[tuple[Response, bool]]:
        """Yield responses in order, with no more under way or waiting than memory should hold."""
        pool = ThreadPoolExecutor(self.options.max_concurrency, thread_name_prefix="openai")
        waiting: deque[Future[tuple[Response, bool]]] = deque()
        try:
            for request in requests:
                waiting.append(pool.submit(self._ask, request))
                if len(waiting) >= 2 * self.options.max_concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _ask(self, request: Request) -> tuple[Response, bool]:
        """Return the response, and whether the server gave one."""
        import openai

        try:
            raws = [
                self._client.chat.completions.with_raw_response.create(**body)
                for body in self._bodies(request)
            ]
            attempts = max(raw.retries_taken for raw in raws) + 1
            return self._read(request, [raw.parse() for raw in raws], attempts), True
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise BackendError(
                f"{self.options.base_url}: HTTP {error.status_code}, the key in {self.options.api_key_env} is refused"
            ) from None
        except openai.NotFoundError:
            raise BackendError(
                f"{self.options.base_url}: HTTP 404, no model {self.model.name!r} there, or a wrong base_url"
            ) from None
        except openai.APIStatusError as error:
            # The server's message may repeat the prompt or the key: keep the code alone.
            code = error.code if re.fullmatch(r"[a-z_]{1,64}|\d{3}", str(error.code)) else "no code"
            healing = error.status_code in (408, 409, 429) or error.status_code >= 500
            return self._response(
                request,
                status="refused" if code in ("content_filter", "content_policy_violation") else "error",
                detail=f"HTTP {error.status_code} ({code})",
                attempts=self.options.retries + 1 if healing else 1,
            ), not healing
        except openai.APIConnectionError as error:
            kind = "timeout" if isinstance(error, openai.APITimeoutError) else "no connection"
            return self._response(
                request, status="error", detail=kind, attempts=self.options.retries + 1
            ), False
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, KeyError) as error:
            return self._response(
                request,
                status="error",
                detail=f"the answer is not a chat completion ({type(error).__name__})",
            ), True

    def _bodies(self, request: Request) -> list[dict[str, Any]]:
        """Return the calls that a request takes: several if labels are sampled, else one."""
        options = self.options
        body: dict[str, Any] = {
            "model": self.model.name,
            "messages": self._messages(request),
            "temperature": options.temperature or 0.0,
            "extra_body": options.extra_body,
        }
        if not request.labels:
            bodies = [body | {"max_completion_tokens": options.max_tokens}]
        elif options.method == "logprobs":
            bodies = [body | {"logprobs": True, "top_logprobs": 20, "max_completion_tokens": 1}]
        else:
            body["temperature"] = 1.0 if options.temperature is None else options.temperature
            body["max_completion_tokens"] = min(options.max_tokens, 16)
            starts = range(0, options.samples, options.samples_per_call)
            bodies = [
                body | {"n": min(options.samples_per_call, options.samples - start)} for start in starts
            ]
        if options.seed is not None:
            first = options.seed + request.repeat * len(bodies)
            bodies = [body | {"seed": first + i} for i, body in enumerate(bodies)]
        return bodies

    def _messages(self, request: Request) -> list[dict[str, str]]:
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        if self.options.prefill or not messages or messages[-1]["role"] != "assistant":
            return messages
        begun = messages.pop()["content"]
        if request.labels:
            order = f"Answer with exactly one of these and nothing else: {', '.join(request.labels)}."
        else:
            order = f"Begin your answer with: {begun}"
        if not messages or messages[-1]["role"] != "user":
            return [*messages, {"role": "user", "content": order}]
        return [*messages[:-1], {"role": "user", "content": f"{messages[-1]['content']}\n\n{order}"}]

    def _read(self, request: Request, completions: Sequence[Any], attempts: int) -> Response:
        choices = [choice for completion in completions for choice in completion.choices or ()]
        if not choices:
            return self._response(
                request, status="error", detail="the answer holds no choice", attempts=attempts
            )
        first, text = choices[0], self._text(request, choices[0])
        shared: dict[str, Any] = {
            "attempts": attempts,
            "model": completions[0].model or self.model.name,
            "text": text,
        }
        if first.finish_reason == "content_filter" or getattr(first.message, "refusal", None):
            return self._response(request, status="refused", detail="refused by the provider", **shared)
        if not request.labels:
            if not text:
                return self._response(request, status="unparsed", detail="the answer is empty", **shared)
            return self._response(request, **shared)
        if self.options.method == "sampled":
            found = [read_label(self._text(request, choice), request.labels) for choice in choices]
            shares = [found.count(i) / len(found) for i in range(len(request.labels))]
        elif first.logprobs and first.logprobs.content and first.logprobs.content[0].top_logprobs:
            shares = _label_probabilities(first.logprobs.content[0].top_logprobs, request.labels)
        else:
            detail = (
                "the server gave no log-probabilities; use one that does, or model.options.method: sampled"
            )
            return self._response(request, status="error", detail=detail, **shared)
        return self._response(request, label_probabilities=tuple(shares), **shared)

    def _text(self, request: Request, choice: Any) -> str | None:
        """Return what was answered, less the prefilled beginning that some servers repeat."""
        text: str | None = choice.message.content
        if text and self.options.prefill and request.messages[-1].role == "assistant":
            text = text.removeprefix(request.messages[-1].content)
        return text

    def _response(self, request: Request, **values: Any) -> Response:
        method: Method = self.options.method if request.labels else "generated"
        values = {"model": self.model.name, "method": method, **values}
        return Response(request_id=request.request_id, repeat=request.repeat, **values)


def _label_probabilities(top: Sequence[Any], labels: Sequence[str]) -> list[float]:
    """Return the probability of each label as written and after a space, among the tokens shown.

    Raises
    ------
    ValueError
        If a log-probability is not one.
    """
    found: dict[str, float] = {}
    for token in top:
        # The same text may stand for several tokens; a token is shown once.
        found[token.token] = found.get(token.token, 0.0) + math.exp(min(float(token.logprob), 0.0))
    shares = [math.fsum(found.get(written, 0.0) for written in (n.strip(), f" {n.strip()}")) for n in labels]
    if not all(math.isfinite(share) for share in shares):
        raise ValueError("a log-probability is not a number")
    return shares
