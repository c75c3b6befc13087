"""The token sequences of a label, as they follow the prompt, and the label's probability from theirs.

A label is written at once or after a space, each in one sequence of tokens. Its probability is that the model's answer
begins with one of them **and does not go on to a longer label**: of "1" and "10", what begins with "10" is "10", and
"1" followed by the turn's end, a full stop or anything else is "1". So each answer counts for one label at most, the
longest that it begins with, and the probabilities of all labels sum to at most 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from audit_lib.errors import BackendError
from audit_lib.score.local.trie import Tokens

_ROUNDING: Final = 1e-5
"""What a difference of two probabilities may be below 0: float32 passes that are shared come out this near."""


def last_line(text: str) -> str:
    """Return the end of a prompt that decides how a label after it is cut into tokens."""
    return text[text.rstrip("\n").rfind("\n") + 1 :]


def label_sequences(
    tokenise: Callable[[str], Tokens], context: str, labels: tuple[str, ...]
) -> list[list[Tokens]]:
    """Return the token sequences of each label, written at once and after a space, following `context`.

    Raises
    ------
    BackendError
        If a label is empty, or two are the same tokens: nothing tells them apart.
    """
    before = tokenise(context)
    found: list[list[Tokens]] = []
    label_of: dict[Tokens, str] = {}
    for label in labels:
        sequences = []
        for written in (label.strip(), " " + label.strip()):
            tokens = tokenise(context + written)
            if tokens[: len(before)] == before and len(tokens) > len(before):
                sequences.append(tokens[len(before) :])
            else:  # the label melts into the context's last token: take it alone
                sequences.append(tokenise(written))
        if not label.strip() or () in sequences:
            raise BackendError(f"label {label!r}: is empty to this model's tokenizer; write out an answer")
        for sequence in set(sequences):
            if sequence in label_of:
                raise BackendError(
                    f"labels {label_of[sequence]!r} and {label!r}: are the same tokens to this model's tokenizer, so "
                    "nothing tells them apart; choose other words"
                )
        label_of |= dict.fromkeys(sequences, label)
        found.append(sorted(set(sequences)))
    return found


def label_probabilities(
    begins_with: Mapping[Tokens, float], labels: Sequence[Sequence[Tokens]]
) -> tuple[float, ...]:
    """Return each label's probability.

    Parameters
    ----------
    begins_with : mapping of tuple of int to float
        Sequence -> the probability that the answer begins with it.
    labels : sequence
        Each label's sequences (`label_sequences`).

    Examples
    --------
    >>> one, ten, yes = (1,), (1, 0), (7,)
    >>> label_probabilities({one: 0.5, ten: 0.375, yes: 0.25}, [[one], [ten], [yes]])
    (0.125, 0.375, 0.25)
    """
    left: dict[Tokens, float] = {}
    path: list[Tokens] = []  # sequences of which each begins with the one before
    for sequence in sorted({s for sequences in labels for s in sequences}):
        while path and sequence[: len(path[-1])] != path[-1]:
            path.pop()
        left[sequence] = begins_with[sequence]
        if path:
            left[path[-1]] -= begins_with[sequence]
        path.append(sequence)
    exact = {s: 0.0 if -_ROUNDING <= value < 0 else value for s, value in left.items()}
    return tuple(sum(exact[s] for s in sequences) for sequences in labels)
