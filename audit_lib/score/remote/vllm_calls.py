"""Calls of a vLLM server with prompts in token ids: what is sent, how a call may fail, and what an answer says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.local.label_reads import looks_at, probabilities_of
from audit_lib.score.local.label_tokens import label_probabilities
from audit_lib.score.local.trie import Tokens
from audit_lib.score.reading.json_values import RepeatedKeyError, once, writable
from audit_lib.score.remote.asker import FailedError, TryAgainError, TurnedAwayError
from audit_lib.score.remote.completions import mapping, system_mark
from audit_lib.score.remote.cost import Usage, prompt_tokens
from audit_lib.score.remote.error_texts import provider_message, told
from audit_lib.score.remote.json_answer import parsed
from audit_lib.score.remote.limits import asked_wait
from audit_lib.score.remote.stated_errors import stated_error
from audit_lib.score.requests import Request, Response
from audit_lib.seeds import derive_seed

AT_A_TIME: Final = 20
"""Tokens whose log-probabilities one call asks for: what a server gives unless it was started with another number."""
_ROUNDING: Final = 1e-4
_BROKEN_OFF: Final = {"abort", "error"}
_MOST_SEED: Final = 2**63
PLAIN_SAMPLING: Final = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""Said in full: what is left out a server takes from the model's generation_config.json."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenQuestion:
    """A request in the model's tokens, or why it cannot be asked.

    Attributes
    ----------
    prompt : tuple of int
    labels : tuple of tuple of tuple of int
        Each label's sequences; none where a text is asked for.
    error : str or None
    """

    prompt: Tokens = ()
    labels: tuple[tuple[Tokens, ...], ...] = ()
    error: str | None = None


class VllmCalls:
    """What is known of a vLLM server (`audit_lib.score.remote.asker.Asker`).

    Parameters
    ----------
    where, model : str
        Its address up to and with ``/v1``, and the model's name there.
    client : httpx2.AsyncClient
    secrets : sequence of str
        What no message may repeat.
    questions : mapping
        Each request in tokens, by its key.
    ends : sequence of int
        Tokens that end a text.
    """

    def __init__(
        self,
        where: str,
        model: str,
        client: Any,
        secrets: Sequence[str],
        questions: Mapping[tuple[str, int], TokenQuestion],
        ends: Sequence[int],
    ) -> None:
        self._where, self._model, self._client, self._secrets = where, model, client, secrets
        self._questions, self._ends = questions, list(ends)

    def orders(self, request: Request) -> list[dict[str, Any]]:
        """Return the body of each call: one for a text, one for each beginning of labels."""
        question = self._questions[request.key]
        if question.error is not None:
            return []
        if request.sampling is not None:
            how = request.sampling
            body = {
                "prompt": list(question.prompt),
                "max_tokens": how.max_tokens,
                "temperature": how.temperature,
                "seed": derive_seed(how.seed, request.request_id, request.repeat) % _MOST_SEED,
                "stop_token_ids": self._ends,
                **PLAIN_SAMPLING,
            }
            return [{"model": self._model, **body}]
        return [
            look_body(self._model, question.prompt + beginning, wanted[at : at + AT_A_TIME])
            for beginning, wanted in _looks(question).items()
            for at in range(0, len(wanted), AT_A_TIME)
        ]

    async def call(self, request: Request, order: dict[str, Any]) -> Any:
        """Make one attempt at one call."""
        import httpx2

        try:
            answer = await self._client.post(f"{self._where}/completions", json=order)
        except httpx2.TimeoutException:
            raise TryAgainError("timeout") from None
        except httpx2.HTTPError:
            raise TryAgainError("no connection") from None
        status = answer.status_code
        if status == 200:
            return self._whole(request, answer.content)
        said = told(provider_message(answer.content), request.asked, self._secrets)
        said = f": {said}" if said else ""
        if status in (401, 403):
            raise TurnedAwayError(
                f"{self._where}: HTTP {status}, the key is refused; look at model.options.api_key_env{said}"
            )
        if status == 404:
            raise TurnedAwayError(
                f"{self._where}: HTTP 404, no model {self._model!r} there, or no vLLM server; look at model.name "
                f"(--served-model-name) and base_url{said}"
            )
        if status in (408, 409, 429) or status >= 500:
            wait = asked_wait(answer.headers, datetime.now(UTC))
            raise TryAgainError(f"HTTP {status}{said}", wait)
        raise FailedError(f"HTTP {status}{said}")

    def _whole(self, request: Request, content: bytes) -> Any:
        """Return an answer with HTTP 200 that states no error and was not broken off."""
        try:
            body = parsed(content, once)
        except RepeatedKeyError:
            raise FailedError("a JSON object of the answer gives a key twice") from None
        if (stated := stated_error(body, request.asked, self._secrets)) is not None:
            raise stated
        choices = mapping(body).get("choices")
        ends = [mapping(one).get("finish_reason") for one in choices] if isinstance(choices, list) else []
        if set(ends) & _BROKEN_OFF:
            raise TryAgainError("the server broke the answer off")
        return body

    def read(self, request: Request, answers: Sequence[Any]) -> Response:
        """Return what the answers to all calls say."""
        question = self._questions[request.key]
        if question.error is not None:
            return self.failed(request, question.error)
        try:
            orders = self.orders(request)
            for order, answer in zip(orders, answers, strict=True):
                check_read(answer, order)
            shared = _shared(answers, self._model)
            if request.sampling is not None:
                return self._response(request, method="generated", **_text(answers[0]), **shared)
            logs = self._logs(question, answers)
        except (AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
            return self.failed(request, f"the answer is not a completion of vLLM ({type(error).__name__})")
        except FailedError as error:
            return self.failed(request, error.detail)
        every = {sequence for label in question.labels for sequence in label}
        found = label_probabilities(probabilities_of(every, logs), question.labels)
        if min(found) < 0 or sum(found) > 1 + _ROUNDING:
            return self.failed(
                request, "the labels' log-probabilities contradict each other; they are not raw_logprobs"
            )
        return self._response(request, method="logits", label_probabilities=found, **shared)

    def failed(self, request: Request, detail: str, status: AnswerStatus = "error") -> Response:
        """Return the row of a request that was not answered."""
        method = "logits" if request.sampling is None else "generated"
        return self._response(request, status=status, detail=detail, method=method, model=self._model)

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes."""
        orders = self.orders(request)
        return len(orders), Usage(
            prompt=sum(len(order["prompt"]) for order in orders),
            completion=sum(order["max_tokens"] for order in orders),
        )

    def _logs(self, question: TokenQuestion, answers: Sequence[Any]) -> dict[tuple[Tokens, int], float]:
        logs: dict[tuple[Tokens, int], float] = {}
        given = iter(answers)
        for beginning, wanted in _looks(question).items():
            for at in range(0, len(wanted), AT_A_TIME):
                some = wanted[at : at + AT_A_TIME]
                logs |= {(beginning, token): log for token, log in looked_at(next(given), some).items()}
        return logs

    @staticmethod
    def _response(request: Request, **values: Any) -> Response:
        return Response(request_id=request.request_id, repeat=request.repeat, **values)


def look_body(model: str, prompt: Sequence[int], wanted: Sequence[int]) -> dict[str, Any]:
    """Return the body that asks for the log-probabilities of tokens after a prompt."""
    return {
        "model": model,
        "prompt": list(prompt),
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": len(wanted),
        "logprob_token_ids": list(wanted),
        "return_tokens_as_token_ids": True,
    }


def looked_at(answer: Any, wanted: Sequence[int]) -> dict[int, float]:
    """Return the log-probability of each wanted token in an answer to `look_body`.

    Raises
    ------
    FailedError
        If one is not there, or none.
    """
    shown = mapping(mapping(answer["choices"][0])["logprobs"])["top_logprobs"]
    top = mapping(shown[0] if isinstance(shown, list) and shown else None)
    found = {}
    for token in wanted:
        value = top.get(f"token_id:{token}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise FailedError(
                "the server shows no log-probability of a token that was asked for (logprob_token_ids); use a newer "
                "vLLM, or the backend openai"
            )
        # -9999 and -inf are how a server writes a probability of 0.
        if math.isnan(value) or value > _ROUNDING:
            raise FailedError(
                "a log-probability is above 0 or none at all; it is not of --logprobs-mode raw_logprobs"
            )
        found[token] = min(float(value), 0.0)
    if math.fsum(map(math.exp, found.values())) > 1 + _ROUNDING:
        raise FailedError("the probabilities of some tokens sum to more than 1; they are not raw_logprobs")
    return found


def check_read(answer: Any, order: Mapping[str, Any]) -> None:
    """Raise FailedError if a server did not read the very tokens that were sent, as far as it counts them."""
    read = mapping(mapping(answer).get("usage")).get("prompt_tokens")
    if isinstance(read, bool) or not isinstance(read, int):
        raise FailedError(
            "the answer is not a completion of vLLM: it does not count the prompt's tokens (usage)"
        )
    if read != len(order["prompt"]):
        raise FailedError(
            f"the server read {read:,} tokens where {len(order['prompt']):,} were sent, so its answer is to another "
            "prompt: it cuts prompts or adds tokens of its own; look at how it was started"
        )


def estimated(request: Request, calls: int) -> tuple[int, Usage]:
    """Return what a request of so many calls takes, by a rule: its prompt is not cut into tokens for it."""
    longest = calls if request.sampling is None else request.sampling.max_tokens
    return calls, Usage(prompt=calls * prompt_tokens(request), completion=longest)


def calls_of(question: TokenQuestion) -> int:
    """Return the calls that a request for labels takes, one where it cannot be asked."""
    return sum(-(-len(wanted) // AT_A_TIME) for wanted in _looks(question).values()) or 1


def _looks(question: TokenQuestion) -> dict[Tokens, tuple[int, ...]]:
    return looks_at(sequence for label in question.labels for sequence in label)


def _shared(answers: Sequence[Any], model: str) -> dict[str, Any]:
    """Return what holds of all answers to one request: who answered, and the tokens that were counted."""
    counted = [mapping(answer["usage"]) for answer in answers]
    said = answers[-1].get("model")
    if any(answer.get("model") != said for answer in answers):
        raise FailedError("the answers to one request are of several models")
    return {
        "model": writable(said) if isinstance(said, str) and said else model,
        "system_fingerprint": system_mark(answers[-1]),
        "prompt_tokens": sum(_count(usage.get("prompt_tokens")) for usage in counted),
        "completion_tokens": sum(_count(usage.get("completion_tokens")) for usage in counted),
    }


def _text(answer: Any) -> dict[str, Any]:
    text = answer["choices"][0]["text"]
    if not isinstance(text, str):
        raise TypeError("not a text")
    if not text.strip():
        return {"status": "unparsed", "detail": "the answer is empty"}
    return {"text": writable(text)}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
