"""What the evidence says is installed, held against what ``importlib.metadata`` says."""

from __future__ import annotations

import hashlib
from importlib.metadata import distributions
from pathlib import Path

import pytest

from audit_lib.archive.environment import environment, software_sha256
from audit_lib.documents.environment import Distribution
from tests.archive.cases import new_run


def install(folder: Path, version: str, record: str | None = "a.py,,\n") -> Path:
    """A package as its installer leaves it; its description has lines that look like headers."""
    place = folder / f"Some_Package-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: Some_Package\nVersion: {version}\n\nName: another\nVersion: 9\n"
    )
    if record is not None:
        (place / "RECORD").write_text(record)
    return place


def found(folder: Path, name: str) -> list[Distribution]:
    folder.mkdir(exist_ok=True)
    run = new_run(folder, str(folder / "store"))
    return [one for one in environment(run, ()).distributions if one.name == name]


def test_what_is_installed_is_what_python_finds(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"))
    known = {(each.metadata["Name"].lower().replace("_", "-"), each.version) for each in distributions()}
    told = [(one.name, one.version) for one in environment(run, ()).distributions]
    assert set(told) <= known and {name for name, _ in told} == {name for name, _ in known}
    assert told == sorted(told)


def test_a_package_that_comes_and_goes_in_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.syspath_prepend(packages)
    assert found(tmp_path / "run", "some-package") == []
    before = software_sha256()
    first = install(packages, "1.0")
    expected = Distribution(
        name="some-package", version="1.0", record_sha256=hashlib.sha256(b"a.py,,\n").hexdigest()
    )
    assert found(tmp_path / "run", "some-package") == [expected]
    after = software_sha256()
    assert after != before
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    install(packages, "1.1", record=None)
    assert found(tmp_path / "run", "some-package") == [
        Distribution(name="some-package", version="1.1", record_sha256=None)
    ]
    assert software_sha256() not in (before, after)


def test_of_two_the_one_that_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("later", "1.0"), ("first", "2.0")):
        install(tmp_path / name, version)
        monkeypatch.syspath_prepend(tmp_path / name)
    assert [one.version for one in found(tmp_path / "run", "some-package")] == ["2.0"]
