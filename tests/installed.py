"""What a test needs and a machine may not have: without it the test is skipped, and says why."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

NO_TORCH = "torch is not installed"
TORCH = find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not TORCH, reason=NO_TORCH)
