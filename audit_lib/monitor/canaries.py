"""Canaries of two runs: whether a model that kept its name answers as it did."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.documents.canaries import CanaryAnswer
from audit_lib.documents.drift import CanaryChanges
from audit_lib.results import Undefined


def compare_canaries(previous: Sequence[CanaryAnswer], current: Sequence[CanaryAnswer]) -> CanaryChanges:
    """Compare the answers to the prompts that both runs asked.

    Returns
    -------
    CanaryChanges
        How many there are, and how many of them have another text, another status, or another model id or system
        fingerprint; the largest absolute difference of a label's probability, and of a score that the model gives
        itself. Endpoints differ a little from call to call by themselves: what that is worth shows in how it was in
        earlier runs.

    Examples
    --------
    >>> one = CanaryAnswer(
    ...     request_digest="d", status="ok", model="m", system_fingerprint="a", label_probabilities=(0.25, 0.5),
    ...     text="Yes",
    ... )
    >>> from dataclasses import replace
    >>> compare_canaries([one], [replace(one, label_probabilities=(0.25, 0.75))]).largest_probability_change
    0.25
    """
    old = {answer.request_digest: answer for answer in previous}
    pairs = [(old[answer.request_digest], answer) for answer in current if answer.request_digest in old]
    changes = [
        abs(a - b)
        for before, now in pairs
        if before.label_probabilities is not None and now.label_probabilities is not None
        for a, b in zip(before.label_probabilities, now.label_probabilities, strict=True)
    ]
    # Runs of earlier versions did not keep a canary's score.
    moved = [
        abs(before.score - now.score)
        for before, now in pairs
        if before.score is not None and now.score is not None
    ]
    none = Undefined("no canary has label probabilities in both runs")
    no_score = Undefined("no canary has a score of the model's own in both runs")
    return CanaryChanges(
        compared=len(pairs),
        text_changed=sum(before.text != now.text for before, now in pairs),
        status_changed=sum(before.status != now.status for before, now in pairs),
        served_changed=sum(
            (before.model, before.system_fingerprint) != (now.model, now.system_fingerprint)
            for before, now in pairs
        ),
        largest_probability_change=max(changes) if changes else none,
        largest_score_change=max(moved) if moved else no_score,
    )
