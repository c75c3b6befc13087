"""vLLM's engine in this process: label probabilities over the full vocabulary, and texts, from token ids.

Every look at what follows a prompt, or a prompt and the beginning of a label, is a request for one token, with the
log-probabilities of the wanted tokens before temperature and masks (``raw_logprobs``). Unlike requests for
log-probabilities of the prompt these read the prefix cache, so that a shared beginning is computed once. The cache is
emptied before each pack: what a score is does not depend on what was asked before.

Imported by the scoring process alone, in an environment that has vLLM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from audit_lib.errors import BackendError
from audit_lib.score.local.label_reads import looks_at, probabilities_of
from audit_lib.score.local.plan import LabelPrompt
from audit_lib.score.local.questions import LocalAnswer, Prompt, PromptReader, answer_of, ends_of
from audit_lib.score.local.refusal import told
from audit_lib.score.local.trie import Tokens, size

MOST_LOOKED_AT: Final = 4096
"""Tokens that one look may ask for; vLLM wants a bound before the first."""
_MOST_SEED: Final = 2**63


class VllmEngine:
    """A model in vLLM.

    Parameters
    ----------
    folder : Path
        Model folder. Code in it is never run, pickles are never read.
    reader : PromptReader
        With the folder's tokenizer.
    options : mapping
        Of ``vllm.LLM``.
    batch_invariant : bool
        Whether vLLM was asked for kernels whose results do not depend on the batch.

    Attributes
    ----------
    record : dict
        What was loaded.

    Raises
    ------
    BackendError
        If vLLM cannot load the model so.
    """

    def __init__(
        self, folder: Path, reader: PromptReader, options: Mapping[str, Any], *, batch_invariant: bool
    ) -> None:
        import torch
        import vllm
        from vllm.platforms import current_platform

        if batch_invariant and not current_platform.is_cuda():
            raise BackendError(
                "model.options.batch_invariant: vLLM has kernels whose results do not depend on the batch for NVIDIA "
                f"GPUs, and this is {current_platform.device_name}; leave it out"
            )
        self.reader, self.template, self._made = reader, reader.template, vllm.SamplingParams
        try:
            self._llm = vllm.LLM(
                model=str(folder),
                tokenizer=str(folder),
                trust_remote_code=False,
                load_format="safetensors",
                generation_config="vllm",
                enable_prefix_caching=True,
                logprobs_mode="raw_logprobs",
                max_logprobs=MOST_LOOKED_AT,
                seed=0,
                **options,
            )
        except Exception as error:
            raise BackendError(
                f"vLLM {vllm.__version__} cannot load it: {type(error).__name__}: {told(error)}"
            ) from error
        config = self._llm.llm_engine.vllm_config
        self.longest = int(config.model_config.max_model_len)
        self._ends = ends_of(folder, reader)
        cuda = current_platform.is_cuda_alike()
        self.record = {
            "architecture": str(config.model_config.architecture),
            "dtype": str(config.model_config.dtype).removeprefix("torch."),
            "device": current_platform.device_name,
            "device_name": torch.cuda.get_device_name(0) if cuda else torch.backends.cpu.get_cpu_capability(),
            "engine": f"vllm {vllm.__version__}",
            "tokens_at_a_time": int(config.scheduler_config.max_num_batched_tokens),
            "requests_at_a_time": int(config.scheduler_config.max_num_seqs),
            "longest": self.longest,
            "logprobs": str(config.model_config.logprobs_mode),
            "versions": {"vllm": vllm.__version__, "torch": torch.__version__},
        }
        if self.record["logprobs"] != "raw_logprobs" or not config.cache_config.enable_prefix_caching:
            raise BackendError(
                f"vLLM {vllm.__version__} did not take raw_logprobs and prefix caching for this model"
            )
        self.computed = 0

    def score(self, prompts: Sequence[Prompt]) -> list[LocalAnswer]:
        """Return an answer for each prompt of one pack; equal questions are computed once."""
        self._llm.reset_prefix_cache()
        found = [self.reader.question(prompt, self._room(prompt)) for prompt in prompts]
        answers = {i: LocalAnswer(error=why) for i, why in enumerate(found) if isinstance(why, str)}
        asked = {
            q[0]: None
            for q, p in zip(found, prompts, strict=True)
            if not isinstance(q, str) and p.sampling is None
        }
        given = self._labels(list(asked))
        for i, (question, prompt) in enumerate(zip(found, prompts, strict=True)):
            if not isinstance(question, str) and prompt.sampling is None:
                answer = answer_of(given[question[0]], question[1])
                answers[i] = replace(answer, tokens=(len(question[0].prompt), 0))
        written = [i for i, p in enumerate(prompts) if p.sampling is not None and i not in answers]
        drafts = [(q[0].prompt, prompts[i]) for i in written if not isinstance(q := found[i], str)]
        answers |= dict(zip(written, self._texts(drafts), strict=True))
        return [answers[i] for i in range(len(prompts))]

    def plan(self, packs: Sequence[Sequence[Prompt]]) -> dict[str, Any] | None:
        """Return what a shard's packs share, and how much of it was computed; None if no labels are asked for."""
        tokens = unique = 0
        every: set[Tokens] = set()
        for pack in packs:
            read = [self.reader.question(p, self._room(p)) for p in pack if p.sampling is None]
            sequences = [s for q in read if not isinstance(q, str) for s in q[0].sequences()]
            tokens, unique = tokens + sum(map(len, sequences)), unique + size(sequences)
            every.update(sequences)
        if not tokens:
            return None
        return {
            "tokens": tokens,
            "unique_tokens": unique,
            "unique_tokens_over_packs": size(every),
            "shared": round(1 - unique / tokens, 6),
            "bound": round(tokens / unique, 4),
            "computed_tokens": self.computed,
        }

    def _room(self, prompt: Prompt) -> int:
        # vLLM wants a place for the token that it generates after a label's beginning.
        return self.longest if prompt.sampling is not None else self.longest - 1

    def _labels(self, questions: Sequence[LabelPrompt]) -> dict[LabelPrompt, dict[Tokens, float] | str]:
        looks = [
            (q, beginning, wanted) for q in questions for beginning, wanted in looks_at(q.labels).items()
        ]
        if not looks:
            return {}
        params = [
            self._made(max_tokens=1, temperature=0.0, logprob_token_ids=list(wanted), detokenize=False)
            for _, _, wanted in looks
        ]
        outputs = self._generate([q.prompt + beginning for q, beginning, _ in looks], params)
        logs: dict[LabelPrompt, dict[tuple[Tokens, int], float]] = {q: {} for q in questions}
        for (question, beginning, wanted), output in zip(looks, outputs, strict=True):
            seen = output.outputs[0].logprobs[0]
            for token in wanted:
                logs[question][beginning, token] = float(seen[token].logprob)
        return {q: probabilities_of(q.labels, logs[q]) for q in questions}

    def _texts(self, drafts: Sequence[tuple[Tokens, Prompt]]) -> list[LocalAnswer]:
        if not drafts:
            return []
        params = [
            self._made(
                max_tokens=how.max_tokens,
                temperature=how.temperature,
                seed=how.seed % _MOST_SEED,
                stop_token_ids=sorted(self._ends),
                detokenize=False,
            )
            for _, prompt in drafts
            if (how := prompt.sampling) is not None
        ]
        answers = []
        for (tokens, _), output in zip(
            drafts, self._generate([tokens for tokens, _ in drafts], params), strict=True
        ):
            written = tuple(output.outputs[0].token_ids)
            kept = written[:-1] if written and written[-1] in self._ends else written
            answers.append(LocalAnswer(text=self.reader.text_of(kept), tokens=(len(tokens), len(written))))
        return answers

    def _generate(self, prompts: Sequence[Tokens], params: Sequence[Any]) -> Sequence[Any]:
        outputs: Sequence[Any] = self._llm.generate(
            [{"prompt_token_ids": list(tokens)} for tokens in prompts], list(params), use_tqdm=False
        )
        self.computed += sum(
            len(p) - (o.num_cached_tokens or 0) for p, o in zip(prompts, outputs, strict=True)
        )
        return outputs
