"""``vllm_server``: a vLLM server, asked in token ids."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from audit_lib.backends import Probe, Secret
from audit_lib.errors import BackendError, ModelNotFoundError
from audit_lib.options import Options
from audit_lib.score.backends import backend, parse_options, require_packages
from audit_lib.score.backends.http import Http
from audit_lib.score.backends.vllm import as_transformers
from audit_lib.score.local.label_tokens import last_line
from audit_lib.score.local.lengths import NO_LIMIT
from audit_lib.score.local.orders import located, order_of
from audit_lib.score.local.process import ScoringProcess
from audit_lib.score.local.process_backend import ProcessBackend
from audit_lib.score.local.reference import FLOOR_IS, Floor, floor_of, no_floor
from audit_lib.score.local.template_options import ChatTemplateOptions
from audit_lib.score.local.trie import size
from audit_lib.score.local.weights import check_folder, check_name
from audit_lib.score.packs import Pack
from audit_lib.score.remote.answer_size import PLAIN, bounded
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.cost import Usage
from audit_lib.score.remote.credentials import plain_url, read_variable
from audit_lib.score.remote.limiter import Allotment, Limiter
from audit_lib.score.remote.limits import CLIENT_ONLY, Limits
from audit_lib.score.remote.vllm_calls import TokenQuestion, VllmCalls, calls_of, estimated
from audit_lib.score.remote.vllm_server_check import ServerCheck
from audit_lib.score.requests import AnswerKind, Request, Response
from audit_lib.spec import Model

KEY_OPTION = "model.options.api_key_env"


class VllmServerOptions(ChatTemplateOptions, Limits):
    """Options of the backend. None of them holds a secret."""

    base_url: str = Field("http://127.0.0.1:8000/v1", description="Where the server is, up to and with /v1.")
    api_key_env: str | None = Field(
        None,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="NAME of the environment variable that holds the server's key; null: it has none.",
    )
    tokenizer: str | None = Field(
        None,
        description="Folder (from the spec's folder first) or hub id with the tokenizer and chat template of the "
        "served model; null: model.name.",
    )
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32",
        description="What the server was started with (`--dtype`); it does not tell. The noise floor is held against "
        "the bound of this type.",
    )
    floor: Floor = Field("transformers", description=FLOOR_IS)

    @field_validator("base_url")
    @classmethod
    def _plain(cls, value: str) -> str:
        return plain_url(value)


@backend("vllm_server")
class VllmServer(ProcessBackend):
    """Label probabilities over the full vocabulary, and texts, from a vLLM server of one's own.

    Conversations are written and cut into tokens here, as for the backend ``transformers``, and sent as token ids to
    ``/v1/completions``. Each beginning of a label is one call, which reads the server's prefix cache. Before the first
    row the server must cut a text into the same tokens and show log-probabilities before masks. What else it computes
    at the same time may move last digits, so that an answer is not promised to come out the same again.
    """

    Options: ClassVar[type[Options]] = VllmServerOptions
    options: VllmServerOptions
    extra: ClassVar[str | None] = "local"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    pool: ClassVar[str] = "llm_api"
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")
    answers_alone: ClassVar[bool] = True
    pack_size = 64

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(VllmServerOptions, model)
        self._allotment = Allotment()
        self._tokenizer_at = _tokenizer_of(model, self.options)
        self._process = ScoringProcess(model.name, 1, "audit_lib.score.local.vllm_worker")
        self._loaded: dict[str, Any] = {}
        self._calls: dict[tuple[tuple[str, ...], str, str], int] = {}
        self._questions: dict[tuple[str, int], TokenQuestion] = {}

    @classmethod
    def check(cls, model: Model) -> None:
        """Check that what it imports is installed, and that what is named as the tokenizer's folder is one."""
        super().check(model)
        require_packages(Http, model.backend)
        _check_tokenizer(_tokenizer_of(model, parse_options(VllmServerOptions, model)))

    @classmethod
    def variables(cls, model: Model) -> list[Secret]:
        """Return the variable that holds the key, if there is one."""
        name = parse_options(VllmServerOptions, model).api_key_env
        return [] if name is None else [Secret(variable=name, where=KEY_OPTION)]

    @classmethod
    def probe(cls, model: Model) -> Probe:
        """Ask for the list of models, with the key if it is there."""
        options = parse_options(VllmServerOptions, model)
        key = os.environ.get(options.api_key_env or "", "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Probe(
            verb="GET", url=f"{options.base_url}/models", where="model.options.base_url", headers=headers
        )

    def describe(self) -> dict[str, Any]:
        """Return the server, its model's tokenizer and the options that change an answer; asks the server."""
        self._start()
        options = self.options.model_dump(mode="json")
        return {
            "backend": "vllm_server",
            "name": self.model.name,
            "options": {key: value for key, value in options.items() if key not in CLIENT_ONLY},
            "client": {key: options[key] for key in sorted(CLIENT_ONLY)},
            "dtype": self.options.dtype,
            **{key: value for key, value in self._loaded.items() if key != "ends"},
        }

    def find_out(self, requests: Sequence[Request]) -> None:
        """Check the server, and that requests like these can be put into the model's tokens."""
        self._start()
        for question in self._in_tokens(requests).values():
            if question.error is not None:
                raise BackendError(f"model {self.model.name!r}: {question.error}")

    def allot(self, allotment: Allotment) -> None:
        """Take the shard's part of the run's limits."""
        self._allotment = allotment

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and tokens of a request.

        Tokens by a rule. Calls by the tokenizer once it is loaded, and until then as if labels had one token each.
        """
        return estimated(request, self._calls_of(request))

    def load_for_estimate(self) -> None:
        """Load the tokenizer, so that estimates count the calls that labels of several tokens take."""
        self._load_tokenizer()

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request, as they come.

        Raises
        ------
        BackendError
            If the key is missing or refused, nothing answers, or a limit is reached.
        """
        self._start()
        for pack in packs:
            self._questions |= self._in_tokens(pack)
        options, limiter = self.options, self._allotment.limiter or Limiter(self.options)
        key = self._key()
        secrets = [key] if key else []
        with Conversation(options.base_url, limiter, secrets, self._allotment.keep) as conversation:
            client = conversation.run(self._connect(key))
            try:
                calls = VllmCalls(
                    options.base_url, self.model.name, client, secrets, self._questions, self._loaded["ends"]
                )
                yield from conversation.ask([request for pack in packs for request in pack], calls)
            finally:
                conversation.end(client.aclose())

    def account(self, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any] | None:
        """Return what a shard's prompts share and the noise floor, for ``plan.json``; None without labels."""
        self._start()
        sequences = []
        for pack in packs:
            for question in self._in_tokens([r for r in pack if r.sampling is None]).values():
                labels = {s for label in question.labels for s in label}
                sequences += sorted({question.prompt + label[:-1] for label in labels})
        if not sequences:
            return None
        tokens, unique = sum(map(len, sequences)), size(sequences)
        plan = {
            "tokens": tokens,
            "unique_tokens": unique,
            "shared": round(1 - unique / tokens, 6),
            "bound": round(tokens / unique, 4),
        }
        if self.options.floor == "none":
            return {**plan, "noise_floor": no_floor()}
        return {
            **plan,
            "noise_floor": floor_of(as_transformers(self.model, self._tokenizer_at), packs, responses),
        }

    def _key(self) -> str:
        return "" if self.options.api_key_env is None else read_variable(self.options.api_key_env, KEY_OPTION)

    def _load_tokenizer(self) -> None:
        if not self._process.is_running:
            order = {"name": self._tokenizer_at, "revision": self.model.revision, **self.options.written()}
            self._loaded = self._process.start({**order, "engine": None})

    def _start(self) -> None:
        if self._process.is_running and "server" in self._loaded:
            return
        self._load_tokenizer()
        key, loaded = self._key(), dict(self._loaded)
        text, tokens = loaded.pop("sample")
        server = ServerCheck(
            self.options.base_url,
            self.model.name,
            {"Authorization": f"Bearer {key}"} if key else {},
            [key] if key else [],
        ).find_out(text, tokens)
        if not isinstance(server["longest"], int):
            raise BackendError(
                f"{self.options.base_url}: does not say how long a prompt may be (max_model_len); is it a vLLM server?"
            )
        self._loaded = {**loaded, "server": server}

    def _calls_of(self, request: Request) -> int:
        if not request.labels or not self._process.is_running:
            return 1
        # How a label is cut into tokens is decided by the line that it stands on.
        like = (request.labels, request.messages[-1].role, last_line(request.messages[-1].content))
        if like not in self._calls:
            self._calls[like] = calls_of(self._in_tokens([request], NO_LIMIT)[request.key])
        return self._calls[like]

    def _in_tokens(
        self, requests: Sequence[Request], longest: int | None = None
    ) -> dict[tuple[str, int], TokenQuestion]:
        # The server wants a place for the token that it generates after a label's beginning.
        longest = self._loaded["server"]["longest"] if longest is None else longest
        order = {"tokens": [order_of(r) for r in requests], "longest": longest}
        found = self._process.ask(order)["questions"]
        return {
            request.key: TokenQuestion(
                prompt=tuple(one.get("prompt", ())),
                labels=tuple(tuple(map(tuple, label)) for label in one.get("labels", ())),
                error=one.get("error"),
            )
            for request, one in zip(requests, found, strict=True)
        }

    async def _connect(self, key: str) -> Any:
        import httpx2

        return httpx2.AsyncClient(
            headers={**PLAIN, **({"Authorization": f"Bearer {key}"} if key else {})},
            timeout=self.options.timeout,
            limits=httpx2.Limits(max_connections=self.options.max_concurrency),
            event_hooks={"response": [bounded(self.options.max_answer_bytes)]},
        )


def _tokenizer_of(model: Model, options: VllmServerOptions) -> str:
    """Return the folder or id of the served model's tokenizer."""
    return located(
        model if options.tokenizer is None else model.model_copy(update={"name": options.tokenizer})
    )


def _check_tokenizer(name: str) -> None:
    """Raise ModelNotFoundError if `name` is no folder with a tokenizer, no hub id and no packaged model."""
    if (folder := Path(name).expanduser()).is_dir():
        check_folder(folder, weights=False)
        return
    try:
        check_name(name)
    except ModelNotFoundError as error:
        raise ModelNotFoundError(
            f"{error}; or say in model.options.tokenizer where the served model has its tokenizer"
        ) from None
