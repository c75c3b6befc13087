"""The process that does checks of a verification: ``python -m audit_lib.archive.check_worker``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from audit_lib.archive.checks import check, told
from audit_lib.archive.findings import Work
from audit_lib.documents.evidence import Manifest
from audit_lib.run import Run
from audit_lib.store.versions import as_first_written
from audit_lib.typed_json import decode
from audit_lib.worker_processes import Jobs, serve


@contextmanager
def _opened(settings: Mapping[str, Any]) -> Iterator[Jobs]:
    import pyarrow as pa

    store, _ = as_first_written(settings["uri"])
    run = Run.from_bundle(settings["uri"], store=store)
    manifest = None
    if settings["manifest"] is not None:
        manifest = decode(Manifest, settings["manifest"], "the manifest")
    whole = Work(
        store,
        digests=settings["digests"],
        sizes=settings["sizes"],
        level=settings["level"],
        readable=settings["readable"],
        withheld=set(settings["withheld"]),
        vault=run.vault if settings["sealed_by_person"] else None,
    )

    def do(job: Mapping[str, Any]) -> dict[str, Any]:
        part = whole.part()
        check(part, run, manifest, job["name"])
        pa.default_memory_pool().release_unused()  # or it would count beside what the next check takes
        return told(part)

    yield {"check": do}


if __name__ == "__main__":
    serve(_opened)
