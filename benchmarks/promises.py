"""What intervals do not allow for: the simulation behind a caution of the report.

    python -m benchmarks.promises    # two minutes on one core

How often the interval of an effect, clustered by application, holds the effect over all names that could have
signalled the groups, and not these names only. What the planned power promises is held by
``python -m benchmarks.promised_power``.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

ALPHA = 0.05


def names(repeats: int = 20_000, applications: int = 300) -> None:
    print(
        f"\n{applications} applications, each under one name of either group; name SD 0.25 of the score's SD 1"
    )
    print(
        "names a group, SD of a version about its application: intervals that hold it, %: over names, of these"
    )
    t = student.ppf(1 - ALPHA / 2, applications - 1)
    for count in (6, 30, 120):
        for noise in (0.35, 0.5, 1.0):
            rng = np.random.default_rng([17, count, int(100 * noise)])
            over = these = 0
            for _ in range(repeats // 4):
                own = rng.normal(0, 0.25, (2, count))
                turns = np.tile(np.arange(count), (2, -(-applications // count)))
                shown = np.take_along_axis(own, rng.permuted(turns, axis=1)[:, :applications], axis=1)
                d = shown[0] - shown[1] + rng.normal(0, noise * 2**0.5, applications)
                half = t * d.std(ddof=1) / applications**0.5
                over += abs(d.mean()) <= half
                these += abs(d.mean() - (shown[0] - shown[1]).mean()) <= half
            done = repeats // 4
            print(f"{count:4d} {noise:.2f}: {100 * over / done:5.1f} {100 * these / done:5.1f}")


if __name__ == "__main__":
    names()
