"""Chat completions: the bodies that a request becomes, and what an answer says. No network here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from audit_lib.documents.capabilities import Capabilities
from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.reading.json_values import writable
from audit_lib.score.reading.logprobs import read_top
from audit_lib.score.reading.ratings import CUT
from audit_lib.score.remote.chat_options import GOES_ON, LATER, ChatOptions
from audit_lib.score.remote.completions import called, said, system_mark, thinking_tokens, used_tokens
from audit_lib.score.remote.cost import NOTHING, Usage, prompt_tokens
from audit_lib.score.remote.error_texts import failure
from audit_lib.score.remote.limits import CLIENT_ONLY
from audit_lib.score.remote.stated_errors import REFUSED
from audit_lib.score.remote.structured import chosen_label, label_schema, response_format
from audit_lib.score.requests import Method, Request, Response
from audit_lib.seeds import derive_seed
from audit_lib.spec import Model

_FORM_TOKENS = 16
"""Around a label that is asked for by a schema: braces, key and quotes."""


class Chat:
    """Turns requests into bodies of ``/chat/completions``, and completions into responses.

    Parameters
    ----------
    model : Model
        The spec's section.
    options : ChatOptions
        Its options, parsed.

    Attributes
    ----------
    can : Capabilities or None
        What the model was found to take and give: bodies are written accordingly. None: as the spec says.
    """

    def __init__(self, model: Model, options: ChatOptions) -> None:
        self.model, self.options = model, options
        self.can: Capabilities | None = None

    def describe(
        self,
        backend: str,
        client_only: frozenset[str] = frozenset(),
        packages: Sequence[str] = ("openai",),
    ) -> dict[str, Any]:
        """Return the endpoint and the options, apart from those that change no answer."""
        from importlib.metadata import version

        given = self.options.model_dump() | {"max_tokens": self.options.longest()}
        options = {key: value for key, value in given.items() if key not in LATER or value != LATER[key]}
        if self.options.method == "sampled" and self.options.max_tokens is not None:
            options["longest_sampled_label"] = (
                self.options.max_tokens
            )  # what was asked with 16 answers no such request
        options.pop("probe", None)
        if self.options.prefill:
            options["prefill"] = "continue_final_message"  # without it vLLM was asked another question
        how = CLIENT_ONLY | {"api_key_env"} | client_only
        return {
            "backend": backend,
            "name": self.model.name,
            "revision": self.model.revision,
            "options": {key: value for key, value in options.items() if key not in how},
            "client": {key: options[key] for key in sorted(how)},
            "versions": {package: version(package) for package in packages},
        }

    def bodies(self, request: Request) -> list[dict[str, Any]]:
        """Return the calls that a request takes: several if labels are sampled, else one."""
        options = self.options
        body: dict[str, Any] = {
            "model": self.model.name,
            "messages": self._messages(request),
            "temperature": options.temperature or 0.0,
            **(GOES_ON if options.prefill and _is_begun(request) else {}),
            **options.extra_body,
        }
        if request.sampling is not None:
            body["temperature"] = request.sampling.temperature
            body["max_completion_tokens"] = request.sampling.max_tokens
            # 31 bits: every server's integer holds it
            body["seed"] = derive_seed(request.sampling.seed, "repeat", request.repeat) >> 33
            return [self._adapted(request, body)]
        if not request.labels:
            bodies = [body | {"max_completion_tokens": options.longest()}]
        elif options.method == "logprobs":
            bodies = [body | {"logprobs": True, "top_logprobs": 20, "max_completion_tokens": 1}]
        else:
            body["temperature"] = 1.0 if options.temperature is None else options.temperature
            body["max_completion_tokens"] = options.longest(label=True)
            step = self._samples_per_call
            starts = range(0, options.samples, step)
            bodies = [body | {"n": min(step, options.samples - start)} for start in starts]
        if options.seed is not None:
            first = options.seed + request.repeat * len(bodies)
            bodies = [body | {"seed": first + i} for i, body in enumerate(bodies)]
        return [self._adapted(request, body) for body in bodies]

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes at most (`cost.RULE`), with those of thinking."""
        options, read = self.options, prompt_tokens(request)
        thought = options.thinking_tokens or 0
        if request.sampling is not None:
            return 1, Usage(prompt=read, completion=request.sampling.max_tokens + thought)
        if not request.labels:
            return 1, Usage(prompt=read, completion=options.longest() + thought)
        if options.method == "logprobs":
            return 1, Usage(prompt=read, completion=1)
        calls = -(-options.samples // self._samples_per_call)
        longest = options.longest(label=True) + thought
        if self._form(request) is not None:
            longest += _FORM_TOKENS
        return calls, Usage(prompt=read * calls, completion=longest * options.samples)

    @property
    def _samples_per_call(self) -> int:
        several = self.can is None or self.can.several is not False
        return self.options.samples_per_call if several else 1

    def _form(self, request: Request) -> Mapping[str, Any] | None:
        """Return the schema that the answer is asked to keep to; None if it is asked for in words alone."""
        wanted = self.options.structured if self.options.tool is None else "never"
        able = self.can is not None and self.can.structured is True
        if wanted == "never" or (wanted == "auto" and (not able or self.options.prefill)):
            return None
        if request.labels:
            return label_schema(request.labels) if self.options.method == "sampled" else None
        if request.answer_schema is None or (wanted == "auto" and len(request.candidates) == 1):
            return None
        found: dict[str, Any] = json.loads(request.answer_schema)
        return found

    def _adapted(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """Return a body as the model takes it (`adaptations`)."""
        options, can, body = self.options, self.can, dict(body)
        room = body.pop("max_completion_tokens")
        if (form := self._form(request)) is not None:
            body["response_format"] = response_format(form)
            room += _FORM_TOKENS if request.labels else 0
        if not (request.labels and options.method == "logprobs"):
            room += options.thinking_tokens or 0
        limit = options.token_limit or (can and can.token_limit) or "max_completion_tokens"
        body[limit] = room
        if options.effort is not None:
            body["reasoning_effort"] = "none" if options.effort == "off" else options.effort
        if can is None:
            return body
        if can.temperature is False:
            body.pop("temperature")
        if can.seed is False:
            body.pop("seed", None)
        if can.system_role is False:
            body["messages"] = _without_system(body["messages"])
        return body

    def refusal(self, request: Request) -> str | None:
        """Return why the model cannot be asked a request as the spec says, and what to do; None if it can."""
        can, options = self.can, self.options
        if can is None:
            return None
        what, name = {key: f" ({said})" for key, said in can.refusals.items()}, self.model.name
        if can.token_limit is None and can.refusals:
            said = "; ".join(can.refusals.values())
            return f"{name} takes no limit of tokens for its answers, so that nothing bounds what they cost ({said})"
        if can.thinks and options.thinking_tokens is None:
            return (
                f"model.options.thinking_tokens: {name} thinks before it answers, and nothing says how many tokens it "
                "may take for that; give a number (they are priced as generated ones), or effort: off"
            )
        if "thinking_tokens" in can.refusals:
            return (
                f"model.options.thinking_tokens: {name} came to no answer before they were used up"
                f"{what['thinking_tokens']}; give more, or an effort"
            )
        if request.labels and options.method == "logprobs" and (can.logprobs is False or can.thinks):
            return (
                f"model.options.method: {name} gives no log-probabilities of its answer{what.get('logprobs', '')}; use "
                "method: sampled"
            )
        if options.effort is not None and can.effort is False:
            return f"model.options.effort: {name} does not take it{what.get('effort', '')}; leave it out"
        if options.prefill and can.prefill is False:
            return (
                f"model.options.prefill: {name} does not go on from an answer that is begun"
                f"{what.get('prefill', '')}, and would be asked another question; use prefill: false"
            )
        if options.structured == "always" and can.structured is False:
            return f"model.options.structured: {name} keeps to no schema{what.get('structured', '')}; use auto or never"
        if can.temperature is False:
            asked = options.temperature if request.sampling is None else request.sampling.temperature
            where = "model.options.temperature" if request.sampling is None else "the task's temperature"
            if asked not in (None, 0.0, 1.0) or options.temperature is not None:
                return f"{where}: {name} does not take it{what.get('temperature', '')}; leave it out"
        return None

    def adaptations(self) -> tuple[str, ...]:
        """Return what is asked otherwise than the spec says, because the model takes it in no other way."""
        can, options, found = self.can, self.options, []
        if can is None:
            return ()
        if can.token_limit == "max_tokens":
            found.append("the limit of tokens is sent as max_tokens")
        if can.temperature is False:
            found.append("no temperature is sent: answers are sampled as the model does by itself")
        if can.seed is False:
            found.append("no seed is sent")
        if can.several is False and options.samples_per_call > 1:
            found.append("each call asks for one answer")
        if can.system_role is False:
            found.append("the system's words begin the first message of the user")
        if can.structured is True and options.structured == "auto" and not options.prefill:
            found.append("sampled labels and rankings are asked for by a JSON schema")
        return tuple(found)

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
        return "refused" if code in REFUSED else "error", failure(status, code, message)

    def response(self, request: Request, **values: Any) -> Response:
        """Return a response to `request`; of the model and method asked for, unless `values` say otherwise."""
        method: Method = self.options.method if request.labels else "generated"
        values = {"model": self.model.name, "method": method, **values}
        return Response(request_id=request.request_id, repeat=request.repeat, **values)

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        """Return the turns, each with its images and files after its text."""
        turns = self._texts(request)
        for turn, message in zip(turns, request.messages, strict=False):
            if message.parts is not None:
                turn["content"] = [{"type": "text", "text": turn["content"]}, *json.loads(message.parts)]
        return turns

    def _texts(self, request: Request) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [{"role": m.role, "content": m.content} for m in request.messages]
        if self.options.prefill or not _is_begun(request):
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
        used = sum(map(used_tokens, completions), NOTHING)
        thoughts = [tokens for c in completions if (tokens := thinking_tokens(c)) is not None]
        shared: dict[str, Any] = {
            "system_fingerprint": system_mark(completions[0]),
            "prompt_tokens": used.prompt,
            "completion_tokens": used.completion,
            "thinking_tokens": sum(thoughts) if thoughts else None,
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
                none = f"the answer is not one call of {self.options.tool} with {self.options.tool_path}"
                why = "the answer is empty" if self.options.tool is None else none
                return self.response(request, status="unparsed", detail=why, **shared)
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
        marks = sorted({m for c in completions if (m := system_mark(c))})
        shared = {**shared, "model": ", ".join(models), "system_fingerprint": ", ".join(marks) or None}
        wanted, refused = self.options.samples, sum(map(_is_refused, choices))
        if len(choices) < wanted:
            detail = f"{len(choices)} of {wanted} sampled answers came"
            return self.response(request, status="error", detail=detail, **shared)
        if 2 * refused > len(choices):
            detail = f"{refused} of {len(choices)} sampled answers were refused by the provider"
            return self.response(request, status="refused", detail=detail, **shared)
        found = [
            None if _is_refused(choice) else chosen_label(self._text(request, choice), request.labels)
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
            raised = "max_tokens" if self.options.thinking_tokens is None else "thinking_tokens or max_tokens"
            said += f", {cut} were cut at {longest} tokens without a label: raise model.options.{raised}"
        return self.response(request, label_probabilities=shares, detail=said, **shared)

    def _text(self, request: Request, choice: Mapping[str, Any]) -> str | None:
        """Return what was answered, less the prefilled beginning that some servers repeat."""
        if self.options.tool is not None:
            return called(choice["message"], self.options.tool, self.options.tool_path)
        text = said(choice["message"].get("content"))
        if text and self.options.prefill and _is_begun(request):
            text = text.removeprefix(request.messages[-1].content)
        return text


def _is_begun(request: Request) -> bool:
    return bool(request.messages) and request.messages[-1].role == "assistant"


def _without_system(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages whose first one of the user begins with the system's words."""
    words = [m["content"] for m in messages if m["role"] == "system"]
    rest = [dict(m) for m in messages if m["role"] != "system"]
    first = next((m for m in rest if m["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(words)}, *rest]
    if isinstance(first["content"], list):
        text, *parts = first["content"]
        first["content"] = [{**text, "text": "\n\n".join([*words, text["text"]])}, *parts]
    else:
        first["content"] = "\n\n".join([*words, first["content"]])
    return rest


def _is_refused(choice: Mapping[str, Any]) -> bool:
    return choice.get("finish_reason") == "content_filter" or bool(choice["message"].get("refusal"))
