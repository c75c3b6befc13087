"""Every type of causal language model that transformers can build tiny, held against the model's own attention.

``python -m tests.score.local.families [--variants] [--cache FOLDER] [TYPE ...]`` tries those types, or all; verdicts
are kept in the folder, so that a run that was stopped goes on. With ``--table FILE`` it writes the page.

What is right is computed here and shares nothing with the engine: a fresh model, transformers' default attention, the
whole sequence, no cache, one pass for each token of a label.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import torch
import transformers
from transformers import AutoModelForCausalLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from audit_lib.errors import BackendError
from audit_lib.score.local.engine import Engine
from audit_lib.score.local.questions import Prompt, Sampled
from tests.score.conftest import save_tiny_model
from tests.score.local.tiny_configs import TYPES, WINDOW, tiny_config

AS_IT_IS: Final = "as it is"
LABELS: Final = ("No", "Yes", "the system")  # the last has several tokens
TOLERANCE: Final = 1e-5
_SPREAD: Final = 3.0  # standard deviation of the logits
_LARGEST: Final = 4_000_000  # parameters of a model that counts as tiny
_TEXT: Final = 5  # tokens
_TIE: Final = 1e-3  # logits that are so near may go either way in a text
_KEPT_AS_DRAWN: Final = ("A_log", "dt_bias", "conv", "log_", "decay")  # states that would grow without bound

PAGE: Final = """# Local models by type

Made by `make test-families` (`tests/score/local/families.py`) with transformers {version} and torch {torch}: each
type of causal language model that transformers knows, built tiny with random weights from its default config, saved,
and scored by the backend `transformers`.

- `exact`: on prompts of several lengths, together, in pairs and alone, every probability and every label's share is
  within 1e-5 of what a fresh load of the same folder gives in transformers' default attention (whole sequence, no
  cache, one pass for each token), and greedy texts are the same.
- `refused`: the backend says why and what to do, and scores nothing.
- `not built`: no tiny model could be made of the type here.

Windows and chunks are shorter than the prompts; queries share keys, and experts and states are there, where the type
has them. The last column has further configs: a window of 40 tokens, positions that change with the length of a
prompt (`longrope`) or not (`yarn`), the head tied to the embeddings or not, encoders as decoders (`is_decoder`).
Prompts longer than `max_position_embeddings` are rows with status `error`, so `dynamic` positions never move.

The ways are those that were used: `tree` computes each shared token once, `prefix` and `buckets` a shared beginning,
`branches` reads on from the model's own memory (a cache, a window, a state) where prompts branch, `once` takes one pass
for each prompt and reads its labels from memory, `alone` is the model's own pass. What is not named was not exact, or
not for prompts of such a length.

Mamba, FalconMamba and Jamba take a pass for each prompt (`once`), so that nothing is shared: a second piece of more
than one token starts from an empty state, because their scan (`mamba_selective_scan`) takes none, whatever memory is
handed over; `forward` has no `cache_position` any more. Token by token they do go on, which is how labels after a
prompt are read. Mamba2's scan takes the state (`initial_states`), so its beginnings are shared.

{types} types: {counts}.

| type | class | tiny | ways used, or why not | other configs |
|---|---|---|---|---|
{rows}
"""

Verdict = Literal["exact", "refused", "wrong", "crashed", "not built"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of one type of model."""

    model_type: str
    variant: str
    verdict: Verdict
    ways: str = ""
    reason: str = ""
    probability: float = 0.0
    share: float = 0.0
    seconds: float = 0.0


def prompts(**how: Any) -> list[Prompt]:
    """Return prompts on both sides of windows of 40 tokens, of positions that are other from 48 on, of chunks of 16."""
    words = ["", "very good " * 4, "very good " * 5 + "x", "apple " * 9, "apple " * 9 + "very good " * 8]
    return [
        Prompt(messages=({"role": "user", "content": text},), **{"labels": LABELS, **how}) for text in words
    ]


def save_family(folder: Path, model_type: str, **changes: Any) -> None:
    """Write a tiny random checkpoint whose logits differ as those of a real model do."""
    torch.manual_seed(7)
    config = tiny_config(model_type, **changes)
    with torch.device("meta"):
        parameters = sum(p.numel() for p in AutoModelForCausalLM.from_config(config).parameters())
    if parameters > _LARGEST:
        raise ValueError(f"{parameters:,} parameters")
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    save_tiny_model(folder)
    for old in folder.glob("*.safetensors"):
        old.unlink()
    _draw(model)
    model.save_pretrained(folder)


@torch.no_grad()
def _draw(model: Any) -> None:
    draw = torch.Generator().manual_seed(8)
    for name, parameter in model.named_parameters():
        if any(part in name for part in _KEPT_AS_DRAWN):
            continue
        noise = torch.randn(parameter.shape, generator=draw)
        if parameter.ndim >= 2:
            parameter.copy_(noise / parameter.shape[-1] ** 0.5)
        else:  # norms, biases and sinks are constants in a new model
            parameter.add_((1.0 if "sink" in name else 0.1) * noise)
    tokens = torch.randint(2, 300, (1, 64), generator=draw)
    head = model.get_output_embeddings()
    for _ in range(2):  # twice: the head may be the embeddings
        try:
            spread = float(model(input_ids=tokens, use_cache=False).logits[0, 8:].std())
        except Exception:  # noqa: BLE001 - what cannot be computed is for the engine to refuse
            return
        if head is not None and 0 < spread < float("inf"):
            head.weight.mul_(_SPREAD / spread)


def own_pass(folder: Path) -> Callable[[Sequence[int]], torch.Tensor]:
    """Return what a fresh model says after some tokens: transformers' own attention, whole, no cache, alone."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    known: dict[tuple[int, ...], torch.Tensor] = {}

    def after(tokens: Sequence[int]) -> torch.Tensor:
        key = tuple(tokens)
        if key not in known:
            with torch.inference_mode():
                out = model(input_ids=torch.tensor([key]), use_cache=False)
            known[key] = out.logits[0, -1].double()
        return known[key]

    return after


def expected(engine: Engine, after: Callable[[Sequence[int]], torch.Tensor], prompt: Prompt) -> list[float]:
    """Return each label's probability by the chain rule, a pass for each token."""
    tokens = list(engine.tokenise(engine.render(prompt.messages)))
    found = []
    for label in prompt.labels:
        total = 0.0
        for written in (label, f" {label}"):
            chance, so_far = 1.0, list(tokens)
            for token in engine.tokenise(written):
                chance *= float(torch.softmax(after(so_far), -1)[token])
                so_far.append(token)
            total += chance
        found.append(total)
    return found


def shares(probabilities: Sequence[float]) -> list[float]:
    """Return each label's part of what the labels have together."""
    return [p / sum(probabilities) for p in probabilities]


def try_family(model_type: str, variant: str = AS_IT_IS, **changes: Any) -> Tried:
    """Build, save and score a tiny model of a type, and hold it against its own passes."""
    begun = time.perf_counter()

    def told(verdict: Verdict, reason: object = "", **more: Any) -> Tried:
        said = " ".join(str(reason).split())
        took = round(time.perf_counter() - begun, 1)
        return Tried(
            model_type=model_type, variant=variant, verdict=verdict, reason=said, seconds=took, **more
        )

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        folder.mkdir()
        try:
            save_family(folder, model_type, **changes)
        except Exception as error:  # noqa: BLE001 - of many kinds
            return told("not built", f"{type(error).__name__}: {error}")
        try:
            engine = Engine(folder, device="cpu", threads=1)
        except BackendError as error:
            return told("refused", error)
        except Exception:  # noqa: BLE001
            return told("crashed", traceback.format_exc()[-600:])
        try:
            return _compared(engine, own_pass(folder), told)
        except Exception:  # noqa: BLE001
            return told("crashed", traceback.format_exc()[-600:])


def _compared(
    engine: Engine, after: Callable[[Sequence[int]], torch.Tensor], told: Callable[..., Tried]
) -> Tried:
    asked = prompts()
    wanted = [expected(engine, after, prompt) for prompt in asked]
    # in one pack, in packs of two and alone: no neighbour may move a score
    packs = [asked, *(asked[i : i + 2] for i in range(0, len(asked), 2)), *([prompt] for prompt in asked)]
    answers = [answer for pack in packs for answer in engine.score(pack)]
    if said := next((answer.error for answer in answers if answer.error), None):
        return told("crashed", said)
    apart = share = 0.0
    for answer, probabilities in zip(answers, wanted * 3, strict=True):
        given = answer.probabilities or ()
        apart = max([apart, *(abs(p - q) for p, q in zip(given, probabilities, strict=True))])
        parts = zip(shares(given), shares(probabilities), strict=True)
        share = max([share, *(abs(p - q) for p, q in parts)])
    plans = [plan.strategy for pack in packs if (plan := engine.plan(pack)) is not None]
    ways = ", ".join(dict.fromkeys(plans))
    least = min(sum(probabilities) for probabilities in wanted)
    how = {"ways": ways, "probability": apart, "share": share}
    if apart > TOLERANCE or share > TOLERANCE:
        return told("wrong", f"labels have {least:.2g} or more", **how)
    if (text := _other_text(engine, after)) is not None:
        return told("wrong", text, **how)
    return told("exact", **how)


def _other_text(engine: Engine, after: Callable[[Sequence[int]], torch.Tensor]) -> str | None:
    """Return what is wrong with texts, or None."""
    some = prompts(labels=(), sampling=Sampled(max_tokens=_TEXT, temperature=0.0, seed=0))[1:4]
    for prompt, answer in zip(some, engine.score(some), strict=True):
        if answer.error:
            return answer.error
        so_far = list(engine.tokenise(engine.render(prompt.messages)))
        begun = len(so_far)
        while len(so_far) - begun < _TEXT:
            logits = after(so_far)
            best = logits.topk(2)
            if float(best.values[0] - best.values[1]) < _TIE:
                return None
            if (token := int(best.indices[0])) in engine._ends():
                break
            so_far.append(token)
        if answer.text != (own := engine.tokenizer.decode(so_far[begun:], skip_special_tokens=True)):
            return f"the text is {answer.text!r}, and the model's own {own!r}"
    return None


def variants(model_type: str) -> dict[str, dict[str, Any]]:
    """Return changes of a type's config that move windows, positions and the head."""
    config = tiny_config(model_type)
    text = config.get_text_config()
    if text is not config:
        return {}
    found: dict[str, dict[str, Any]] = {}
    said = text.to_dict()
    if "is_decoder" in said and not text.is_decoder:
        found["is_decoder"] = {"is_decoder": True}
    if "tie_word_embeddings" in said:
        found["head tied" if not text.tie_word_embeddings else "head not tied"] = {
            "tie_word_embeddings": not text.tie_word_embeddings
        }
    if "use_sliding_window" in said or ("sliding_window" in said and not said["sliding_window"]):
        window: dict[str, Any] = {"sliding_window": WINDOW}
        if "use_sliding_window" in said:
            window |= {"use_sliding_window": True, "max_window_layers": 1}
        kinds = enumerate(said.get("layer_types") or ())
        if changed := ["sliding_attention" if i % 2 == 0 and k == "full_attention" else k for i, k in kinds]:
            window["layer_types"] = changed
        found[f"window of {WINDOW}"] = window
    rope = said.get("rope_parameters")
    if isinstance(rope, Mapping) and "rope_theta" in rope:
        kept = {k: v for k, v in rope.items() if k in ("rope_theta", "partial_rotary_factor")}
        found["yarn"] = {
            "rope_parameters": {
                **kept,
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        }
        width = (
            int((text.head_dim if "head_dim" in said else 8) * kept.get("partial_rotary_factor", 1.0)) // 2
        )
        found["longrope"] = {
            "original_max_position_embeddings": 48,
            "rope_parameters": {
                **kept, "rope_type": "longrope", "original_max_position_embeddings": 48,
                "short_factor": [1.0 + 0.2 * i for i in range(width)],
                "long_factor": [2.0 + 2.0 * i for i in range(width)],
            },
        }  # fmt: skip
    return found


def kept(folder: Path, model_type: str, variant: str, changes: Mapping[str, Any]) -> Tried:
    """Return the verdict of a type, from the folder if it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{model_type}.{variant.replace(' ', '-')}.json"
    if file.is_file():
        return Tried(**json.loads(file.read_text()))
    found = try_family(model_type, variant, **changes)
    file.write_text(json.dumps(asdict(found)))
    gc.collect()
    return found


def every_variant(model_type: str) -> dict[str, dict[str, Any]]:
    """Return what is tried of a type: its config as it is, and changes."""
    try:
        return {AS_IT_IS: {}, **variants(model_type)}
    except Exception:  # noqa: BLE001 - a config that cannot be made is told by the type itself
        return {AS_IT_IS: {}}


def table(folder: Path) -> str:
    """Return the page with a row for each type whose verdicts the folder holds."""
    rows = []
    for model_type in TYPES:
        found = [
            Tried(**json.loads(file.read_text())) for file in sorted(folder.glob(f"{model_type}.*.json"))
        ]
        own = next((one for one in found if one.variant == AS_IT_IS), None)
        if own is None:
            continue
        tried = [one for one in found if one is not own and one.verdict != "not built"]
        others = "; ".join(f"{one.variant}: {_short(one, own)}" for one in tried)
        name = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[model_type]
        rows.append(f"| `{model_type}` | {name} | {own.verdict} | {own.ways or _reason(own)} | {others} |")
    counts = Counter(row.split(" | ")[2] for row in rows)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return PAGE.format(version=transformers.__version__, torch=torch.__version__.split("+")[0], types=len(rows),
                       counts=said, rows="\n".join(rows))  # fmt: skip


def _short(one: Tried, own: Tried) -> str:
    if one.verdict == "exact":
        return f"exact ({one.ways})"
    return one.verdict if _reason(one) == _reason(own) else f"{one.verdict} ({_reason(one)})"


def _reason(one: Tried) -> str:
    said = one.reason.removeprefix(f"model type {one.model_type}: ")
    # How far it was off differs from one machine to the next.
    said = re.sub(r" \(a label's share[^)]*\)|; a label's share[^)]*", "", said)
    return said.replace("|", "/")


def main() -> None:
    """Try types, print a line for each, and write the table."""
    read = argparse.ArgumentParser()
    read.add_argument("types", nargs="*")
    read.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "audit_families")
    read.add_argument("--variants", action="store_true", help="windows, positions and heads too")
    read.add_argument("--table", type=Path, help="write the page of what the folder holds, and try nothing")
    given = read.parse_args()
    if given.table is not None:
        given.table.write_text(table(given.cache), encoding="utf-8")
        return
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    for model_type in given.types or TYPES:
        every = every_variant(model_type) if given.variants else {AS_IT_IS: {}}
        for variant, changes in every.items():
            one = kept(given.cache, model_type, variant, changes)
            print(
                f"{one.verdict:9} {one.model_type}, {one.variant}: {one.ways} {one.probability:.1e} {one.share:.1e} "
                f"{one.seconds} s {one.reason[:300]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
