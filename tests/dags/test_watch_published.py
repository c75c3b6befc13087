"""The weekly look at published summaries: what is new is told once, over the channels that there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.corpus.summaries import COUNTS, Made
from tests.corpus.web_site import HOST, Page, Site, web_site
from tests.dags.conftest import DAGS, airflow_environment, in_process

pytestmark = pytest.mark.slow
CODE = f"""
import json, sys
sys.path.insert(0, {str(DAGS)!r})
import time
import watch_published
sent = []
watch_published.send = lambda message, context: sent.append(message._asdict())
watch_published.tell = lambda said: None
found = []
try:
    for source in watch_published.sources():
        found.append(watch_published.watch_source(source, {{}}))
except watch_published.AuditErrors as error:
    found.append(str(error))
print(json.dumps([found, sent]))
""".replace("watch_published.AuditErrors", "(watch_published.InputError, watch_published.UncheckedError)")


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as made:
        made.pages = {"/a": Page(Made().html()), "/b": Page(Made().html())}
        yield made


def looked(home: Path, *lists: Path, hosts: str = HOST) -> tuple[list, list]:
    environment = airflow_environment(
        home / "airflow", AUDIT_STORE=str(home / "store"), AUDIT_PUBLISHED=",".join(map(str, lists)),
        AUDIT_PUBLISHED_PRIVATE_HOSTS=hosts,
    )  # fmt: skip
    found, sent = json.loads(in_process(CODE, environment))
    return found, sent


def test_what_is_new_is_told_once(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "employers.csv"
    path.write_text(f"employer,url\nBakery,{site.url('/a')}\nGrocer,{site.url('/b')}\n")
    found, sent = looked(tmp_path, path)
    assert found == [{"pages": 2, "news": 0, "not_seen": 0}] and sent == []
    counts = [(people, picked + 1) for people, picked in COUNTS]
    site.pages = {"/a": Page(Made(counts=counts).html())}
    found, sent = looked(tmp_path, path)
    assert found == [{"pages": 2, "news": 2, "not_seen": 0}]
    (message,) = sent
    assert (message["event"], message["audit"]) == ("2 changes of published summaries", "employers")
    assert "Bakery: Numbers changed, the audit's day did not move" in message["text"]
    assert "Grocer: Taken down" in message["text"]
    found, sent = looked(tmp_path, path)
    assert found == [{"pages": 2, "news": 0, "not_seen": 0}] and sent == []
    sweeps = sorted((tmp_path / "store/_published/employers/sweeps").iterdir())
    assert len(sweeps) == 3
    assert all(
        {"sweep.json", "index.html", "changes.csv"} <= {f.name for f in one.iterdir()} for one in sweeps
    )


def test_what_is_wrong_is_said(site: Site, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "list.csv").write_text(f"employer,url\nA,{site.url('/a')}\n")
    both = (tmp_path / "one/list.csv", tmp_path / "two/list.csv")
    assert looked(tmp_path, *both)[0] == ["AUDIT_PUBLISHED: two lists are called 'list'; rename one"]
    (said,) = looked(tmp_path, both[0], hosts="")[0]
    assert said == "list.csv: none of 1 pages could be had", "loopback is refused unless it is named"
    assert site.asked == []
    (said,) = looked(tmp_path, tmp_path / "nowhere.csv")[0]
    assert "is neither a folder of saved pages nor a list" in said
