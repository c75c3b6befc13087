"""Runs river, Evidently and NannyML in their own environment, over the same histories, for `monitoring.py`.

Called as ``python monitoring_peers.py HISTORIES.npz ANSWER.npz``. Each history is an array of windows by units, the
difference of two decisions in each. Of every detector at every setting: the first window at which it tells a change, or
-1. Windows of the baseline are what a detector is given first; what it tells in them does not count.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def main(source: str, target: str) -> None:
    """Read the histories, run every detector, write when each first told a change."""
    from nannyml.thresholds import StandardDeviationThreshold
    from river.drift import ADWIN, PageHinkley

    found = dict(np.load(source))
    baseline = int(found.pop("baseline"))
    answer: dict[str, np.ndarray] = {}
    settings: dict[str, tuple[np.ndarray, Callable[[np.ndarray, float], int]]] = {
        "river ADWIN": (
            10.0 ** -np.arange(1, 9),
            lambda one, setting: _stream(ADWIN(delta=setting), one, baseline),
        ),
        "river Page-Hinkley": (
            np.array([20.0, 30, 45, 60, 90, 120, 180, 240, 360]),
            lambda one, setting: _stream(
                PageHinkley(min_instances=30, delta=0.005, threshold=setting, alpha=0.9999), one, baseline
            ),
        ),
        "NannyML": (
            np.array([2.0, 2.5, 3, 3.5, 4, 4.5, 5, 6]),
            lambda one, setting: _thresholds(StandardDeviationThreshold, one, baseline, setting),
        ),
        "Evidently": (
            10.0 ** -np.arange(1.0, 7.5, 0.5),
            lambda one, setting: _evidently(one, baseline, setting),
        ),
    }
    for name, (values, first) in settings.items():
        answer[f"{name}/settings"] = values
        for scenario, histories in found.items():
            answer[f"{name}/{scenario}"] = np.array(
                [[first(one, float(value)) for value in values] for one in histories]
            )
            print(name, scenario, file=sys.stderr, flush=True)
    np.savez(target, **answer)


def _stream(detector: object, history: np.ndarray, baseline: int) -> int:
    """A detector that is shown one value after the other."""
    for window, values in enumerate(history):
        told = False
        for value in values:
            detector.update(float(value))  # type: ignore[attr-defined]
            told |= bool(detector.drift_detected)  # type: ignore[attr-defined]
        if told and window >= baseline:
            return window
    return -1


def _thresholds(kind: type, history: np.ndarray, baseline: int, setting: float) -> int:
    """NannyML's threshold: so many standard deviations of the baseline's windows from their mean."""
    means = history.mean(axis=1)
    low, high = kind(std_lower_multiplier=setting, std_upper_multiplier=setting).thresholds(means[:baseline])
    return _first(((mean < low) | (mean > high) for mean in means[baseline:]), baseline)


_P_VALUES: dict[int, np.ndarray] = {}


def _evidently(history: np.ndarray, baseline: int, setting: float) -> int:
    """Evidently's chi-square test of each window's values against those of the baseline."""
    from evidently.legacy.calculations.stattests.chisquare_stattest import chi_stat_test
    from evidently.legacy.core import ColumnType

    if id(history) not in _P_VALUES:
        reference = pd.Series(history[:baseline].ravel().astype(int).astype(str))
        _P_VALUES.clear()
        _P_VALUES[id(history)] = np.array(
            [
                chi_stat_test.func(
                    reference, pd.Series(one.astype(int).astype(str)), ColumnType.Categorical, 0.05
                )[0]
                for one in history[baseline:]
            ]
        )
    return _first((p <= setting for p in _P_VALUES[id(history)]), baseline)


def _first(told: Iterator[bool], baseline: int) -> int:
    return next((baseline + place for place, one in enumerate(told) if one), -1)


if __name__ == "__main__":
    main(*sys.argv[1:])
