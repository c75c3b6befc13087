"""The response ledger: answers kept as they come in, so that no question is paid for twice.

::

    <root>/ledger/<model fingerprint>/<window>/<log>/<number>.jsonl

A line is one whole response with the SHA-256 of its record. Segments are written put-if-absent, and small ones are
joined (`audit_lib.score.segments`). An answer that was asked for over a network is in one before the next is asked for
in its place (`Conversation`), so a kill loses at most what was under way. What a key holds is what the first
segment of one's own log says, so that a table made from remembered answers has the bytes of the one made
when they were asked for; of the answers in other logs (two runs that asked the same at the same time) it is
the one with the smallest digest, in whatever order they are read. Failures are never kept. No evidence refers to the
ledger: the score tables hold everything, and the folder may be deleted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from operator import itemgetter
from typing import Any, Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.ledger import KeptAnswer, LedgerLine, LedgerRecord
from audit_lib.errors import EvidenceError, NotFoundError
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Response
from audit_lib.score.segments import SEGMENT_RESPONSES, SegmentJoiner
from audit_lib.store import Store
from audit_lib.typed_json import decode

SEGMENT_S: Final = 4.0
"""A segment is written when its first answer is this old, or it is full: what a kill may cost a local model."""

_BEFORE: Final = b'{"record":'
_AFTER: Final = b',"sha256":'

RequestKey = tuple[str, int]


def ledger_keys(packs: Sequence[Pack], beside: Mapping[str, Any] | None = None) -> dict[RequestKey, str]:
    """Return the content address of each request's answer.

    It is the SHA-256 of what is asked (`Request.digest`), the repeat, and the request's id: two applicants
    with one text are asked twice, as the audited tool would be, and sampled answers stay independent. Where
    an answer's last digits depend on the pack that it is computed in, `beside` says on what it is
    computed, and the pack's content is part of the address.

    Parameters
    ----------
    packs : sequence of Pack
        Requests to be asked.
    beside : mapping or None
        What the pack is computed on; None if an answer depends on its own request alone.
    """
    keys: dict[RequestKey, str] = {}
    for pack in packs:
        asked = [{"digest": request.digest(), "repeat": request.repeat} for request in pack]
        context = {} if beside is None else {"pack": sha256(canonical_json([asked, beside]))}
        for content, request in zip(asked, pack, strict=True):
            address = {**content, **context, "request_id": request.request_id}
            keys[request.key] = sha256(canonical_json(address))
    return keys


class Ledger:
    """Answers of one model, read from every log of a folder and appended to one of them.

    Parameters
    ----------
    store : Store
        Where the runs are.
    folder : str
        Key of the folder: model and window.
    log : str
        This writer's log in it, such as ``3-of-8``. Two writers of one log (a shard that was taken for dead
        and started again) take turns: whoever writes second adopts what the first one wrote.
    keys : mapping
        Request key -> content address, of the requests that this writer may ask.
    accepts : callable
        Tells of a model, by the name it answered under, whether its answers may be used: another audit may have kept
        what this one asks again.

    Attributes
    ----------
    damaged : int
        Lines whose digest or form was wrong; their requests are asked again.
    """

    def __init__(
        self,
        store: Store,
        folder: str,
        log: str,
        keys: Mapping[RequestKey, str],
        accepts: Callable[[str], bool] = lambda model: True,
    ) -> None:
        self._store, self._log, self._accepts = store, f"{folder}/{log}", accepts
        self._keys = dict(keys)
        self._wanted = set(self._keys.values())
        self._settled: dict[str, Response] = {}
        self._pending: dict[str, Response] = {}
        self._since = 0.0
        self._joiner = SegmentJoiner(store)
        self.damaged = 0
        numbers: dict[int, str] = {}
        others: dict[str, tuple[str, Response]] = {}
        for key in store.list(folder):
            number = key.rsplit("/", 1)[1].removesuffix(".jsonl")
            if not (key.endswith(".jsonl") and number.isdecimal()):
                continue  # somebody's file, not a segment
            if key.startswith(f"{self._log}/"):
                numbers[int(number)] = key
                continue
            for digest, address, response in self._entries(key):
                if address not in others or digest < others[address][0]:
                    others[address] = digest, response
        for _, key in sorted(numbers.items()):
            self._read(key)
        for address, (_, response) in others.items():
            self._settled.setdefault(address, response)
        self._next = max(numbers, default=-1) + 1

    def get(self, key: RequestKey) -> Response | None:
        """Return the kept answer to a request, or None."""
        found = self._settled.get(self._keys[key])
        return None if found is None else replace(found, request_id=key[0], repeat=key[1])

    def add(self, response: Response) -> None:
        """Keep an answer, unless it is a failure; write a segment if it is full, or its first answer old enough."""
        if response.status != "error" and response.key in self._keys:
            if not self._pending:
                self._since = time.monotonic()
            self._pending.setdefault(self._keys[response.key], response)
        old = bool(self._pending) and time.monotonic() - self._since >= SEGMENT_S
        if old or len(self._pending) >= SEGMENT_RESPONSES:
            self.flush()

    def settle(self, response: Response) -> Response:
        """Return what the ledger holds for the response's request: itself, unless another came first."""
        return (response.key in self._keys and self.get(response.key)) or response

    def flush(self) -> None:
        """Write the answers that are in no segment yet."""
        while self._pending:
            key = f"{self._log}/{self._next:06d}.jsonl"
            content = b"".join(_line(*entry) for entry in sorted(self._pending.items(), key=itemgetter(0)))
            self._next += 1
            if self._store.put(key, content):
                self._joiner.wrote(key, content, len(self._pending))
                self._settled |= self._pending
                self._pending = {}
            else:
                self._read(key)
                self._pending = {a: r for a, r in self._pending.items() if a not in self._settled}

    def close(self) -> None:
        """Write the answers that are in no segment yet, and join the small ones."""
        try:
            self.flush()
        finally:
            self._joiner.close()

    def _read(self, key: str) -> None:
        for _, address, response in self._entries(key):
            self._settled.setdefault(address, response)

    def _entries(self, key: str) -> Iterator[tuple[str, str, Response]]:
        """Yield digest, address and response of a segment's lines that this writer may use."""
        try:
            content = self._store.get(key)
        except NotFoundError:
            return  # the folder is being deleted, which is allowed
        for line in content.splitlines():
            entry = _entry(line)
            if entry is None:
                self.damaged += 1
            elif entry[1] in self._wanted and self._accepts(entry[2].model):
                yield entry


def _line(address: str, response: Response) -> bytes:
    kept = KeptAnswer(**{one.name: getattr(response, one.name) for one in fields(KeptAnswer)})
    record = LedgerRecord(key=address, response=kept)
    line = LedgerLine(record=record, sha256=sha256(canonical_json(record.as_dict())))
    return canonical_json(line.as_dict()) + b"\n"


def _entry(line: bytes) -> tuple[str, str, Response] | None:
    """Return a line's digest, key and response, or None if it is not what was written."""
    try:
        found = decode(LedgerLine, line, "a line of the ledger")
    except EvidenceError:
        return None
    # The digest is of the bytes: a whole number that is read as a float would be written otherwise.
    if sha256(line[len(_BEFORE) : line.rfind(_AFTER)]) != found.sha256:
        return None
    kept = found.record.response
    values = {one.name: getattr(kept, one.name) for one in fields(KeptAnswer)}
    return found.sha256, found.record.key, Response(request_id="", **values)


def served(responses: Iterable[Response]) -> list[dict[str, Any]]:
    """Return which models answered, how often and with how many tokens: ids and fingerprints as served, sorted.

    Tokens are those that the answers took when they were given, as the endpoint or the local model counted them; an
    answer from the ledger has those of the first time. Failures, and calls that were made again, are not in it.

    Examples
    --------
    >>> answers = [
    ...     Response(request_id=i, model="m-1", method="logprobs", prompt_tokens=40, completion_tokens=1) for i in "ab"
    ... ]
    >>> served(answers)  # doctest: +NORMALIZE_WHITESPACE
    [{'model': 'm-1', 'system_fingerprint': None, 'answers': 2, 'prompt_tokens': 80, 'completion_tokens': 2}]
    """
    of_each: dict[tuple[str, str | None], list[Response]] = {}
    for response in responses:
        if response.status != "error":
            of_each.setdefault((response.model, response.system_fingerprint), []).append(response)
    return [
        {
            "model": model,
            "system_fingerprint": mark,
            "answers": len(own),
            "prompt_tokens": sum(one.prompt_tokens for one in own),
            "completion_tokens": sum(one.completion_tokens for one in own),
        }
        for (model, mark), own in sorted(of_each.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    ]
