"""Servers' answers as a web archive (WARC 1.1), which any program of libraries and courts reads."""

from __future__ import annotations

import io
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import IO, Any, Final

from audit_lib.corpus.one_request import WebAnswer
from audit_lib.corpus.web_address import web_address

NO_WARC: Final = "no web archive (WARC) of the answers: pip install 'audit-lib[corpus]'"
_AS_READ: Final = ("transfer-encoding", "content-length")


def can_archive() -> bool:
    """Whether warcio is installed."""
    return find_spec("warcio") is not None


class WebArchive:
    """Writes answers to a temporary file, as they come.

    Parameters
    ----------
    agent : str
        What the servers were told of who asks.
    """

    def __init__(self, agent: str) -> None:
        from warcio.warcwriter import WARCWriter

        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by who writes it to the store
        self._writer: Any = WARCWriter(self.file, gzip=True, warc_version="1.1")
        said = {"software": agent, "format": "WARC File Format 1.1", "robots": "obey"}
        self._writer.write_record(self._writer.create_warcinfo_record("answers.warc.gz", said))

    def add(self, address: str, answer: WebAnswer, agent: str) -> None:
        """Add an answer and what was asked."""
        from warcio.statusandheaders import StatusAndHeaders

        # The body is kept as sent; how it came in pieces is not, so the headers that tell of it say that they did.
        headers = [
            (f"X-Archive-Orig-{name}" if name.lower() in _AS_READ else name, _one_line(value))
            for name, value in answer.headers
        ]
        headers.append(("Content-Length", str(len(answer.sent))))
        said = StatusAndHeaders(f"{answer.status} {_one_line(answer.reason)}", headers, protocol="HTTP/1.1")
        record = self._writer.create_warc_record(
            address, "response", payload=io.BytesIO(answer.sent), http_headers=said,
            warc_headers_dict={"WARC-IP-Address": answer.ip},
        )  # fmt: skip
        parts = web_address(address)
        hosts = [("Host", parts.site.partition("://")[2]), ("User-Agent", agent)]
        asked = StatusAndHeaders(f"GET {parts.target} HTTP/1.1", hosts, is_http_request=True)
        request = self._writer.create_warc_record(address, "request", http_headers=asked)
        self._writer.write_request_response_pair(request, record)


def _one_line(words: str) -> str:
    return " ".join(words.split())
