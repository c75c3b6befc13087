"""In which pieces prompts are read when the model keeps what it read: what several begin with is one piece.

Knows tokens only, not torch. Nothing is padded, so it serves windows and recurrent states too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from audit_lib.score.local.trie import Tokens, shared_length


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A piece of prompts.

    Attributes
    ----------
    prompt : tuple of int
        A prompt that it is a piece of.
    start, stop : int
        Its tokens are ``prompt[start:stop]``.
    before : int
        Number of the piece that it goes on from; -1 for a beginning.
    """

    prompt: Tokens
    start: int
    stop: int
    before: int

    @property
    def ends(self) -> bool:
        """Whether the prompt ends with it."""
        return self.stop == len(self.prompt)


def cut_where_prompts_branch(prompts: Sequence[Tokens], pass_tokens: int) -> list[Segment]:
    """Return the pieces of different prompts, each after the one that it goes on from.

    Parameters
    ----------
    prompts : sequence of tuple of int
        None empty, no two the same.
    pass_tokens : int
        What one more pass costs, in tokens. What is shared is read again where that is cheaper.

    Examples
    --------
    >>> cut = cut_where_prompts_branch([(1, 2, 3, 4), (1, 2, 3, 5), (1, 2)], pass_tokens=1)
    >>> [(one.prompt[one.start : one.stop], one.before, one.ends) for one in cut]
    [((1, 2), -1, True), ((3, 4), 0, True), ((3, 5), 0, True)]
    """
    found: list[Segment] = []
    waiting = [(sorted(prompts), 0, -1)]
    while waiting:  # not recursive: prompts may branch off each other as often as there are prompts
        group, start, before = waiting.pop()
        if len(group) == 1:
            found.append(Segment(prompt=group[0], start=start, stop=len(group[0]), before=before))
            continue
        # What all of a sorted group begin with is what its first and last do.
        shared = shared_length(group[0], group[-1])
        if (shared - start) * (len(group) - 1) > pass_tokens:
            found.append(Segment(prompt=group[0], start=start, stop=shared, before=before))
            start, before = shared, len(found) - 1
            group = group[len(group[0]) == shared :]
        elif len(group[0]) == shared:  # it ends where the others go on
            found.append(Segment(prompt=group[0], start=start, stop=shared, before=before))
            group = group[1:]
        parts = [list(some) for _, some in groupby(group, key=lambda prompt: prompt[shared])]
        waiting += [(part, start, before) for part in reversed(parts)]
    return found


def read_whole(prompts: Sequence[Tokens]) -> list[Segment]:
    """Return each prompt as one piece."""
    return [Segment(prompt=prompt, start=0, stop=len(prompt), before=-1) for prompt in sorted(prompts)]
