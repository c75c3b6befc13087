"""What the metrics say about recorded answers of real models.

Prints docs/replication.md, every number of it computed from the data; a second run prints the same bytes.

    python -m benchmarks.replication                                # ../shared/data, or $AUDIT_SHARED_DATA/data
    python -m benchmarks.replication DATA --out docs/replication.md # the folder DATA
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from benchmarks import replication_aihiringbias as hiring
from benchmarks import replication_aihiringbias_page as hiring_page
from benchmarks import replication_bloomberg as bloomberg
from benchmarks import replication_bloomberg_page as bloomberg_page
from benchmarks import replication_langfair as langfair
from benchmarks import replication_langfair_page as langfair_page
from benchmarks import replication_rank_valued as rank_valued
from benchmarks.replication_page import data_folder, reflow, table

HEAD = """# Replication on recorded answers

Three published data sets of real answers, measured with `audit_lib`. Every number on this page is computed by

    python -m benchmarks.replication DATA --out docs/replication.md

from the folder `DATA` that holds `bloomberg/`, `aihiringbias/` and `langfair/`. The data are not part of this
repository. The tests in `tests/replication/` compute the main numbers a second time, with pandas, numpy and scipy
only, and check that the page is what the command writes.

Brackets are 95% intervals. A gap is group less reference. All three are experiments on assigned names or made-up
prompts; none is a bias audit of a tool in use."""

#: File, where it was published, its licence.
SOURCES = [
    (bloomberg.LOG, "BloombergGraphics/2024-openai-gpt-hiring-racial-discrimination", "Apache-2.0"),
    *((f"{hiring.FOLDER}/{name}", "jderbysh/AIHiringBias", "MIT") for name in hiring.FILES.values()),
    (langfair.FILE, "cvs-health/langfair", "Apache-2.0 AND MIT"),
]


def sources(data: Path) -> str:
    rows = [
        (f"`{name}`", where, licence, f"`{hashlib.sha256((data / name).read_bytes()).hexdigest()[:16]}`")
        for name, where, licence in SOURCES
    ]
    return "## Data\n\n" + table(["file", "published in", "licence", "SHA-256, first 16 digits"], rows, 4)


def page(data: Path) -> str:
    """The whole page."""
    rankings, strata, first = bloomberg_page.section(data)
    sections = [
        HEAD,
        sources(data),
        first,
        rank_valued.section(rankings, strata),
        hiring_page.section(data),
        langfair_page.section(data),
    ]
    return reflow("\n\n".join(sections))


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", help="folder with bloomberg/, aihiringbias/ and langfair/")
    parser.add_argument("--out", type=Path, help="file to write instead of printing")
    options = parser.parse_args()
    data = data_folder(options.data)
    absent = [name for name, _, _ in SOURCES if not (data / name).is_file()]
    if absent:
        sys.exit(
            f"{data / absent[0]} is missing; name the data folder, or set AUDIT_SHARED_DATA to its parent"
        )
    content = page(data)
    if options.out is None:
        print(content, end="")
    else:
        options.out.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
