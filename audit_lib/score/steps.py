"""Conversations in steps: what the model replies first stands in what it is asked next.

A template's assistant turn that holds nothing but ``{{reply}}`` is a step: the turns before it are asked, and
the text that comes back takes its place, without what the model wrote that it thinks. Steps are asked for a whole
shard at a time, in the run's packs.
Which turns are steps is a matter of the template alone: what an applicant or the model writes is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit_lib.errors import BackendError
from audit_lib.perturb.robustness import Further
from audit_lib.perturb.template import REPLY, is_reply, read_template
from audit_lib.records import VARIATION
from audit_lib.run import Run
from audit_lib.score.asking import Asking, AskingResult
from audit_lib.score.ledger import served
from audit_lib.score.packs import Pack
from audit_lib.score.reading.thinking import without_thinking
from audit_lib.score.requests import AnswerRecord, Message, Request, Response, Sampling
from audit_lib.score.shard_plan import Shard

StepKey = tuple[str, int]
Places = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversed:
    """What came of a shard's conversations.

    Attributes
    ----------
    asked : AskingResult
        As `audit_lib.score.asking.ask` gives it; a request whose step failed has that failure as its response.
    replies : list of dict
        Rows of ``records.REPLY_SCHEMA``: the steps' texts.
    answers : list of Response
        All that was answered, in the steps and after them, canaries too.
    served : list of dict
        Which models answered (`ledger.served`); an entry of a step has its number as ``step``.
    """

    asked: AskingResult
    replies: list[AnswerRecord]
    answers: list[Response]
    served: list[dict[str, Any]]


def reply_places(
    run: Run, requests: Iterable[Request], variations: Mapping[str, str | None] | None = None
) -> Places:
    """Return request id -> the turns of it that are asked for first, for the requests that have any.

    `variations` says what each request varies; None: read from the whole table.
    """
    seeming = {
        request.request_id
        for request in requests
        if any(m.role == "assistant" and m.content == REPLY for m in request.messages)
    }
    if not seeming or run.spec.prompt is None:
        return {}
    ordinary = _steps_of(read_template(run.design_file("prompt.template")))
    further = {name: _steps_of(template) for name, template in Further.from_run(run).templates.items()}
    if further and variations is None:
        table = run.stage("variants").read_table("variants.parquet")
        variations = dict(zip(table["request_id"], table[VARIATION], strict=True))
    varied = variations or {}
    places = {name: further.get(varied.get(name) or "", ordinary) for name in sorted(seeming)}
    return {name: turns for name, turns in places.items() if turns}


def _steps_of(template: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
    return tuple(i for i, message in enumerate(template) if is_reply(message))


def converse(
    run: Run,
    shard: int,
    what: Shard,
    canaries: Pack,
    sampling: Sampling,
    places: Places,
) -> Conversed:
    """Ask the requests of `shard`, each step (`places`, of `reply_places`) before what follows it.

    Raises
    ------
    BackendError
        If the model cannot be loaded or reached, or lost or doubled an answer.
    """
    packs, failed, replies, models = list(what.packs), [], [], []
    answered: list[Response] = []
    remembered = damaged = step = 0
    with Asking(run, shard, what.numbers) as asking:
        while opened := _only((_next_step(r, places, step, sampling) for r in pack) for pack in packs):
            step += 1
            asked_for = sum(map(len, opened))
            run.notify(f"score: shard {shard}: step {step}, a reply to each of {asked_for} requests")
            asked = asking.ask(opened)
            remembered, damaged = remembered + asked.remembered, damaged + asked.damaged
            answers = match(opened, asked.responses)
            answered += asked.responses
            models += [{"step": step, **entry} for entry in served(asked.responses)]
            replies += [_reply_row(r, answers[r.key], step) for pack in opened for r in pack]
            failed += [_failure(a, step) for a in answers.values() if not _is_reply(a)]
            texts = {key: _said(a) for key, a in answers.items() if _is_reply(a)}
            lost = answers.keys() - texts.keys()
            packs = _only(
                (_continued(r, places, step - 1, texts) if r.key not in lost else None for r in pack)
                for pack in packs
            )
        last = asking.ask(packs, canaries)
    return Conversed(
        asked=replace(
            last,
            responses=[*last.responses, *failed],
            remembered=last.remembered + remembered,
            damaged=last.damaged + damaged,
        ),
        replies=replies,
        answers=[*answered, *last.responses],
        served=[*models, *served(last.responses)],
    )


def match(packs: Iterable[Pack], responses: Iterable[Response]) -> dict[StepKey, Response]:
    """Return the response to each request.

    Raises
    ------
    BackendError
        If one is missing, doubled, or answers what was not asked.
    """
    answers: dict[StepKey, Response] = {}
    for response in responses:
        if response.key in answers:
            raise BackendError(f"request {response.key}: the backend answered twice")
        answers[response.key] = response
    keys = [request.key for pack in packs for request in pack]
    for key in keys:
        if key not in answers:
            raise BackendError(f"request {key}: the backend gave no answer")
    if len(answers) > len(keys):
        raise BackendError(f"the backend answered {len(answers) - len(keys)} requests that were not asked")
    return {key: answers[key] for key in keys}


def _only(packs: Iterable[Iterable[Request | None]]) -> list[Pack]:
    """Drop what is None, and packs that are empty then."""
    kept = [tuple(request for request in pack if request is not None) for pack in packs]
    return [pack for pack in kept if pack]


def _next_step(request: Request, places: Places, done: int, sampling: Sampling) -> Request | None:
    turns = places.get(request.request_id, ())[done:]
    if not turns:
        return None
    turn = request.messages[: turns[0]]
    return replace(request, messages=turn, labels=(), sampling=sampling, answer_schema=None)


def _continued(request: Request, places: Places, done: int, texts: Mapping[StepKey, str]) -> Request:
    next_ones = places.get(request.request_id, ())[done:]
    if not next_ones:
        return request
    turns = list(request.messages)
    turns[next_ones[0]] = Message(role="assistant", content=texts[request.key])
    return replace(request, messages=tuple(turns))


def _is_reply(response: Response) -> bool:
    return response.status == "ok" and bool(_said(response))


def _said(response: Response) -> str:
    """What stands in the next question: the reply without what was thought before it."""
    return without_thinking(response.text or "").strip()


def _failure(response: Response, step: int) -> Response:
    why = response.detail if response.status != "ok" else "the reply is empty"
    status = response.status if response.status != "ok" else "unparsed"
    return replace(response, status=status, detail=f"step {step}: {why}")


def _reply_row(request: Request, response: Response, step: int) -> AnswerRecord:
    return {
        "request_id": request.request_id,
        "repeat": request.repeat,
        "step": step,
        "model": response.model,
        "request_digest": request.digest(),
        "text": response.text,
        "status": response.status,
        "detail": response.detail,
        "attempts": response.attempts,
    }
