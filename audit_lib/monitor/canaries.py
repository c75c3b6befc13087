"""Canaries of two runs: whether a model that kept its name answers as it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit_lib.results import Undefined


def compare_canaries(
    previous: Sequence[Mapping[str, Any]], current: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Compare the answers to the prompts that both runs asked, as ``canaries.json`` holds them.

    Returns
    -------
    dict
        ``compared``; ``text_changed``, ``status_changed`` and ``served_changed`` (model id or system
        fingerprint): how many of them; ``largest_probability_change``: the largest absolute difference of
        a label's probability, and ``largest_score_change`` of a score that the model gives itself, or
        ``{"undefined": reason}``. Endpoints differ a little from call to call
        by themselves: what that is worth shows in how it was in earlier runs.

    Examples
    --------
    >>> one = {"request_digest": "d", "status": "ok", "model": "m", "system_fingerprint": "a", "text": "Yes"}
    >>> was, now = one | {"label_probabilities": [0.25, 0.5]}, one | {"label_probabilities": [0.25, 0.75]}
    >>> compare_canaries([was], [now | {"system_fingerprint": "b"}])["largest_probability_change"]
    0.25
    """
    old = {entry["request_digest"]: entry for entry in previous}
    pairs = [(old[entry["request_digest"]], entry) for entry in current if entry["request_digest"] in old]
    changes = [
        abs(a - b)
        for before, now in pairs
        if before["label_probabilities"] is not None and now["label_probabilities"] is not None
        for a, b in zip(before["label_probabilities"], now["label_probabilities"], strict=True)
    ]
    # Runs of earlier versions did not keep a canary's score.
    scores = [(before.get("score"), now.get("score")) for before, now in pairs]
    moved = [abs(a - b) for a, b in scores if a is not None and b is not None]
    none = Undefined("no canary has label probabilities in both runs")
    no_score = Undefined("no canary has a score of the model's own in both runs")
    return {
        "compared": len(pairs),
        "text_changed": sum(before["text"] != now["text"] for before, now in pairs),
        "status_changed": sum(before["status"] != now["status"] for before, now in pairs),
        "served_changed": sum(
            any(before[key] != now[key] for key in ("model", "system_fingerprint")) for before, now in pairs
        ),
        "largest_probability_change": max(changes) if changes else none.as_dict(),
        "largest_score_change": max(moved) if moved else no_score.as_dict(),
    }
