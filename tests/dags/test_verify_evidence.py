"""The nightly verification gives the verdict of `audit verify`: evidence and sign-offs together."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit_lib.run import Run
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from audit_lib.window import Window
from tests.archive.cases import do, new_run
from tests.dags.conftest import DAGS, airflow_environment, in_process

pytestmark = pytest.mark.slow
CODE = f"""
import sys
sys.path.insert(0, {str(DAGS)!r})
import verify_evidence
from airflow.sdk.exceptions import AirflowFailException
try:
    print("all", [verify_evidence.verify_part(part) for part in verify_evidence.write_parts()])
except (AirflowFailException, verify_evidence.UncheckedError) as error:
    print(error)
"""
LOGGED = f"""
import sys
sys.path.insert(0, {str(DAGS)!r})
import verify_evidence
log = []
verify_evidence.tell = lambda said: said.startswith("verify:") or log.append(said.split()[0])
verify_evidence.tell_events = lambda audits, context: log.append(f"told of {{','.join(audits)}}")
try:
    verify_evidence.verify_part(*verify_evidence.write_parts())
except verify_evidence.ToldError:
    print("; ".join(log))
"""


def test_a_sign_off_of_another_run_fails_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    run: Run = do(new_run(tmp_path, str(store)), until="evidence")
    folder = tmp_path / "other"
    folder.mkdir()
    other = do(new_run(folder, str(store), Window.parse("2026-01-12", "2026-01-19")), until="evidence")
    generate_key(tmp_path / "auditor.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, who, load_private_key(tmp_path / "auditor.key"))
    environment = airflow_environment(tmp_path / "airflow", AUDIT_STORE=str(store))
    assert in_process(CODE, environment) == "all [{'in full': 3, 'verified': 3}]", "two runs and a journal"
    assert in_process(CODE, environment) == "all [{'contents': 2, 'in full': 1, 'verified': 3}]"
    shutil.copytree(Path(run.uri) / "signoff", Path(other.uri) / "signoff")
    said = in_process(CODE, environment)
    assert said == f"archived evidence does not verify: {other.uri}"
    # More runs than are worth a task: each part has its own.
    parts = in_process(CODE.replace("try:", "verify_evidence.A_TASK = 1\ntry:", 1), environment)
    assert parts == said


def test_the_first_failure_is_told_before_the_others_are_verified(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for day in (5, 12):
        folder = tmp_path / f"inputs{day}"
        folder.mkdir()
        run = do(new_run(folder, str(store), Window.parse(f"2026-01-{day:02d}", f"2026-01-{day + 7:02d}")))
        (Path(run.uri) / "stray").write_text("x")
    environment = airflow_environment(tmp_path / "airflow", AUDIT_STORE=str(store))
    told = in_process(LOGGED, environment).split("; ")
    assert told == ["DOES", "told of small", "DOES", "NOT", "told of small"]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"AUDIT_VERIFY_INTERVAL_DAYS": "often"},
            "AUDIT_VERIFY_INTERVAL_DAYS: 'often' is not a positive whole number",
        ),
        ({"AUDIT_VERIFIED_KEY": "short"}, "AUDIT_VERIFIED_KEY: a key of 5 characters can be guessed"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, variables: dict[str, str], said: str) -> None:
    do(new_run(tmp_path, str(tmp_path / "store")))
    environment = airflow_environment(tmp_path / "airflow", AUDIT_STORE=str(tmp_path / "store"), **variables)
    code = CODE.replace("verify_evidence.UncheckedError", "verify_evidence.InputError")
    assert said in in_process(code, environment)
