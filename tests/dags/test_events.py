"""Eight things are planted; a real mail server and a real webhook get one message for each, whatever looks again."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib.archive.attempts import fault_of, start
from audit_lib.archive.seal_failures import seal_failure
from audit_lib.documents.events import EventKind
from audit_lib.errors import BackendError, BudgetReachedError
from audit_lib.events import EventPolicy, look, open_events, read_facts, signed
from audit_lib.monitor.sequences import follow
from audit_lib.spec import Schedule
from audit_lib.store import open_store
from audit_lib.window import Window
from audit_lib.windows import latest_window, windows_between
from tests.archive.cases import do, new_run
from tests.dags.test_notify import Mailbox, connections, done, mailbox, web
from tests.events.test_events import GENERIC, sequences_of
from tests.monitor.test_sequences import WEEKS, baseline_of, week
from tests.specs import REPOSITORY

__all__ = ["mailbox"]

ALL: set[str] = set(EventKind.__args__)
SETTINGS = {
    "AUDIT_SIGN_OFF_DUE_DAYS": "0",
    "AUDIT_VALIDITY_DAYS": "400",
    "AUDIT_NOTIFY": "smtp:mail,http:hook,slack:hr:critical",
    "AUDIT_NOTIFY_ESCALATION": "http:boss",
    "AUDIT_NOTIFY_ESCALATION_TO": "boss@example.org",
}
LOOK = """
import tell_events, verify_evidence
for module in (tell_events, verify_evidence):
    module.refuse_unknown_conf = lambda: None  # asks the context of a task
for part in verify_evidence.write_parts():
    try:
        verify_evidence.verify_part(part)
    except verify_evidence.ToldError as error:
        verify_evidence.failed_task({"ti": Of(task_id="verify", dag_id="verify_evidence"), "exception": error})
for _ in range(2):
    print(tell_events.tell_what_happened.function())
"""


def planted(folder: Path) -> dict[str, Any]:
    """A store in which all eight have happened; the schedule's windows are those before now."""
    weekly, now = Schedule(cron="0 0 * * 1"), datetime.now(UTC)
    latest = latest_window(weekly, now)
    windows = list(windows_between(weekly, latest.end - timedelta(weeks=6), now))
    assert len(windows) == 6
    schedule = {"cron": weekly.cron, "start": windows[0].start.isoformat(), "catchup": 1}
    root = str(folder / "store")

    def begun(window: Window, until: str = "evidence", **sections: Any) -> Any:
        own = folder / f"inputs {window.label} {sections.get('audit', '')}"
        own.mkdir()
        return do(
            new_run(own, root, window, **({"schedule": schedule, "report": GENERIC} | sections)), until=until
        )

    first = begun(windows[0])
    for window, error in (
        (windows[1], BackendError("no answer")),
        (windows[2], BudgetReachedError("all used")),
    ):
        run = begun(window, "plan")
        seal_failure(run, start(run, "audit run"), [fault_of("scores/0", error)])
    sequences_of(open_store(root), [0.5] * 10 + [0.1] * 6)
    other = {"audit": "other", "report": {"policy": "nyc_ll144"}}
    begun(latest, schedule={"cron": weekly.cron, "start": latest.start.isoformat()}, **other)
    (specs := folder / "specs").mkdir()
    report = Path(first.uri) / "report/report.html"
    kept = report.read_bytes()
    report.write_bytes(kept + b"!")
    return {"root": root, "specs": str(specs), "report": report, "kept": kept}


@pytest.mark.slow  # four small audits, and three processes with Airflow
def test_each_planted_event_is_one_mail_and_one_request(mailbox: tuple[Mailbox, int], tmp_path: Path) -> None:
    box, port = mailbox
    made = planted(tmp_path)
    requests: list[tuple[dict[str, str], bytes]] = []
    with web(requests=requests) as (kept, url):
        settings = connections(port, url) | SETTINGS | {
            "AUDIT_STORE": made["root"],
            "AUDIT_SPECS": made["specs"],
            "AIRFLOW_CONN_HOOK": json.dumps({"conn_type": "http", "host": f"{url}/hook", "password": "s3cret"}),
            "AIRFLOW_CONN_BOSS": json.dumps({"conn_type": "http", "host": f"{url}/boss"}),
        }  # fmt: skip
        done(LOOK, tmp_path, **settings)
        done(LOOK, tmp_path, **settings)
        hooked = [body for path, body in kept if path == "/hook"]
        assert Counter(one["kind"] for one in hooked) == Counter(dict.fromkeys(ALL, 1))
        assert {one["stage"] for one in hooked} == {"opened"}
        assert Counter(letter["Subject"] for letter in box.letters) == Counter(
            f"[audit] {one['audit']}: {one['event']}" for one in hooked
        )
        for letter in box.letters:
            assert "How sure:" in (said := letter.get_body(("html",)).get_content())
            assert "Resume no." not in said
        critical = {one["event"] for one in hooked if one["severity"] == "critical"}
        assert sum(path == "/services/slack" for path, _ in kept) == len(critical) == 2
        assert not [path for path, _ in kept if path == "/boss"]
        check = documented_check()
        mine = [one for one in requests if "X-Audit-Signature" in one[0]]
        assert len(mine) == 8
        for headers, body in mine:
            assert check("s3cret", headers, body)
        # Restored: it is told to be over. Nobody took note of the others: those above are told, once.
        made["report"].write_bytes(made["kept"])
        for _ in range(2):
            done(LOOK, tmp_path, **settings | {"AUDIT_ESCALATE_HOURS": "0"})
    later = [body for path, body in kept if path == "/hook"][8:]
    assert [(one["kind"], one["stage"]) for one in later] == [("evidence_broken", "recovered")]
    escalated = [body for path, body in kept if path == "/boss"]
    assert Counter(one["kind"] for one in escalated) == Counter(dict.fromkeys(ALL - {"evidence_broken"}, 1))
    assert {one["stage"] for one in escalated} == {"escalated"}


def documented_check() -> Any:
    """The function that the guide gives to receivers."""
    guide = (REPOSITORY / "docs/howto/alerts.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.S)
    names: dict[str, Any] = {}
    exec(code, names)
    return names["is_ours"]


def test_the_documented_check_refuses_what_is_not_ours() -> None:
    check, now = documented_check(), datetime.now(UTC)
    body, headers = signed({"id": "a.alarm.1"}, "secret", now)
    assert check("secret", headers, body)
    assert not check("another", headers, body)
    assert not check("secret", headers, body + b" ")
    assert not check("secret", {}, body)
    assert not check("secret", headers | {"X-Audit-Timestamp": str(int(now.timestamp()) + 1)}, body)
    assert not check("secret", headers | {"X-Audit-Signature": "sha256=é"}, body)
    assert not check("secret", headers | {"X-Audit-Timestamp": "9" * 400}, body)
    assert not check("secret", {name: f"{one}, {one}" for name, one in headers.items()}, body)
    replayed, old = signed({"id": "a.alarm.1"}, "secret", now - timedelta(minutes=6))
    assert not check("secret", old, replayed)
    assert "X-Audit-Signature" not in signed({"id": "a"}, "", now)[1]


@pytest.mark.slow  # 200 windows in the store, looked at one after another
def test_nothing_is_told_of_200_windows_in_which_nothing_happens(tmp_path: Path) -> None:
    weekly = {"cron": "0 0 * * 1", "start": WEEKS[0].start.isoformat()}
    (tmp_path / "inputs").mkdir()
    first = do(
        new_run(tmp_path / "inputs", str(tmp_path / "store"), WEEKS[0], schedule=weekly, report=GENERIC)
    )
    store = open_store(str(tmp_path / "store"))
    policy = EventPolicy(validity_days=0)
    history = []
    for place in range(200):
        window = Window(WEEKS[0].start + timedelta(weeks=place), WEEKS[0].end + timedelta(weeks=place))
        here = Path(store.root) / "small" / window.label / first.key.prefix.rsplit("/", 1)[1]
        if place:
            shutil.copytree(first.uri, here)
        measured = here / "metrics/_SUCCESS"
        record = json.loads(measured.read_text()) | {"finished_at": window.end.isoformat()}
        measured.write_text(json.dumps(record))
        sums = week(place % 40, (0.5, 0.5)).as_dict()
        pairs = np.random.default_rng([17, place]).random((2, 100)) < 0.5
        history.append(_sums(sums, window.label, pairs))
        if place < 6 or place % 10 == 9:
            found = follow("small", baseline_of(history[:6]) if place > 5 else None, history)
            store.replace("small/monitor/sequences.json", json.dumps(found.as_dict()).encode())
        facts = read_facts(store, "small", window.end + timedelta(hours=1), policy)
        assert look(facts) == [], f"window {place}: {open_events(facts)}"
    assert len(facts.owed) == 200


def _sums(like: dict[str, Any], label: str, pairs: Any) -> Any:
    from audit_lib.documents.sequences import WindowSumsDocument
    from audit_lib.typed_json import decode_value

    group, reference = pairs
    like["run"]["window"] = label
    like["sums"][0] |= {
        "group_sum": float(group.sum()),
        "reference_sum": float(reference.sum()),
        "group_squares": float(group.sum()),
        "reference_squares": float(reference.sum()),
        "products": float((group & reference).sum()),
    }
    return decode_value(WindowSumsDocument, like, "sums")
