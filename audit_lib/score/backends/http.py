"""``http``: the deployed tool itself, an endpoint of the user's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, field_validator, model_validator

from audit_lib.backends import Probe, Secret
from audit_lib.documents.statuses import AnswerStatus
from audit_lib.json_path import steps, value_at
from audit_lib.options import Options
from audit_lib.registry import did_you_mean
from audit_lib.score.backends import Backend, backend, parse_options
from audit_lib.score.packs import Pack
from audit_lib.score.reading.json_values import RepeatedKeyError, once, writable
from audit_lib.score.reading.labels import read_label
from audit_lib.score.remote.answer_size import PLAIN, bounded
from audit_lib.score.remote.asker import FailedError, TryAgainError, TurnedAwayError
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.cost import Usage, prompt_tokens
from audit_lib.score.remote.credentials import NAMED, check_fields, check_header, plain_url, read_variable
from audit_lib.score.remote.error_texts import provider_message, told
from audit_lib.score.remote.json_answer import parsed
from audit_lib.score.remote.json_body import SLOT, SLOTS, filled, names_in, texts_in
from audit_lib.score.remote.limiter import Allotment, Limiter
from audit_lib.score.remote.limits import CLIENT_ONLY, Limits, asked_wait
from audit_lib.score.requests import AnswerKind, Request, Response
from audit_lib.spec import Model

_OF_PROMPT: Final = frozenset(SLOTS[:4])


class HttpOptions(Limits):
    """Options of the backend. None of them holds a secret."""

    url: str = Field(description="The endpoint; without a user, a password or a query.")
    verb: Literal["POST", "PUT"] = Field("POST", description="HTTP method.")
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="Header -> value. ${NAME} stands for the environment variable NAME: secrets are named, never "
        "written. A header for credentials holds nothing else but a word such as Bearer before it.",
    )
    body: dict[str, Any] = Field(
        description="JSON body. {{system}}, {{user}} and {{assistant}} stand for the prompt's turns of that role, "
        "{{model}} and {{repeat}} for the model's name and the repeat; a value that is {{messages}} or {{labels}} and "
        "nothing else becomes a list, and one that is ${NAME} and nothing else the environment variable NAME.",
    )
    score_path: str | None = Field(
        None, description="Where the answer holds the score, such as result.candidates[0].score."
    )
    decision_path: str | None = Field(
        None, description="Where it holds the decision; without a score, 1 is selected and 0 not."
    )
    selected_values: list[Any] = Field(
        default_factory=lambda: [True], description="Values of the decision that mean selected; at least one."
    )
    rejected_values: list[Any] = Field(
        default_factory=list,
        description="Values that mean not selected, none of them a selected one; with any given, another value is no "
        "answer. Null, a list, an object or a value of another type than those listed never is one.",
    )
    text_path: str | None = Field(
        None, description="Where it holds a text: the answer itself, or one that begins with a label."
    )
    model_path: str | None = Field(None, description="Where it says which model or version answered.")

    @field_validator("url")
    @classmethod
    def _plain(cls, value: str) -> str:
        return plain_url(value)

    @field_validator("headers")
    @classmethod
    def _no_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        for name, content in value.items():
            check_header(name, content)
        return value

    @field_validator("body")
    @classmethod
    def _known_slots(cls, value: dict[str, Any]) -> dict[str, Any]:
        check_fields(value, named=True)
        slots = [slot for text in texts_in(value) for slot in SLOT.findall(text)]
        for slot in slots:
            if slot not in SLOTS:
                raise ValueError(f"slot {{{{{slot}}}}}{did_you_mean(slot, list(SLOTS))}")
        if _OF_PROMPT.isdisjoint(slots):
            raise ValueError(
                "holds no slot of the prompt, so every applicant would be asked about alike; put {{user}}, "
                "{{system}}, {{assistant}} or {{messages}} where the tool expects the text"
            )
        return value

    @field_validator("selected_values")
    @classmethod
    def _some(cls, value: list[Any]) -> list[Any]:
        if not value:
            raise ValueError(
                "names no value, so nobody could be selected; list what the tool says, such as [true]"
            )
        return value

    @field_validator("selected_values", "rejected_values")
    @classmethod
    def _plain_values(cls, value: list[Any]) -> list[Any]:
        if not all(isinstance(one, str | int | float) for one in value):
            raise ValueError(
                "holds null, a list or an object, which is no decision; list texts, numbers, true or false"
            )
        return value

    @model_validator(mode="after")
    def _apart(self) -> HttpOptions:
        selected = {json.dumps(value) for value in self.selected_values}
        if both := [text for value in self.rejected_values if (text := json.dumps(value)) in selected]:
            raise ValueError(
                f"rejected_values: {both[0]} is one of selected_values too; list it in one of them"
            )
        return self

    @model_validator(mode="after")
    def _paths(self) -> HttpOptions:
        for name in ("score_path", "decision_path", "text_path", "model_path"):
            if (path := getattr(self, name)) is not None:
                try:
                    steps(path)
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from None
        if not (self.score_path or self.decision_path or self.text_path):
            raise ValueError("needs score_path, decision_path or text_path: what is read from the answer")
        return self


@backend("http")
class Http(Backend):
    """Ask an endpoint for its own score, decision or text.

    A score is taken on the tool's own scale. Where neither score nor decision is read, a text that begins
    with one of the labels counts as that label with probability 1. An answer that lacks some of what
    should be read is a row with status ``unparsed``. One that has no score, no decision and no text is a
    failure (``error``, which is asked again), whatever its HTTP status. Limits, retries and faults are
    those of the backend ``openai``.
    """

    Options: ClassVar[type[Options]] = HttpOptions
    extra: ClassVar[str | None] = "http"
    packages: ClassVar[tuple[str, ...]] = ("httpx2",)
    pool: ClassVar[str] = "llm_api"
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")
    answers_alone: ClassVar[bool] = True
    pack_size = 64

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(HttpOptions, model)
        self._allotment = Allotment()
        self._named: dict[str, str] = {}

    @classmethod
    def variables(cls, model: Model) -> list[Secret]:
        """Return the variables that the body and the headers name."""
        named = secret_names(parse_options(HttpOptions, model)).items()
        return [Secret(variable=name, where=f"model.options.{key}", spaces=True) for name, key in named]

    @classmethod
    def probe(cls, model: Model) -> Probe:
        """Ask which methods the endpoint takes."""
        return Probe(verb="OPTIONS", url=parse_options(HttpOptions, model).url, where="model.options.url")

    @classmethod
    def says_yes_or_no(cls, model: Model) -> bool:
        """Tell whether no score is read, so that a label or a decision counts as 1 or 0."""
        return parse_options(HttpOptions, model).score_path is None

    @classmethod
    def no_text(cls, model: Model) -> str | None:
        """Say that no text is read, or that a score or a decision is taken in its place."""
        options = parse_options(HttpOptions, model)
        if options.text_path is None:
            return "model.options.text_path is not given, so no text of the endpoint is read"
        for key in ("score_path", "decision_path"):
            if getattr(options, key) is not None:
                return f"model.options.{key} is given, and what it finds is taken in place of a text"
        return None

    @classmethod
    def decides(cls, model: Model) -> bool:
        """Tell whether the endpoint's own decision is read."""
        return parse_options(HttpOptions, model).decision_path is not None

    def describe(self) -> dict[str, Any]:
        """Return the endpoint and how it is asked; headers with the names of their variables."""
        from importlib.metadata import version

        options = self.options.model_dump()
        return {
            "backend": "http",
            "name": self.model.name,
            "revision": self.model.revision,
            "options": {key: value for key, value in options.items() if key not in CLIENT_ONLY},
            "client": {key: options[key] for key in sorted(CLIENT_ONLY)},
            "versions": {"httpx2": version("httpx2")},
        }

    def allot(self, allotment: Allotment) -> None:
        """Take the shard's part of the run's limits."""
        self._allotment = allotment

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return one call and the tokens of the prompt; what a tool generates is not known."""
        return 1, Usage(prompt=prompt_tokens(request))

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request, as they come.

        Raises
        ------
        BackendError
            If a secret is missing or refused, the endpoint is not there, nothing answers, or a limit is reached.
        """
        options, limiter = self.options, self._allotment.limiter or Limiter(self.options)
        named = {
            name: read_variable(name, f"model.options.{where}", spaces=True)
            for name, where in secret_names(options).items()
        }
        self._named, secrets = named, list(named.values())
        headers = {
            name: NAMED.sub(lambda match: named[match[1]], value) for name, value in options.headers.items()
        }
        with Conversation(options.url, limiter, secrets, self._allotment.keep) as conversation:
            client = conversation.run(self._connect(headers))
            try:
                requests = [request for pack in packs for request in pack]
                yield from conversation.ask(requests, _HttpCalls(self, client))
            finally:
                conversation.end(client.aclose())

    def close(self) -> None:
        """Nothing is held between calls of `score`."""

    @property
    def secrets(self) -> list[str]:
        """What is filled in for ``${NAME}``, and each word of it."""
        return [word for value in self._named.values() for word in (value, *value.split())]

    async def _connect(self, headers: Mapping[str, str]) -> Any:
        import httpx2

        most = httpx2.Limits(max_connections=self.options.max_concurrency)
        return httpx2.AsyncClient(
            headers={**PLAIN, **headers},
            timeout=self.options.timeout,
            limits=most,
            event_hooks={"response": [bounded(self.options.max_answer_bytes)]},
        )

    def body(self, request: Request) -> Any:
        """Return the body of one request."""
        turns = {
            role: "\n\n".join(m.content for m in request.messages if m.role == role) for role in SLOTS[:3]
        }
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        values = turns | {"model": self.model.name, "repeat": str(request.repeat)}
        lists = {"messages": messages, "labels": list(request.labels)}
        return filled(self.options.body, values, lists, self._named)

    def read(self, request: Request, answer: Any) -> Response:
        """Return what an answer, as parsed JSON, says about a request."""
        options, found, absent = self.options, {}, []
        for what in ("score", "decision", "text", "model"):
            if (path := getattr(options, f"{what}_path")) is not None:
                try:
                    found[what] = value_at(answer, steps(path))
                except LookupError:
                    absent.append(f"{what} at {path}")
        if absent:
            # Tools say that they are overloaded with HTTP 200 too: nothing was judged, so nothing is kept.
            status: AnswerStatus = "unparsed" if found.keys() - {"model"} else "error"
            return self.response(request, status=status, detail=f"the answer has no {', no '.join(absent)}")
        shared: dict[str, Any] = {}
        if "model" in found:
            shared["model"] = writable(str(found["model"]))[:200]
        if "text" in found:
            if not isinstance(found["text"], str) or not found["text"]:
                return self.response(request, status="unparsed", detail="its text is empty or none", **shared)
            shared["text"] = writable(found["text"])
        if "decision" in found:
            said, values = found["decision"], (*options.selected_values, *options.rejected_values)
            kinds, listed = {type(value) for value in values}, [json.dumps(value) for value in values]
            if type(said) not in kinds or (options.rejected_values and json.dumps(said) not in listed):
                detail = "its decision is none of selected_values and rejected_values"
                return self.response(request, status="unparsed", detail=detail, **shared)
            # 1 == True in Python, and a decision of 1 is not the decision true.
            same = (json.dumps(found["decision"]) == json.dumps(value) for value in options.selected_values)
            shared["selected"] = any(same)
            shared["score"] = float(shared["selected"])
        if "score" in found:
            if not _is_number(found["score"]):
                shared |= {"score": None, "selected": None}
                return self.response(request, status="unparsed", detail="its score is not a number", **shared)
            shared["score"] = float(found["score"])
        if request.labels and "score" not in shared:
            place = read_label(shared["text"], request.labels)
            shares = tuple(float(i == place) for i in range(len(request.labels)))
            return self.response(request, label_probabilities=shares, **shared)
        return self.response(request, **shared)

    def response(self, request: Request, **values: Any) -> Response:
        """Return a response to `request`."""
        values = {"model": self.model.name, "method": "endpoint", **values}
        return Response(request_id=request.request_id, repeat=request.repeat, **values)


class _HttpCalls:
    """Calls of the endpoint; a request takes one."""

    def __init__(self, tool: Http, client: Any) -> None:
        self._tool, self._client = tool, client

    def orders(self, request: Request) -> list[Any]:
        """Return the body of the request's call."""
        return [self._tool.body(request)]

    async def call(self, request: Request, order: Any) -> Any:
        """Make one attempt at the call."""
        import httpx2

        options = self._tool.options
        try:
            answer = await self._client.request(options.verb, options.url, json=order)
        except httpx2.TimeoutException:
            raise TryAgainError("timeout") from None
        except httpx2.HTTPError:
            raise TryAgainError("no connection") from None
        status = answer.status_code
        said = "" if 200 <= status < 300 else self._said(request, answer)
        if status in (401, 403):
            raise TurnedAwayError(
                f"{options.url}: HTTP {status}, the secret in model.options.headers is refused{said}"
            )
        if status in (404, 405):
            raise TurnedAwayError(
                f"{options.url}: HTTP {status}, no such endpoint; look at model.options.url and verb{said}"
            )
        if status in (408, 409, 429) or status >= 500:
            raise TryAgainError(f"HTTP {status}{said}", asked_wait(answer.headers, datetime.now(UTC)))
        if not 200 <= status < 300:
            raise FailedError(f"HTTP {status}{said}")
        try:
            return parsed(answer.content, once)
        except RepeatedKeyError:
            raise FailedError("a JSON object of the answer gives a key twice", "unparsed") from None

    def _said(self, request: Request, answer: Any) -> str:
        """Return what the tool says of an error, as it may be told."""
        asked, secrets = [m.content for m in request.messages], self._tool.secrets
        said = told(provider_message(answer.content), asked, secrets)
        return f": {said}" if said else ""

    def read(self, request: Request, answers: Sequence[Any]) -> Response:
        """Return what the answer says."""
        return self._tool.read(request, answers[0])

    def failed(self, request: Request, detail: str, status: AnswerStatus = "error") -> Response:
        """Return the row of a request that was not answered."""
        return self._tool.response(request, status=status, detail=detail)

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes."""
        return self._tool.estimate(request)


def secret_names(options: HttpOptions) -> dict[str, str]:
    """Return the environment variables that the options name, and where: in the body or in the headers."""
    in_headers = NAMED.findall("".join(options.headers.values()))
    return dict.fromkeys(names_in(options.body), "body") | dict.fromkeys(in_headers, "headers")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max
