"""Each example of docs/howto/backends.md by provider, run against a server on loopback in its provider's shape."""

from __future__ import annotations

import importlib.util
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from audit_lib.records import from_parquet
from audit_lib.score import score_shard
from tests.score.batch_cases import good
from tests.score.batch_server import batch_server
from tests.score.cases import messages, run_with, variant
from tests.score.chat_shapes import VLLM, MistralChat, OSeries, ThinkingServer, serving
from tests.score.conftest import SECRET
from tests.score.loopback import GOOD, completion, loopback
from tests.score.provider_shapes import Anthropic, Bedrock, Gemini
from tests.specs import REPOSITORY

pytest.importorskip("openai", reason="openai is not installed")

GUIDE = REPOSITORY / "docs" / "howto" / "backends.md"


class Where(NamedTuple):
    """The server of an example: its kind, what its URL ends in, the library, whether the model thinks."""

    kind: type[ThinkingServer] | str
    end: str = "/v1"
    library: str = "openai"
    thinks: bool = True


SERVERS = {
    "OpenAI": Where("logprobs"),
    "OpenAI, models that think": Where(OSeries),
    "Azure OpenAI": Where("logprobs", "/openai/deployments/my-deployment"),
    "Anthropic": Where(Anthropic, "", "anthropic"),
    "Gemini": Where(Gemini, "", "google.genai"),
    "Vertex AI": Where(Gemini, "", "google.genai"),
    "Bedrock": Where(Bedrock, "", "boto3"),
    "Mistral": Where(MistralChat, "", "mistralai"),
    "Mistral, by its OpenAI-compatible API": Where(MistralChat, thinks=False),
    "Groq": Where(VLLM, "", "groq", thinks=False),
    "Ollama": Where(VLLM, library="pydantic_ai"),
    "vLLM, and other OpenAI-compatible servers": Where(VLLM),
    "llama.cpp, your own GGUF": Where("logprobs"),
    "OpenAI, the Batch API": Where("batch"),
}


def examples() -> dict[str, tuple[str | None, dict[str, Any]]]:
    """Return heading -> the variable of its key, and the section of a spec."""
    text = GUIDE.read_text(encoding="utf-8").split("\n## By provider\n")[1].split("\n## ")[0]
    found = {}
    for part in text.split("\n### ")[1:]:
        heading, _, rest = part.partition("\n")
        title, key = re.fullmatch(r"(.*?)(?: \((.*)\))?", heading).groups()  # type: ignore[union-attr]
        (block,) = re.findall(r"```yaml\n(.*?)```", rest, re.S)
        variable = re.match(r"[A-Z][A-Z_]+", key or "")
        found[title] = (variable and variable[0], yaml.safe_load(block))
    return found


EXAMPLES = examples()


def test_every_example_has_its_server() -> None:
    assert set(EXAMPLES) == set(SERVERS)


def _there(library: str) -> bool:
    try:
        return importlib.util.find_spec(library) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("title", SERVERS)
def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    where, (variable, model) = SERVERS[title], EXAMPLES[title]
    if not _there(where.library) or (model["backend"] == "pydantic_ai" and not _there("pydantic_ai")):
        pytest.skip(f"{where.library} is not installed")
    options = model["options"]
    for name in {variable, options.get("api_key_env")} - {None}:
        monkeypatch.setenv(name, SECRET)
    if title == "Bedrock":
        # A key goes over https alone; what it signs with is never sent.
        monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDLOOPBACK")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with ExitStack() as stack:
        server: Any
        if where.kind == "batch":
            server, options["poll"] = stack.enter_context(batch_server(good, SECRET)), 0.01
        elif where.kind == "logprobs":
            server = stack.enter_context(
                loopback(lambda w, t: completion(GOOD, more={"model": model["name"]}))
            )
        else:
            assert not isinstance(where.kind, str)
            server = stack.enter_context(serving(where.kind()))
            server.thinks = where.thinks
        options["base_url"] = server.url.removesuffix("/v1") + where.end
        words = [f"w{i:02}" for i in range(4)]
        rows = [variant(word, messages=messages(f"{word} asks")) for word in words]
        if where.kind == "batch":
            model["served"] = "any"  # that server has one model
        output = score_shard(run_with(tmp_path, rows, model=model, score={"shards": 1}), 0)
    scores = from_parquet(output.artefacts["scores.parquet"])
    assert scores.detail.isna().all() and scores.status.eq("ok").all() and len(scores) == 4
