"""Measure the figures of the README and of docs/: ``python -m benchmarks [NAME ...]``.

Without a name: `pipeline` and `measure`, which need nothing but the project. The others need data, a model, or a
peer's own environment, and say so: `text`, `coverage`, `replication`, `substitution`, `scoring` (torch), `mapped_tasks`
(PostgreSQL, Redis and the extra `celery`), `gpu` (a CUDA device; without one it says that nothing was measured).
"""

from __future__ import annotations

import subprocess
import sys

DEFAULT = ("pipeline", "measure")
OTHERS = (
    "redaction",
    "redaction_dossiers",
    "scoring",
    "scoring_api",
    "shards",
    "gpu",
    "mapped_tasks",
    "text",
    "validity",
    "validity_real",
    "coverage",
    "replication",
    "substitution",
)


def main(names: list[str]) -> int:
    """Run benchmarks one after another, each in a process of its own."""
    unknown = set(names) - {*DEFAULT, *OTHERS}
    if unknown or "--help" in names:
        print(__doc__)
        print("names:", ", ".join((*DEFAULT, *OTHERS)))
        return 2
    worst = 0
    for name in names or DEFAULT:
        print(f"\n## {name}\n", flush=True)
        worst = max(
            worst, subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
        )
    return worst


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
