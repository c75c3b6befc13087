"""The journal only grows: gaps, forks, rollbacks and entries made again show, and writers at once do not fork it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.canonical import canonical_json
from audit_lib.documents.journal import entry_bytes, entry_digest
from audit_lib.errors import EvidenceError
from audit_lib.journal import check_head, enter, journals_read_once, read_journal
from audit_lib.run import RunKey
from audit_lib.store import Store, open_store
from audit_lib.window import Window

WEEKS = [Window.parse(f"2026-01-{day:02d}", f"2026-01-{day + 7:02d}") for day in (5, 12, 19)]


def key(number: int = 0, week: int = 0) -> RunKey:
    return RunKey("small", WEEKS[week], f"{number:064x}"[::-1])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path))


def filled(store: Store) -> list[Path]:
    for number in range(6):
        enter(store, key(number), 1, "planned", sealed_sha256="0" * 64)
    return sorted((Path(store.root) / "small/journal").iterdir())


def test_each_entry_names_the_one_before(store: Store) -> None:
    paths = filled(store)
    entries = read_journal(store, "small")
    assert [path.name for path in paths] == [f"00000{n}.json" for n in range(1, 7)]
    assert [one.number for one in entries] == [1, 2, 3, 4, 5, 6] and entries[0].previous is None
    assert [one.previous for one in entries[1:]] == [entry_digest(one) for one in entries[:-1]]
    for number, one in enumerate(entries, start=1):
        assert check_head(entries, entry_digest(one)) == number


def test_what_is_entered_is_not_entered_again(store: Store) -> None:
    first = enter(store, key(), 1, "planned")
    assert enter(store, key(), 1, "planned") == first
    assert enter(store, key(), 2, "planned").number == 2
    assert enter(store, key(), 1, "failed", outcome="stopped").number == 3


def rollback(paths: list[Path]) -> None:
    paths[-1].unlink()


def gap(paths: list[Path]) -> None:
    paths[2].unlink()


def first_gone(paths: list[Path]) -> None:
    paths[0].unlink()


def changed(paths: list[Path]) -> None:
    document = json.loads(paths[2].read_bytes())
    paths[2].write_bytes(canonical_json(document | {"event": "completed"}))


def closed_up(paths: list[Path]) -> None:
    """The entry is dropped and those after it are numbered and linked again."""
    entries = [json.loads(path.read_bytes()) for path in paths]
    del entries[2]
    before = None
    for number, (path, entry) in enumerate(zip(paths, entries, strict=False), start=1):
        path.write_bytes(canonical_json(entry | {"number": number, "previous": before}))
        from hashlib import sha256

        before = sha256(path.read_bytes()).hexdigest()
    paths[-1].unlink()


def swapped(paths: list[Path]) -> None:
    one, other = paths[2].read_bytes(), paths[3].read_bytes()
    paths[2].write_bytes(other)
    paths[3].write_bytes(one)


def deep(paths: list[Path]) -> None:
    paths[2].write_bytes(b"[" * 100_000)


def stray(paths: list[Path]) -> None:
    (paths[0].parent / "000007.json.bak").write_bytes(b"x")


@pytest.mark.parametrize("attack", [rollback, gap, first_gone, changed, closed_up, swapped, deep, stray])
def test_every_attack_fails_under_an_earlier_head(store: Store, attack: Callable[[list[Path]], None]) -> None:
    paths = filled(store)
    head = entry_digest(read_journal(store, "small")[-1])
    attack(paths)
    with pytest.raises(EvidenceError, match="journal|entry|not JSON|deep"):
        check_head(read_journal(store, "small"), head)


def test_a_fork_does_not_hold_the_other_branch_s_head(store: Store, tmp_path: Path) -> None:
    filled(store)
    before = read_journal(store, "small")
    enter(store, key(7), 1, "planned")
    ours = read_journal(store, "small")
    (tmp_path / "small/journal/000007.json").unlink()
    enter(store, key(8), 1, "planned")
    theirs = read_journal(store, "small")
    assert check_head(theirs, entry_digest(before[-1])) == 6, "what both have"
    with pytest.raises(EvidenceError, match="rolled back, forked or made again"):
        check_head(theirs, entry_digest(ours[-1]))


def test_nothing_is_added_to_a_journal_with_a_gap(store: Store) -> None:
    gap(filled(store))
    with pytest.raises(EvidenceError, match="an entry is missing"):
        enter(store, key(9), 1, "planned")


def test_an_entry_of_another_audit_is_none(store: Store, tmp_path: Path) -> None:
    (one,) = [enter(store, key(), 1, "planned")]
    path = tmp_path / "small/journal/000001.json"
    path.write_bytes(entry_bytes(replace(one, audit="large")))
    with pytest.raises(EvidenceError, match="another audit's"):
        read_journal(store, "small")


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_writers_at_once_do_not_fork_it(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Twelve writers of four entries each; of all, each is there once, in one chain."""
    root = str(tmp_path) if kind == "folder" else request.getfixturevalue("s3")
    failures: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            for number in range(4):
                enter(open_store(root), key(writer), number + 1, "planned")
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    entries = read_journal(open_store(root), "small")
    assert len({(one.run, one.attempt) for one in entries}) == len(entries) == 48


def test_for_many_runs_a_journal_is_read_once(store: Store) -> None:
    paths = filled(store)
    with journals_read_once() as journals:
        first = read_journal(store, "small")
        paths[2].unlink()
        assert read_journal(store, "small") is first
        assert journals.forget_if_grown(store, "small"), "it has another number of entries now"
        for _ in range(2):  # what was found is found again, without another look
            with pytest.raises(EvidenceError, match="entry 3 is missing"):
                read_journal(store, "small")
        assert not journals.forget_if_grown(store, "small")
    with pytest.raises(EvidenceError, match="entry 3 is missing"):
        read_journal(store, "small")


def test_two_stores_have_two_journals(store: Store, tmp_path: Path) -> None:
    filled(store)
    with journals_read_once():
        assert len(read_journal(store, "small")) == 6
        assert read_journal(open_store(str(tmp_path / "other")), "small") == []
