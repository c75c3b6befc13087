"""The weekly verification gives the verdict of `audit verify`: evidence and sign-offs together."""

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
verified = 0
try:
    for part in sorted(set(verify_evidence.bundles().values())):
        verified += verify_evidence.verify.function(part)["verified"]
    print("all", verified)
except AirflowFailException as error:
    print(error)
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
    assert in_process(CODE, environment) == "all 2"
    shutil.copytree(Path(run.uri) / "signoff", Path(other.uri) / "signoff")
    said = in_process(CODE, environment)
    assert said == f"archived evidence does not verify: {other.uri}"
