"""What runs are called next to each other: the model, and as little more as tells them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from audit_lib.run import Run


def run_labels(runs: Sequence[Run], *, one_for_all_tasks: bool = False) -> list[str]:
    """Name runs by their models, and those of one model by what differs: audit, window or spec.

    Parameters
    ----------
    runs : sequence of Run
        In the order of the labels.
    one_for_all_tasks : bool
        Whether runs of one model in several tasks share its name.
    """
    found = [
        run.spec.model.name.rstrip("/").rsplit("/", 1)[-1]
        + (f" @ {run.spec.model.revision}" if run.spec.model.revision else "")
        for run in runs
    ]
    tasks = [run.spec.task if one_for_all_tasks else "" for run in runs]
    for more in (
        [run.spec.audit for run in runs],
        [run.key.window.label for run in runs],
        [run.key.spec_digest[:8] for run in runs],
    ):
        keys = list(zip(found, tasks, strict=True))
        shared = Counter(keys)
        own = {key: own_parts([m for m, k in zip(more, keys, strict=True) if k == key]) for key in shared}
        words = [own[key][word] for key, word in zip(keys, more, strict=True)]
        found = [
            f"{label}, {word}" if shared[key] > 1 and word else label
            for label, key, word in zip(found, keys, words, strict=True)
        ]
    return found


def shared_title(titles: Sequence[str]) -> str:
    """Return the title that runs share: a panel's, which is each member's without the name in brackets; else the first.

    Examples
    --------
    >>> shared_title(["Resumes (model a)", "Resumes (model b)"]), shared_title(["Resumes (a)", "Essays (b)"])
    ('Resumes', 'Resumes (a)')
    """
    bare = {re.sub(r" \([^()]*\)$", "", title) for title in titles}
    return bare.pop() if len(bare) == 1 and len(set(titles)) > 1 else titles[0]


def own_parts(names: Sequence[str]) -> dict[str, str]:
    """Return name -> what is left without the words, between underscores, that all of them begin with.

    Examples
    --------
    >>> own_parts(["panel_small", "panel_small_second_wording"])
    {'panel_small': '', 'panel_small_second_wording': 'second wording'}
    >>> own_parts(["hiring", "grading"])
    {'hiring': 'hiring', 'grading': 'grading'}
    """
    parts = {name: name.split("_") for name in names}
    same = 0
    if len(parts) > 1:
        while len({tuple(one[: same + 1]) for one in parts.values()}) == 1:
            same += 1
    return {name: " ".join(one[same:]) if same else name for name, one in parts.items()}
