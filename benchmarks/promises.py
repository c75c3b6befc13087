"""What planned power and intervals do not allow for: simulations behind the cautions of the report.

    python -m benchmarks.promises    # two minutes on one core

Two tables. How often a difference of the planned size is found, where the comparator is picked and the test allows for
it, the p-value is adjusted, or rows share applications. How often the interval of an effect, clustered by application,
holds the effect over all names that could have signalled the groups, and not these names only. How often equal groups
are found unequal is in ``python -m benchmarks.coverage --only no_difference``.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

from audit_lib.stats import equal_rates
from audit_lib.stats.exact import fisher_p_values
from audit_lib.stats.power import smallest_detectable_ratio

ALPHA = 0.05


def region(n: int) -> np.ndarray:
    """Fisher's two-sided p of every pair of counts out of `n` and `n`."""
    p = np.zeros((n + 1, n + 1))
    for selected in range(2 * n + 1):
        counts, values = fisher_p_values(selected, n, n)
        p[counts, selected - counts] = np.minimum(values, 1.0)
    return p


def power(repeats: int = 20_000, k: int = 8, n: int = 100, rate: float = 0.5) -> None:
    ratio = float(smallest_detectable_ratio(n, n, rate, power=0.8, alpha=ALPHA))
    print(f"\n{k} categories of {n}, one at {ratio:.3f} of {rate}: found, %")
    rng = np.random.default_rng(16)
    selected = rng.binomial(n, [rate] * (k - 1) + [ratio * rate], (repeats, k))
    fixed = region(n)[selected[:, -1], selected[:, 0]]
    tests = (equal_rates(row.tolist(), [n] * k, seed=i) for i, row in enumerate(selected[: repeats // 10]))
    last = np.array([test.p_values[-1] for test in tests])
    print(f"  reference fixed, unadjusted          {100 * (fixed < ALPHA).mean():5.1f}")
    print(f"  comparator picked, of one table      {100 * (last < ALPHA).mean():5.1f}")
    print(f"  comparator picked, table one of 100  {100 * (last * 100 < ALPHA).mean():5.1f}")
    m, icc = 5, 0.3
    a, b = ((1 - icc) / icc * share for share in (1.0, 1.0))
    found = 0
    for _ in range(4000):
        sums = [rng.binomial(m, rng.beta(a * p, b * (1 - p), n // m)) / m for p in (rate, ratio * rate)]
        spread = np.sqrt(sum(x.var(ddof=1) / x.size for x in sums))
        gap = abs(sums[0].mean() - sums[1].mean())
        found += 2 * student.sf(gap / spread, 2 * (n // m) - 2) < ALPHA
    print(f"  reference fixed, {m} rows an application (ICC {icc}) {100 * found / 4000:5.1f}")


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
    power()
    names()
