"""Every type of causal language model is scored exactly, or refused with a reason; the page lists them all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import transformers

from tests.score.local.families import AS_IT_IS, every_variant, kept, table, try_family
from tests.score.local.tiny_configs import TYPES

PAGE = Path(__file__).parents[3] / "docs/reference/models.md"
NOT_BUILT = {
    "gemma3n": "its vision part needs the package timm; gemma3n_text is built",
    "gemma4_assistant": "a draft model: it reads another model's states, not a text",
    "gemma4_unified_assistant": "a draft model, too",
    "musicgen": "its class takes no config of its own type",
    "musicgen_melody": "its class takes no config of its own type",
}
SAMPLE = (
    "bailing_hybrid",
    "deepseek_v32",
    "doge",
    "dots3_note_text",
    "gemma4_text",
    "glm",
    "recurrent_gemma",
    "rwkv",
)
"""A window, a selection of keys, a state, and settings of each layer's own; more are in `test_architectures`."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where verdicts are kept: AUDIT_FAMILIES, so that a run that was stopped goes on, or a folder of this run."""
    given = os.environ.get("AUDIT_FAMILIES")
    return Path(given) if given else tmp_path_factory.mktemp("families")


def judge(model_type: str, found) -> None:
    if found.verdict == "not built":
        assert model_type in NOT_BUILT, found.reason
        return
    assert found.verdict in ("exact", "refused"), f"{found.verdict}: {found.reason}"
    if found.verdict == "refused":
        assert found.reason.startswith("model type ") and "; " in found.reason, "type, reason and what to do"


@pytest.mark.parametrize("model_type", SAMPLE)
def test_a_type_that_computes_in_its_own_way_is_exact(model_type):
    found = try_family(model_type)
    assert found.verdict == "exact", found.reason


@pytest.mark.parametrize(
    ("model_type", "variant"),
    [
        ("doge", "longrope"),  # a pass that goes past the window changes what it says of tokens before it
        (
            "camembert",
            "is_decoder",
        ),  # counts no position for a token that pads, which read on from memory differs
        ("moshi", "longrope"),  # no cache across the limit of positions
        pytest.param(
            "granitemoehybrid", "longrope", marks=pytest.mark.slow
        ),  # a cache that ends with an error
        pytest.param("qwen3_5_moe_text", "yarn", marks=pytest.mark.slow),  # rounding chooses other experts
    ],
)
def test_a_type_whose_passes_depend_on_their_length_is_exact(model_type, variant):
    found = try_family(model_type, variant, **every_variant(model_type)[variant])
    assert found.verdict == "exact", found.reason


def test_a_model_that_reads_ahead_is_refused_where_padding_hides_it():
    """XLM leaves out as many tokens at the end as there are padding ones."""
    found = try_family("xlm")
    assert found.verdict == "refused" and "no causal language model" in found.reason


def test_an_encoder_is_exact_as_a_decoder_and_refused_as_it_is():
    assert try_family("bert").verdict == "refused"
    assert try_family("bert", "is_decoder", is_decoder=True).verdict == "exact"


def test_the_page_has_every_type():
    if f"transformers {transformers.__version__} " not in PAGE.read_text(encoding="utf-8"):
        pytest.skip("the page is of another version of transformers; make test-families renews it")
    told = [
        line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    assert told == list(TYPES)


@pytest.mark.families
@pytest.mark.parametrize("model_type", TYPES)
def test_every_type_and_its_variants_are_exact_or_refused(folder, model_type):
    for variant, changes in every_variant(model_type).items():
        found = kept(folder, model_type, variant, changes)
        if variant == AS_IT_IS or found.verdict != "not built":
            judge(model_type, found)


@pytest.mark.families
def test_the_page_is_of_this_run(folder):
    for model_type in TYPES:
        for variant, changes in every_variant(model_type).items():
            kept(folder, model_type, variant, changes)
    (folder / "models.md").write_text(table(folder), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == table(folder), f"renew it: cp {folder}/models.md {PAGE}"
