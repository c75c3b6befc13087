"""How long `audit publish` takes of a store of many sealed runs: the first time, and where nothing changed.

::

    AUDIT_VERIFIED_KEY=... python -m benchmarks.publishing STORE --runs 500 --again 5

Without a key nothing is kept of a publication, and all is checked and compared again.

The runs are written where STORE is not there: one small audit is run and sealed, and every other run is the one that
its audit and window would have made (`benchmarks.verify_all`), 100 of each audit.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from audit_lib.site.publish import publish
from benchmarks.verify_all import write_runs


def main() -> None:
    """Publish twice, and print seconds of the clock and of the processor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--again", type=int, default=1, help="publications after the first one")
    options = parser.parse_args()
    if not Path(options.store).exists():
        write_runs(options.store, options.runs)
    for what in ("first", *["again"] * options.again):
        start, cpu = time.perf_counter(), time.process_time()
        made = publish(options.store, base="https://audits.example.org/")
        wall, spent = time.perf_counter() - start, time.process_time() - cpu
        assert not made.left_out, made.left_out[0]
        print(
            f"{what}: {wall:.1f} s, {spent:.1f} s of the processor; {made.files} files, {made.written} written"
        )


if __name__ == "__main__":
    main()
