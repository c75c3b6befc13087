"""The process that reads and checks snapshots, one at a time: ``python -m audit_lib.corpus.worker``.

A snapshot is anybody's bytes. One that makes a reader hang, grow or crash ends this process, is named, and hides no
other; `audit_lib.worker_processes` starts the next one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audit_lib.corpus.page_facts import page_facts
from audit_lib.errors import EvidenceError
from audit_lib.store import Store, open_store
from audit_lib.worker_processes import Jobs, serve


def facts_of(store: Store, key: str, sha256: str, checker: str, policy: str) -> dict[str, Any]:
    """Return the facts of a snapshot in the store; nothing beside it is read.

    Raises
    ------
    EvidenceError
        If its bytes are not those that were kept.
    """
    content = store.get(key)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EvidenceError("the snapshot in the store is not what was kept: its digest differs")
    with TemporaryDirectory(prefix="audit-page-") as folder:
        before = Path.cwd()
        os.chdir(folder)  # messages name the file alone, and no path of this machine
        try:
            path = Path("snapshot")
            path.write_bytes(content)
            return page_facts(path, sha256, checker, policy).as_dict()
        finally:
            os.chdir(before)


@contextmanager
def _opened(settings: Mapping[str, Any]) -> Iterator[Jobs]:
    store = open_store(settings["root"])

    def check(job: Mapping[str, Any]) -> dict[str, Any]:
        return facts_of(store, job["key"], job["sha256"], settings["checker"], settings["policy"])

    yield {"check": check}


if __name__ == "__main__":
    serve(_opened)
