"""What differences are attributed to: what experiments showed, what digests are sure of, and else "cannot tell".

In this order:

1. answers that are missing on one side are a cause by themselves, counted;
2. a model that does not repeat its own answers explains what is no farther off than that;
3. a setting that gives the archived answers when it is put back explains them, by experiment; so does an engine that
   differs from the model's own passes where these give the archived answers;
4. another digest of the model's files, another chat template, or another served model is a cause by itself;
5. what is left: the only other thing that differs, one of several (cannot tell), or nothing that was recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from audit_lib.documents.evidence import ServedModel
from audit_lib.documents.reproduction import (
    CauseKind,
    ConditionDifference,
    ReproductionCause,
    ReproductionExperiment,
)
from audit_lib.reproduce.compared_answers import ComparedAnswer
from audit_lib.run import Run
from audit_lib.score.backends import backend

_SHOWN: Final = 4
_NAMES: Final = {
    "model": "the model",
    "template": "the chat template",
    "settings": "how it was asked or computed (options)",
    "backend": "the service behind the model's name",
    "software": "software",
    "processor": "the processor",
}
_LOCAL_UNKNOWN: Final = (
    "model, template, options, software and processor are as they were recorded, and the model repeats its answers "
    "here: the archived scores are not what this model gives on this machine; they were changed before they were "
    "sealed, or something differs that nobody recorded"
)
_REMOTE_UNKNOWN: Final = (
    "nothing that was recorded differs: the service may have changed the model behind its name without saying so, or "
    "the archived answers were not its own"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedSides:
    """Which models answered, by the names and system fingerprints that the endpoint gave: archived, and here."""

    archived: frozenset[tuple[str, str | None]] = field(default_factory=frozenset)
    here: frozenset[tuple[str, str | None]] = field(default_factory=frozenset)

    def differences(self) -> Iterator[ConditionDifference]:
        """Yield what differs: names, and fingerprints that the archived answers do not have."""
        for place, what in ((0, "served model"), (1, "system fingerprint")):
            one, other = (
                {entry[place] for entry in side if entry[place] is not None}
                for side in (self.archived, self.here)
            )
            if (place == 0 and one != other) or (one and other - one):
                yield ConditionDifference(
                    kind="backend", what=what, archived=[*sorted(map(str, one))], here=[*sorted(map(str, other))],
                    matters=True,
                )  # fmt: skip


def served_sides(archived: Run, here: Run, shards: Sequence[int]) -> ServedSides:
    """Return which models answered the shards that were asked again; none of a local model, which its files name."""
    kind = backend.get(archived.spec.model.backend)
    if kind.local:
        return ServedSides()
    return ServedSides(archived=_served(archived, shards), here=_served(here, shards))


def _served(run: Run, shards: Sequence[int]) -> frozenset[tuple[str, str | None]]:
    found: set[tuple[str, str | None]] = set()
    for shard in shards:
        folder = run.stage(f"scores/{shard}")
        if "served.json" in folder.success().artefacts:
            entries = folder.read_document(tuple[ServedModel, ...], "served.json")
            found |= {(one.model, one.system_fingerprint) for one in entries}
    return frozenset(found)


def attribute_differences(
    answers: Sequence[ComparedAnswer],
    conditions: Sequence[ConditionDifference],
    tried: Sequence[ReproductionExperiment],
    *,
    local: bool,
) -> list[ReproductionCause]:
    """Say what the answers that differ are due to; empty where none does."""
    differing = [one for one in answers if one.differs]
    if not differing:
        return []
    missing = [one for one in differing if one.found in ("missing_here", "missing_there", "other_status")]
    found = [_missing(missing)] if missing else []
    if len(missing) == len(differing):
        return found
    if by_experiment := _by_experiment(tried):
        return [*found, *by_experiment]
    found += [
        ReproductionCause(kind="own_noise", certainty="cannot_tell", detail=one.found)
        for one in tried
        if one.name == "asked_twice" and one.beyond_floor
    ]
    sure = list(_sure(conditions))
    if sure:
        return [*found, *sure, *_besides(conditions, {one.kind for one in sure})]
    return [*found, *_left(conditions, local=local)]


def _missing(answers: Sequence[ComparedAnswer]) -> ReproductionCause:
    pairs = Counter((str(one.archived["status"]), str(one.here["status"])) for one in answers)
    said = "; ".join(
        f"{count} {there} there and {here} here" for (there, here), count in pairs.most_common(_SHOWN)
    )
    return ReproductionCause(kind="missing_answers", certainty="sure", detail=said)


def _by_experiment(tried: Sequence[ReproductionExperiment]) -> list[ReproductionCause]:
    """What experiments show by themselves: of several settings that do, the one with the fewest.

    Of a model that does not repeat its answers the others show nothing.
    """
    noise = [one for one in tried if one.shows == "own_noise"]
    # A setting that explains all explains a gap to the own passes too: those of half precision are in float32.
    settings = sorted((one for one in tried if one.shows == "settings"), key=lambda one: len(one.what))[:1]
    showing = noise or settings or [one for one in tried if one.shows is not None]
    return [
        ReproductionCause(
            kind=one.shows,
            certainty="by_experiment",
            detail=f"{one.what}: {one.found} ({one.answers} answers)",
        )
        for one in showing
        if one.shows is not None
    ]


def _sure(conditions: Sequence[ConditionDifference]) -> Iterator[ReproductionCause]:
    kinds = {one.kind for one in conditions if one.matters}
    for kind in ("model", "template"):
        if kind in kinds:
            yield ReproductionCause(kind=_kind(kind), certainty="sure", detail=_words(conditions, kind))
    if any(one.what in ("served model", "system fingerprint", "model: backend") for one in conditions):
        yield ReproductionCause(kind="backend", certainty="sure", detail=_words(conditions, "backend"))


def _besides(conditions: Sequence[ConditionDifference], sure: set[CauseKind]) -> Iterator[ReproductionCause]:
    """What else differs, whose part cannot be told from that of a sure cause."""
    for kind in _NAMES:
        if kind not in sure and any(one.kind == kind and one.matters for one in conditions):
            said = f"{_words(conditions, kind)}; its part cannot be told from that of the cause that is sure"
            yield ReproductionCause(kind=_kind(kind), certainty="cannot_tell", detail=said)


def _left(conditions: Sequence[ConditionDifference], *, local: bool) -> list[ReproductionCause]:
    kinds = [kind for kind in _NAMES if any(one.kind == kind and one.matters for one in conditions)]
    if not kinds:
        said = _LOCAL_UNKNOWN if local else _REMOTE_UNKNOWN
        return [ReproductionCause(kind="unknown", certainty="cannot_tell", detail=said)]
    if len(kinds) == 1:
        said = f"{_words(conditions, kinds[0])}; nothing else that was recorded differs"
        return [ReproductionCause(kind=_kind(kinds[0]), certainty="only_difference", detail=said)]
    return [
        ReproductionCause(
            kind=_kind(kind),
            certainty="cannot_tell",
            detail=f"{_words(conditions, kind)}; one of {len(kinds)} that differ: "
            + ", ".join(_NAMES[each] for each in kinds),
        )
        for kind in kinds
    ]


def _kind(kind: str) -> CauseKind:
    found: dict[str, CauseKind] = {
        "model": "model",
        "template": "template",
        "settings": "settings",
        "backend": "backend",
        "software": "software",
        "processor": "processor",
    }
    return found[kind]


def _words(conditions: Sequence[ConditionDifference], kind: str) -> str:
    own = [one for one in conditions if one.kind == kind and one.matters]
    said = "; ".join(
        f"{one.what}: {short(one.archived)} there, {short(one.here)} here" for one in own[:_SHOWN]
    )
    return said + (f"; and {len(own) - _SHOWN} more" if len(own) > _SHOWN else "")


def short(value: object) -> str:
    """Return a value on one short line; a digest by its first 16 places.

    Examples
    --------
    >>> short("a" * 64), short(None), short(["gpt-1"])
    ('aaaaaaaaaaaaaaaa', 'none', 'gpt-1')
    """
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(short, value)) or "none"
    said = " ".join(str(value).split())
    if len(said) == 64 and set(said) <= set("0123456789abcdef"):
        return said[:16]
    return said if len(said) <= 80 else f"{said[:77]}..."
