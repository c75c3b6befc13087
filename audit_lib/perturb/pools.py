"""Questions about several candidates: both orders of every pair of a pool, or the whole pool as a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, permutations
from typing import Any, Final

import yaml

from audit_lib.errors import InputError, SpecError, UnknownSlotError
from audit_lib.perturb.template import Template, fill, is_reply, read_template, render, slots, turn_slots
from audit_lib.seeds import generator
from audit_lib.spec import AuditSpec

VariantRecord = dict[str, Any]
"""A row of the table of variants, or of pairs."""

PLACES: Final = ("first", "second")
CANDIDATES: Final = "candidates"
NUMBER: Final = "number"
_LETTERS: Final = ("A", "B")


def pair_rows(rows: Iterable[VariantRecord], template: Template, spec: AuditSpec) -> Iterator[VariantRecord]:
    """Yield every pair of each pool in both orders, as rows of ``records.PAIR_SCHEMA``.

    The template's slots ``{{first.resume}}`` and ``{{second.resume}}`` take the two candidates' fields, and the name
    is ``{{first.name}}``; a slot without a place, ``{{job_description}}``, takes what both have in common.

    Raises
    ------
    InputError
        If a pool has one candidate, or no answer could tell two of its candidates apart.
    UnknownSlotError
        If a slot has no value, or not the same for both.
    """
    for pool, members in _pools(rows):
        if len(members) < 2:
            raise InputError(f"pool {pool}: one candidate, and a pair needs two; drop the pool or add to it")
        by_name = spec.prompt is None or spec.prompt.answer == "name"
        names = _first_names(pool, members, spec) if by_name else [""] * len(members)
        tie = [spec.prompt.tie] if spec.prompt is not None and spec.prompt.tie is not None else []
        common = _common(members)
        for i, j in permutations(range(len(members)), 2):
            shown = dict(common)
            for place, member in zip(PLACES, (members[i], members[j]), strict=True):
                shown |= {f"{place}.{name}": text for name, text in member["_shown"].items()}
            yield {
                "request_id": f"{pool}/{i + 1:03d}-{j + 1:03d}",
                "round_id": pool,
                "position": members[i]["position"],
                "first": members[i]["variant_id"],
                "second": members[j]["variant_id"],
                "labels": [*((names[i], names[j]) if by_name else _LETTERS), *tie],
                "messages": _rendered(template, shown, pool),
            }


def ask_lists(rows: Iterable[VariantRecord], template: Template, block: str, spec: AuditSpec) -> None:
    """Make one question of each pool, its candidates in an order drawn by the spec's seed.

    `block` shows one candidate, with ``{{number}}`` for the place in the list; the blocks together take the
    template's slot ``{{candidates}}``. Sets ``order_shown``, ``request_id`` and ``messages``.

    Raises
    ------
    InputError
        If two candidates of a pool share a name, or one has none: no answer could rank them.
    UnknownSlotError
        If a slot has no value, or not the same for the whole pool.
    """
    for pool, members in _pools(rows):
        names = [" ".join((row["candidate"] or "").casefold().split()) for row in members]
        if len(set(names)) < len(names) or "" in names:
            raise InputError(
                f"pool {pool}: two candidates share a name, or one has none; a ranking is read by names: give "
                "perturb.names, or a column `name` of the source in which no two of a pool are the same"
            )
        order = generator(spec.seed, "order_shown", pool).permutation(len(members)).tolist()
        blocks = []
        for number, index in enumerate(order, start=1):
            member = members[index]
            member["order_shown"], member["request_id"] = number, pool
            blocks.append(_filled(block, {**member["_shown"], NUMBER: str(number)}, pool))
        messages = _rendered(template, {**_common(members), CANDIDATES: "\n\n".join(blocks)}, pool)
        for member in members:
            member["messages"] = messages


def slots_asked_for(content: bytes, spec: AuditSpec) -> list[str]:
    """Return the slots of a template that a candidate's fields fill, without their places.

    Raises
    ------
    SpecError
        If it is no template for the spec's task.
    """
    found = [s for part in read_template(content) if not is_reply(part) for s in turn_slots(part)]
    if spec.task == "pairwise":
        for place in PLACES:
            if not any(slot.startswith(f"{place}.") for slot in found):
                raise SpecError(
                    f"prompt.template: task pairwise shows two candidates; no slot such as {{{{{place}.resume}}}} "
                    f"shows the {place} one"
                )
        return [slot.removeprefix("first.").removeprefix("second.") for slot in found]
    if spec.task == "listwise" and not spec.model.answers_are_recorded:
        if CANDIDATES not in found:
            raise SpecError(
                f"prompt.template: task listwise needs the slot {{{{{CANDIDATES}}}}} in its messages"
            )
        found += slots(read_block(content))
        return [slot for slot in found if slot not in (CANDIDATES, NUMBER)]
    return found


def read_block(content: bytes) -> str:
    """Return the block ``candidate`` of a listwise template, which shows one candidate.

    Raises
    ------
    SpecError
        If there is none.
    """
    document = yaml.safe_load(content)
    block = document.get("candidate") if isinstance(document, dict) else None
    if not isinstance(block, str):
        raise SpecError(
            "prompt.template: task listwise needs a text `candidate` beside `messages`: how one candidate is shown; "
            f"all of them together take the slot {{{{{CANDIDATES}}}}}"
        )
    return block.rstrip("\n")


def _pools(rows: Iterable[VariantRecord]) -> Iterator[tuple[str, list[VariantRecord]]]:
    listed = list(rows)
    if lost := sum(row["round_id"] is None for row in listed):
        raise InputError(
            f"{lost} of {len(listed)} candidates have no round_id, so nobody to be compared with"
        )
    listed.sort(key=lambda row: (row["round_id"], row["variant_id"]))
    for pool, members in groupby(listed, key=lambda row: str(row["round_id"])):
        yield pool, list(members)


def _first_names(pool: str, members: Sequence[VariantRecord], spec: AuditSpec) -> list[str]:
    """Return the candidates' first names; each must be an answer that no other begins with."""
    names = [
        row["_shown"].get("first_name") or next(iter((row["candidate"] or "").split()), "") for row in members
    ]
    tie = spec.prompt.tie if spec.prompt is not None else None
    plain = [name.casefold() for name in (*names, *([tie] if tie is not None else []))]
    clash = any(one.startswith(other) for one, other in permutations(plain, 2))
    if clash or "" in plain:
        raise InputError(
            f"pool {pool}: a first name is missing, is another's too, or begins with another, so the answer could not "
            "tell who is meant; use names that differ, or prompt.answer: letter"
        )
    return names


def _common(members: Sequence[VariantRecord]) -> dict[str, str]:
    """Return the values that all members share: what is said once must be true of everybody."""
    first, *others = (row["_shown"] for row in members)
    return {name: text for name, text in first.items() if all(other.get(name) == text for other in others)}


def _rendered(template: Template, values: Mapping[str, str], pool: str) -> str:
    try:
        return render(template, values)
    except UnknownSlotError as error:
        raise _explained(error, pool) from None


def _filled(block: str, values: Mapping[str, str], pool: str) -> str:
    try:
        return fill(block, values)
    except UnknownSlotError as error:
        raise _explained(error, pool) from None


def _explained(error: UnknownSlotError, pool: str) -> UnknownSlotError:
    return UnknownSlotError(
        f"pool {pool}: the template's {error}. A slot without a place takes only what all candidates of the pool share"
    )
