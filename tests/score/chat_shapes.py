"""Servers on loopback in the shapes of OpenAI's o-series, Mistral, and vLLM with a model that thinks.

Written from what the providers say:

- o-series: https://platform.openai.com/docs/guides/reasoning; refusals as quoted in
  https://github.com/openai/openai-python/issues/2046 (``max_tokens``), https://github.com/MartialBE/one-hub/issues/346
  (``temperature``) and https://github.com/getomni-ai/zerox/issues/176
- Mistral: https://docs.mistral.ai/api/ and https://docs.mistral.ai/capabilities/reasoning/; the refusal of
  ``max_completion_tokens`` as in https://github.com/editor-code-assistant/eca/issues/231
- vLLM: https://docs.vllm.ai/en/v0.11.2/features/reasoning_outputs/ and
  https://docs.vllm.ai/en/latest/features/structured_outputs.html
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.score.loopback import Loopback, Reply
from tests.score.thinking_model import Thought, think

Broken = Callable[[str, int, bytes], "Reply | bool | None"]
"""From word, time asked and the right body: another reply, None to end the connection, or True: the right one."""


class ThinkingServer(Loopback):
    """A provider's server; a subclass knows its shape.

    Attributes
    ----------
    breaks : callable or None
        May answer in place of it, for tests of what goes wrong.
    generated : int
        Tokens that were generated, in all: what is paid for.
    thinks : bool
        Whether the model does.
    """

    thinks = True

    def __init__(self) -> None:
        self.breaks: Broken | None = None
        self.generated = 0
        self._draws = 0
        super().__init__(lambda word, asked: None)

    def reply(self, path: str, body: Any, word: str, time_asked: int) -> Reply | None:
        status, answer = self.answer(path, body)
        content = json.dumps(answer).encode()
        if status == 200 and self.breaks is not None:
            other = self.breaks(word, time_asked, content)
            if other is not True:
                return other  # type: ignore[return-value]
        return status, {}, content

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        """Return the status and body of an answer."""
        raise NotImplementedError

    def thought(self, prompt: str, room: int, schema: Any = None) -> Thought:
        with self.lock:
            self._draws += 1
            found = think(prompt, room, schema, self._draws, thinks=self.thinks)
            self.generated += found.generated
        return found

    def thoughts(self, body: Any, room: int) -> list[Thought]:
        """Return the answers to a chat body."""
        return [self.thought(chat_prompt(body), room, chat_schema(body)) for _ in range(body.get("n", 1))]


def chat_prompt(body: Any) -> str:
    told = (m["content"] for m in body["messages"])
    return "\n".join(one if isinstance(one, str) else one[0]["text"] for one in told)


def chat_schema(body: Any) -> Any:
    return body["response_format"]["json_schema"]["schema"] if "response_format" in body else None


def chat_completion(body: Any, choices: list[tuple[Any, bool]], thoughts: list[Thought], **usage: Any) -> Any:
    read, generated = thoughts[0].read, sum(t.generated for t in thoughts)
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": f"{body['model'].removesuffix('-latest')}-2026-01-01",
        "choices": [
            {
                "index": i,
                "message": {"role": "assistant", **message},
                "finish_reason": "length" if cut else "stop",
            }
            for i, (message, cut) in enumerate(choices)
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": generated,
            "total_tokens": read + generated,
            **usage,
        },
    }


class OSeries(ThinkingServer):
    """OpenAI's o-series: no ``max_tokens``, no temperature but 1, no log-probabilities; it counts what it thought."""

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        for name in ("max_tokens", "logprobs", "top_logprobs"):
            if name in body:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return 400, _error(said, name, "unsupported_parameter")
        if body.get("temperature", 1) != 1:
            said = "Unsupported value: 'temperature' does not support 0 with this model."
            return 400, _error(said, "temperature", "unsupported_value")
        thoughts = self.thoughts(body, body["max_completion_tokens"])
        choices = [({"content": t.text, "refusal": None}, t.cut) for t in thoughts]
        details = {"reasoning_tokens": sum(t.thinking for t in thoughts)}
        return 200, chat_completion(body, choices, thoughts, completion_tokens_details=details)


class MistralChat(ThinkingServer):
    """Mistral's magistral: what it does not know is HTTP 422; what it thought is a part of the content."""

    takes = frozenset(
        {"model", "messages", "temperature", "top_p", "max_tokens", "n", "random_seed", "response_format"}
        | {
            "frequency_penalty",
            "presence_penalty",
            "safe_prompt",
            "stop",
            "stream",
            "tools",
            "tool_choice",
            "prompt_mode",
        }
    )

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        if extra := sorted(set(body) - self.takes):
            said = "Extra inputs are not permitted"
            detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": said} for name in extra]
            return 422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
        thoughts = self.thoughts(body, body["max_tokens"])
        hm = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, no, or yes?"}]}
        choices: list[tuple[Any, bool]] = []
        for t in thoughts:
            parts = [hm, {"type": "text", "text": t.text}]
            choices.append(({"content": parts if self.thinks else t.text}, t.cut))
        return 200, chat_completion(body, choices, thoughts)


class VLLM(ThinkingServer):
    """vLLM with a model that thinks: shown as ``reasoning``, counted with the rest."""

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        thoughts = self.thoughts(body, body.get("max_completion_tokens") or body["max_tokens"])
        hm = {"reasoning": "Hm, no, or yes?"} if self.thinks else {}
        choices = [({"content": t.text or None, **hm}, t.cut) for t in thoughts]
        return 200, chat_completion(body, choices, thoughts)


def _error(said: str, param: str, code: str) -> Any:
    return {"error": {"message": said, "type": "invalid_request_error", "param": param, "code": code}}


@contextmanager
def serving(server: ThinkingServer) -> Iterator[ThinkingServer]:
    """Run a server for a while."""
    with server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
