"""Kept answers read again, as another spec would have read them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.errors import InputError
from audit_lib.run import Run
from audit_lib.score.reading.labels import read_label
from audit_lib.score.reading.ratings import CUT, RatingScale, read_rating
from audit_lib.spec import AuditSpec, PromptTemplate

_READ = ("ok", "unparsed", "refused")
"""Statuses that come of reading a text; all others are of asking."""


def check_rereadable(run: Run, prompt: PromptTemplate) -> None:
    """Refuse where the answers are not all texts that were read one by one.

    Raises
    ------
    InputError
        With the reason.
    """
    spec = run.spec
    if (
        spec.task != "pointwise"
        or spec.prompt is None
        or spec.manipulation is not None
        or spec.robustness is not None
    ):
        raise InputError("only answers about one candidate each, to one question, can be read again")
    if spec.model.answers_are_recorded:
        if _scores_were_recorded(run):
            raise InputError("scores or decisions were recorded, and no text was read")
    elif "labels" in (spec.prompt.read, prompt.read):
        raise InputError("labels are read from probabilities, of which a text has none")


def reread(table: pa.Table, prompt: PromptTemplate) -> pa.Table:
    """Return score rows with the scores and statuses that their texts have when they are read as `prompt` says."""
    scale = RatingScale(labels=tuple(prompt.labels), relevance=tuple(prompt.relevance))
    scores, statuses = [], []
    for text, detail, status, score in zip(
        *(table[name].to_pylist() for name in ("text", "detail", "status", "score")), strict=True
    ):
        if status not in _READ or text is None or detail == CUT:
            found = (score, status)
        elif prompt.read == "labels":
            label = read_label(text, scale.labels)
            found = (None, "unparsed") if label is None else (scale.relevance[label], "ok")
        else:
            rating = read_rating(text, prompt.read, scale)
            found = (rating.score, rating.status)
        scores.append(found[0])
        statuses.append(found[1])
    columns = {
        "score": pa.array(scores, pa.float64()),
        "status": pa.array(statuses, pa.string()).dictionary_encode(),
    }
    for name, column in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _scores_were_recorded(run: Run) -> bool:
    source = run.stage("variants").parquet("variants.parquet")
    table = pq.read_table(source, columns=["recorded_score", "recorded_selected"])
    return any(pc.any(pc.is_valid(table[name])).as_py() for name in table.column_names)


def asked_as(spec: AuditSpec, prompt: PromptTemplate) -> PromptTemplate:
    """Return the spec's prompt, its answers read as another one says."""
    assert spec.prompt is not None
    return spec.prompt.model_copy(
        update={"read": prompt.read, "labels": prompt.labels, "relevance": prompt.relevance}
    )
