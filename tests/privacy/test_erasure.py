"""Rows are encrypted with a key for each applicant: without the key the person is gone, and every digest holds."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from audit_lib.archive.verify import verify
from audit_lib.bag import export_run
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.errors import AuditError, EvidenceError, InputError, SpecError, WithheldError
from audit_lib.large_file import bytes_of
from audit_lib.privacy.applicant_keys import KEY, KEYS, configured_keys, make_key_of_keys
from audit_lib.privacy.vault import HEADER, Vault
from audit_lib.records import SCORE_SCHEMA, from_parquet, to_parquet, write_table
from audit_lib.run import Run
from audit_lib.site import publish
from tests.archive.cases import do, new_run, reseal
from tests.privacy.cases import NAME, WHO, encrypted, people
from tests.specs import LIVE, load
from verifier.files import Files
from verifier.findings import Verdict
from verifier.scores import path_of_scores
from verifier.source import open_source

pytest.importorskip("cryptography", reason="of the extra sign")

pytestmark = pytest.mark.usefixtures("keys")


def test_nothing_in_the_store_can_be_read_without_the_keys(run: Run) -> None:
    sealed = 0
    for path in Path(run.uri).parents[2].rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            sealed += content.startswith(HEADER)
            assert b"Quastenflosser" not in content, path
    kept = [path for path in run.list() if path.startswith(("sample", "variants", "scores", "metrics"))]
    tables = [path for path in kept if not path.endswith((".json", "_SUCCESS"))]
    assert sealed == len(tables) >= 8, "prompts, variants and their shards, scores, decisions, rows as CSV"


def test_with_the_keys_everything_verifies_as_if_it_were_not_encrypted(run: Run) -> None:
    verification = verify(run.uri)
    assert verification.findings == ()
    assert verification.recomputed == ("scores", "plan", "variants", "validation", "metrics", "report")
    assert verification.encrypted == "rows of 48 people are encrypted; erased: 0"
    assert verification.not_recomputable == 0


def test_the_numbers_are_those_of_a_run_in_the_clear(run: Run, tmp_path: Path) -> None:
    plain = do(new_run(tmp_path, str(tmp_path / "store"), rows=people()))
    for stage, name in (("metrics", "metrics.json"), ("report", "tables.csv"), ("sample", "sample.json")):
        assert run.stage(stage).read(name) == plain.stage(stage).read(name)
    for name in ("scores.csv", "decisions.parquet"):
        assert run.stage("metrics").read(name) == plain.stage("metrics").read(name)
        assert run.store.get(f"{run.prefix}/metrics/{name}").startswith(HEADER)


def test_the_same_run_with_the_same_keys_has_the_same_bytes(run: Run, tmp_path: Path) -> None:
    again = encrypted(tmp_path)
    for path in run.list():
        if path.endswith((".parquet", ".csv")):
            assert run.store.get(f"{run.prefix}/{path}") == again.store.get(f"{again.prefix}/{path}"), path


def test_an_erased_person_is_gone_and_every_digest_and_number_holds(
    run: Run, own_keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = verify(run.uri).manifest_sha256
    assert main(["erase", run.uri, "--application", WHO, "--reason", "asked for it"]) == 0
    assert "Quastenflosser" not in "".join(capsys.readouterr())
    verification = verify(run.uri)
    assert verification.findings == ()
    assert verification.manifest_sha256 == before
    assert verification.encrypted == "rows of 48 people are encrypted; erased: 1"
    assert verification.recomputed == ("plan", "metrics", "report")
    assert verification.not_recomputable == 1, "the others are followed from question to answer to score"
    assert "not recomputable: 1 score record; not computed again: scores" in verification.summary()
    stored = run.store.get(f"{run.prefix}/sample/prompts.parquet")
    assert run.vault is not None
    vault = Vault(configured_keys("small"), run.vault.read)
    with pytest.raises(WithheldError, match="rows of it were erased"):
        vault.open("sample/prompts.parquet", stored)
    (record,) = (own_keys / "small/erased").iterdir()
    assert json.loads(record.read_bytes())["reason"] == "asked for it"
    assert not (own_keys / "small" / record.name).exists()
    at = json.loads(record.read_bytes())["at"]
    assert main(["erase", run.uri, "--application", WHO, "--reason", "asked again"]) == 0
    assert f"already erased on {at}: key {record.stem} of audit small" in capsys.readouterr().out
    assert json.loads(record.read_bytes())["reason"] == "asked for it"


def test_the_site_says_how_many_records_of_a_published_run_were_erased(run: Run, own_keys: Path) -> None:
    """The sealed page cannot change, so the page next to it says it."""
    page = Path(run.store.root) / "site/small/index.html"
    publish(run.store.root)
    assert "Not recomputable" not in page.read_text(encoding="utf-8")
    report = (Path(run.store.root) / "site" / run.prefix / "report.html").read_bytes()
    for number, said in ((7, "1 score record:"), (8, "2 score records:")):
        assert main(["erase", run.uri, "--application", f"{NAME} {number}", "--reason", "asked for it"]) == 0
        publish(run.store.root)
        assert f"{said} the data of these people were erased" in page.read_text(encoding="utf-8")
        assert verify(run.uri).not_recomputable == number - 6
    assert (Path(run.store.root) / "site" / run.prefix / "report.html").read_bytes() == report


@pytest.mark.parametrize("forged", ["empty", "by another key of keys", "of somebody else"])
def test_who_lacks_the_key_of_keys_erases_nobody(run: Run, own_keys: Path, forged: str) -> None:
    """A key that is deleted together with a record of its own is a deletion, and no erasure."""
    genuine = configured_keys("small")
    assert genuine is not None
    record = own_keys / "small/erased" / f"{genuine.name_of(WHO)}.json"
    if forged == "of somebody else":
        genuine.erase(f"{NAME} 8", "asked for it")
        assert verify(run.uri).findings == ()
        (other,) = record.parent.iterdir()
        shutil.copy(other, record)
    else:
        record.parent.mkdir()
        made = genuine.erase(WHO, "asked for it") if forged != "empty" else None
        content = b"" if made is None else pretty_json(replace(made, mac="1" * 64).as_dict())
        record.write_bytes(content)
    (own_keys / "small" / record.name).unlink(missing_ok=True)
    found = [str(one) for one in verify(run.uri).findings]
    assert any("the record of its erasure is forged" in one for one in found), found
    assert any("1 keys are gone, and no erasure of them is recorded" in one for one in found), found


def test_a_changed_score_of_somebody_else_is_found_after_an_erasure(
    run: Run, own_keys: Path, tmp_path: Path
) -> None:
    """By whoever has the keys of the others, and so could encrypt what they like."""
    folder = Path(shutil.copytree(run.uri, tmp_path / "copy"))
    assert run.vault is not None
    path = "scores/0/scores.parquet"
    vault = Vault(configured_keys("small"), run.vault.read)
    table = from_parquet(vault.open(path, (folder / path).read_bytes()))
    table["score"] = [table["score"][0] + 0.25, *table["score"][1:]]
    content = vault.seal(path, bytes_of(to_parquet(table, SCORE_SCHEMA, ["variant_id", "repeat"])))
    (folder / path).write_bytes(bytes_of(content))
    reseal(folder)
    erased = next(row for row in table["variant_id"] if row != table["variant_id"][0])
    who = f"{NAME} {int(erased[1:])}"
    assert main(["erase", run.uri, "--application", who, "--reason", "asked for it"]) == 0
    assert ("recomputation", path) in {(f.kind, f.path) for f in verify(str(folder)).findings}


def test_without_keys_it_verifies_as_far_as_it_can_be_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEYS)
    monkeypatch.delenv(KEY)
    verification = verify(run.uri)
    assert verification.findings == ()
    assert verification.encrypted == "rows of 48 people are encrypted, and no keys are here"
    assert verification.recomputed == ("plan", "metrics", "report")


def test_a_key_that_is_gone_without_a_record_is_found(run: Run, own_keys: Path) -> None:
    next((own_keys / "small").glob("*.json")).unlink()
    (finding,) = verify(run.uri).findings
    assert (finding.kind, finding.path) == ("missing", "sample/prompts.parquet")
    assert "1 keys are gone, and no erasure of them is recorded" in finding.detail


def test_a_byte_of_the_ciphertext_is_found(run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run.uri, tmp_path / "copy"))
    path = folder / "scores/0/scores.parquet"
    content = bytearray(path.read_bytes())
    content[-200] ^= 1
    path.write_bytes(content)
    assert ("changed", "scores/0/scores.parquet") in {(f.kind, f.path) for f in verify(str(folder)).findings}


def test_a_row_cannot_be_moved_to_another_table(run: Run) -> None:
    vault = run.vault
    assert vault is not None
    stored = run.store.get(f"{run.prefix}/scores/0/scores.parquet")
    with pytest.raises(EvidenceError, match="not what was encrypted"):
        vault.open("scores/1/scores.parquet", stored)


def test_a_row_about_two_people_is_gone_with_either(run: Run, own_keys: Path) -> None:
    keys = configured_keys("small")
    assert run.vault is not None and keys is not None
    table = pa.table({"request_id": ["q1", "q2"], "first": ["p001", "p003"], "second": ["p002", "p004"]})
    path, content = "scores/0/pairs.parquet", bytes_of(write_table(table))
    stored = bytes_of(Vault(keys, run.vault.read).seal(path, content))
    assert Vault(keys, run.vault.read).open(path, stored) == content
    keys.erase(f"{NAME} 2", "asked for it")
    with pytest.raises(WithheldError, match="were erased"):
        Vault(keys, run.vault.read).open(path, stored)
    kept = from_parquet(Vault(keys, run.vault.read, skips_erased=True).open(path, stored))
    assert kept["request_id"].tolist() == ["q2"]


def test_the_verifier_without_packages_counts_the_rows_that_it_can_read(
    run: Run,
) -> None:
    files = Files(open_source(run.uri), Verdict(run.uri))
    assert path_of_scores(files) == "evidence/redacted/metrics/scores.csv"


def test_an_erased_applicant_who_is_still_in_the_source_stops_the_next_run(
    run: Run, own_keys: Path, tmp_path: Path
) -> None:
    assert main(["erase", run.uri, "--application", WHO, "--reason", "asked for it"]) == 0
    with pytest.raises(InputError, match="still holds them") as raised:
        encrypted(tmp_path)
    assert NAME not in str(raised.value)


def test_the_spec_says_the_fullest_level(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", run.uri, "--out", str(tmp_path / "a.zip"), "--privacy", "full"]) == 2
    assert "has privacy.level: redacted; nothing fuller is handed on" in capsys.readouterr().err
    assert main(["export", run.uri, "--out", str(tmp_path / "b.zip"), "--privacy", "digests"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"]


def test_the_key_of_keys_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "key"
    assert main(["keygen", "--privacy", str(path)]) == 0
    assert path.stat().st_mode & 0o777 == 0o600
    content = path.read_text()
    assert content.strip() not in capsys.readouterr().out
    assert main(["keygen", "--privacy", str(path)]) == 2
    assert path.read_text() == content


def test_a_full_copy_holds_the_ciphertext(run: Run, tmp_path: Path) -> None:
    made = export_run(run.uri, tmp_path / "run.zip", level="full")
    assert made.withheld == 0
    assert b"Quastenflosser" not in made.path.read_bytes()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "is not set, so there are no keys"),
        ({KEYS: "keys"}, "are needed both"),
        ({KEYS: "keys", KEY: "env:NOTHING"}, "is not 32 bytes in base64"),
        ({KEYS: "keys", KEY: "file:nothing"}, "cannot be read"),
        ({KEYS: "keys", KEY: "awskms:alias"}, "write file:PATH or env:VARIABLE"),
    ],
)
def test_without_usable_keys_nothing_is_written(
    variables: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (KEYS, KEY):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AuditError, match=said):
        encrypted(tmp_path)
    assert not list(tmp_path.rglob("prompts.parquet"))


def test_another_key_of_keys_opens_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_key_of_keys(tmp_path / "other")
    monkeypatch.setenv(KEY, f"file:{tmp_path / 'other'}")
    other = configured_keys("small")
    assert other is not None
    with pytest.raises(EvidenceError, match="wrapped by another key of keys"):
        other.key(next(iter(other.names())))


def test_what_would_keep_answers_in_the_clear_is_refused() -> None:
    with pytest.raises(SpecError, match="set score.ledger: off"):
        load(privacy={"keys": "applicant"}, model=LIVE, prompt={"template": "t.yaml"})


def test_a_spec_without_the_section_has_the_digest_that_it_had() -> None:
    assert b"privacy" not in load().canonical()
    assert b"privacy" in load(privacy={}).canonical()
