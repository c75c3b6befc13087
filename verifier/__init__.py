"""A second verifier of sealed audit runs: one file, Python's standard library alone, nothing shared with audit_lib.

``make verify.pyz`` packs it. It was written from the description of the formats, so that a fault of the library is not
repeated here; no module of ``audit_lib`` is imported.
"""

VERSION = "1"
