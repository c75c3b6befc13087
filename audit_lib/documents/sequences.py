"""What the monitor keeps: sums of each window, the baseline that somebody chose, and the evidence over all looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from audit_lib.documents.attribution import Attribution
from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.sequence_name import Quantity, SequenceName
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import OPTIONAL, Count, Typed

SUMS_SCHEMA: Final = "audit-window-sums/1"
BASELINE_SCHEMA: Final = "audit-baseline/1"
SEQUENCES_SCHEMA: Final = "audit-sequences/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSums(SequenceName):
    """Of one window: units in which both meet, and sums over them of the two values, from 0 to 1, squares, products."""

    rows: Count
    """With a value, of the group."""
    reference_rows: Count
    units: Count
    group_sum: float
    reference_sum: float
    group_squares: float
    reference_squares: float
    products: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutQuantity(Typed):
    """A quantity of which nothing is followed, and why."""

    quantity: Quantity
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSumsDocument(Typed):
    """``monitor/sums/WINDOW_DIGEST.json``: all that sequences need of a sealed run."""

    schema: Literal["audit-window-sums/1"] = SUMS_SCHEMA
    audit: str
    run: RunIdentity
    question: Mapping[str, str]
    """Digest of each part of the spec that says what is compared: where one differs, another sequence begins."""
    version: Mapping[str, str]
    """Of what may change within a sequence, and is marked on it: the model, its prompt, the decision rule."""
    unit: Literal["application", "round"]
    score_range: tuple[float, float] | None
    """Lowest and highest possible score, which are 0 and 1 here; None where scores have no stated bounds."""
    sums: tuple[NamedSums, ...]
    left_out: tuple[LeftOutQuantity, ...]
    attributions: tuple[Attribution, ...] = ()
    """Of each change whose alarm stands: to what it is to be attributed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSettings(Typed):
    """From the spec of the newest run of the baseline, so that no alarm's threshold moves under a sequence."""

    false_alarms: float
    floor: float
    minimum: Count
    line: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Typed):
    """``baselines/NUMBER.json``: the windows that somebody decided to compare all later ones with."""

    schema: Literal["audit-baseline/1"] = BASELINE_SCHEMA
    audit: str
    number: Count
    name: str
    runs: tuple[RunIdentity, ...]
    """In the order of their windows."""
    question: Mapping[str, str]
    settings: MonitorSettings
    decided_by: str
    reason: str
    decided_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Typed):
    """A sequence after one more window."""

    window: str
    units: Count
    """Of this window."""
    difference: float | Undefined
    """Of this window alone: the group's mean less the reference's."""
    interval: Interval
    """Of the mean difference over all windows so far, at all looks at once."""
    change: float | None
    """Natural logarithm of the evidence of a change since the baseline; None in the baseline."""
    below_line: float | None
    """Natural logarithm of the evidence that the ratio of rates has been below the line from some window on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm(Typed):
    """A finding that holds over all looks and sequences."""

    kind: Literal["change", "below_line"]
    told_in: str
    """The window whose look told it first."""
    stands: bool
    """Whether the last look tells it too."""
    since: str
    """Window with which it most likely began."""
    became_another: tuple[str, ...]
    """Of the model, prompt, rule and source what became another with that very window; it may be the cause."""
    log_evidence: float
    before: Interval | None = field(default=None, metadata=OPTIONAL)
    """Mean difference in the windows before it, and of those from it on, both right at once, however it was chosen."""
    after: Interval | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedSequence(SequenceName):
    """One sequence: its looks, and what they tell."""

    looks: tuple[Look, ...]
    ratio: Interval | Undefined
    """Of the rates, at the last look; of scores there is none."""
    alarms: tuple[Alarm, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChange(Typed):
    """Between two windows that follow each other, what of the model, prompt or rule became another."""

    window: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside(Typed):
    """A sealed run that is in no sequence, and why."""

    window: str
    spec_digest: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences(Typed):
    """``monitor/sequences.json``: everything that is followed, from the baseline on."""

    schema: Literal["audit-sequences/1"] = SEQUENCES_SCHEMA
    audit: str
    baseline: Baseline | Undefined
    signed_with: str | None = None
    """Id of the key that the signature of the baseline names, unchecked here; null where nobody signed it."""
    made_from: str | None = None
    """SHA-256 of the baseline, the kept sums and the version of this library, so that it is made once; null where
    something could not be read, so that it is tried again."""
    hypotheses: Count
    """Sequences and lines among which the false alarms are shared."""
    runs: tuple[RunIdentity, ...]
    """Those that are followed, in the order of their windows."""
    sequences: tuple[FollowedSequence, ...]
    versions: tuple[VersionChange, ...]
    set_aside: tuple[SetAside, ...]
    left_out: tuple[LeftOutQuantity, ...]
    attributions: tuple[Attribution, ...] = ()
    """Of each change whose alarm stands: to what it is to be attributed."""
