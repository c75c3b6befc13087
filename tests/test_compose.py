"""docker-compose.yml and .env.example agree with each other and with the repository."""

from __future__ import annotations

import json
import re
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
        assert service["environment"]["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
        assert service["depends_on"]["init"]["condition"] == "service_completed_successfully"


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
