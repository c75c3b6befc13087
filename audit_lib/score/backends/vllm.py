"""``vllm``: a local model in vLLM's own engine, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from audit_lib.errors import SpecError
from audit_lib.options import Options
from audit_lib.score.backends import backend, parse_options, require_packages
from audit_lib.score.backends.transformers import Transformers
from audit_lib.score.local.folder_check import check_scorable
from audit_lib.score.local.orders import located, order_of
from audit_lib.score.local.process import ScoringProcess
from audit_lib.score.local.process_backend import ProcessBackend
from audit_lib.score.local.reference import FLOOR_IS, Floor, floor_of, no_floor
from audit_lib.score.local.template_options import ChatTemplateOptions
from audit_lib.score.local.weights import check_name
from audit_lib.score.packs import Pack
from audit_lib.score.requests import AnswerKind, Response
from audit_lib.spec import Model

INTERPRETER: Final = "AUDIT_VLLM_PYTHON"
"""Environment variable with the Python of an environment that has vLLM; a machine's, and so in no spec."""


class VllmOptions(ChatTemplateOptions):
    """Options of the backend."""

    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="Type of weights and activations. Half precision moves scores and makes ties."
    )
    tensor_parallel_size: int = Field(
        1, ge=1, description="GPUs that each layer is cut over: for models larger than one."
    )
    pipeline_parallel_size: int = Field(
        1, ge=1, description="Groups of them that layers are dealt out to, one after the other."
    )
    max_model_len: int | None = Field(
        None,
        ge=16,
        description="Longest prompt with its answer, in tokens; null: the model's own. Less needs less memory.",
    )
    gpu_memory_utilization: float = Field(
        0.9, gt=0, le=1, description="Part of a GPU's memory that vLLM takes."
    )
    cpu_cache_gib: int = Field(
        4, ge=1, description="vLLM's build for CPUs: memory for keys and values, in GiB."
    )
    enforce_eager: bool = Field(
        True,
        description="The model's operations as they are written. False: compiled first, which takes minutes and "
        "changes last digits.",
    )
    batch_invariant: bool = Field(
        False,
        description="vLLM's kernels whose results do not depend on what else is computed (NVIDIA GPUs only).",
    )
    threads: int = Field(2, ge=1, le=256, description="CPU threads.")
    pack_size: int = Field(
        256,
        ge=1,
        le=4096,
        description="Prompts handed over together; shared beginnings are kept within a pack.",
    )
    floor: Floor = Field("transformers", description=FLOOR_IS)


@backend("vllm")
class Vllm(ProcessBackend):
    """Label probabilities over the full vocabulary, and texts, by vLLM.

    `model.name` is what it is for the backend ``transformers``, and prompts are written and cut into tokens in the same
    way. The process runs with this Python, or with the one that the environment variable ``AUDIT_VLLM_PYTHON`` names.
    """

    Options: ClassVar[type[Options]] = VllmOptions
    options: VllmOptions
    local: ClassVar[bool] = True
    weights: ClassVar[bool] = True
    loads: ClassVar[bool] = True
    pool: ClassVar[str] = "gpu"
    gives: ClassVar[tuple[AnswerKind, ...]] = ("labels", "text")

    def __init__(self, model: Model) -> None:
        self.model = model
        self.options = parse_options(VllmOptions, model)
        self.pack_size = self.options.pack_size
        self._process = ScoringProcess(
            model.name, self.options.threads, "audit_lib.score.local.vllm_worker", os.environ.get(INTERPRETER)
        )
        self._loaded: dict[str, Any] = {}

    @classmethod
    def check(cls, model: Model) -> None:
        """Check that vLLM is installed and the model's folder is one."""
        require_vllm()
        if parse_options(VllmOptions, model).floor == "transformers":
            require_packages(Transformers, "vllm with floor: transformers")
        name = located(model)
        if (folder := Path(name).expanduser()).is_dir():
            check_scorable(folder)
        check_name(name)

    def account(self, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any] | None:
        """Return what a shard's prompts share and the noise floor, for ``plan.json``; None without labels."""
        self._start()
        plan: dict[str, Any] | None
        plan = self._process.ask({"plan": [[order_of(r) for r in pack] for pack in packs]})["plan"]
        if plan is None:
            return None
        if self.options.floor == "none":
            return {**plan, "noise_floor": no_floor()}
        return {**plan, "noise_floor": floor_of(as_transformers(self.model), packs, responses)}

    def _start(self) -> None:
        if self._process.is_running:
            return
        asked = {
            "dtype", "tensor_parallel_size", "pipeline_parallel_size", "max_model_len", "gpu_memory_utilization",
            "enforce_eager",
        }  # fmt: skip
        order = {
            "name": located(self.model),
            "revision": self.model.revision,
            **self.options.written(),
            "engine": self.options.model_dump(include=asked),
            "batch_invariant": self.options.batch_invariant,
        }
        begun = time.monotonic()
        self._loaded = self._process.start(
            order,
            # One process, so that what is computed together follows from the pack alone.
            VLLM_ENABLE_V1_MULTIPROCESSING="0",
            VLLM_BATCH_INVARIANT=str(int(self.options.batch_invariant)),
            VLLM_CPU_KVCACHE_SPACE=str(self.options.cpu_cache_gib),
            VLLM_CPU_OMP_THREADS_BIND="nobind",
            VLLM_LOGGING_LEVEL="WARNING",
            VLLM_NO_USAGE_STATS="1",
            DO_NOT_TRACK="1",
        )
        seconds = time.monotonic() - begun
        self._note = f"loaded in {seconds:.0f} s by {self._loaded['engine']} on {self._loaded['device_name']}"


def as_transformers(model: Model, name: str | None = None) -> Model:
    """Return a model of this backend as the backend ``transformers`` takes it, under another name if one is given."""
    options = ChatTemplateOptions.model_validate(
        {key: value for key, value in model.options.items() if key in ChatTemplateOptions.model_fields}
    )
    changes = {"backend": "transformers", "options": options.written()}
    return model.model_copy(update=changes | ({} if name is None else {"name": name}))


def require_vllm() -> None:
    """Raise SpecError where no environment with vLLM is known.

    Raises
    ------
    SpecError
        Says how to install it.
    """
    named = os.environ.get(INTERPRETER)
    if named is None and importlib.util.find_spec("vllm") is None:
        raise SpecError(
            "model.backend: vllm needs the package vllm; install vllm (it pins other packages: best in an environment "
            f"of its own with audit-lib, whose Python the environment variable {INTERPRETER} names), or ask its server "
            "(backend vllm_server)"
        )
    if named is not None and not os.access(named, os.X_OK):
        raise SpecError(f"{INTERPRETER}: {named} is no program; name the Python of the environment with vLLM")
