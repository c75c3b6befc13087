"""The copy of a journal: it saves reading, and is used only where the newest entries prove it."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.documents.journal import entry_bytes
from audit_lib.errors import EvidenceError
from audit_lib.journal import enter, read_journal
from audit_lib.journal_copy import copy_key, entries_about
from audit_lib.run import RunKey
from audit_lib.store import LocalStore, Store
from audit_lib.window import Window

WEEKS = [Window.parse(f"2026-01-{day:02d}", f"2026-01-{day + 1:02d}") for day in range(1, 20)]


def entered(store: Store, numbers: range) -> None:
    for number in numbers:
        key = RunKey("small", WEEKS[number % len(WEEKS)], f"{number:016x}" + 48 * "0")
        enter(store, key, 1, "planned", sealed_sha256="0" * 64)
        enter(store, key, 1, "completed", outcome="complete", sealed_sha256="1" * 64)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    found = LocalStore(str(tmp_path))
    entered(found, range(40))
    return found


def same_as_read_whole(store: Store) -> None:
    entries = read_journal(store, "small")
    for week in WEEKS:
        newest, about = entries_about(store, "small", week.label)
        assert newest == entries[-1]
        assert about == [one for one in entries if one.window == week.label]


def test_it_says_what_the_journal_says_and_reads_the_new_entries_alone(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_as_read_whole(store)
    entered(store, range(40, 42))
    read: list[str] = []
    get = LocalStore.get
    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "get", lambda store, key: read.append(key) or get(store, key))
        entries_about(store, "small", WEEKS[0].label)
    assert read == [copy_key("small"), *(f"small/journal/{number:06d}.json" for number in range(81, 85))]
    same_as_read_whole(store)
    assert store.get(copy_key("small")).splitlines() == [
        entry_bytes(one) for one in read_journal(store, "small")
    ]


def test_no_journal_is_no_entry(tmp_path: Path) -> None:
    assert entries_about(LocalStore(str(tmp_path)), "small", WEEKS[0].label) == (None, [])


@pytest.mark.parametrize("with_new", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b'"event":"completed"', b'"event":"abandoned"'),
        lambda content: content.replace(b'"event":"completed"', b'"event":"abandoned"', 1),
        lambda content: b"".join(content.splitlines(keepends=True)[:-3]),
        lambda content: b"".join(content.splitlines(keepends=True)[3:]),
        lambda content: b"".join(content.splitlines(keepends=True) * 2),
        lambda content: content[:-10],
        lambda content: b"\xff\x00\n" * 80,
        lambda content: b"",
        lambda content: b"[" * 100_000 + b"\n",
    ],
)
def test_a_copy_that_was_changed_is_not_used_and_made_again(
    store: LocalStore, change: object, with_new: bool
) -> None:
    entries_about(store, "small", WEEKS[0].label)
    store.replace(copy_key("small"), change(store.get(copy_key("small"))))  # type: ignore[operator]
    if with_new:
        entered(store, range(40, 41))
    same_as_read_whole(store)
    lines = [entry_bytes(one) for one in read_journal(store, "small")]
    assert store.get(copy_key("small")).splitlines() == lines


def test_a_copy_of_another_chain_is_not_used(store: LocalStore, tmp_path: Path) -> None:
    entries_about(store, "small", WEEKS[0].label)
    other = LocalStore(str(tmp_path / "other"))
    entered(other, range(20, 60))
    entries_about(other, "small", WEEKS[0].label)
    store.replace(copy_key("small"), other.get(copy_key("small")))
    same_as_read_whole(store)


def test_a_journal_that_is_no_chain_is_refused_with_the_entry(store: LocalStore) -> None:
    path = store.path("small/journal/000029.json")
    path.write_bytes(path.read_bytes().replace(b"planned", b"asked"))
    with pytest.raises(EvidenceError):
        entries_about(store, "small", WEEKS[0].label)
    path.unlink()
    with pytest.raises(EvidenceError, match="an entry is missing"):
        entries_about(store, "small", WEEKS[0].label)


def test_who_may_not_replace_reads_the_entries_each_time(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from audit_lib.errors import StoreError

    def refuse(*_: object) -> None:
        raise StoreError("no right")

    monkeypatch.setattr(LocalStore, "replace", refuse)
    same_as_read_whole(store)
