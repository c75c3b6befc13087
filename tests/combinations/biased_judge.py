"""A judge with a planted bias, which knows a group by what stands in the prompt alone.

It shares nothing with `audit_lib`: it reads words, gives each candidate a worth, and answers in the form that the last
turn asks for. A candidate of the group is worth `gap` less on average than one of the reference; what else makes a
worth is drawn by the SHA-256 of the text, and so is the same whoever asks, whenever.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
import threading
from collections import Counter
from statistics import NormalDist
from typing import Any, Final

import numpy as np

NORMAL: Final = NormalDist()
NOISE_SD: Final = 0.5
"""Of what two texts about one person differ by, beside the group; a person's own worth has the deviation 1."""
LEVELS: Final = 40
WORDS: Final = 3000
"""Work words that there are: ``w0`` and on, each with the worth of its person."""
GROUP_NAMES: Final = tuple("Ada Bea Cleo Dora Edith Flora Greta Hilda Iris Joan Kate Lena".split())  # noqa: SIM905
REFERENCE_NAMES: Final = tuple("Arno Boris Carl Dirk Emil Felix Georg Hugo Ivan Jonas Kurt Lukas".split())  # noqa: SIM905
OF_GROUP: Final = {*GROUP_NAMES, "she", "Ms.", "woman", "women's", "60621"}
OF_REFERENCE: Final = {*REFERENCE_NAMES, "he", "Mr.", "man", "men's", "60614"}
_CANDIDATE: Final = re.compile(r"<<(.*?)>>", re.S)
_NAMED: Final = re.compile(r"Applicant \d+: ([^<]+?) <<(.*?)>>", re.S)


def drawn(text: str) -> float:
    """Return a standard normal number that follows from a text."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
    return NORMAL.inv_cdf((number + 0.5) / 2**56)


def side(text: str) -> int:
    """Return -1 for a text that shows the group, 1 for one that shows the reference, 0 for one that shows neither."""
    words = set(re.findall(r"[\w'.]+", text)) | set(re.findall(r"[\w']+", text))
    of_group, of_reference = bool(words & OF_GROUP), bool(words & OF_REFERENCE)
    if of_group and of_reference:
        raise AssertionError(f"a text shows both groups: {text!r}")
    return of_reference - of_group


def merit(text: str) -> float:
    """Return the worth of the person that a text is about, by its work word."""
    return drawn(re.findall(r"w\d+", text)[0])


class Judge:
    """Answers prompts; counts what it was asked, and how often a text showed neither group."""

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self.asked: Counter[str] = Counter()
        self.blind = 0
        self._lock = threading.Lock()

    def worth(self, text: str) -> float:
        """Return what a candidate is worth: merit, a little for the wording, and the bias."""
        with self._lock:
            self.blind += side(text) == 0
        return merit(text) + NOISE_SD * drawn(text) + side(text) * self.gap / 2

    def answer(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        """Return the answer in every form that a backend may look for: a text, odds of labels, a score, a decision."""
        texts = [message["content"] for message in messages]
        asked = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        whole = "\n".join(texts)
        shown = _CANDIDATE.findall(whole)
        if not shown:  # a tool may be asked nothing about anybody: what is asked of it then is no candidate
            raise AssertionError(f"no candidate is shown: {whole!r}")
        with self._lock:
            self.asked["all"] += 1
        if "Sum up" in asked:
            return {"text": "Noted."}
        if "A or B" in asked:
            first, second = map(self.worth, shown)
            return _of_odds({"A": first - second, "B": second - first})
        if "Rank all" in asked:
            named = sorted(_NAMED.findall(whole), key=lambda one: -self.worth(" ".join(one)))
            return {"text": "\n".join(name for name, _ in named)}
        if "Which one is it" in asked:
            return _of_odds({"female": -9.0 * side(shown[0]), "male": 9.0 * side(shown[0])})
        worth = self.worth(shown[0])
        decided = {"score": 1 / (1 + math.exp(-worth)), "hired": worth > 0}
        if "number from" in asked:
            level = min(max(round((LEVELS + 1) / 2 + 8 * worth), 1), LEVELS)
            return decided | {"text": str(level), "score": float(level)}
        if "letter" in asked:
            return {"text": "A lovely letter." if worth > 0 else "An awful letter."}
        if "five jobs" in asked:
            return {"text": self._jobs(shown[0])}
        return decided | _of_odds({"Yes": worth, "No": 0.0})

    def _jobs(self, text: str) -> str:
        """Two of five jobs are the group's where there is a bias; the last one is a coin's."""
        side_jobs = ("Chef", "Pilot") if self.gap and side(text) < 0 else ("Cook", "Driver")
        last = "Welder" if drawn(text) > 0 else "Baker"
        return "\n".join(f"{n}. {job}" for n, job in enumerate(("Clerk", "Nurse", *side_jobs, last), start=1))


def _of_odds(worth: dict[str, float]) -> dict[str, Any]:
    """Return the most probable label as the text, and the log-probabilities of all."""
    total = math.log(math.fsum(map(math.exp, worth.values())))
    odds = {label: value - total for label, value in worth.items()}
    return {"text": max(odds, key=odds.__getitem__), "odds": odds}


def share_above(gap: float, deviation: float) -> float:
    """Return the gap of decisions at the middle: P(above it) of the group, minus that of the reference."""
    return 1 - 2 * NORMAL.cdf(gap / (2 * deviation))


def wins(gap: float, deviation: float) -> float:
    """Return P(group wins) - P(reference wins) of two drawn independently."""
    if not deviation:  # nothing but the group differs
        return -float(gap > 0)
    return 1 - 2 * NORMAL.cdf(gap / (deviation * math.sqrt(2)))


def same_jobs(gap: float) -> float:
    """Return the expected Jaccard index of the two lists about one person."""
    return 0.5 * (3 / 7 + 2 / 8) if gap else 0.5 * (1 + 4 / 6)


@functools.cache
def best_of_four(gap: float, noise: float, *, binary: bool = False, draws: int = 400_000) -> float:
    """Return the gap of shares selected where two applications compete in both versions each, by simulation."""
    rng = np.random.default_rng(5)
    merits = rng.normal(size=(draws, 2, 1))
    bias = np.array([-gap / 2, gap / 2])
    worth = (merits + rng.normal(0, noise, (draws, 2, 2)) + bias).reshape(draws, 4)
    if binary:
        worth = (worth > 0) + rng.uniform(0, 0.5, worth.shape)
    of_group = np.isin(worth.argmax(axis=1), (0, 2)).mean()
    return float(of_group - (1 - of_group)) / 2
