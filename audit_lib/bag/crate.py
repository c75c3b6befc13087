"""What a bag holds, for machines: RO-Crate 1.2 metadata, which lie next to the payload.

References
----------
Soiland-Reyes, S. and others (2022). Packaging research artefacts with RO-Crate. Data Science 5, 97-138.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from audit_lib import __version__
from audit_lib.bag.bagged_file import BaggedFile
from audit_lib.canonical import pretty_json

_SPECIFICATION: Final = "https://w3id.org/ro/crate/1.2"
_FORMATS: Final = {
    ".json": "application/json",
    ".html": "text/html",
    ".csv": "text/csv",
    ".txt": "text/plain",
    ".pdf": "application/pdf",
    ".pub": "application/x-pem-file",
    ".parquet": "application/vnd.apache.parquet",
}


def crate_metadata(name: str, title: str, files: Sequence[BaggedFile], sealed: str) -> bytes:
    """Return ``ro-crate-metadata.json``.

    Parameters
    ----------
    name : str
        The run, as ``audit/window/design``.
    title : str
        Of the audit.
    files : sequence of BaggedFile
        The payload.
    sealed : str
        Day on which the evidence was sealed.
    """
    software = f"#audit_lib-{__version__}"
    described: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": _SPECIFICATION},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": title,
            "description": f"Evidence of the audit run {name}: all files that it made, from the plan to the report.",
            "identifier": name,
            "datePublished": sealed,
            "license": {"@id": "#terms"},
            "hasPart": [{"@id": _id(one)} for one in files],
        },
        {
            "@id": "#terms",
            "@type": "CreativeWork",
            "name": "Whoever hands this bag on says on what terms",
            "description": "The bag may hold personal data of applicants.",
        },
        *({**_file(one)} for one in files),
        {
            "@id": "#export",
            "@type": "CreateAction",
            "name": "Export of a sealed audit run",
            "instrument": {"@id": software},
            "result": {"@id": "./"},
        },
        {"@id": software, "@type": "SoftwareApplication", "name": "audit_lib", "version": __version__},
    ]
    return pretty_json({"@context": f"{_SPECIFICATION}/context", "@graph": described})


def _id(file: BaggedFile) -> str:
    return quote(file.path)


def _file(file: BaggedFile) -> dict[str, Any]:
    path = PurePosixPath(file.path)
    found: dict[str, Any] = {
        "@id": _id(file),
        "@type": "File",
        "name": path.name,
        "contentSize": str(file.size),
        "sha256": file.digests["sha256"],
    }
    form = _FORMATS.get(path.suffix)
    return found if form is None else found | {"encodingFormat": form}
