"""What a model is asked, what it answers, and how an elicitation turns one into rows of scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, runtime_checkable

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.statuses import AnswerStatus
from audit_lib.large_file import Content
from audit_lib.registry import Registry
from audit_lib.seeds import derive_seed

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec

Method = Literal["logits", "logprobs", "sampled", "generated", "recorded", "endpoint", "similarity"]
OWN_SCORE: Final = ("endpoint", "similarity")
"""Methods by which the model itself gives the score, on its own scale."""
AnswerKind = Literal["labels", "text"]
"""What is asked for: the probabilities of labels, or a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation. A last turn of the assistant is a beginning that the model goes on from.

    `parts` are images and files that follow the content, as JSON: objects of the chat API.
    """

    role: str
    content: str
    parts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a text is generated.

    Attributes
    ----------
    max_tokens : int
        Most tokens of an answer.
    temperature : float
        0 takes the most probable token each time.
    seed : int
        Of the draws; the repeat's number is mixed in by the backend.
    """

    max_tokens: int
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Whom a request is about: one for a pointwise request, several for a listwise one."""

    variant_id: str
    name: str | None = None
    order_shown: int | None = None
    recorded_score: float | None = None
    recorded_selected: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model.

    Attributes
    ----------
    request_id, repeat : str, int
        Together the request's key.
    section, family : str
        Position, and the prompt whose versions are compared. Requests of one family are asked
        together, and no pack holds two sections: that is where the shared beginnings are.
    messages : tuple of Message
        Empty if the decision was recorded.
    labels : tuple of str
        Answers whose probability is asked for; empty if a text is.
    sampling : Sampling or None
        How a text is generated; None if labels are asked for or the answer was recorded.
    candidates : tuple of Candidate
        In the order shown.
    answer_schema : str or None
        JSON schema of a text that is asked for, for models that keep to one; no part of what is asked.
    recorded_model, recorded_response : str or None
        Who made a recorded decision, and its text.
    """

    request_id: str
    repeat: int = 0
    section: str
    family: str
    messages: tuple[Message, ...] = ()
    labels: tuple[str, ...] = ()
    sampling: Sampling | None = None
    candidates: tuple[Candidate, ...]
    answer_schema: str | None = None
    recorded_model: str | None = None
    recorded_response: str | None = None
    _digest: str | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def asked(self) -> list[str]:
        """All that is asked, as texts: what no message to people may repeat."""
        return [text for m in self.messages for text in (m.content, m.parts) if text is not None]

    @property
    def key(self) -> tuple[str, int]:
        """What identifies the request."""
        return (self.request_id, self.repeat)

    def digest(self) -> str:
        """Return the SHA-256 of what is asked: messages, labels and sampling, and of the text of a recorded answer."""
        if self._digest is None:
            # Frozen to others; asked for several times.
            textless = not self.messages and self.sampling is None and self.recorded_response is None
            digest = _digest_without_text(self.labels) if textless else sha256(self.digested())
            object.__setattr__(self, "_digest", digest)
        return str(self._digest)

    def digested(self) -> bytes:
        """Return the bytes that the digest is of: everything that was asked, as JSON."""
        content: dict[str, Any] = {
            "messages": [
                {"role": m.role, "content": m.content}
                | ({} if m.parts is None else {"parts": json.loads(m.parts)})
                for m in self.messages
            ],
            "labels": list(self.labels),
        }
        if self.sampling is not None:
            content["sampling"] = asdict(self.sampling)
        if self.recorded_response is not None:
            content["recorded"] = self.recorded_response
        return canonical_json(content)


@lru_cache
def _digest_without_text(labels: tuple[str, ...]) -> str:
    """Return the digest of a recorded decision without a text: the same for all of a run."""
    return sha256(canonical_json({"messages": [], "labels": list(labels)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back for one request: exactly one response for each, failed or not.

    Attributes
    ----------
    label_probabilities : tuple of float or None
        Probability of each label over ALL that the model could have answered, so they need not sum
        to 1; their sum is the label mass.
    model : str
        Id of the model that answered.
    method : str
        How it was read: ``logits`` (full vocabulary), ``logprobs`` (of an API), ``sampled`` (share of
        sampled answers), ``generated`` (a text), ``recorded``, ``endpoint`` (a tool's own score or decision) or
        ``similarity`` (of embeddings).
    attempts : int
        How often it was asked, the successful time included.
    detail : str or None
        Why the status is not ok, without personal data or secrets.
    score, selected : float or None, bool or None
        What a model that gives scores or decisions of its own gave.
    system_fingerprint : str or None
        What the provider says about the system behind the model; it may change while the id stays.
    prompt_tokens, completion_tokens : int
        What the provider counted; 0 where nothing is counted.
    thinking_tokens : int or None
        Those of `completion_tokens` that were thought before the answer; None where the provider does not say.
    """

    request_id: str
    repeat: int = 0
    status: AnswerStatus = "ok"
    label_probabilities: tuple[float, ...] | None = None
    text: str | None = None
    score: float | None = None
    selected: bool | None = None
    model: str
    method: Method
    attempts: int = 1
    detail: str | None = None
    system_fingerprint: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thinking_tokens: int | None = None

    @property
    def key(self) -> tuple[str, int]:
        """The request that it answers."""
        return (self.request_id, self.repeat)


AnswerRecord = dict[str, object]
"""A row of the table of scores, or of replies."""


class Elicitation(Protocol):
    """How the model is asked. Registered with ``@elicitation(name)``; the spec's `task` names it."""

    asks: ClassVar[AnswerKind]

    def __init__(self, spec: AuditSpec) -> None: ...

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each `request_id` (repeat 0) of the whole table, or of a shard's part (`Stateful`)."""
        ...

    def rows(self, request: Request, response: Response) -> list[AnswerRecord]:
        """Return one row of SCORE_SCHEMA, less the model's fingerprint, for each candidate."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What an elicitation makes of all the answers of its pools: score rows, further artefacts, counts."""

    rows: list[AnswerRecord]
    artefacts: dict[str, Content]
    counts: dict[str, int]


@runtime_checkable
class Pooled(Protocol):
    """An elicitation whose rows need the answers to several requests, those of one section.

    All requests of a section are then in one shard, and `collect` takes the place of `rows`.
    """

    table: ClassVar[str]
    """Artefact of the stage ``variants`` that `requests` reads."""

    def collect(self, asked: Sequence[tuple[Request, Response]]) -> Collected:
        """Return the rows of a shard from all its requests and their responses."""
        ...

    def again(self, requests: Sequence[Request], artefact: pd.DataFrame) -> Collected:
        """Return the same from the answers that a shard's artefact of the name `table` holds."""
        ...


@runtime_checkable
class Stateful(Protocol):
    """An elicitation that needs to know something of the whole run, of which a shard reads a part."""

    known_by: ClassVar[tuple[str, ...]]
    """The columns of the table of requests that `known` reads."""

    def known(self, variants: pd.DataFrame) -> dict[str, Any]:
        """Return what these columns of all requests say, as JSON."""
        ...

    def know(self, known: dict[str, Any]) -> None:
        """Take that, after it has read a part of the table."""
        ...


@runtime_checkable
class Planned(Protocol):
    """An elicitation of which ids alone say what is asked together, so that no text is held to plan the shards."""

    planned_by: ClassVar[tuple[str, str]]
    """Columns of the table of requests: a request's section, and its family (the smallest of its rows')."""


elicitation: Registry[type[Elicitation]] = Registry("elicitations", "audit_lib.score.tasks")


def kinds_asked(spec: AuditSpec) -> tuple[AnswerKind, ...]:
    """Return what the spec asks a model for; the steps of a template ask for texts besides."""
    if spec.prompt is not None and spec.prompt.read != "labels":
        return ("text",)
    return (elicitation.get(spec.task).asks,)


def sampling_of(spec: AuditSpec) -> Sampling:
    """Return how texts that are read, rankings and replies are generated."""
    if spec.prompt is None:
        return Sampling(max_tokens=512)
    return Sampling(
        max_tokens=spec.prompt.max_tokens,
        temperature=spec.prompt.temperature,
        seed=derive_seed(spec.seed, "answers") % 2**31 if spec.prompt.temperature else 0,
    )


def questions(requests: Iterable[Request]) -> dict[str, tuple[str, str]]:
    """Return what is asked about each variant: the request's id and digest.

    Where several requests are about a variant, the id is their family's, and the digest that of their digests, sorted.
    Repeats ask the same, and only the first that comes is looked at.
    """
    about: dict[str, list[Request]] = {}
    once: dict[str, Request] = {}
    for request in requests:
        once.setdefault(request.request_id, request)
    for request in once.values():
        for candidate in request.candidates:
            about.setdefault(candidate.variant_id, []).append(request)
    found = {}
    for variant, asked in about.items():
        if len(asked) == 1:
            found[variant] = (asked[0].request_id, asked[0].digest())
        else:
            found[variant] = (asked[0].family, sha256(canonical_json(sorted(r.digest() for r in asked))))
    return found


def score_row(request: Request, candidate: Candidate, response: Response, **values: object) -> AnswerRecord:
    """Return a row of SCORE_SCHEMA for one candidate: what the response says, then `values` over it."""
    return {
        "variant_id": candidate.variant_id,
        "repeat": request.repeat,
        "request_id": request.request_id,
        "model": response.model,
        "request_digest": request.digest(),
        "label_probabilities": None,
        "label_mass": None,
        "score": response.score,
        "selected": response.selected,
        "text": response.text,
        "method": response.method,
        "status": response.status,
        "detail": response.detail,
        "attempts": response.attempts,
        **values,
    }
