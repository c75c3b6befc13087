"""A reader that hangs, for tests of the bound in time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from audit_lib.worker_processes import Jobs, serve


def hang(job: Mapping[str, Any]) -> dict[str, Any]:
    time.sleep(600)
    return {}


@contextmanager
def _opened(settings: Mapping[str, Any]) -> Iterator[Jobs]:
    yield {"check": hang}


if __name__ == "__main__":
    serve(_opened)
