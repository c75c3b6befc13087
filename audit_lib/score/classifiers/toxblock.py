"""``toxblock``: six kinds of toxicity by a small network trained on the Jigsaw comments of 2018; English.

The weights are those of the package tox-block; its own code, which needs TensorFlow, is never imported. Its
word index is a pickle, which is read by an unpickler that makes nothing but plain containers.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import pickle
import re
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import ModelNotFoundError, SpecError
from audit_lib.languages import ENGLISH, Reads
from audit_lib.options import Options
from audit_lib.score.classifiers import DIGITS, Judgement, classifier, parse_options
from audit_lib.spec import TextClassifier, TextMeasure

Floats = NDArray[np.float64]

_LABELS: Final = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
_WORDS, _LENGTH = 20_000, 100
_FILES: Final = {"weights": "lstm_model_0.1.2.h5", "index": "encoder_0.1.2.pkl"}


@classifier("toxblock")
class ToxBlock:
    """Give the network's probability of each kind of toxicity, rescaled as its authors do.

    A bidirectional LSTM of 50 units over the last 100 known words, the largest of its states over the words,
    and two dense layers. ``rescaled = |p - low| / (high - low)``, kept within [0, 1], with the limits that
    the package states. It knows 19,999 words: a text without any of them says nothing of its toxicity.
    """

    Options: ClassVar[type[Options]] = Options
    measures: ClassVar[TextMeasure | None] = "toxicity"
    label: ClassVar[str | None] = "toxic"

    def __init__(self, section: TextClassifier, words: bytes | None) -> None:
        parse_options(self.Options, section)

    @classmethod
    def check(cls, section: TextClassifier) -> None:
        """Check that the weights and what reads them are installed."""
        if importlib.util.find_spec("h5py") is None:
            raise SpecError(f"classifiers.{section.name}: toxblock needs h5py; pip install h5py")
        _folder()

    @classmethod
    def reads(cls, section: TextClassifier) -> Reads:
        """Return English: the comments that it was trained on are."""
        return ENGLISH

    def describe(self) -> dict[str, Any]:
        """Return the digest of the package's files."""
        digests = {}
        for name in _FILES.values():
            with (_folder() / "trained_models" / name).open("rb") as stream:
                digests[name] = hashlib.file_digest(stream, "sha256").hexdigest()
        return {
            "kind": "toxblock",
            "model": "tox-block 0.1.2",
            "max_words": _LENGTH,
            "weights_sha256": sha256(canonical_json(digests)),
        }

    def classify(self, texts: Iterable[str]) -> Iterator[Judgement]:
        """Yield the six scores of each text."""
        network, index, limits = _Network(), _word_index(), _limits()
        for text in texts:
            codes = [index[word] for word in _split(text) if word in index]
            raw = network(codes[-_LENGTH:])
            scores = {}
            for label, p in zip(_LABELS, raw.tolist(), strict=True):
                low, high = limits[label]
                scores[label] = round(min(abs(p - low) / (high - low), 1.0), DIGITS)
            yield Judgement(scores=scores, truncated=len(codes) > _LENGTH)


class _Network:
    """The forward pass, in double precision, in an order of addition that no library chooses."""

    def __init__(self) -> None:
        h5py: Any = importlib.import_module("h5py")
        with h5py.File(_folder() / "trained_models" / _FILES["weights"]) as file:

            def read(name: str) -> Floats:
                return np.asarray(file[f"model_weights/{name}:0"], dtype=np.float64)

            self._embedding = read("embedding/embedding/embeddings")
            self._ways = [
                tuple(
                    read(f"bidirectional/bidirectional/{way}_lstm/{part}")
                    for part in ("kernel", "recurrent_kernel", "bias")
                )
                for way in ("forward", "backward")
            ]
            self._dense = [
                (read(f"{layer}/{layer}/kernel"), read(f"{layer}/{layer}/bias"))
                for layer in ("dense", "dense_1")
            ]

    def __call__(self, codes: list[int]) -> Floats:
        padded = [0] * (_LENGTH - len(codes)) + codes
        inputs = self._embedding[padded]
        largest = [
            _largest_state(inputs if way == 0 else inputs[::-1], *weights)
            for way, weights in enumerate(self._ways)
        ]
        (first, first_bias), (second, second_bias) = self._dense
        hidden = np.maximum(np.einsum("i,ij->j", np.concatenate(largest), first) + first_bias, 0.0)
        out: Floats = 1.0 / (1.0 + np.exp(-(np.einsum("i,ij->j", hidden, second) + second_bias)))
        return out


def _largest_state(inputs: Floats, kernel: Floats, recurrent: Floats, bias: Floats) -> Floats:
    units = recurrent.shape[0]
    state, cell = np.zeros(units), np.zeros(units)
    largest = np.full(units, -np.inf)
    for driven in np.einsum("ti,ij->tj", inputs, kernel) + bias:
        gates = driven + np.einsum("i,ij->j", state, recurrent)
        enter, forget, new, leave = np.split(gates, 4)
        cell = _hard(forget) * cell + _hard(enter) * np.tanh(new)
        state = _hard(leave) * np.tanh(cell)
        largest = np.maximum(largest, state)
    return largest


def _hard(values: Floats) -> Floats:
    out: Floats = np.clip(0.2 * values + 0.5, 0.0, 1.0)
    return out


def _split(text: str) -> list[str]:
    """Split as the tokeniser that the network was trained with: lower case, these signs are spaces."""
    return re.sub(r'[!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~\t\n]', " ", text.lower()).split(" ")


class _PickledState:
    """Stands for an object of the pickle; holds its state."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.state = dict(state)


class _Containers(pickle.Unpickler):
    """Makes dictionaries and placeholders, and refuses everything else."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)

    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("collections", "defaultdict"): defaultdict,
            ("builtins", "int"): int,
            ("keras_preprocessing.text", "Tokenizer"): _PickledState,
            ("tox_block.data_processing.preprocessors", "TokenSequencer"): _PickledState,
        }
        if (module, name) not in known:
            raise ModelNotFoundError(
                f"{_FILES['index']}: names {module}.{name}, which the published file does not"
            )
        return known[module, name]


def _word_index() -> dict[str, int]:
    with (_folder() / "trained_models" / _FILES["index"]).open("rb") as stream:
        sequencer = _Containers(stream).load()
    index = sequencer.state["tokenizer"].state["word_index"]
    return {word: code for word, code in index.items() if code < _WORDS}


def _limits() -> dict[str, tuple[float, float]]:
    """Read the limits of rescaling from the text of the package's settings."""
    tree = ast.parse((_folder() / "config" / "config.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "RESCALE_PROBA":
            limits: dict[str, tuple[float, float]] = ast.literal_eval(node.value)
            return limits
    raise ModelNotFoundError("tox-block: its settings state no limits of rescaling; install tox-block==0.1.2")


def _folder() -> Path:
    found = importlib.util.find_spec("tox_block")
    for place in (found.submodule_search_locations or []) if found else []:
        if all((Path(place) / "trained_models" / name).is_file() for name in _FILES.values()):
            return Path(place)
    raise ModelNotFoundError(
        "classifier toxblock: the package tox-block 0.1.2 is not installed; pip install --no-deps tox-block==0.1.2"
    )
