"""docker-compose.yml and .env.example agree with each other and with the repository."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.specs import REPOSITORY

TEXT = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
EXAMPLE = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
AIRFLOW_PARTS = {"api-server", "dag-processor", "scheduler", "triggerer"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(TEXT)
    return content


def variables(pattern: str) -> set[str]:
    return set(re.findall(pattern, TEXT))


def test_every_part_of_airflow_is_there(compose: dict[str, Any]) -> None:
    for name in AIRFLOW_PARTS:
        service = compose["services"][name]
        assert service["command"] == f"airflow {name}"
        assert service["environment"]["AIRFLOW__CORE__EXECUTOR"] == "${AIRFLOW_EXECUTOR:-LocalExecutor}"
        assert service["depends_on"]["init"]["condition"] == "service_completed_successfully"


def test_a_celery_worker_shares_no_disk_and_knows_no_database(compose: dict[str, Any]) -> None:
    worker, scheduler = compose["services"]["worker"], compose["services"]["scheduler"]
    assert worker["profiles"] == compose["services"]["redis"]["profiles"] == ["celery"]
    assert all(mount.endswith(":ro") for mount in worker["volumes"]), "files to read, and nothing to write"
    assert not [name for name in worker["environment"] if "SQL_ALCHEMY" in name]
    told = worker["environment"]
    assert told["AIRFLOW__CORE__EXECUTOR"] == "CeleryExecutor"
    for name in (
        "AIRFLOW__API__SECRET_KEY", "AIRFLOW__API_AUTH__JWT_SECRET", "AIRFLOW__CELERY__BROKER_URL",
        "AIRFLOW__CELERY__RESULT_BACKEND", "AIRFLOW__CORE__EXECUTION_API_SERVER_URL", "AUDIT_STORE",
    ):  # fmt: skip
        assert told[name] == scheduler["environment"][name], name
    assert "--queues default,calls" in worker["command"]
    assert "#AIRFLOW_EXECUTOR=CeleryExecutor" in EXAMPLE
    placement = re.search(r"^#AUDIT_PLACEMENT=/opt/audit/(.+)$", EXAMPLE, re.M)[1]
    assert (REPOSITORY / placement).is_file()


def test_nobody_is_an_admin_without_a_login(compose: dict[str, Any]) -> None:
    assert "ALL_ADMINS" not in TEXT
    published = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_no_secret_is_written_down(compose: dict[str, Any]) -> None:
    for line in EXAMPLE.splitlines():
        name, _, value = line.lstrip("#").partition("=")
        if re.search(r"^[A-Z_]*(PASSWORD|SECRET|KEY|KEY_ID)[A-Z_]*$", name):
            assert value == "", name
    required = {"POSTGRES_PASSWORD", "AIRFLOW_ADMIN_PASSWORD", "AIRFLOW_SECRET_KEY", "AIRFLOW_JWT_SECRET"}
    assert required <= variables(r"\$\{([A-Z_]+):\?")


def test_every_variable_is_explained(compose: dict[str, Any]) -> None:
    explained = set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", EXAMPLE, re.M))
    assert variables(r"\$\{([A-Z][A-Z0-9_]*)") <= explained
    settable = set(re.findall(r"^([A-Z][A-Z0-9_]+)=$", EXAMPLE, re.M))
    assert settable == variables(r"\$\{([A-Z][A-Z0-9_]*):\?")


def test_images_are_pinned_and_mounts_exist(compose: dict[str, Any]) -> None:
    named = set(compose["volumes"])
    for name, service in compose["services"].items():
        assert re.search(r":[\w.]+$", service["image"]), name
        assert not service["image"].endswith(":latest"), name
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            assert source in named or (REPOSITORY / source).exists(), mount
        for needed in service.get("depends_on", []):
            assert needed in compose["services"], needed
        for config in service.get("configs", []):
            assert config["source"] in compose["configs"]


def test_the_store_of_the_s3_profile_gets_valid_identities(compose: dict[str, Any]) -> None:
    content = compose["configs"]["s3-identities"]["content"]
    filled = re.sub(r"\$\{[A-Z_]+:-\}", "key", content)
    assert json.loads(filled)["identities"][0]["credentials"] == [{"accessKey": "key", "secretKey": "key"}]
    assert "-filer.disableHttp" in compose["services"]["s3"]["command"]


def test_the_python_in_it_compiles(compose: dict[str, Any]) -> None:
    program = compose["services"]["s3-bucket"]["command"][2]
    assert compile(program, "s3-bucket", "exec").co_code


def test_the_image_is_built_from_the_lock(compose: dict[str, Any]) -> None:
    recipe = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in recipe
    for pinned in (r"uv==|UV_VERSION := ", r"torch==|TORCH := torch=="):
        versions = {re.search(rf"(?:{pinned})([\d.]+)", text)[1] for text in (recipe, makefile)}
        assert len(versions) == 1, pinned
    for library in ("libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0", "fonts-dejavu-core"):
        assert library in recipe, "PDF reports need it"
    assert "weasyprint==" in (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")


def test_whoever_signs_has_a_login_and_a_key_of_their_own(compose: dict[str, Any]) -> None:
    scheduler, init = compose["services"]["scheduler"], compose["services"]["init"]
    users = scheduler["environment"]["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"]
    assert re.search(r"admin:admin,\$\{AIRFLOW_USERS:\?", users)
    assert init["environment"]["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"] == users
    assert scheduler["environment"]["AUDIT_AUDITORS"].startswith("${AUDIT_AUDITORS:?")
    assert init["environment"]["AUDIT_AUDITORS"] == scheduler["environment"]["AUDIT_AUDITORS"]
    folder = re.search(r"auditor_keys\.py (\S+)", init["command"][2])[1]
    assert scheduler["environment"]["AUDIT_SIGNING_KEY"] == f"${{AUDIT_SIGNING_KEY:-{folder}}}"
    assert "tools/logins.py" in init["command"][2] and "auth:/opt/airflow/auth" in init["volumes"]
    assert "keys:/opt/audit/keys:ro" in scheduler["volumes"] and "keys:/opt/audit/keys" in init["volumes"]
    made = compose["services"]["keygen"]
    assert made["volumes"] == ["keys:/opt/audit/keys"]
    assert (
        f"#AUDIT_SIGNER=file:{made['command'].split()[-1]}" in EXAMPLE and "#AUDIT_TIMESTAMP_URL=" in EXAMPLE
    )


def test_each_auditor_gets_a_key_and_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "auditors"

    def made(auditors: str, users: str = "admin:admin,ada:user,grace:op,eve:viewer") -> str:
        monkeypatch.setenv("AUDIT_AUDITORS", auditors)
        monkeypatch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", users)
        done = subprocess.run(
            [sys.executable, REPOSITORY / "tools/auditor_keys.py", folder],
            check=False,
            capture_output=True,
            text=True,
        )
        return done.stderr if done.returncode else ""

    assert made("ada") == ""
    first = (folder / "ada.key").read_bytes()
    assert (folder / "ada.key").stat().st_mode & 0o777 == 0o600
    assert made("ada, grace") == ""
    assert (folder / "ada.key").read_bytes() == first != (folder / "grace.key").read_bytes()
    assert {path.name for path in folder.glob("*.pub")} == {"ada.key.pub", "grace.key.pub"}
    assert "bob: has no login" in made("ada,bob")
    assert "eve: a viewer cannot answer" in made("eve")
    assert "names nobody" in made(" , ")
    assert "a login has letters" in made("../ada", "admin:admin,../ada:user")


def test_logins_are_kept_made_and_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "passwords.json"
    monkeypatch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", "admin:admin,ada:user")
    monkeypatch.setenv("AIRFLOW_ADMIN_PASSWORD", "first")

    def made() -> dict[str, str]:
        subprocess.run(
            [sys.executable, REPOSITORY / "tools/logins.py", path], check=True, capture_output=True
        )
        assert path.stat().st_mode & 0o777 == 0o600
        content: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return content

    before = made()
    assert before["admin"] == "first" and len(before["ada"]) >= 24
    monkeypatch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", "admin:admin,ada:user,grace:user")
    monkeypatch.setenv("AIRFLOW_ADMIN_PASSWORD", "second")
    after = made()
    assert after["admin"] == "second" and after["ada"] == before["ada"] != after["grace"]
    monkeypatch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", "admin:admin,grace:user")
    assert made().keys() == {"admin", "grace"}


def test_the_parts_that_do_the_work_are_watched(compose: dict[str, Any]) -> None:
    for name in (*AIRFLOW_PARTS, "scheduler-gpu"):
        check = compose["services"][name]["healthcheck"]
        assert check["test"][0] in ("CMD", "CMD-SHELL") and check["start_period"], name
    assert (
        compose["services"]["scheduler"]["environment"]["AIRFLOW__SCHEDULER__ENABLE_HEALTH_CHECK"] == "True"
    )
    for name, job in (("dag-processor", "DagProcessorJob"), ("triggerer", "TriggererJob")):
        assert f"--job-type {job}" in compose["services"][name]["healthcheck"]["test"][1]


def test_a_gpu_and_a_place_for_models(compose: dict[str, Any]) -> None:
    service = compose["services"]["scheduler-gpu"]
    assert service["profiles"] == ["gpu"] and service["command"] == "airflow scheduler"
    (device,) = service["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert compose["services"]["scheduler"]["deploy"]["replicas"] == "${CPU_SCHEDULERS:-1}"
    assert "models:/opt/audit/models" in service["volumes"]
    for name in ("HF_HOME", "AUDIT_CACHE"):
        assert service["environment"][name].startswith("/opt/audit/models/")
