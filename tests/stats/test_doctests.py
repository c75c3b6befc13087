from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import audit_lib.stats

MODULES = sorted(m.name for m in pkgutil.iter_modules(audit_lib.stats.__path__) if not m.name.startswith("_"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"audit_lib.stats.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_function_has_an_example():
    for name in audit_lib.stats.__all__:
        part = getattr(audit_lib.stats, name)
        if not isinstance(part, type):
            assert ">>>" in part.__doc__, name
