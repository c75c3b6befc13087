"""Options of the backends that speak the chat API, and what a spec may not ask of them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from audit_lib.backends import BACKENDS, Probe, Secret
from audit_lib.documents.capabilities import TokenLimit
from audit_lib.errors import SpecError
from audit_lib.json_path import steps
from audit_lib.score.remote.credentials import check_fields, plain_url
from audit_lib.score.remote.limits import Limits

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

_LONGEST_LABEL = 16  # tokens, where the spec names no other number
_LONGEST_TEXT = 1024
_OWN_FIELDS = (
    ("model", "model.name"),
    ("messages", "prompt.template"),
    ("temperature", "model.options.temperature, or that of the task"),
    ("seed", "model.options.seed, or that of the task"),
    ("n", "model.options.samples and samples_per_call"),
    ("logprobs", "model.options.method"),
    ("top_logprobs", "model.options.method"),
    ("max_tokens", "model.options.max_tokens, or that of the task"),
    ("max_completion_tokens", "model.options.max_tokens, or that of the task"),
    ("reasoning_effort", "model.options.effort"),
    ("response_format", "model.options.structured"),
    ("stream", None),
)
"""Fields of a body that the backend writes itself, and what says them in a spec."""


GOES_ON: Final = {"continue_final_message": True, "add_generation_prompt": False}
"""Without these vLLM and SGLang close a last turn of the assistant and begin another; llama.cpp takes them too."""
_DEPLOYMENT: Final = re.compile(r"/deployments/[^/]+$")
LATER: Final = {
    "api_version": None,
    "token_limit": None,
    "thinking_tokens": None,
    "effort": None,
    "structured": "auto",
    "tool": None,
    "tool_path": "answer",
}
"""Options that are named in a description only where they say something: a model's fingerprint stays what it was."""


class ChatOptions(Limits):
    """Options of the backends that speak the chat API. None of them holds a secret."""

    base_url: str = Field(
        "https://api.openai.com/v1", description="Where the endpoint is, up to and with /v1."
    )
    api_key_env: str = Field(
        "OPENAI_API_KEY",
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="NAME of the environment variable that holds the key; never the key.",
    )
    api_version: str | None = Field(
        None,
        pattern=r"^[\w.-]+$",
        description="Azure's `?api-version=`, where its URL does not end in /v1; the key is sent as `api-key` too.",
    )
    method: Literal["logprobs", "sampled"] = Field(
        "logprobs",
        description="How labels are read, for every row alike: `logprobs` of the first token (labels of one token), or "
        "the share of `samples` sampled answers that begin with the label.",
    )
    samples: int = Field(20, ge=1, le=1000, description="Answers sampled for each request (method sampled).")
    samples_per_call: int = Field(
        1,
        ge=1,
        le=128,
        description="How many of them one call asks for (`n`); 1 works everywhere, more saves prompt tokens.",
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="Null: 1 for sampled labels, else 0. A task's own sampling goes first."
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        description="Longest answer, in tokens; null: 16 for sampled labels, else 1024. A model that thinks before it "
        "answers needs more than 16.",
    )
    token_limit: TokenLimit | None = Field(
        None,
        description="Field of the API that bounds an answer: `max_completion_tokens`, or `max_tokens` (Mistral, older "
        "servers). Null: the first, and the other where the server refuses it.",
    )
    thinking_tokens: int | None = Field(
        None,
        ge=0,
        description="Tokens that a model may think with before it answers, in addition to those of the answer; they "
        "are priced as generated ones. Null: a model that thinks is refused.",
    )
    effort: Literal["off", "minimal", "low", "medium", "high"] | None = Field(
        None, description="How hard a model thinks that lets this be said; null: as it does by itself."
    )
    structured: Literal["auto", "always", "never"] = Field(
        "auto",
        description="Whether answers are asked for by a JSON schema. `auto`: sampled labels and rankings, where the "
        "model was found to keep to one; else they are read from its words. `always`: these, and ratings in JSON, of "
        "which then the rating alone is asked for.",
    )
    tool: str | None = Field(
        None,
        description="Name of a tool by whose call the model answers; the tool itself stands in `extra_body` (`tools`, "
        "`tool_choice`).",
    )
    tool_path: str = Field(
        "answer", description="Where the call's arguments hold the answer, such as answer or result.rating."
    )
    probe: bool | None = Field(
        None,
        description="Whether to find out by some small calls before the first row what the model takes and gives. "
        "Null: where `thinking_tokens` or `effort` is given, else when the server first refuses a field. "
        "`audit run` and the DAG's preflight do so before the plan, with `prefill` too, and with one small question "
        "first where null; false: nothing is asked but the rows.",
    )
    seed: int | None = Field(
        None, ge=0, description="Sent with each request, plus the repeat; not all servers heed it."
    )
    prefill: bool = Field(
        False,
        description="The server goes on from a last assistant turn (llama.cpp, vLLM and SGLang do, told so by "
        "`continue_final_message`; OpenAI does not). If false, that turn becomes an instruction at the end of the "
        "user's.",
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict,
        description="Fields of the server's own, such as {cache_prompt: false}; no secrets, and none that the "
        "backend writes itself, such as messages.",
    )

    @property
    def probes_first(self) -> bool:
        """Whether what the model can do is found out before the first row."""
        if self.probe is not None:
            return self.probe
        return self.thinking_tokens is not None or self.effort is not None

    def longest(self, *, label: bool = False) -> int:
        """Return the most tokens of an answer; `label`: of one that is sampled for its label."""
        return self.max_tokens or (_LONGEST_LABEL if label else _LONGEST_TEXT)

    @model_validator(mode="after")
    def _thinking_is_sampled(self) -> ChatOptions:
        if self.method == "logprobs" and self.thinking_tokens and "method" in self.model_fields_set:
            raise ValueError(
                "thinking_tokens: the first token of a model that thinks is none of its answer's, so method: logprobs "
                "cannot read it; use method: sampled"
            )
        return self

    @model_validator(mode="after")
    def _tool_is_offered(self) -> ChatOptions:
        if self.tool is None:
            return self
        if "tools" not in self.extra_body:
            raise ValueError(
                f"tool: {self.tool} is offered to nobody; give it in extra_body: {{tools: [...]}}"
            )
        if self.method == "logprobs" and "method" in self.model_fields_set:
            raise ValueError("tool: a call has no first token of an answer; use method: sampled")
        try:
            steps(self.tool_path)
        except ValueError as error:
            raise ValueError(f"tool_path: {error}") from None
        return self

    @field_validator("base_url")
    @classmethod
    def _plain(cls, value: str) -> str:
        if "api-version=" in value:
            raise ValueError("holds ?api-version=; leave that out and give it in model.options.api_version")
        return plain_url(value) if value else value

    @field_validator("extra_body")
    @classmethod
    def _no_secrets(cls, value: dict[str, Any]) -> dict[str, Any]:
        check_fields(value)
        for field, instead in _OWN_FIELDS:
            if field in value:
                said = f"say it by {instead}" if instead else "leave it out; answers are read whole"
                raise ValueError(f"{field} is written by the backend itself and would be replaced; {said}")
        return value


def chat_secrets(options: ChatOptions) -> list[Secret]:
    """Return the variable that holds the key."""
    return [Secret(variable=options.api_key_env, where="model.options.api_key_env")]


def chat_probe(options: ChatOptions) -> Probe:
    """Ask for the list of models, with the key if it is there."""
    key = os.environ.get(options.api_key_env, "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    where, query = options.base_url, ""
    if options.api_version is not None:
        # Azure lists models beside its deployments.
        where, query = _DEPLOYMENT.sub("", where), f"?api-version={options.api_version}"
        headers |= {"api-key": key} if key else {}
    return Probe(verb="GET", url=f"{where}/models{query}", where="model.options.base_url", headers=headers)


def check_read(spec: AuditSpec) -> None:
    """Check that the answers which a spec asks for can be read as its options say.

    Raises
    ------
    SpecError
        If names are to be read from the log-probabilities of one token: a name that the model's vocabulary
        holds whole would be preferred to one that it cuts into pieces. If the tie begins with a letter.
    """
    if not issubclass(BACKENDS.get(spec.model.backend).Options, ChatOptions) or spec.prompt is None:
        return
    usual = BACKENDS.get(spec.model.backend).Options.model_fields["method"].default
    if spec.model.options.get("method", usual) != "logprobs":
        return
    if spec.task != "pairwise":
        return
    if spec.prompt.answer == "name":
        raise SpecError(
            "prompt.answer: name cannot be read by model.options.method: logprobs, which sees an answer's first "
            "token, and many names take several; use prompt.answer: letter or model.options.method: sampled"
        )
    if spec.prompt.tie is not None and spec.prompt.tie.strip().startswith(("A", "B")):
        raise SpecError(
            f"prompt.tie: {spec.prompt.tie!r} begins with a letter of the candidates, and model.options.method: "
            "logprobs sees an answer's first token, which may be the beginning of either; name another word in the "
            "prompt and in prompt.tie, such as Equal, or use model.options.method: sampled"
        )
