"""Many specs: what YAML says is kept and never believed, and a file that does not answer stops no other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import SpecError
from audit_lib.spec import parsed_specs
from audit_lib.spec.parsed_specs import ParsedSpecs
from audit_lib.spec.text import read_yaml
from audit_lib.spec.texts_of_files import read_spec_texts
from tests.inputs import asleep
from tests.specs import INCLUDE

SHIPPED = sorted((INCLUDE / "examples").glob("*.yaml"))


def kept_again(text: str, file: Path, said: list[str]) -> dict[str, Any]:
    first = ParsedSpecs(file, said.append)
    first.read(text, Path("a.yaml"))
    first.save()
    return ParsedSpecs(file, said.append).read(text, Path("a.yaml"))


def exactly(value: Any) -> Any:
    """Tell what a value is and of which type, all the way down and in order."""
    if isinstance(value, dict):
        return [(exactly(key), exactly(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [exactly(one) for one in value]
    return type(value).__name__, repr(value)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.datetimes(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(content=st.dictionaries(st.text(), _VALUES, max_size=4))
def test_what_is_kept_is_exactly_what_yaml_says(
    content: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, said = yaml.safe_dump(content, allow_unicode=True, sort_keys=False), []
    try:
        expected = read_yaml(text, Path("a.yaml"))
    except SpecError:
        return
    file = tmp_path_factory.mktemp("kept") / "kept.json"
    assert exactly(kept_again(text, file, said)) == exactly(expected)
    assert said == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_specs_are_kept(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, said = path.read_text(encoding="utf-8"), []
    expected = read_yaml(text, path)
    first = ParsedSpecs(tmp_path / "kept.json", said.append)
    first.read(text, path)
    first.save()
    monkeypatch.setattr(parsed_specs, "read_yaml", lambda text, path: pytest.fail("read again"))
    assert exactly(ParsedSpecs(tmp_path / "kept.json", said.append).read(text, path)) == exactly(expected)
    assert said == []


def _changed(file: Path, _: pytest.MonkeyPatch) -> None:
    file.write_bytes(file.read_bytes().replace(b'"one"', b'"two"'))


def _cut(file: Path, _: pytest.MonkeyPatch) -> None:
    file.write_bytes(file.read_bytes()[:60])


def _empty(file: Path, _: pytest.MonkeyPatch) -> None:
    file.write_bytes(b"")


def _open_to_others(file: Path, _: pytest.MonkeyPatch) -> None:
    file.chmod(0o666)


def _of_another_version(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(parsed_specs, "_made_by", lambda: "audit_lib of another day")


def _folder(file: Path, _: pytest.MonkeyPatch) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    ("done", "why"),
    [
        (_changed, "it was changed"),
        (_cut, "not what this library writes"),
        (_empty, "not what this library writes"),
        (_open_to_others, "others can write it"),
        (_of_another_version, "another version"),
        (_folder, "Is a directory"),
    ],
)
def test_what_is_not_ours_is_not_used_and_told(
    done: Any, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, said, text = tmp_path / "kept.json", [], "audit: one\n"
    assert kept_again(text, file, said) == {"audit": "one"} and said == []
    done(file, monkeypatch)
    again = ParsedSpecs(file, said.append)
    assert len(said) == 1 and why in said[0]
    assert again.read(text, Path("a.yaml")) == {"audit": "one"}
    again.save()
    if done is not _folder:
        said.clear()
        assert ParsedSpecs(file, said.append).read(text, Path("a.yaml")) == {"audit": "one"} and said == []
        assert file.stat().st_mode & 0o077 == 0


def test_a_changed_text_is_read_and_an_old_one_forgotten(tmp_path: Path) -> None:
    file, said = tmp_path / "kept.json", []
    kept_again("audit: one\n", file, said)
    assert kept_again("audit: two\n", file, said) == {"audit": "two"}
    assert len(json.loads(file.read_bytes().splitlines()[1])) == 1


def test_aliases_that_stand_for_more_than_memory_holds_are_not_kept(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    first = ParsedSpecs(tmp_path / "kept.json")
    first.read("\n".join(lines), Path("a.yaml"))
    first.save()
    assert not (tmp_path / "kept.json").exists()


def test_a_fault_names_the_same_line_where_texts_are_kept(tmp_path: Path) -> None:
    text = "audit: one\ntitle: x\naudit: two\n"
    for _ in range(2):
        with pytest.raises(SpecError, match=r"a.yaml: line 3: the key 'audit' is given twice"):
            kept_again(text, tmp_path / "kept.json", [])


def test_files_that_do_not_answer_stop_no_other(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:02d}.yaml" for number in range(30)]
    for path in paths:
        path.write_text(f"audit: {path.stem}\n", encoding="utf-8")
    paths[3].unlink()
    os.mkfifo(paths[3])
    with asleep(paths[0]), asleep(paths[7]), asleep(paths[20]):
        found = read_spec_texts(paths, patience=0.5)
        own = read_spec_texts(paths, patience=60, enough=lambda path, text: text == "audit: 29\n")
    assert list(found) == list(own) == paths
    for place in (0, 7, 20):
        said = str(found[paths[place]])
        assert said == f"{paths[place]}: cannot be read: its file system did not answer within 0.5 seconds"
    assert str(found[paths[3]]) == f"{paths[3]}: is not a file; give a spec's YAML file"
    rest = [place for place in range(30) if place not in (0, 3, 7, 20)]
    assert [found[paths[place]] for place in rest] == [f"audit: {place:02d}\n" for place in rest]
    assert own[paths[29]] == "audit: 29\n"
