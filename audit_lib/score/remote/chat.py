"""Chat completions: the bodies that a request becomes, and what an answer says. No network here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.reading.json_values import writable
from audit_lib.score.reading.labels import read_label
from audit_lib.score.reading.logprobs import read_top
from audit_lib.score.reading.ratings import CUT
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.score.remote.cost import Usage, prompt_tokens
from audit_lib.score.remote.error_texts import failure
from audit_lib.score.remote.limits import CLIENT_ONLY
from audit_lib.score.requests import Method, Request, Response
from audit_lib.seeds import derive_seed
from audit_lib.spec import Model

_REFUSED = ("content_filter", "content_policy_violation")


class Chat:
    """Turns requests into bodies of ``/chat/completions``, and completions into responses.

    Parameters
    ----------
    model : Model
        The spec's section.
    options : ChatOptions
        Its options, parsed.
    """

    def __init__(self, model: Model, options: ChatOptions) -> None:
        self.model, self.options = model, options

    def describe(self, backend: str, client_only: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Return the endpoint and the options, apart from those that change no answer."""
        from importlib.metadata import version

        options = self.options.model_dump() | {"max_tokens": self.options.longest()}
        if self.options.method == "sampled" and self.options.max_tokens is not None:
            options["longest_sampled_label"] = (
                self.options.max_tokens
            )  # what was asked with 16 answers no such request
        how = CLIENT_ONLY | {"api_key_env"} | client_only
        return {
            "backend": backend,
            "name": self.model.name,
            "revision": self.model.revision,
            "options": {key: value for key, value in options.items() if key not in how},
            "client": {key: options[key] for key in sorted(how)},
            "versions": {"openai": version("openai")},
        }

    def bodies(self, request: Request) -> list[dict[str, Any]]:
        """Return the calls that a request takes: several if labels are sampled, else one."""
        options = self.options
        body: dict[str, Any] = {
            "model": self.model.name,
            "messages": self._messages(request),
            "temperature": options.temperature or 0.0,
            **options.extra_body,
        }
        if request.sampling is not None:
            seed = derive_seed(request.sampling.seed, "repeat", request.repeat) >> 33
            return [
                body
                | {
                    "temperature": request.sampling.temperature,
                    "max_completion_tokens": request.sampling.max_tokens,
                    "seed": seed,  # 31 bits: every server's integer holds it
                }
            ]
        if not request.labels:
            bodies = [body | {"max_completion_tokens": options.longest()}]
        elif options.method == "logprobs":
            bodies = [body | {"logprobs": True, "top_logprobs": 20, "max_completion_tokens": 1}]
        else:
            body["temperature"] = 1.0 if options.temperature is None else options.temperature
            body["max_completion_tokens"] = options.longest(label=True)
            starts = range(0, options.samples, options.samples_per_call)
            bodies = [
                body | {"n": min(options.samples_per_call, options.samples - start)} for start in starts
            ]
        if options.seed is not None:
            first = options.seed + request.repeat * len(bodies)
            bodies = [body | {"seed": first + i} for i, body in enumerate(bodies)]
        return bodies

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes at most (`cost.RULE`)."""
        options, read = self.options, prompt_tokens(request)
        if request.sampling is not None:
            return 1, Usage(prompt=read, completion=request.sampling.max_tokens)
        if not request.labels:
            return 1, Usage(prompt=read, completion=options.longest())
        if options.method == "logprobs":
            return 1, Usage(prompt=read, completion=1)
        calls = -(-options.samples // options.samples_per_call)
        return calls, Usage(prompt=read * calls, completion=options.longest(label=True) * options.samples)

    def read(self, request: Request, completions: Sequence[Any]) -> Response:
        """Return what completions, as parsed JSON, say about a request.

        Whatever is no chat completion gives a response with status ``error``.
        """
        try:
            return self._read(request, completions)
        except Exception as error:  # noqa: BLE001 - whatever a server says, a request ends as a row
            detail = f"the answer is not a chat completion ({type(error).__name__})"
            return self.response(request, status="error", detail=detail)

    @staticmethod
    def refused_or_failed(status: int, code: str, message: str = "") -> tuple[AnswerStatus, str]:
        """Return status and detail of a request that the provider did not take: HTTP status, error code, message."""
        return "refused" if code in _REFUSED else "error", failure(status, code, message)

    def response(self, request: Request, **values: Any) -> Response:
        """Return a response to `request`; of the model and method asked for, unless `values` say otherwise."""
        method: Method = self.options.method if request.labels else "generated"
        values = {"model": self.model.name, "method": method, **values}
        return Response(request_id=request.request_id, repeat=request.repeat, **values)

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

    def _read(self, request: Request, completions: Sequence[Any]) -> Response:
        bodies = self.bodies(request)
        choices = [
            choice
            for completion, body in zip(completions, bodies, strict=False)
            # Some servers give more than were asked for: to count those would give this request other odds.
            for choice in (completion.get("choices") or ())[: body.get("n", 1)]
        ]
        usages = [_mapping(completion.get("usage")) for completion in completions]
        shared: dict[str, Any] = {
            "system_fingerprint": _mark(completions[0]),
            "prompt_tokens": sum(_count(usage.get("prompt_tokens")) for usage in usages),
            "completion_tokens": sum(_count(usage.get("completion_tokens")) for usage in usages),
        }
        if not choices:
            return self.response(request, status="error", detail="the answer holds no choice", **shared)
        first, text = choices[0], self._text(request, choices[0])
        shared |= {"model": writable(str(completions[0].get("model") or self.model.name)), "text": text}
        if request.labels and self.options.method == "sampled":
            return self._read_sampled(request, completions, choices, shared)
        if _is_refused(first):
            return self.response(request, status="refused", detail="refused by the provider", **shared)
        if not request.labels:
            if not text:
                return self.response(request, status="unparsed", detail="the answer is empty", **shared)
            # A text may end anywhere; a rating, a ranking or a list in it may not (their readers look for this).
            cut = CUT if first.get("finish_reason") == "length" else None
            return self.response(request, detail=cut, **shared)
        if (content := (first.get("logprobs") or {}).get("content")) and content[0].get("top_logprobs"):
            shares, said = read_top(content[0]["top_logprobs"], request.labels)
            if shares is None:
                return self.response(request, status="unparsed", detail=said, **shared)
        else:
            detail = (
                "the server gave no log-probabilities; use one that does, or model.options.method: sampled"
            )
            return self.response(request, status="error", detail=detail, **shared)
        return self.response(request, label_probabilities=shares, detail=said, **shared)

    def _read_sampled(
        self, request: Request, completions: Sequence[Any], choices: Sequence[Any], shared: Mapping[str, Any]
    ) -> Response:
        """Return the shares of the labels among all the answers that were sampled.

        A refused answer is one without a label; where most are refused, or fewer came than were asked for,
        there is no share.
        """
        models = sorted(
            {writable(str(completion.get("model") or self.model.name)) for completion in completions}
        )
        marks = sorted({m for c in completions if (m := _mark(c))})
        shared = {**shared, "model": ", ".join(models), "system_fingerprint": ", ".join(marks) or None}
        wanted, refused = self.options.samples, sum(map(_is_refused, choices))
        if len(choices) < wanted:
            detail = f"{len(choices)} of {wanted} sampled answers came"
            return self.response(request, status="error", detail=detail, **shared)
        if 2 * refused > len(choices):
            detail = f"{refused} of {len(choices)} sampled answers were refused by the provider"
            return self.response(request, status="refused", detail=detail, **shared)
        found = [
            None if _is_refused(choice) else read_label(self._text(request, choice), request.labels)
            for choice in choices
        ]
        shares = tuple(found.count(i) / len(found) for i in range(len(request.labels)))
        read = len(found) - found.count(None)
        cut = sum(
            place is None and choice.get("finish_reason") == "length"
            for place, choice in zip(found, choices, strict=True)
        )
        said = None
        if read < len(found):
            said = f"{read} of {len(found)} sampled answers were read, {refused} were refused"
        if said and cut:
            longest = self.options.longest(label=True)
            said += f", {cut} were cut at {longest} tokens without a label: raise model.options.max_tokens"
        return self.response(request, label_probabilities=shares, detail=said, **shared)

    def _text(self, request: Request, choice: Mapping[str, Any]) -> str | None:
        """Return what was answered, less the prefilled beginning that some servers repeat."""
        text = _said(choice["message"].get("content"))
        if text and self.options.prefill and request.messages[-1].role == "assistant":
            text = text.removeprefix(request.messages[-1].content)
        return text


def _said(content: Any) -> str | None:
    """Return the text of a message, which may come in parts; what is thought is none of it.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(content, list):
        texts = [part.get("text") for part in content if part.get("type") in ("text", "output_text")]
        content = "".join(texts)
    if content is not None and not isinstance(content, str):
        raise TypeError("not a text")
    return None if content is None else writable(content)


def _mark(completion: Mapping[str, Any]) -> str | None:
    """Return what a provider says of the system behind the model, if it is a text."""
    mark = completion.get("system_fingerprint")
    return writable(mark) if isinstance(mark, str) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; what is none holds nothing."""
    return value if isinstance(value, dict) else {}


def _is_refused(choice: Mapping[str, Any]) -> bool:
    return choice.get("finish_reason") == "content_filter" or bool(choice["message"].get("refusal"))


def _count(value: Any) -> int:
    """Return a count of tokens; what is none is not counted."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
