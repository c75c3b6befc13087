"""What became another between two sides of windows: each is a cause that what is left of a change may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from audit_lib.documents.attribution import (
    CanaryShift,
    Cause,
    CauseMark,
    FieldShift,
    MissingAnswers,
    TextShift,
)
from audit_lib.documents.window_cells import WindowCells
from audit_lib.results import Undefined

_P: Final = 0.01
_PSI: Final = 0.1
"""Below it a shift is called none in the practice of credit scoring."""
_MORE_UNREAD: Final = 0.005


def version_marks(
    before: Sequence[WindowCells], after: Sequence[WindowCells], canaries: CanaryShift
) -> Iterator[CauseMark]:
    """Yield what the sealed specs, the answers and the canaries say became another."""

    def differ(of: Callable[[WindowCells], object]) -> bool:
        return {of(one) for one in before} != {of(one) for one in after}

    def version(name: str) -> bool:
        return differ(lambda one: one.versions[name])

    said = []
    if version("model"):
        said.append("the spec names another model, revision or options")
    elif differ(lambda one: one.fingerprints):
        said.append("another fingerprint of the model")
    if all(one.served for one in (*before, *after)) and differ(lambda one: one.served):
        names = (sorted({name for one in side for name in one.served}) for side in (before, after))
        said.append("served as {} before, as {} after".format(*(", ".join(side) for side in names)))
    if canaries.moved:
        said.append(f"{canaries.compared} canaries moved by more than they do by themselves")
    if said:
        if canaries.moved is False:
            said.append(f"though {canaries.compared} canaries did not move")
        yield CauseMark(cause="model", said="; ".join(said))
    asked = [what for what, name in (("prompt", "prompt"), ("way of asking", "score")) if version(name)]
    if asked:
        yield CauseMark(cause="prompt", said=f"the spec has another {' and another '.join(asked)}")
    if version("decision"):
        yield CauseMark(cause="rule", said="the spec has another decision rule", exchanged="rule")
    if version("reading"):
        yield CauseMark(cause="answers", said="the spec reads answers in another way", exchanged="reading")
    if version("source"):
        yield CauseMark(cause="source", said="the spec names another source")
    if differ(lambda one: tuple(sorted(one.software.items()))):
        changed = sorted(
            {
                name
                for one in before
                for other in after
                for name in one.software.keys() | other.software.keys()
                if one.software.get(name) != other.software.get(name)
            }
        )
        yield CauseMark(cause="software", said=f"another version of {', '.join(changed)}")


def sample_marks(fields: Sequence[FieldShift], texts: TextShift | Undefined) -> Iterator[CauseMark]:
    """Yield what of the sampled rows became another and is no part of the mix that is standardised."""
    for one in fields:
        if not one.standardised and one.p_value <= _P and one.psi > _PSI:
            yield CauseMark(
                cause="source",
                said=f"{one.field} is distributed otherwise (PSI {one.psi:.2f}, p {one.p_value:.3f})",
            )
    if isinstance(texts, TextShift) and texts.p_value <= _P:
        yield CauseMark(
            cause="source",
            said=f"a classifier tells the sampled texts apart (AUC {texts.auc:.2f}, p {texts.p_value:.3f})",
        )


def missing_mark(missing: Sequence[MissingAnswers]) -> Iterator[CauseMark]:
    """Yield that the share of answers that are not read is another."""
    told = []
    for one in missing:
        moved = not isinstance(one.change, Undefined) and (one.change.low > 0 or one.change.high < 0)
        if moved and abs(one.after - one.before) > _MORE_UNREAD:
            told.append(
                f"answers about {'+'.join(one.group.values())} that are not read went from {one.before:.1%} to "
                f"{one.after:.1%}"
            )
    if told:
        yield CauseMark(cause="answers", said="; ".join(told))


def causes(marks: Sequence[CauseMark]) -> list[Cause]:
    """Return the causes that are marked, each once."""
    return list(dict.fromkeys(one.cause for one in marks))
