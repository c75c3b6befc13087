"""The two readers of YAML: the fast one gives what the slow one gives, and neither can be brought down."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec, read_spec, text
from audit_lib.spec.text import LONGEST
from tests.specs import INCLUDE

PATH = Path("x.yaml")
SPECS = sorted(path for path in INCLUDE.rglob("*.yaml") if "audit:" in path.read_text(encoding="utf-8"))
ODD = [
    "a: 1\nb: [yes, No, 0o17, 1e3, .5, 2026-01-05, 12:30:00, ~, null, '']\n",
    "a: &one {x: 1}\nb: *one\nc: {<<: *one, y: 2}\n",
    'a: "tab\\t, \\u00e9, \\U0001F600"\nb: |\n  two\n  lines\nc: >-\n  folded\n  text\n',
    "? [a, b]\n: c\n",
    "a: 1\n---\nb: 2\n",
    "a: [1, 2\n",
    "a: 1\na: 2\n",
    'a: "\\ud83d"\n',
    "a: !!python/object:os.system x\n",
    "a: 2026-13-01\n",
    "\ta: 1\n",
    "",
    "- a\n",
    "a: *none\n",
    "a: b: c\n",
    "a: \u0007\n",
]


def read(content: str) -> object:
    try:
        return text.read_yaml(content, PATH)
    except SpecError as error:
        return str(error)


@pytest.mark.parametrize("content", ODD + [path.read_text(encoding="utf-8") for path in SPECS])
def test_both_readers_give_the_same(content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if text._FAST is None:
        pytest.skip("this build of yaml has no libyaml")
    fast = read(content)
    monkeypatch.setattr(text, "_FAST", None)
    assert read(content) == fast


def test_the_fast_reader_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    if text._FAST is None:
        pytest.skip("this build of yaml has no libyaml")
    monkeypatch.setattr(yaml, "SafeLoader", None)
    assert all(read_spec(path) for path in SPECS)


@pytest.mark.parametrize("piece", ["[", "{a: ", "- ", "? "])
def test_what_is_nested_too_deep_is_refused_and_no_crash(piece: str) -> None:
    """libyaml reads nested levels on the stack of C, without a limit of its own."""
    with pytest.raises(SpecError, match="x.yaml"):
        text.read_yaml(piece * 200_000, PATH)


def test_a_file_that_is_too_long_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("#" * (LONGEST + 1), encoding="utf-8")
    with pytest.raises(SpecError, match="a spec has at most"):
        AuditSpec.load(tmp_path / "x.yaml")
