"""The files for Kubernetes and Celery: of the API's schema, read by Airflow itself, and of one mind. Not run."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.dags.conftest import airflow_environment, in_process
from tests.specs import INCLUDE, REPOSITORY
from tests.test_locks import pins

DEPLOYMENT = INCLUDE / "deployment"
IN_IMAGE = "/opt/audit/include/"
VERSIONS = ("1.34", "1.37")
"""Of Kubernetes: the oldest whose schema is looked at, and the newest that the package has."""
MANIFESTS = [
    (path.name, number)
    for path in sorted(DEPLOYMENT.glob("*.yaml"))
    if "apiVersion:" in path.read_text(encoding="utf-8")
    for number, _ in enumerate(yaml.safe_load_all(path.read_text(encoding="utf-8")))
]
READ = """
import json, sys
from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator
base = PodGenerator.deserialize_model_file(sys.argv[1])
own = PodGenerator.deserialize_model_dict({"spec": {"containers": [
    {"name": "base", "resources": {"requests": {"memory": "32Gi"}}},
]}})
print(json.dumps(PodGenerator.serialize_pod(PodGenerator.reconcile_pods(base, own))))
"""


def document(name: str, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = list(yaml.safe_load_all((DEPLOYMENT / name).read_text(encoding="utf-8")))[number]
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "number"), MANIFESTS)
def test_a_manifest_is_of_the_schema_of_kubernetes(name: str, number: int, version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    validate.validate(document(name, number), version, strict=True)
    broken = document(name, number) | {"spce": {}}
    with pytest.raises(validate.ValidationError):
        validate.validate(broken, version, strict=True)


def test_there_is_a_template_for_cpu_and_one_for_gpu() -> None:
    assert {name for name, _ in MANIFESTS} == {"pod-cpu.yaml", "pod-gpu.yaml", "settings.yaml"}
    gpu = document("pod-gpu.yaml")["spec"]["containers"][0]["resources"]
    cpu = document("pod-cpu.yaml")["spec"]["containers"][0]["resources"]
    assert gpu["limits"]["nvidia.com/gpu"] == "1" and "nvidia.com/gpu" not in cpu["limits"]


@pytest.mark.parametrize("name", ["pod-cpu.yaml", "pod-gpu.yaml"])
def test_airflow_reads_a_template_and_puts_an_override_over_it(name: str, tmp_path: Path) -> None:
    pytest.importorskip("airflow.providers.cncf.kubernetes", reason="the extra kubernetes is not installed")
    code = f"import sys; sys.argv = ['', {str(DEPLOYMENT / name)!r}]\n{READ}"
    pod = json.loads(in_process(code, airflow_environment(tmp_path, PYTHONPATH=_path())))
    (container,) = pod["spec"]["containers"]
    written = document(name)["spec"]["containers"][0]
    assert container["image"] == written["image"]
    assert container["resources"]["requests"]["memory"] == "32Gi"
    assert [one["name"] for one in pod["spec"]["volumes"]] == [
        one["name"] for one in document(name)["spec"]["volumes"]
    ]


def _path() -> str:
    import os

    return os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.mark.parametrize("name", ["placement-celery.yaml", "placement-kubernetes.yaml"])
def test_a_placement_that_ships_is_one_and_names_what_is_there(audit_tasks: ModuleType, name: str) -> None:
    from placement import Placement

    placed = Placement.model_validate(document(name))
    for rule in placed.rules:
        if rule.pod_template_file is not None:
            assert (INCLUDE / rule.pod_template_file.removeprefix(IN_IMAGE)).is_file()
    score = {backend: placed.options("score", "any", backend) for backend in ("transformers", "openai")}
    assert score["transformers"] != score["openai"]


def test_the_chart_s_values_name_what_the_templates_use() -> None:
    values = document("airflow-values.yaml")
    assert values["airflowVersion"] == pins("requirements.lock")["apache-airflow"]
    image = f"{values['images']['airflow']['repository']}:{values['images']['airflow']['tag']}"
    sources = yaml.safe_load(values["extraEnvFrom"])
    assert values["images"]["pod_template"] == values["images"]["airflow"]
    for name in ("pod-cpu.yaml", "pod-gpu.yaml"):
        container = document(name)["spec"]["containers"][0]
        assert container["name"] == "base" and container["image"] == image
        assert container["envFrom"] == sources
    settings = document("settings.yaml")
    assert {"configMapRef": {"name": settings["metadata"]["name"]}} in sources
    claim = document("settings.yaml", 1)["metadata"]["name"]
    volumes = document("pod-gpu.yaml")["spec"]["volumes"]
    assert {"name": "models", "persistentVolumeClaim": {"claimName": claim}} in volumes
    assert Path(settings["data"]["AUDIT_PLACEMENT"].replace(IN_IMAGE, f"{INCLUDE}/")).is_file()
    assert settings["data"]["AIRFLOW__CORE__DAGS_FOLDER"] == values["config"]["core"]["dags_folder"]


def test_no_secret_is_written_down() -> None:
    for path in DEPLOYMENT.iterdir():
        text = path.read_text(encoding="utf-8").lower()
        assert "kind: secret" not in text and "password:" not in text, path
