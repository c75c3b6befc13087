"""The source ``files``: one row a candidate."""

from __future__ import annotations

from audit_lib.sample.sources import SOURCES, FileSource


@SOURCES("files")
class Files(FileSource):
    """Tables with one candidate in each row (`audit_lib.sample.candidates`)."""
