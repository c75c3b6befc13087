"""A real web server on loopback whose pages a test decides, and which notes who asked for what and when."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

HOST = "127.0.0.1"


@dataclass
class Page:
    """An answer: its status, bytes and headers; or what writes it by hand."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    write: Callable[[BaseHTTPRequestHandler], None] | None = None


@dataclass
class Asked:
    """A request that came."""

    path: str
    at: float
    headers: dict[str, str]


@dataclass
class Site:
    """The server."""

    port: int
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://{HOST}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [one.path for one in self.asked]


@contextlib.contextmanager
def web_site() -> Iterator[Site]:
    """Serve until the block ends."""
    site: Site

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: object) -> None:
            pass

        def do_GET(self) -> None:
            site.asked.append(Asked(self.path, time.monotonic(), dict(self.headers.items())))
            page = site.pages.get(self.path, Page(status=404))
            self.close_connection = True
            if page.write is not None:
                with contextlib.suppress(OSError):
                    page.write(self)
                return
            etag = page.headers.get("ETag")
            if page.status == 200 and etag and self.headers.get("If-None-Match") == etag:
                self.send_response(304)
                self.end_headers()
                return
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

    server = ThreadingHTTPServer((HOST, 0), Handler)
    server.daemon_threads = True
    site = Site(server.server_address[1])
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
