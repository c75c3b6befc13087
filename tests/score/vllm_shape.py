"""A server on loopback in the shape of vLLM's, over a tiny model: answers as vLLM 0.32.0 was seen to write them.

What it computes shares no code with the library: a whole pass over the token ids, and a softmax in float64.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Reply = tuple[int, dict[str, str], bytes]
Breaks = Callable[[dict[str, Any], int, Any], "Reply | Any | None"]
"""From a body, how often it was asked and the right answer: a reply, None to end the connection, or an answer."""


class TokenServer(ThreadingHTTPServer):
    """Serves a model under a name.

    Parameters
    ----------
    model, tokenizer
        As transformers loads them.

    Attributes
    ----------
    bodies : list of dict
        Of calls for completions, in the order in which they came.
    breaks : callable or None
        May answer a call for a completion in place of it.
    masks, old, cuts, longest, key
        What a server may do otherwise: show log-probabilities after masks, know no ``logprob_token_ids``, cut texts
        into other tokens, take prompts of so many tokens, want a key.
    adds, keeps, shows, states
        What it may do to every call: put tokens before a prompt, read its last ones alone, write log-probabilities in
        another way, state something else than an answer.
    """

    daemon_threads = True
    request_queue_size = 128
    block_on_close = False

    def __init__(self, model: Any, tokenizer: Any, name: str = "tiny") -> None:
        import torch

        self.torch, self.name, self.model, self.tokenizer = torch, name, model, tokenizer
        self.breaks: Breaks | None = None
        self.masks = self.old = self.cuts = False
        self.longest, self.key = 512, ""
        self.adds: list[int] = []
        self.keeps: int | None = None
        self.shows: Callable[[float], Any] = float
        self.states: Any = None
        self.bodies: list[dict[str, Any]] = []
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def logs(self, tokens: list[int]) -> Any:
        """Return the log-probabilities of every token after `tokens`."""
        with self.torch.inference_mode():
            logits = self.model(input_ids=self.torch.tensor([tokens])).logits[0, -1]
        return logits.double().log_softmax(-1)

    def complete(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the answer to a call for a completion."""
        prompt = [*self.adds, *body["prompt"]][-(self.keeps or 0) :]
        if self.states is not None:
            return 200, self.states
        if body["model"] != self.name:
            return 404, _error(f"The model `{body['model']}` does not exist.", "NotFoundError", 404)
        if len(prompt) + body["max_tokens"] > self.longest:
            return 400, _error(
                f"This model's maximum context length is {self.longest} tokens.", "BadRequestError", 400
            )
        written: list[int] = []
        shown, end = None, "length"
        for _ in range(body["max_tokens"]):
            logs = self.logs(prompt + written)
            pushed = logs.clone()
            for token, by in body.get("logit_bias", {}).items():
                pushed[int(token)] += by
            best = int(pushed.argmax())
            if body.get("logprobs") is not None:
                seen = pushed.log_softmax(-1) if self.masks else logs
                wanted = [best] if self.old else [best, *body.get("logprob_token_ids", [])]
                shown = {f"token_id:{token}": self.shows(float(seen[token])) for token in wanted}
            if best in body.get("stop_token_ids", []):
                end = "stop"
                break
            written.append(best)
        logprobs = shown and {
            "text_offset": [0],
            "token_logprobs": [next(iter(shown.values()))],
            "tokens": [next(iter(shown))],
            "top_logprobs": [shown],
        }
        choice = {
            "index": 0,
            "text": self.tokenizer.decode(written, skip_special_tokens=True),
            "logprobs": logprobs,
            "finish_reason": end,
            "stop_reason": None,
            "token_ids": None,
            "prompt_logprobs": None,
            "prompt_token_ids": None,
        }
        count = len(written) + (end == "stop")
        usage = {
            "prompt_tokens": len(prompt),
            "total_tokens": len(prompt) + count,
            "completion_tokens": count,
            "prompt_tokens_details": None,
        }
        return 200, {
            "id": "cmpl-1",
            "object": "text_completion",
            "created": 1,
            "model": self.name,
            "choices": [choice],
            "service_tier": None,
            "system_fingerprint": "vllm-0.32.0-6c0dd2cd",
            "usage": usage,
            "kv_transfer_params": None,
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: TokenServer

    def do_GET(self) -> None:
        if self._turned_away():
            return
        if self.path == "/version":
            self._send(200, {"version": "0.32.0"})
        elif self.path == "/v1/models":
            one = {
                "id": self.server.name,
                "object": "model",
                "owned_by": "vllm",
                "max_model_len": self.server.longest,
            }
            self._send(200, {"object": "list", "data": [one]})
        else:
            self._send(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        if self._turned_away():
            return
        if self.path == "/tokenize":
            tokens = server.tokenizer.encode(body["prompt"], add_special_tokens=body["add_special_tokens"])
            self._send(200, {"count": len(tokens), "max_model_len": 512, "tokens": tokens[server.cuts :]})
            return
        with server.lock:
            server.bodies.append(body)
            server.asked[mark := json.dumps(body)] += 1
            asked = server.asked[mark]
        status, answer = server.complete(body)
        if status == 200 and server.breaks is not None:
            answer = server.breaks(body, asked, answer)
        if answer is None:
            self.close_connection = True
            self.connection.close()
        elif isinstance(answer, tuple):
            self._send(answer[0], answer[2], answer[1])
        else:
            self._send(status, answer)

    def _turned_away(self) -> bool:
        if self.server.key and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            self._send(401, {"error": "Unauthorized"})
            return True
        return False

    def _send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        sent = {"Content-Length": str(len(content)), "Content-Type": "application/json", **(headers or {})}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


def _error(message: str, kind: str, code: int) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def loaded(folder: Path) -> tuple[Any, Any]:
    """Return a folder's model and tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    load: Any = AutoModelForCausalLM.from_pretrained
    return load(folder, dtype=torch.float32).eval(), AutoTokenizer.from_pretrained(folder)


@contextmanager
def token_server(model: Any, tokenizer: Any) -> Iterator[TokenServer]:
    """Run a server for a while."""
    with TokenServer(model, tokenizer) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
