"""What every backend says of itself, those of installed packages too; and one like `recorded` that is not ours."""

from __future__ import annotations

import importlib.util
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from audit_lib import pipeline
from audit_lib.backends import BACKENDS, Probe, Secret
from audit_lib.errors import SpecError
from audit_lib.options import Options
from audit_lib.preflight import preflight
from audit_lib.score.backends import Backend, backend, check_model, require_packages
from audit_lib.score.backends.recorded import Recorded
from audit_lib.spec import Model
from tests.archive.cases import do, new_run
from tests.servers import free_ports
from tests.specs import REPOSITORY


@pytest.fixture(params=backend.names())
def kind(request: pytest.FixtureRequest) -> type[Backend]:
    return backend.get(request.param)


def test_its_record_says_everything(kind: type[Backend]) -> None:
    assert issubclass(kind, Backend)
    assert (kind.__doc__ or "").strip()
    assert issubclass(kind.Options, Options)
    assert all(field.description for field in kind.Options.model_fields.values())
    assert kind.gives
    assert set(kind.gives) <= {"labels", "text"}
    assert not (kind.answers_are_recorded and (kind.local or kind.packages)), "nobody is asked"
    assert kind.local or not kind.weights, "weights are read on this machine"


def test_the_extra_that_it_names_brings_what_it_imports(kind: type[Backend]) -> None:
    if kind.extra is None:
        return
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {Requirement(each).name for each in project["optional-dependencies"][kind.extra]}
    of_others = {module: {*names} for module, names in packages_distributions().items()}
    assert all(package in brought or of_others[package] & brought for package in kind.packages)


@pytest.mark.parametrize("name", [name for name, one in backend if one.packages])
def test_a_package_that_is_not_there_is_told_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    kind = backend.get(name)
    with pytest.raises(SpecError, match=rf"{name} needs .*{kind.packages[0]}.*audit-lib\[{kind.extra}\]"):
        require_packages(kind, name)


@pytest.mark.parametrize("name", backend.names())
def test_an_unknown_option_is_named(name: str) -> None:
    with pytest.raises(SpecError, match=rf"model\.options\.no_such: unknown option of {name}"):
        check_model(Model(backend=name, name="m", options={"no_such": 1}))


class Archive(Recorded):
    """A stranger's backend that gives back the source's answers, under another name."""


def test_a_backend_like_recorded_gives_the_same_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS._parts, "archive", Archive)
    model = {"backend": "archive", "name": "recorded decisions"}
    runs = []
    for name, sections in (("ours", {}), ("theirs", {"model": model})):
        (tmp_path / name).mkdir()
        runs.append(do(new_run(tmp_path / name, str(tmp_path / name / "store"), **sections)))
    ours, theirs = runs
    for stage, artefact in (
        ("metrics", "metrics.json"),
        ("variants", "variants.parquet"),
        ("sample", "prompts.parquet"),
    ):
        assert theirs.stage(stage).read(artefact) == ours.stage(stage).read(artefact)
    sampled = [run.stage("sample").read_json("sample.json")["models"] for run in (ours, theirs)]
    assert sampled[0] == sampled[1]
    assert sampled[0] is not None


class Elsewhere(Recorded):
    """A stranger's backend with an endpoint and a key."""

    @classmethod
    def variables(cls, model: Model) -> list[Secret]:
        return [Secret(variable="ELSEWHERE_KEY", where="model.options.key_env")]

    @classmethod
    def probe(cls, model: Model) -> Probe:
        (port,) = free_ports(1)
        return Probe(verb="GET", url=f"http://127.0.0.1:{port}/", where="model.options.url")


def test_the_key_and_the_endpoint_of_a_stranger_s_backend_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS._parts, "elsewhere", Elsewhere)
    monkeypatch.delenv("ELSEWHERE_KEY", raising=False)
    run = new_run(tmp_path, str(tmp_path / "store"), model={"backend": "elsewhere", "name": "m"})
    told = "\n".join(fault.what for fault in preflight(run.spec))
    assert "model.options.key_env" in told
    assert "ELSEWHERE_KEY" in told
    assert "model.options.url: http://127.0.0.1" in told
    assert "does not answer" in told


def test_what_a_backend_like_recorded_was_not_asked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS._parts, "archive", Archive)
    run = new_run(tmp_path, str(tmp_path / "store"), model={"backend": "archive", "name": "m"})
    asked_again = run.spec.override("score", canaries=["Who is it?"])
    with pytest.raises(SpecError, match=r"score\.canaries asks a live model again"):
        pipeline.check(asked_again)
