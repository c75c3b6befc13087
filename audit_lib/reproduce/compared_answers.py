"""Archived answers next to new ones, one by one: equal, within the recorded noise floor, beyond it, or missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from audit_lib.documents.reproduction import NoiseFloor, ScoreComparison, ScoreGap
from audit_lib.errors import EvidenceError
from audit_lib.run import Run
from audit_lib.score.local.noise_floor import bounds
from audit_lib.score.request_rows import records

AnswerFound = Literal[
    "equal", "within", "same_reading", "beyond", "missing_here", "missing_there", "other_status"
]
AnswerRow = Mapping[str, Any]

SHOWN: Final = 20
_ANSWERED: Final = ("ok", "unranked")
_NONE_RECORDED: Final = (
    "none was recorded: this backend measures none, so that only equal answers are reproduced"
)
_RECORDED: Final = "the largest that the run's shards recorded in plan.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAnswer:
    """An archived answer, the new one to the same request, and how they compare."""

    archived: AnswerRow
    here: AnswerRow
    found: AnswerFound
    probability_gap: float | None
    share_gap: float | None

    @property
    def key(self) -> tuple[str, int]:
        """The request that both answer."""
        return (str(self.archived["request_id"]), int(self.archived["repeat"]))

    @property
    def differs(self) -> bool:
        """Whether the archived answer is not reproduced."""
        return self.found not in ("equal", "within", "same_reading")

    @property
    def size(self) -> float:
        """How far they are apart, for an order: an answer that is missing is furthest."""
        if self.found in ("missing_here", "missing_there", "other_status"):
            return math.inf
        gaps = (
            self.share_gap,
            self.probability_gap,
            _gap(self.archived.get("score"), self.here.get("score")),
        )
        return max((gap for gap in gaps if gap is not None), default=1.0)


def recorded_floor(run: Run) -> NoiseFloor:
    """Return how far answers of a run may be apart, by what its shards recorded."""
    plans = [path for path in run.list("scores") if path.endswith("/plan.json")]
    floors = [
        run.stage(path.rsplit("/", 1)[0]).read_json("plan.json").get("noise_floor") or {} for path in plans
    ]
    gaps = [one["largest_difference"] for one in floors if one.get("largest_difference") is not None]
    shares = [
        one["largest_share_difference"] for one in floors if one.get("largest_share_difference") is not None
    ]
    if not gaps:
        return NoiseFloor(
            probability=None, share=None, allowed_probability=None, allowed_share=None, source=_NONE_RECORDED
        )
    folder = run.stage(plans[0].rsplit("/", 1)[0])
    allowed = bounds(folder.read_json("model.json"), run.spec.checks.maximum_noise_floor)
    return NoiseFloor(
        probability=max(gaps),
        share=max(shares, default=None),
        allowed_probability=allowed[0],
        allowed_share=allowed[1],
        source=_RECORDED,
    )


def as_allowed(floor: NoiseFloor) -> NoiseFloor:
    """Return the floor of what the audit's validation allowed: several times what rounding of a few answers showed."""
    return replace(
        floor,
        probability=max(floor.probability or 0.0, floor.allowed_probability or 0.0),
        share=max(floor.share or 0.0, floor.allowed_share or 0.0),
    )


def answers_of(run: Run, shards: Iterable[int], table: str) -> list[dict[str, Any]]:
    """Return the answers of shards: rows of ``scores.parquet``, or of ``pairs.parquet`` where scores follow from it."""
    return [row for shard in shards for row in records(run.stage(f"scores/{shard}").read_table(table))]


def compare_answers(
    archived: Iterable[AnswerRow], here: Iterable[AnswerRow], floor: NoiseFloor
) -> list[ComparedAnswer]:
    """Compare the new answers with the archived ones to the same requests, sorted by their keys.

    Raises
    ------
    EvidenceError
        If a new answer answers what was never asked: the requests were made in another way.
    """
    kept = {_row_key(row): row for row in archived}
    found = []
    for row in here:
        before = kept.get(_row_key(row))
        if before is None or before["request_digest"] != row["request_digest"]:
            raise EvidenceError(
                "the variants make other requests here than the archived scores answer; install the version of this "
                "library that made the run"
            )
        found.append(compared(before, row, floor))
    return sorted(found, key=lambda one: _row_key(one.archived))


def compared(before: AnswerRow, now: AnswerRow, floor: NoiseFloor) -> ComparedAnswer:
    """Compare two answers to one request."""
    gaps = _probability_gaps(before, now)
    return ComparedAnswer(
        archived=before,
        here=now,
        found=_found(before, now, gaps, floor),
        probability_gap=None if gaps is None else gaps[0],
        share_gap=None if gaps is None else gaps[1],
    )


def summarised(answers: Sequence[ComparedAnswer], floor: NoiseFloor) -> ScoreComparison:
    """Count what was found."""
    allowed = as_allowed(floor)
    beyond = [one for one in answers if one.found == "beyond"]
    counts = Counter(one.found for one in answers)
    scores = [_gap(one.archived.get("score"), one.here.get("score")) for one in answers]
    return ScoreComparison(
        compared=len(answers),
        equal=counts["equal"],
        within_floor=counts["within"],
        same_reading=counts["same_reading"],
        beyond_floor=counts["beyond"],
        within_allowed=sum(not compared(one.archived, one.here, allowed).differs for one in beyond),
        missing_here=counts["missing_here"],
        missing_there=counts["missing_there"],
        other_status=counts["other_status"],
        largest_probability_gap=_largest(one.probability_gap for one in answers),
        largest_share_gap=_largest(one.share_gap for one in answers),
        largest_score_gap=_largest(scores),
    )


def largest(answers: Iterable[ComparedAnswer]) -> list[ComparedAnswer]:
    """Return the answers that differ, those that are furthest apart first."""
    return sorted((one for one in answers if one.differs), key=lambda one: (-one.size, one.key))


def score_gap(one: ComparedAnswer) -> ScoreGap:
    """Return a difference as the record has it: no text of anybody, no id that could name one."""
    return ScoreGap(
        request_digest=str(one.archived["request_digest"]),
        repeat=int(one.archived["repeat"]),
        archived_status=str(one.archived["status"]),
        status=str(one.here["status"]),
        archived_score=one.archived.get("score"),
        score=one.here.get("score"),
        probability_gap=one.probability_gap,
        share_gap=one.share_gap,
        text_differs=one.archived["text"] != one.here["text"],
    )


def _found(
    before: AnswerRow, now: AnswerRow, gaps: tuple[float, float] | None, floor: NoiseFloor
) -> AnswerFound:
    there, here = before["status"] in _ANSWERED, now["status"] in _ANSWERED
    if there != here:
        return "missing_here" if there else "missing_there"
    if before["status"] != now["status"]:
        return "other_status"
    read = all(before.get(name) == now.get(name) for name in ("score", "selected", "items", "answer"))
    if gaps is not None:
        if gaps == (0.0, 0.0):
            return "equal"
        return (
            "within"
            if gaps[0] <= (floor.probability or 0.0) and gaps[1] <= (floor.share or 0.0)
            else "beyond"
        )
    if not read:
        return "beyond"
    if before["text"] == now["text"]:
        return "equal"
    # A text that nothing is read from is itself what is measured.
    return (
        "same_reading" if before.get("score") is not None or before.get("selected") is not None else "beyond"
    )


def _probability_gaps(before: AnswerRow, now: AnswerRow) -> tuple[float, float] | None:
    """Return the largest gap of a label's probability, and of its share; None where neither answer has any."""
    one, other = _shares(before), _shares(now)
    if one is None and other is None:
        return None
    if one is None or other is None or len(one[0]) != len(other[0]):
        return (1.0, 1.0)
    return (
        max((abs(p - q) for p, q in zip(one[1], other[1], strict=True)), default=0.0),
        max((abs(p - q) for p, q in zip(one[0], other[0], strict=True)), default=0.0),
    )


def _shares(row: AnswerRow) -> tuple[list[float], list[float]] | None:
    """Return the labels' shares among the labels, and their probabilities over all that could be answered."""
    given = row["label_probabilities"]
    if given is None:
        return None
    values = [float(value) for value in given]
    total = math.fsum(values)
    shares = [value / total for value in values] if total > 0 else values
    mass = row["label_mass"]
    # Rows of scores hold shares and their mass, rows of pairs the probabilities themselves.
    return shares, values if "answer" in row or mass is None else [value * float(mass) for value in values]


def _gap(one: Any, other: Any) -> float | None:
    return None if one is None or other is None else abs(float(one) - float(other))


def _largest(gaps: Iterable[float | None]) -> float | None:
    return max((gap for gap in gaps if gap is not None), default=None)


def _row_key(row: AnswerRow) -> tuple[str, int, str]:
    return (str(row["request_id"]), int(row["repeat"]), str(row.get("variant_id") or ""))
