"""Pack ``verifier/`` into ``verify.pyz``, one file that Python 3.8 or later runs.

    python tools/build_verifier.py OUT

The same sources give the same bytes on every machine: files in order, not compressed, without times of their own.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "verifier"
_SHEBANG = b"#!/usr/bin/env python3\n"
_1980 = (1980, 1, 1, 0, 0, 0)


def packed() -> bytes:
    """Return the file's bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(SOURCES.glob("*.py")):
            name = path.name if path.name == "__main__.py" else f"verifier/{path.name}"
            entry = zipfile.ZipInfo(name, _1980)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return _SHEBANG + content.getvalue()


def main() -> None:
    """Write the file, and print its digest, which is published next to it."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "verify.pyz")
    out.write_bytes(packed())
    out.chmod(0o755)
    print(f"{hashlib.sha256(out.read_bytes()).hexdigest()}  {out}")


if __name__ == "__main__":
    main()
