"""Quantised folders are read by their own libraries and held against themselves, or refused by the library's name.

With the libraries: ``pip install bitsandbytes torchao`` in an environment of one's own, then this file.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import transformers  # noqa: E402

from audit_lib.score.local.engine import Engine  # noqa: E402
from tests.score.conftest import save_tiny_model  # noqa: E402
from tests.score.local.test_placement import apart, asked  # noqa: E402


def bits(count: int):
    if count == 4:
        return transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float32)
    return transformers.BitsAndBytesConfig(load_in_8bit=True)


def int8():
    from torchao.quantization import Int8WeightOnlyConfig

    return transformers.TorchAoConfig(Int8WeightOnlyConfig())


def probability(model, prompt: list[int], word) -> float:
    """Return the probability of the tokens of a word behind a prompt, a whole pass a token."""
    found = 1.0
    for place, token in enumerate(word):
        with torch.inference_mode():
            logits = model(torch.tensor([[*prompt, *word[:place]]]), use_cache=False).logits[0, -1]
        found *= float(torch.softmax(logits.double(), -1)[token])
    return found


WAYS = {
    "4 bits": ("bitsandbytes", lambda: bits(4)),
    "8 bits": ("bitsandbytes", lambda: bits(8)),
    "int8 weights": ("torchao", int8),
}


@pytest.mark.parametrize("case", WAYS)
@pytest.mark.filterwarnings("ignore")  # of these libraries
def test_a_quantised_folder_is_scored_as_itself(tmp_path: Path, case: str) -> None:
    library, config = WAYS[case]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed; it reads such weights")
    whole, folder = tmp_path / "whole", tmp_path / "quantised"
    save_tiny_model(whole, hidden_size=64, intermediate_size=128)
    read = transformers.AutoModelForCausalLM.from_pretrained
    read(whole, quantization_config=config(), device_map="cpu", dtype=torch.float32).save_pretrained(folder)
    for file in whole.glob("*token*"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "chat_template.jinja").write_bytes((whole / "chat_template.jinja").read_bytes())
    engine = Engine(folder, device="cpu", threads=1)
    own = read(folder, dtype=torch.float32, device_map="cpu").eval()
    answers = engine.score(asked())
    for prompt, answer in zip(asked(), answers, strict=True):
        tokens = list(engine.tokenise(engine.render(prompt.messages)))
        first = [
            sum(probability(own, tokens, engine.tokenise(w)) for w in (one, f" {one}"))
            for one in ("No", "Yes")
        ]
        assert list(answer.probabilities[:2]) == pytest.approx(first, abs=1e-5, rel=1e-3)
    assert apart(answers, [engine.score_alone(prompt) for prompt in asked()]) < 1e-5
    assert engine.ways.names()[-1] == "alone"
    exact = Engine(whole, device="cpu", threads=1)
    assert apart(answers, exact.score(asked())) > 1e-7, "nothing was quantised"
