"""The sections of a spec that say how a model is asked: prompt, model, scoring, generated texts, classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, field_validator, model_validator

from audit_lib.backends import BACKENDS
from audit_lib.spec.section import Name, Share, SpecSection, no_repeats
from audit_lib.spec.served import ANY, Served, is_label, may_serve, takes_any


class PromptTemplate(SpecSection):
    """How a candidate is put before the model."""

    template: str = Field(description="YAML file with the messages, relative to the spec.")
    labels: list[str] = Field(
        default_factory=lambda: ["No", "Yes"], description="Answers whose probability is read."
    )
    relevance: list[float] = Field(
        default_factory=lambda: [0.0, 1.0],
        description="Worth of each label; score = sum of probability x relevance.",
    )
    read: str = Field(
        "labels",
        pattern=r"^(labels|number|phrase|json:[^\s.]+(\.[^\s.]+)*)$",
        description="Pointwise: how the answer is read: `labels` by their probabilities; or from a generated text: "
        "`number`, `phrase` (a label that stands alone), `json:KEY` (a dotted path).",
    )
    max_tokens: Annotated[int, Field(ge=1)] = Field(
        512,
        description="Longest generated answer, in tokens: texts that are read, rankings, earlier replies.",
    )
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        0.0, description="Of those texts; 0 takes the most probable token each time."
    )
    answer: Literal["name", "letter"] = Field(
        "name",
        description="Pairwise: candidates are named by their first name, or A and B in the order shown.",
    )
    tie: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="Pairwise: the answer that calls both equally good, such as Both; null: none is offered.",
    )

    @model_validator(mode="after")
    def _check(self) -> PromptTemplate:
        # As answers are compared: in any case, and without white space around them.
        plain = [label.strip().casefold() for label in self.labels]
        if len(plain) < 2 or "" in plain or len(set(plain)) != len(plain):
            raise ValueError(
                "labels needs two or more different answers, none of them empty; case and white space around them "
                f"make no difference; has {self.labels}"
            )
        if len(self.relevance) != len(self.labels):
            raise ValueError(f"relevance has {len(self.relevance)} numbers for {len(self.labels)} labels")
        return self


class Model(SpecSection):
    """The model under audit. Every model called is named in the spec."""

    backend: Name = Field(
        description="Who answers: `transformers`, `openai`, `openai_batch`, `pydantic_ai`, `http`, `embedding`, "
        "`recorded`, `vllm` or `vllm_server`."
    )
    name: str = Field(
        description="Model id, folder (from the spec's folder first), or for `recorded` a label."
    )
    revision: str | None = Field(None, description="Commit or version that pins the weights.")
    served: Served = Field(
        None,
        description="Which models may have answered, as a log or the service names them. Null: the one named, or a "
        "dated version of it (`gpt-4o-2024-08-06` is `gpt-4o`, `gpt-4o-mini` is not); any other is refused. A list: "
        "these and their dated versions; recorded rows of others are left out and counted, a live answer of another "
        "is an error. `any`: all. Where several may have answered, tables are split by model too. A name in words, "
        "such as `our tool`, names no model: recorded rows of any one model are its own, and of several are refused.",
    )
    valid_judge: bool = Field(
        True, description="False prints plainly that the model is not fit to judge and only shows the method."
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="The backend's own options; it checks them."
    )

    _base: Path = PrivateAttr(default=Path())

    @field_validator("served", mode="before")
    @classmethod
    def _list_or_any(cls, value: Any) -> Any:
        if isinstance(value, str) and value != ANY:
            raise ValueError("a text that is not any; write any, or a list of models such as [gpt-4o, gpt-4]")
        return value

    @field_validator("served")
    @classmethod
    def _some(cls, value: Served) -> Served:
        if isinstance(value, list):
            if not value or not all(name.strip() for name in value):
                raise ValueError("names no model; list those that may have answered, or write any")
            no_repeats(value)
        return value

    def may_be(self, served: str) -> bool:
        """Tell whether the answers of a model, by the name it answered under, are those of this audit."""
        return may_serve(served, self.name, self.served)

    @property
    def answers_are_recorded(self) -> bool:
        """Whether the backend gives back the answers of the source, and asks no model."""
        return BACKENDS.get(self.backend).answers_are_recorded

    @property
    def decides(self) -> bool:
        """Whether answers hold the model's own decision."""
        return BACKENDS.get(self.backend).decides(self)

    @property
    def may_be_several(self) -> bool:
        """Whether more than one model may have answered, so that tables are split by model."""
        listed = self.served if isinstance(self.served, list) else []
        return takes_any(self.name, self.served) or len(listed) > 1

    @property
    def names_none(self) -> bool:
        """Whether nothing in the spec says which model answers: the name is a label in words."""
        return self.served is None and is_label(self.name)

    @property
    def location(self) -> str:
        """Where a local model is looked for: the folder called `name` in the spec's folder if there is one."""
        folder = self._base / Path(self.name).expanduser()
        return str(folder) if folder.is_dir() else self.name


class Scoring(SpecSection):
    """How the work is cut and its answers kept. None of it changes a score."""

    shards: Annotated[int, Field(ge=1)] = Field(
        2,
        description="Parts that requests are cut into, each scored and kept by itself; no number is too large.",
    )
    repeats: Annotated[int, Field(ge=1, le=100)] = Field(1, description="Times each request is asked.")
    ledger: Literal["window", "shared", "off"] = Field(
        "window",
        description="Which answers may be used again instead of asking: those of the same model about the same "
        "`window`; of any window (`shared`, for weights that cannot change); or none.",
    )
    canaries: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=list,
        max_length=100,
        description="Fixed prompts, without personal data, asked in every run; the monitor compares their answers "
        "with the previous run's, which shows a model that changed under the same name.",
    )


class Generation(SpecSection):
    """How texts are generated (tasks `generation` and `recommendation`); `score.repeats` says how many a prompt."""

    max_tokens: Annotated[int, Field(ge=1)] = Field(512, description="Longest answer, in tokens.")
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        1.0, description="0 takes the most probable token each time, so that all repeats are alike."
    )
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(
        None, description="Of the sampling; null: derived from the audit's seed. Not all endpoints heed it."
    )
    items: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="K of `recommendation`: how many items a list has."
    )


TextMeasure = Literal["toxicity", "stereotype", "sentiment", "embedding", "terms"]


class TextClassifier(SpecSection):
    """A model or word list that looks at each text. None is called that the spec does not name."""

    name: Name = Field(description="What the tables call it.")
    kind: Name = Field(description="`vader`, `minilm`, `toxblock`, `lexicon` or `huggingface`.")
    measures: TextMeasure | None = Field(
        None, description="What its score is, so which metrics take it; null: what the kind says of itself."
    )
    label: str | None = Field(
        None, description="The label whose score the metrics take; null: the kind's own."
    )
    revision: str | None = Field(None, description="Commit or version that pins the weights.")
    options: dict[str, Any] = Field(
        default_factory=dict, description="The kind's own options; it checks them."
    )


class Texts(SpecSection):
    """Word lists and thresholds of the metrics of texts."""

    protected: str | None = Field(
        None,
        description="CSV with the column `word` and one for each attribute it names: the level, or nothing. These "
        "words, and what a perturbation put in, are masked before texts are compared.",
    )
    targets: str | None = Field(
        None, description="CSV with the column `word`: whose company is looked at, such as occupations."
    )
    shares: dict[Name, dict[str, Share]] = Field(
        default_factory=dict,
        description="Stereotypical associations: attribute -> level -> its share at parity, such as that of a labour "
        "force; all levels, summing to 1. An attribute that is left out has equal shares.",
    )
    window: Annotated[int, Field(ge=1)] = Field(10, description="Words each side that are near (COBS).")
    threshold: Share = Field(0.5, description="A toxicity or stereotype score that reaches it counts.")
    sentiment_threshold: Share = Field(0.5, description="A sentiment above it is friendly.")
    resamples: Annotated[int, Field(ge=199, le=100_000)] = Field(
        1999,
        description="Of the cluster bootstrap, where an interval has no formula, and of the exchange test.",
    )
