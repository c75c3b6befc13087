"""The web archive of a sweep, read by warcio's own reader."""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path

import pytest

from audit_lib.corpus.web_archive import NO_WARC
from tests.corpus.summaries import Made
from tests.corpus.test_sweep import Desk, listed
from tests.corpus.web_site import Page, web_site

needs_warcio = pytest.mark.skipif(find_spec("warcio") is None, reason="warcio is not installed")


@needs_warcio
def test_the_answers_are_there_as_they_came(tmp_path: Path, reading_here: None) -> None:
    from warcio.archiveiterator import ArchiveIterator

    folder = tmp_path / "pages"
    folder.mkdir()
    packed = gzip.compress(Made().html())
    with web_site() as site:
        site.pages = {
            "/a": Page(packed, headers={"Content-Encoding": "gzip", "X-Odd": "one\ttwo"}),
            "/b": Page(status=301, headers={"Location": "/a"}),
            "/c": Page(b"gone", status=410),
        }
        swept = Desk(tmp_path, listed(folder, site, "a", "b", "c")).look()
        asked = [site.url(path) for path in ("/a", "/b", "/a", "/c")]
    warc = swept.sweep.warc
    assert warc is not None and warc.key.endswith("answers.warc.gz")
    found = []
    with (tmp_path / "store/_published/desk" / warc.key).open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            if record.rec_type == "response":
                status = record.http_headers.get_statuscode()
                body = record.content_stream().read()
                found.append((record.rec_headers.get_header("WARC-Target-URI"), status, body))
                assert record.rec_headers.get_header("WARC-IP-Address") == "127.0.0.1"
    assert sorted(found) == sorted(
        [(asked[0], "200", Made().html()), (asked[1], "301", b""), (asked[2], "200", Made().html()),
         (asked[3], "410", b"gone")]
    )  # fmt: skip


def test_without_it_the_sweep_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading_here: None
) -> None:
    monkeypatch.setattr("audit_lib.corpus.looking.can_archive", lambda: False)
    folder = tmp_path / "pages"
    folder.mkdir()
    with web_site() as site:
        site.pages = {"/a": Page(Made().html())}
        swept = Desk(tmp_path, listed(folder, site, "a")).look()
    assert swept.sweep.warc is None
    assert NO_WARC in swept.sweep.told
