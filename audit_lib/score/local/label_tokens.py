"""The token sequences of a label: written at once and after a space, as they follow the prompt."""

from __future__ import annotations

from collections.abc import Callable

from audit_lib.errors import BackendError
from audit_lib.score.local.trie import Tokens


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
        If one label begins another: the probability of the shorter would hold the longer's.
    """
    before = tokenise(context)
    found: list[list[Tokens]] = []
    for label in labels:
        sequences = []
        for written in (label.strip(), " " + label.strip()):
            tokens = tokenise(context + written)
            if tokens[: len(before)] == before and len(tokens) > len(before):
                sequences.append(tokens[len(before) :])
            else:  # the label melts into the context's last token: take it alone
                sequences.append(tokenise(written))
        found.append(sorted(set(sequences)))
    for i, label in enumerate(labels):
        for j, other in enumerate(labels):
            if i != j and any(t[: len(s)] == s for s in found[i] for t in found[j]):
                raise BackendError(
                    f"labels {label!r} and {other!r}: the tokens of one begin with the other's; "
                    "choose labels of which none begins another"
                )
    return found
