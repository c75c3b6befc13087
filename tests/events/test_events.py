"""Events are derived from the store, told once over each channel, acknowledged, escalated and told to be over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from threading import Thread

import pytest

from audit_lib.archive.attempts import fault_of, start
from audit_lib.archive.seal_failures import seal_failure
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.documents.journal import entry_digest
from audit_lib.documents.sequences import Baseline, MonitorSettings
from audit_lib.errors import BackendError, BudgetReachedError, InputError, NotFoundError
from audit_lib.events import (
    DueMessage,
    EventPolicy,
    acknowledge,
    look,
    note_verification,
    open_events,
    policy_from_environment,
    read_facts,
    read_log,
    tell_once,
)
from audit_lib.events.message import body, head_words, text, title
from audit_lib.journal import read_journal
from audit_lib.monitor.sequences import follow
from audit_lib.run import Run
from audit_lib.store import LocalStore, Store, open_store
from audit_lib.windows import begun_runs, note_missed, owed_windows
from tests.archive.cases import do, new_run
from tests.monitor.test_sequences import WEEKS, week

POLICY = EventPolicy()
BASELINE = MonitorSettings(false_alarms=0.05, floor=0.0, minimum=20, line=None)
LAW = {"policy": "nyc_ll144"}
GENERIC = {"policy": "generic"}
SCHEDULE = {"cron": "0 0 * * 1", "start": "2026-01-05T00:00:00+00:00", "catchup": 2}


def sequences_of(store: Store, rates: Sequence[float], audit: str = "small") -> None:
    """Write what the monitor finds in windows with these rates of one group."""
    store.replace(f"{audit}/monitor/sequences.json", found_in(tuple(rates), audit))


@cache
def found_in(rates: tuple[float, ...], audit: str) -> bytes:
    history = [week(place, (rate, 0.5)) for place, rate in enumerate(rates)]
    baseline = Baseline(
        audit=audit,
        number=1,
        name="acceptance",
        runs=tuple(one.run for one in history[:4]),
        question=history[0].question,
        settings=BASELINE,
        decided_by="Ada Byron",
        reason="accepted on it",
        decided_at="2026-03-01T00:00:00+00:00",
    )
    return pretty_json(follow(audit, baseline, history).as_dict())


class Post:
    """Keeps what is sent; fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.kept: list[tuple[str, str]] = []
        self.failures = failures

    def __call__(self, due: DueMessage) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionError("down")
        self.kept.append((due.stage, due.logged.opened.event.kind))


def at_end_of(place: int, **later: float) -> datetime:
    return WEEKS[place].end + timedelta(**later)


def told(store: Store, at: datetime, post: Post, policy: EventPolicy = POLICY, channel: str = "a:b") -> None:
    for due in look(read_facts(store, "small", at, policy), [channel]):
        tell_once(store, [due], channel, at, lambda some: post(some[0]))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"))


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the first week is audited."""
    folder = tmp_path_factory.mktemp("audited")
    do(new_run(folder, str(folder / "store"), WEEKS[0], schedule=SCHEDULE, report=GENERIC))
    return folder / "store"


@pytest.fixture
def one_week(audited: Path, tmp_path: Path) -> Store:
    shutil.copytree(audited, tmp_path / "store")
    return open_store(str(tmp_path / "store"))


def failing(folder: Path, place: int, error: Exception) -> Run:
    run = new_run(folder, str(folder / "store"), WEEKS[place], schedule=SCHEDULE, report=GENERIC)
    run = do(run, until="plan")
    number = start(run, "audit run")
    seal_failure(run, number, [fault_of("scores/0", error)])
    return run


def kinds(store: Store, at: datetime, policy: EventPolicy = POLICY) -> list[str]:
    return [one.kind for one in open_events(read_facts(store, "small", at, policy))]


def test_nothing_happened(one_week: Store) -> None:
    assert kinds(one_week, at_end_of(1, hours=-1)) == []
    assert kinds(open_store(one_week.root + "/none"), at_end_of(1)) == []


def test_late_then_missed(one_week: Store) -> None:
    assert kinds(one_week, at_end_of(1, hours=23)) == []
    assert kinds(one_week, at_end_of(1, hours=25)) == ["late"]
    (late, missed) = open_events(read_facts(one_week, "small", at_end_of(4, hours=1), POLICY))
    assert (late.windows, missed.windows) == ((WEEKS[2].label,), (WEEKS[1].label,))
    # Written down by whoever comes first, it is the same event; one that is missed later is another.
    spec = read_facts(one_week, "small", at_end_of(4), POLICY).spec
    assert spec is not None
    facts = read_facts(one_week, "small", at_end_of(4, hours=1), POLICY)
    note_missed(one_week, "small", facts.owed, facts.at)
    assert missed in open_events(facts)
    later = open_events(read_facts(one_week, "small", at_end_of(5, hours=1), POLICY))
    assert [one.windows for one in later if one.kind == "missed"] != [missed.windows]
    assert missed.key in {one.key for one in later}
    assert owed_windows(spec, facts.begun, facts.at)[1].state == "missed"


def test_what_is_late_and_missed_is_said_in_days(one_week: Store) -> None:
    (late, missed) = open_events(read_facts(one_week, "small", at_end_of(6, hours=1), POLICY))
    assert late.moved.startswith("ended 14 days ago and is not sealed, and a window after it")
    assert missed.subject == (
        "3 windows, the first 2026-01-12 00:00 to 2026-01-19 00:00, the last 2026-01-26 00:00 to 2026-02-02 00:00"
    )


@pytest.mark.parametrize("name", ["notes.txt", ".DS_Store", "copy of 0001.json", "run/notes.txt"])
@pytest.mark.parametrize("folder", ["missed", "verified"])
def test_a_file_that_is_no_note_keeps_no_event_back(one_week: Store, folder: str, name: str) -> None:
    at = at_end_of(1, hours=25)
    one_week.put(f"small/{folder}/{name}", b"\0 my notes")
    assert kinds(one_week, at) == ["late"]
    assert note_missed(one_week, "small", read_facts(one_week, "small", at, POLICY).owed, at) == []


def test_failed_and_budget(one_week: Store, tmp_path: Path) -> None:
    failing(tmp_path, 1, BackendError("no answer"))
    failing(tmp_path, 2, BudgetReachedError("the budget is used up"))
    found = open_events(read_facts(one_week, "small", at_end_of(2, hours=1), POLICY))
    assert [(one.kind, one.windows[0]) for one in found] == [
        ("budget_reached", WEEKS[2].label),
        ("failed", WEEKS[1].label),
    ]
    assert "scores/0 (BackendError): no answer" in found[1].moved


def test_a_message_has_the_head_of_the_journal_and_what_to_do_with_it(
    one_week: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What somebody kept of a message finds a journal that was rolled back since."""
    failing(tmp_path, 1, BackendError("no answer"))
    facts = read_facts(one_week, "small", at_end_of(1, hours=1), POLICY)
    (due,) = look(facts)
    head = entry_digest(read_journal(one_week, "small")[-1])
    sent = body(due)
    assert sent["journal"] == {"number": len(read_journal(one_week, "small")), "sha256": head}
    assert f"`audit journal small --head {head}`" in sent["text"] and "Keep this message" in head_words(due)
    command = ["journal", "small", "--store", one_week.root, "--head", sent["journal"]["sha256"]]
    assert main(command) == 0
    Path(one_week.root, f"small/journal/{sent['journal']['number']:06d}.json").unlink()
    assert main(command) == 1 and "rolled back" in capsys.readouterr().out
    Path(one_week.root, "small/journal/000001.json").unlink()
    (due,) = look(facts)
    assert due.head is None and "journal" not in body(due), "no event is held back by a journal that is none"


def test_a_sign_off_that_the_law_asks_for(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store"), WEEKS[0], schedule=SCHEDULE, report=LAW))
    store = open_store(str(tmp_path / "store"))
    sealed = run.stage("evidence").success().finished
    assert "sign_off_due" not in kinds(store, sealed + timedelta(days=13))
    assert "sign_off_due" in kinds(store, sealed + timedelta(days=15))
    assert "validity_ending" not in kinds(store, sealed + timedelta(days=400))  # nobody may rely on it at all
    store.put(f"{run.key.prefix}/signoff/1/_SUCCESS", b"{}")
    assert "sign_off_due" not in kinds(store, sealed + timedelta(days=15))
    assert "validity_ending" in kinds(store, sealed + timedelta(days=340))


def test_a_validity_that_ends(one_week: Store) -> None:
    facts = read_facts(one_week, "small", datetime.now(UTC), POLICY)
    measured = Run.load(one_week.uri(facts.begun[0].prefix)).stage("metrics").success().finished
    assert "validity_ending" not in kinds(one_week, measured + timedelta(days=330))
    ending = measured + timedelta(days=340)
    (one,) = [
        each
        for each in open_events(read_facts(one_week, "small", ending, POLICY))
        if each.kind == "validity_ending"
    ]
    assert one.severity == "warning"
    (past,) = [
        each
        for each in open_events(read_facts(one_week, "small", measured + timedelta(days=367), POLICY))
        if each.kind == "validity_ending"
    ]
    assert past.severity == "critical" and past.key != one.key


def test_evidence_that_breaks_and_is_restored(one_week: Store) -> None:
    (begun,) = read_facts(one_week, "small", at_end_of(0), POLICY).begun
    at, post = at_end_of(0, hours=1), Post()
    assert not note_verification(one_week, begun.prefix, [], at)
    for findings in (["digest: report/report.html"], ["digest: report/report.html"], [], ["digest: plan"]):
        note_verification(one_week, begun.prefix, findings, at)
        told(one_week, at, post)
        told(one_week, at, post)
        at += timedelta(hours=1)
    assert post.kept == [
        ("opened", "evidence_broken"),
        ("recovered", "evidence_broken"),
        ("opened", "evidence_broken"),
    ]
    assert [one.opened.number for one in read_log(one_week, "small")] == [1, 2]


def test_an_alarm_is_told_once_with_what_moved_and_its_end(store: Store) -> None:
    post, at = Post(), at_end_of(20)
    sequences_of(store, [0.5] * 10)
    told(store, at, post)
    assert post.kept == []
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    for _ in range(3):
        told(store, at, post)
    assert post.kept == [("opened", "alarm")]
    (logged,) = read_log(store, "small")
    event = logged.opened.event
    assert event.affected == "female, against male" and event.severity == "critical"
    assert "most likely with 2026-03-" in event.moved and "to 1, over all windows" in event.sure
    sequences_of(store, [0.5] * 16)
    told(store, at, post)
    told(store, at, post)
    assert post.kept == [("opened", "alarm"), ("recovered", "alarm")]


def test_several_are_told_in_one_message_less_those_that_were_sent(store: Store) -> None:
    at, sent = at_end_of(20), list[list[str]]()
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    (one,) = look(read_facts(store, "small", at, POLICY), ["a:b"])
    event = replace(one.logged.opened.event, key="0" * 16)
    other = DueMessage(
        logged=replace(one.logged, opened=replace(one.logged.opened, event=event)), stage="opened"
    )

    def send(some: Sequence[DueMessage]) -> None:
        sent.append([due.logged.opened.event.key for due in some])
        if len(sent) == 1:
            raise ConnectionError("down")

    assert tell_once(store, [one, other], "a:b", at, send) == "ConnectionError"
    assert tell_once(store, [other], "a:b", at, send) is None
    assert tell_once(store, [one, other], "a:b", at, send) is None
    assert tell_once(store, [one, other], "a:b", at, send) is None
    keys = [due.logged.opened.event.key for due in (one, other)]
    assert sent == [keys, keys[1:], keys[:1]]


def test_an_alarm_is_not_over_because_its_baseline_is_gone(store: Store) -> None:
    post, at, key = Post(), at_end_of(20), "small/monitor/sequences.json"
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    told(store, at, post)
    kept = json.loads(store.get(key))
    for broken in (kept | {"baseline": {"undefined": "a run of it is gone"}, "sequences": []}, None):
        if broken is None:
            store.delete(key)
        else:
            store.replace(key, pretty_json(broken))
        told(store, at, post)
        assert post.kept == [("opened", "alarm")]
        assert [one.closed for one in read_log(store, "small")] == [None]
    sequences_of(store, [0.5] * 16)
    told(store, at, post)
    assert post.kept == [("opened", "alarm"), ("recovered", "alarm")]


def test_what_cannot_be_sent_stays_due_and_is_listed(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    post, at = Post(failures=2), at_end_of(20)
    told(store, at, post)
    told(store, at, post)
    assert post.kept == []
    assert main(["events", "small", "--store", store.root]) == 1
    assert "NOT SENT, tried again: opened/a-b" in capsys.readouterr().out
    told(store, at, post)
    told(store, at, post)
    assert post.kept == [("opened", "alarm")]
    assert main(["events", "small", "--store", store.root]) == 1
    out = capsys.readouterr().out
    assert "NOT SENT" not in out and "told: opened/a-b" in out


def test_two_senders_at_once_send_one_message(store: Store) -> None:
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    post, at = Post(), at_end_of(20)
    senders = [Thread(target=told, args=(store, at, post)) for _ in range(8)]
    for one in senders:
        one.start()
    for one in senders:
        one.join()
    assert post.kept == [("opened", "alarm")]


def test_a_sender_that_died_is_replaced_after_its_lease(store: Store) -> None:
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    at, post = at_end_of(20), Post()

    def die(due: DueMessage) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told(store, at, die)  # type: ignore[arg-type]
    told(store, at + timedelta(minutes=9), post)
    assert post.kept == []
    told(store, at + timedelta(minutes=11), post)
    told(store, at + timedelta(minutes=12), post)
    assert post.kept == [("opened", "alarm")]


def test_nobody_took_note_so_others_are_told(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    at = at_end_of(20)
    assert [due.stage for due in look(read_facts(store, "small", at, POLICY), ["a:b"])] == ["opened"]
    day = at + timedelta(hours=25)
    due = look(read_facts(store, "small", day, POLICY), ["a:b"])
    assert [one.stage for one in due] == ["opened", "escalated"]
    name = due[1].logged.opened.id
    assert title(due[1]) == "not acknowledged: alarm" and f"audit acknowledge {name}" in text(due[1])
    said = ["acknowledge", name, "--by", "Ada Byron", "--note", "vendor called", "--store", store.root]
    assert main(said) == 0
    assert [one.stage for one in look(read_facts(store, "small", day, POLICY), ["a:b"])] == ["opened"]
    capsys.readouterr()
    assert main(["events", "--open", "small", "--store", store.root]) == 0
    assert "acknowledged by Ada Byron" in capsys.readouterr().out


def test_an_acknowledgement_needs_an_event_a_name_and_a_reason(store: Store) -> None:
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    at = at_end_of(20)
    (due,) = look(read_facts(store, "small", at, POLICY))
    name = due.logged.opened.id
    for event, by, note, error in (
        (name, " ", "x", InputError),
        (name, "Ada", "", InputError),
        ("small", "Ada", "x", InputError),
        (f"../{name}", "Ada", "x", InputError),
        (name[:-1] + "2", "Ada", "x", NotFoundError),
    ):
        with pytest.raises(error):
            acknowledge(store, event, by=by, note=note, at=at)
    acknowledge(store, name, by="Ada", note="one", at=at)
    acknowledge(store, name, by="Eve", note="two", at=at)
    assert [one.by for one in read_log(store, "small")[0].acknowledged] == ["Ada", "Eve"]


def test_an_event_that_is_over_before_it_was_told_is_told(store: Store) -> None:
    sequences_of(store, [0.5] * 10 + [0.1] * 6)
    at, post = at_end_of(20), Post(failures=1)
    told(store, at, post)
    sequences_of(store, [0.5] * 16)
    told(store, at, post)
    assert post.kept == [("opened", "alarm")]
    # Who is told from now on hears nothing of what was over before.
    other = Post()
    told(store, at, other, channel="new:one")
    assert other.kept == []


def test_a_missed_window_takes_the_place_of_a_late_one_in_silence(one_week: Store) -> None:
    post, patient = Post(), EventPolicy(escalate_hours=24 * 365)
    told(one_week, at_end_of(3, hours=2), post, patient)
    folder = Path(one_week.root) / "small"
    (sealed,) = folder.glob("2026*/*")
    for place in (2, 3):
        shutil.copytree(sealed, folder / WEEKS[place].label / sealed.name)
    told(one_week, at_end_of(4, hours=0.5), post, patient)
    assert [one.closed is not None for one in read_log(one_week, "small")] == [True, False]
    assert post.kept == [("opened", "late"), ("opened", "missed")]


def test_severities_are_set_by_policy() -> None:
    for wrong in (
        {"AUDIT_EVENT_SEVERITY": "alarms:info"},
        {"AUDIT_EVENT_SEVERITY": "alarm:loud"},
        {"AUDIT_VALIDITY_DAYS": "soon"},
        {"AUDIT_ESCALATE_HOURS": "-1"},
        {"AUDIT_ESCALATE_HOURS": "nan"},
    ):
        with pytest.raises(InputError, match=next(iter(wrong))):
            policy_from_environment(wrong)
    assert policy_from_environment({"AUDIT_EVENT_SEVERITY": "alarm:info"}).severities["alarm"] == "info"


def test_the_store_is_not_listed_once_a_run(one_week: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def listings() -> int:
        real, count = LocalStore.list, 0

        def counting(self: LocalStore, prefix: str) -> list[str]:
            nonlocal count
            count += 1
            return real(self, prefix)

        with monkeypatch.context() as patch:
            patch.setattr(LocalStore, "list", counting)
            open_events(read_facts(one_week, "small", at_end_of(20), EventPolicy(sign_off_days=0)))
        return count

    (folder,) = (Path(one_week.root) / "small").glob("2026*")
    before = listings()
    for window in WEEKS[1:8]:
        shutil.copytree(folder, folder.parent / window.label)
    assert listings() == before
    assert sum(one.signed for one in begun_runs(one_week, "small")) == 0
    (run,) = folder.iterdir()
    (run / "signoff/1").mkdir(parents=True)
    (run / "signoff/1/statement.json").write_text("{}")
    assert sum(one.signed for one in begun_runs(one_week, "small")) == 0, "its record comes last"
    (run / "signoff/1/_SUCCESS").write_text("{}")
    assert [one.window.label for one in begun_runs(one_week, "small") if one.signed] == [folder.name]
