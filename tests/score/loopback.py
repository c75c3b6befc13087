"""An HTTP server on loopback that behaves, or misbehaves, as a test tells it to."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes]
Behave = Callable[[str, int], "Reply | None"]
GOOD = {" Yes": -1.0, "Yes": -3.0, " No": -2.0, " yes": -5.0, " perhaps": -4.0}


def completion(
    top: dict[str, float] | None, text: str = " Yes", more: dict[str, Any] | None = None, **choice: Any
) -> Reply:
    """Return a chat completion with log-probabilities of its first token; `more` goes beside its choices."""
    logprobs = None
    if top is not None:
        tokens = [{"token": token, "logprob": value, "bytes": None} for token, value in top.items()]
        logprobs = {"content": [{"token": text, "logprob": -0.1, "bytes": None, "top_logprobs": tokens}]}
    first = {
        "index": 0,
        "finish_reason": "stop" if top is None else "length",  # labels are one token
        "message": {"role": "assistant", "content": text},
        "logprobs": logprobs,
        **choice,
    }
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "served-1", "choices": [first]}
    return 200, {}, json.dumps(body | (more or {})).encode()


class Loopback(ThreadingHTTPServer):
    """Answers each request by what `behave` returns for its word and how often it was asked.

    The word is the first one of the last user message (chat), or of the field ``text``. None resets the
    connection; the header ``Drip`` sends the body a byte at a time, so many seconds apart; an empty header is
    left out.
    """

    daemon_threads = True
    request_queue_size = 256  # with 5 a burst of connections waits a second for its turn
    block_on_close = False

    def __init__(self, behave: Behave) -> None:
        self.behave = behave
        self.asked: Counter[str] = Counter()
        self.bodies: list[Any] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def reply(self, path: str, body: Any, word: str, time_asked: int) -> Reply | None:
        """Return what is answered to a body."""
        return self.behave(word, time_asked)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Loopback

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        word = _word(body)
        with server.lock:
            server.asked[word] += 1
            time_asked = server.asked[word]
            server.bodies.append(body)
            server.paths.append(self.path)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.times.append(time.monotonic())
        reply = server.reply(self.path, body, word, time_asked)
        if reply is None:
            self.close_connection = True
            self.connection.close()
            return
        status, headers, content = reply
        drip = float(headers.pop("Drip", 0))
        self.send_response(status)
        sent = {"Content-Length": str(len(content)), "Content-Type": "application/json", **headers}
        for name, value in sent.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if not drip:
            self.wfile.write(content)
            return
        for i in range(len(content)):
            self.wfile.write(content[i : i + 1])
            self.wfile.flush()
            time.sleep(drip)

    def do_GET(self) -> None:
        """A list of models, which costs nothing and is not counted."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments: object) -> None:
        pass


def _word(body: Any) -> str:
    turns = body.get("messages", body.get("contents"))
    if turns is not None:
        turn = next(m for m in reversed(turns) if m["role"] == "user")
        content = turn.get("content", turn.get("parts"))
        return str(content if isinstance(content, str) else content[0]["text"]).split()[0]
    return str(body["text"]).split()[0]


@contextmanager
def loopback(behave: Behave) -> Iterator[Loopback]:
    """Run a server for a while."""
    with Loopback(behave) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
