"""Names planted in everything that a source may hold are in the tables of rows, and nowhere else.

A real run: a tool behind an endpoint, one that fails for some people and repeats their names; its report, documents,
journal, site and feeds, and all that the commands print.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import AuditError
from audit_lib.pipeline import open_run, run_all
from audit_lib.privacy.applicant_keys import KEY, KEYS, make_key_of_keys
from audit_lib.window import Window
from tests.inputs import recorded_audit
from tests.score.loopback import loopback

pytest.importorskip("httpx2", reason="httpx2 is not installed")

NAME, MAIL = "Ottilie Quastenflosser", "ottilie@quastenflosser.example"
WEEK = ("--window", "2026-01-05", "2026-01-12")


@dataclass(frozen=True)
class Printed:
    """The store, and all that was printed while it was made."""

    folder: Path
    said: str
    uri: str


def behave(word: str, asked: int) -> tuple[int, dict[str, str], bytes]:
    """Answer with the person's name, in errors too."""
    number = int("".join(filter(str.isdigit, word)) or 0)
    if number % 17 == 3:
        return 400, {}, json.dumps({"error": f"{NAME} <{MAIL}> cannot be scored"}).encode()
    if number % 17 == 5:
        return 200, {}, f"no JSON, but {NAME}".encode()
    return 200, {}, json.dumps({"score": number * 37 % 101, "note": NAME}).encode()


def planted(folder: Path, url: str) -> Path:
    (folder / "prompt.yaml").write_text(
        "messages:\n- {role: system, content: Cook}\n- {role: user, content: 'n{{number}} {{resume}}'}\n"
    )
    path = recorded_audit(
        folder,
        n=96,
        model={
            "backend": "http",
            "name": "tool-1",
            "options": {"url": url, "body": {"text": "{{user}}"}, "score_path": "score"},
        },
        prompt={"template": "prompt.yaml"},
        source={"fields": ["number", "resume"], "windowed": False},
        groups={"provenance": "self_reported"},
        decision={"rule": "above_median", "k": None, "round": None},
        score={"shards": 2, "canaries": ["canary"]},
        checks={"minimum_answered_share": 0.1, "maximum_answered_gap": 0.9},
    )
    rows = [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        del row["recorded_score"], row["recorded_model"]
        row |= {
            "number": str(number),
            "resume": f"I am {NAME}, {MAIL}.",
            "application_id": f"{NAME} {number}",
            "prompt_id": f"{MAIL}/{number}",
            "round_id": f"led by {NAME} {number // 8}",
        }
        if number % 9 == 2:
            row["race"] = f"{NAME}, see file {number}"
        elif number == 4:
            row["sex"] = NAME
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    folder = tmp_path_factory.mktemp("planted")
    store = str(folder / "store")
    with (
        loopback(behave) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(folder)
        said = Captured()
        patch.setattr("sys.stdout", said)
        patch.setattr("sys.stderr", said)
        spec = str(planted(folder, server.url))
        assert main(["plan", spec, *WEEK]) == 0
        # The command's own preflight asks the endpoint with a verb that this one does not know.
        run_all(open_run(spec, Window.parse(*WEEK[1:]), store, notify=print))
        (sealed,) = (folder / "store/small").glob("2026*/*")
        uri = str(sealed)
        for command in (
            ["verify", uri],
            ["show", "small", "--store", store],
            ["journal", "small", "--store", store],
            ["status", "--store", store],
            ["export", uri, "--out", str(folder / "redacted.zip")],
            ["export", uri, "--out", str(folder / "digests.zip"), "--privacy", "digests"],
            ["publish", "--store", store],
        ):
            main(command)
    return Printed(folder, said.text, uri)


class Captured:
    """What is printed, by whichever name it was imported."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def names_in(path: Path) -> bool:
    content = path.read_bytes()
    if path.suffix == ".parquet":
        content += str(pq.read_table(path).to_pylist()).encode()
    return b"quastenflosser" in content.lower()


def test_only_tables_of_rows_and_kept_answers_hold_what_was_planted(printed: Printed) -> None:
    held = {
        path.relative_to(printed.uri).as_posix()
        for path in Path(printed.uri).rglob("*")
        if path.is_file() and names_in(path)
    }
    tables = {
        "sample/prompts.parquet",
        "variants/variants.parquet",
        "variants/shards/0.parquet",
        "variants/shards/1.parquet",
        "scores/0/scores.parquet",
        "scores/1/scores.parquet",
        "metrics/decisions.parquet",
        "metrics/scores.csv",
    }
    assert held == tables, "the names were planted, and lie where a level withholds them"


def test_nothing_next_to_the_run_holds_it(printed: Printed) -> None:
    """Journal, monitor, index, site; the ledger keeps answers on purpose, and is no part of the evidence."""
    store = printed.folder / "store"
    others = [path for path in store.rglob("*") if path.is_file() and Path(printed.uri) not in path.parents]
    assert {path.relative_to(store).parts[0] for path in others} >= {"small", "site", "ledger"}
    for path in others:
        assert not names_in(path), path


def test_nothing_that_is_printed_holds_it(printed: Printed) -> None:
    assert "VERIFIED" in printed.said and "attempt 1" in printed.said
    assert "quastenflosser" not in printed.said.lower()


@pytest.mark.parametrize("level", ["redacted", "digests"])
def test_no_bag_holds_it(printed: Printed, level: str, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(printed.folder / f"{level}.zip") as file:
        file.extractall(tmp_path)
    paths = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(paths) > 15
    assert [path for path in paths if names_in(path)] == []


def test_with_keys_for_applicants_nothing_in_the_store_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a live model, whose answers and errors name people: tables, ledger, journal, everything."""
    pytest.importorskip("cryptography", reason="of the extra sign")
    make_key_of_keys(tmp_path / "key")
    monkeypatch.setenv(KEY, f"file:{tmp_path / 'key'}")
    monkeypatch.setenv(KEYS, str(tmp_path / "keys"))
    with loopback(behave) as server:
        spec = planted(tmp_path, server.url)
        document = yaml.safe_load(spec.read_text())
        document |= {"privacy": {"keys": "applicant"}, "score": document["score"] | {"ledger": "off"}}
        spec.write_text(yaml.safe_dump(document, sort_keys=False))
        run_all(open_run(spec, Window.parse(*WEEK[1:]), str(tmp_path / "store")))
    (sealed,) = (tmp_path / "store/small").glob("2026*/*")
    assert verify(str(sealed)).findings == ()
    paths = [path for path in (*tmp_path.glob("store/**/*"), *tmp_path.glob("keys/**/*")) if path.is_file()]
    assert len(paths) > 96
    for path in paths:
        assert b"quastenflosser" not in path.read_bytes().lower(), path


def spoiled(rows: list[dict[str, Any]], how: str) -> None:
    """Plant a fault in a row that an error is about."""
    if how == "twice":
        rows.append(dict(rows[0]))
    elif how == "score":
        rows[3]["qualified"] = f"{NAME} is"
    elif how == "time":
        rows[3]["occurred_at"] = f"when {NAME} came"
    elif how == "list":
        rows[3]["resume"] = [NAME]
    elif how == "slot":
        rows[3]["resume"] = f"{{{{{MAIL}}}}} {NAME}"


@pytest.mark.parametrize("how", ["twice", "score", "time", "list", "slot"])
def test_errors_about_rows_name_nobody(how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = planted(tmp_path, "http://127.0.0.1:9/")
    path = tmp_path / "prompts.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    spoiled(rows, how)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(AuditError) as raised:
        run_all(open_run(spec, Window.parse(*WEEK[1:]), str(tmp_path / "store"), notify=print))
    said = "".join(capsys.readouterr()) + str(raised.value)
    assert "quastenflosser" not in said.lower()
    (attempt,) = (tmp_path / "store").rglob("attempts/1/manifest.json")
    assert not names_in(attempt)
