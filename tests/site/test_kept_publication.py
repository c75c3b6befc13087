"""A site that is as it was is not made again; whatever is different, it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from audit_lib.errors import InputError
from audit_lib.signoff import generate_key, load_public_key
from audit_lib.site import Published, publish
from audit_lib.site import kept_publication as kept
from audit_lib.store import LocalStore
from audit_lib.store.contract import ListedObject
from tests.archive.cases import applicants
from tests.site.test_site import NEXT, sealed, sign

BASE = "https://audits.example.org/"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    first = sealed(folder, "one")
    sealed(folder, "two", NEXT, rows=applicants(shift=0.3))
    sign(first, folder)
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made / "store", tmp_path / "store")
    monkeypatch.setenv("AUDIT_VERIFIED_KEY", "a key of the publisher's own")
    return tmp_path / "store"


def told(store: Path, **asked: object) -> tuple[Published, bool]:
    """Publish; return what was done, and whether the runs were read for it."""
    lines: list[str] = []
    done = publish(str(store), notify=lines.append, **{"base": BASE, **asked})  # type: ignore[arg-type]
    return done, not any("nothing changed" in line for line in lines)


def site(store: Path) -> dict[str, bytes]:
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for path in (store / "site").rglob("*")
        if path.is_file()
    }


def test_the_same_store_is_not_read_as_runs_again_and_says_the_same(store: Path) -> None:
    first, read = told(store)
    files = site(store)
    assert read and first.written == first.files == len(files) and first.validity
    again, read = told(store)
    assert not read and site(store) == files
    assert again.written == 0 and again.files == first.files
    assert (again.uri, again.validity, again.without_report) == (
        first.uri,
        first.validity,
        first.without_report,
    )


def test_the_files_are_those_without_a_key(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(store)
    with_key = site(store)
    shutil.rmtree(store / "site")
    shutil.rmtree(store / "_verified")
    monkeypatch.delenv("AUDIT_VERIFIED_KEY")
    told(store)
    assert site(store) == with_key and not (store / "_verified").exists()
    assert told(store)[1], "without a key nothing is believed"


def change_page(store: Path) -> None:
    path = store / "site/small/index.html"
    path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))


def take_page(store: Path) -> None:
    (store / "site/small/trend.html").unlink()


def link_page(store: Path) -> None:
    path = store / "site/small/trend.html"
    path.rename(store.parent / "elsewhere.html")
    path.symlink_to(store.parent / "elsewhere.html")


def change_own_note(store: Path) -> None:
    path = store / "_verified" / kept.NAME
    path.write_bytes(json.dumps(json.loads(path.read_bytes()) | {"files": 1}).encode())


def spoil_own_note(store: Path) -> None:
    (store / "_verified" / kept.NAME).write_bytes(b"{}")


@pytest.mark.parametrize("harm", [change_page, take_page, link_page, change_own_note, spoil_own_note])
def test_what_is_different_on_the_site_or_in_the_note_is_made_again(
    store: Path, harm: Callable[[Path], None]
) -> None:
    told(store)
    files = site(store)
    harm(store)
    done, read = told(store)
    assert read and site(store) == files and done.files == len(files)
    assert not told(store)[1]


@pytest.mark.parametrize("harm", ["changed", "gone", "more"])
def test_a_run_that_is_different_is_left_out_each_time(store: Path, harm: str) -> None:
    told(store)
    path = next(store.glob("small/20260112*/*/metrics/metrics.json"))
    if harm == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b" ")
    elif harm == "gone":
        path.unlink()
    else:
        path.with_name("more.json").write_bytes(b"{}")
    for _again in range(2):
        done, read = told(store)
        assert read and len(done.left_out) == 1


def test_a_note_of_another_key_is_not_believed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(store)
    monkeypatch.setenv("AUDIT_VERIFIED_KEY", "a key of somebody else's")
    assert told(store)[1]
    monkeypatch.setenv("AUDIT_VERIFIED_KEY", "short")
    with pytest.raises(InputError, match="can be guessed"):
        told(store)


def test_other_software_addresses_or_keys_make_it_again(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(store)
    assert told(store, base="https://other.example.org/")[1]
    assert told(store, base="https://other.example.org/", airflow="https://airflow.example.org")[1]
    assert told(store)[1] and not told(store)[1]
    generate_key(tmp_path / "b.key")
    done, read = told(store, trusted=[load_public_key(tmp_path / "b.key.pub")])
    assert read and "none of the keys given" in " ".join(done.left_out), "keys are always checked"
    told(store)
    told(store)
    monkeypatch.setattr(kept, "software_sha256", lambda: "0" * 64)
    assert told(store)[1]


def test_an_old_note_is_not_enough(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(store)
    monkeypatch.setattr(kept, "INTERVAL", timedelta(0))
    assert told(store)[1]


class Bucket(LocalStore):
    """A folder that lists as a bucket does."""

    marks: dict[str, str]

    def listed(self, prefix: str) -> dict[str, ListedObject]:  # type: ignore[override]
        return {key: ListedObject(1, self.marks.get(key, "first")) for key in self.list(prefix)}

    def open(self, key: str) -> BinaryIO:
        raise AssertionError(f"{key} was read")


def test_of_a_bucket_the_listing_counts_and_nothing_is_read(tmp_path: Path) -> None:
    store = Bucket(str(tmp_path))
    store.marks = {}
    for key in ("site/index.html", "a/w/d/plan/x", "_verified/published.json"):
        store.put(key, b"")
    first = kept.store_digests(store, "site")
    store.marks = {"_verified/published.json": "again"}
    assert kept.store_digests(store, "site") == first
    store.marks = {"site/index.html": "again"}
    assert (found := kept.store_digests(store, "site")).site != first.site and found.runs == first.runs
    store.marks = {"a/w/d/plan/x": "again"}
    assert (found := kept.store_digests(store, "site")).site == first.site and found.runs != first.runs


def test_what_is_taken_away_or_changed_while_it_is_kept_is_not_kept_as_published(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.put("site/index.html", b"changed by another")
    there = kept.store_digests(store, "site").site
    for written in ({"index.html": b"ours"}, {"index.html": b"changed by another", "gone.html": b""}):
        assert kept.store_digests(store, "site", written).site != there
    assert kept.store_digests(store, "site", {"index.html": b"changed by another"}).site == there
