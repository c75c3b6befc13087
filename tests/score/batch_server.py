"""The Batch API's documented behaviour on loopback: files, batches, output and error files."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any], int], tuple[int, Any]]
"""From the body of a line and how often it was asked: HTTP status and body of its answer."""


class BatchServer(ThreadingHTTPServer):
    """Works off batches when they are looked at.

    Attributes
    ----------
    fates : list of str
        What becomes of each batch in turn: ``completed`` (also when the list is at its end), ``expired`` (half
        of its lines are answered), ``cancelled`` (likewise), ``failed`` (refused as a whole), ``shuffled``
        (answers in another order, one of them twice, one line cut short).
    looks : int
        How often a batch is looked at before it is done.
    holds : int
        Most lines that its queue holds: of all batches that are not done. One that is beyond it fails.
    stuck : set of str
        Batches that are never done.
    instead : callable or None
        May answer in the place of the server, which has done by then what it was asked for: gets the handler
        and the usual answer's content, and tells whether it has answered.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, answer: Answer, key: str) -> None:
        self.answer, self.key = answer, key
        self.fates: list[str] = []
        self.looks = 2
        self.holds = 1_000_000
        self.stuck: set[str] = set()
        self.instead: Callable[[_Handler, Any], bool] | None = None
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.looked: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def add_file(self, content: bytes) -> str:
        self.files[name := f"file-{len(self.files)}"] = content
        return name

    def add_batch(self, order: dict[str, Any]) -> dict[str, Any]:
        lines = [json.loads(line) for line in self.files[order["input_file_id"]].splitlines()]
        assert all(line["url"] == order["endpoint"] and line["method"] == "POST" for line in lines)
        assert len({line["custom_id"] for line in lines}) == len(lines), "custom ids are unique"
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "created_at": 1,
            "status": "validating",
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            **order,
        }
        queued = sum(
            one["request_counts"]["total"]
            for one in self.batches.values()
            if one["status"] in ("validating", "in_progress")
        )
        self.batches[batch["id"]] = batch
        if queued + len(lines) > self.holds:
            said = f"Enqueued token limit reached. Limit: {self.holds} enqueued tokens."
            errors = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": said}]}
            batch |= {"status": "failed", "errors": errors}
        return batch

    def look(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        self.looked[batch_id] += 1
        if batch_id in self.stuck:
            return batch
        if batch["status"] in ("validating", "in_progress"):
            batch["status"] = "in_progress"
            if self.looked[batch_id] > self.looks:
                self.work_off(batch)
        return batch

    def work_off(self, batch: dict[str, Any]) -> None:
        number = int(batch["id"].split("_")[1])
        fate = self.fates[number] if number < len(self.fates) else "completed"
        if fate == "failed":
            errors = {"object": "list", "data": [{"code": "invalid_json_line", "message": "x", "line": 1}]}
            batch |= {"status": "failed", "errors": errors}
            return
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        done = lines if fate in ("completed", "shuffled") else lines[: len(lines) // 2]
        output, errors = [], []
        for line in done:
            self.asked[line["custom_id"]] += 1
            status, body = self.answer(line["body"], self.asked[line["custom_id"]])
            about = {"id": f"batch_req_{len(output)}", "custom_id": line["custom_id"], "error": None}
            answer = about | {"response": {"status_code": status, "request_id": "r", "body": body}}
            (output if status == 200 else errors).append(json.dumps(answer))
        code = {"expired": "batch_expired", "cancelled": "batch_cancelled"}.get(fate)
        for line in lines[len(done) :]:
            error = {"code": code, "message": "This request could not be executed."}
            errors.append(json.dumps({"custom_id": line["custom_id"], "response": None, "error": error}))
        if fate == "shuffled":
            output = [*reversed(output[1:]), output[-1], output[0][:40]]
        for name, content in (("output_file_id", output), ("error_file_id", errors)):
            batch[name] = self.add_file("\n".join(content).encode()) if content else None
        batch["request_counts"] |= {"completed": len(output), "failed": len(errors)}
        batch["status"] = fate if code else "completed"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: BatchServer

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._allowed():
            return
        with self.server.lock:
            if self.path == "/v1/files":
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                parts = BytesParser(policy=HTTP).parsebytes(head + content).iter_parts()
                fields = {part.get_param("name", header="content-disposition"): part for part in parts}
                assert fields["purpose"].get_payload(decode=True).strip() == b"batch"
                name = self.server.add_file(fields["file"].get_payload(decode=True))
                file = {
                    "id": name,
                    "object": "file",
                    "bytes": 1,
                    "created_at": 1,
                    "filename": "f",
                    "purpose": "batch",
                }
                self._send(200, file | {"status": "processed"})
            else:
                self._send(200, self.server.add_batch(json.loads(content)))

    def do_GET(self) -> None:
        if not self._allowed():
            return
        with self.server.lock:
            path = self.path.split("?")[0].removeprefix("/v1/").split("/")
            if path == ["models"]:  # what a preflight asks
                self._send(200, {"object": "list", "data": []})
            elif path == ["batches"]:
                batches = list(self.server.batches.values())
                self._send(200, {"object": "list", "data": batches, "has_more": False})
            elif self.server.batches.get(path[1], {}).get("gone") or (
                path[0] == "files" and path[1] not in self.server.files
            ):
                self._send(404, {"error": {"code": "not_found", "message": "no"}})
            elif path[0] == "batches":
                self._send(200, self.server.look(path[1]))
            else:
                self._send(200, self.server.files[path[1]])

    def _allowed(self) -> bool:
        if self.headers["Authorization"] == f"Bearer {self.server.key}":
            return True
        self._send(401, {"error": {"code": "invalid_api_key", "message": "no"}})
        return False

    def _send(self, status: int, content: Any) -> None:
        if self.server.instead is None or not self.server.instead(self, content):
            self.send(status, content)

    def send(self, status: int, content: Any) -> None:
        """Send an answer as it is."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header(
            "Content-Type", "application/octet-stream" if body is content else "application/json"
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, part: str) -> None:
        """Send an answer whose head or body comes byte by byte and never ends."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        if part == "body":
            self.end_headers()
        else:
            self.flush_headers()
            self.wfile.write(b"X-Long: ")
        with suppress(OSError):
            while self.wfile.write(b" "):
                time.sleep(0.05)

    def cut(self) -> None:
        """End the connection without an answer."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def batch_server(answer: Answer, key: str) -> Iterator[BatchServer]:
    """Run a server for a while."""
    with BatchServer(answer, key) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
