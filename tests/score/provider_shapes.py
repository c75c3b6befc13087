"""Servers on loopback in the shapes of Anthropic, Gemini and Bedrock, with a model that thinks.

Written from what the providers say:

- Anthropic: https://platform.claude.com/docs/en/api/messages, thinking
  https://platform.claude.com/docs/en/build-with-claude/extended-thinking, schemas
  https://platform.claude.com/docs/en/build-with-claude/structured-outputs
- Gemini: https://ai.google.dev/api/generate-content, thinking https://ai.google.dev/gemini-api/docs/thinking
- Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, schemas
  https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_OutputConfig.html
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

from tests.score.chat_shapes import ThinkingServer


def _joined(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(p["text"] for p in content if "text" in p)


class Anthropic(ThinkingServer):
    """Claude: thinks only where it is told to, takes no temperature but 1 then, and no seed at all."""

    takes = frozenset(
        {
            "model",
            "messages",
            "max_tokens",
            "system",
            "temperature",
            "thinking",
            "top_p",
            "top_k",
            "stop_sequences",
        }
        | {"output_config", "stream", "metadata", "service_tier", "tools", "tool_choice"}
    )

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        assert path.split("?")[0].endswith("/v1/messages")
        if extra := sorted(set(body) - self.takes):
            return 400, self.fault(f"{extra[0]}: Extra inputs are not permitted")
        budget = body.get("thinking", {"type": "disabled"})
        on = budget["type"] != "disabled"
        if on and body.get("temperature", 1) != 1:
            return 400, self.fault("`temperature` may only be set to 1 when thinking is enabled.")
        if budget.get("budget_tokens", 0) >= body["max_tokens"]:
            return 400, self.fault("`max_tokens` must be greater than `thinking.budget_tokens`.")
        prompt = "\n".join(
            [_joined(body.get("system", "")), *(_joined(m["content"]) for m in body["messages"])]
        )
        form = (body.get("output_config") or {}).get("format")
        self.thinks = on
        t = self.thought(prompt, body["max_tokens"], form and form["schema"])
        thinking = [{"type": "thinking", "thinking": "Hm, no, or yes?", "signature": "c2ln"}] * on
        return 200, {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [*thinking, *([{"type": "text", "text": t.text}] if t.text else [])],
            "stop_reason": "max_tokens" if t.cut else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": t.read, "output_tokens": t.generated},
        }

    @staticmethod
    def fault(said: str) -> Any:
        return {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": said},
            "request_id": "req_1",
        }


class Gemini(ThinkingServer):
    """Gemini 2.5: thinks by itself; counts thoughts apart from what it answered."""

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        model = path.split("/models/")[1].split(":")[0]
        asked = body["generationConfig"]
        system = body.get("systemInstruction", {"parts": []})["parts"]
        prompt = "\n".join([_joined(system), *(_joined(turn["parts"]) for turn in body["contents"])])
        schema = asked.get("responseJsonSchema") or asked.get("responseSchema")
        t = self.thought(prompt, asked["maxOutputTokens"], schema)
        parts = [{"text": t.text}] if t.text else []
        if asked.get("thinkingConfig", {}).get("includeThoughts"):
            parts = [{"text": "Hm, no, or yes?", "thought": True}, *parts]
        return 200, {
            "candidates": [
                {
                    "content": {"parts": parts, "role": "model"},
                    "finishReason": "MAX_TOKENS" if t.cut else "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": t.read,
                "candidatesTokenCount": t.answer,
                "thoughtsTokenCount": t.thinking,
                "totalTokenCount": t.read + t.generated,
            },
            "modelVersion": model,
            "responseId": "r",
        }


class Bedrock(ThinkingServer):
    """Bedrock's Converse with a model that thinks: shown as ``reasoningContent``, counted with the rest."""

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        assert unquote(path).endswith("/converse")
        config = body["inferenceConfig"]
        if extra := sorted(set(config) - {"maxTokens", "temperature", "topP", "stopSequences"}):
            return 400, {"message": f"extraneous key [{extra[0]}] is not permitted"}
        prompt = "\n".join(
            [_joined(body.get("system", [])), *(_joined(m["content"]) for m in body["messages"])]
        )
        form = body.get("outputConfig", {}).get("textFormat")
        schema = json.loads(form["structure"]["jsonSchema"]["schema"]) if form else None
        t = self.thought(prompt, config["maxTokens"], schema)
        hm = {"reasoningContent": {"reasoningText": {"text": "Hm, no, or yes?", "signature": "c2ln"}}}
        content = [hm, *([{"text": t.text}] if t.text else [])]
        return 200, {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "max_tokens" if t.cut else "end_turn",
            "usage": {
                "inputTokens": t.read,
                "outputTokens": t.generated,
                "totalTokens": t.read + t.generated,
            },
            "metrics": {"latencyMs": 1},
        }
