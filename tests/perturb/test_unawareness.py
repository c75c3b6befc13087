"""Protected words in any prompts: what is found, how often it is right, and what the audit says of it."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from audit_lib.cli.main import main
from audit_lib.perturb import perturb
from audit_lib.perturb.protected_words import COLUMNS, ProtectedWords, shipped_words
from audit_lib.perturb.terms import NOTES
from audit_lib.run import Run
from audit_lib.spec.protected_lists import shipped_files
from tests.archive.cases import do, new_run
from tests.specs import INCLUDE

WORDS = shipped_words()
SENTENCES = Path(__file__).parent / "labelled_sentences.csv"
HEADER = ",".join(COLUMNS)


EXCHANGED_ONLY = {"actor", "MR", "Bible", "Christmas", "hearing", "walks unaided"}
"""Counterparts that mostly mean something else: they are put in, and found beside certain words only, or never."""


def kinds(text: str) -> set[str]:
    return {one.kind for one in WORDS.find(text)}


def sentences(part: str) -> Iterator[tuple[str, set[str]]]:
    with SENTENCES.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["part"] == part:
                yield row["text"], {*filter(None, row["kinds"].split("|"))}


@pytest.mark.parametrize(("part", "n"), [("tune", 98), ("test", 128)])
def test_precision_and_recall_over_sentences_labelled_by_hand(
    part: str, n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled = list(sentences(part))
    hits = sum(len(kinds(text) & wanted) for text, wanted in labelled)
    false = [(text, kinds(text) - wanted) for text, wanted in labelled if kinds(text) - wanted]
    missed = [(text, wanted - kinds(text)) for text, wanted in labelled if wanted - kinds(text)]
    n_false, n_missed = (sum(len(found) for _, found in part) for part in (false, missed))
    with capsys.disabled():
        print(
            f"\n{part}: {len(labelled)} sentences, precision {hits}/{hits + n_false}, recall {hits}/{hits + n_missed}"
        )
    assert len(labelled) == n
    assert hits / (hits + n_false) > 0.95, false
    assert hits / (hits + n_missed) > 0.95, missed


def test_a_sentence_is_in_one_part_only() -> None:
    parts = [{text for text, _ in sentences(part)} for part in ("tune", "test")]
    assert not parts[0] & parts[1]
    assert sum(len(part) for part in parts) == 226


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She may start in May.", ["She"]),
        ("Dr. Black wrote a white paper; a Black engineer read it.", ["Black"]),
        ("He gas and liquid He; he measured both.", ["he"]),
        ("Christian Meyer met a Christian youth group.", ["Christian"]),
        ("s/he, his/her, he or she", []),
        ("62-year-old, born in 1961; a 150-year-old firm, founded in 1961", ["62-year-old", "born in 1961"]),
        ("shed, ushers, mankind's manual", []),
        ("www.she.com and she@x.org", []),
        ("born in India, the India office", ["India"]),
    ],
)
def test_homographs(text: str, found: list[str]) -> None:
    assert [text[one.start : one.end] for one in WORDS.find(text)] == found


def test_a_word_of_two_kinds_counts_for_both() -> None:
    assert kinds("Latina in Tech ambassador") == {"race", "sex"}


def test_what_is_exchanged_is_also_found() -> None:
    """One definition: the words that `perturb.terms` exchanges between people are words that are protected."""
    lost = set()
    for kind in ("sex", "race", "religion", "disability"):
        content = (INCLUDE / "lexicons" / "terms" / f"{kind}.csv").read_text(encoding="utf-8")
        for row in csv.DictReader(content.splitlines()):
            before = f" {row['before'].split('|')[0]}" if row.get("before") else " person"
            after = f"{row['after'].split('|')[0]} " if row.get("after") else "a "
            own = [level for level in row if level not in NOTES]
            wanted = own if not row.get("of") else [one for one in row["of"].split("|") if one in own]
            for level in wanted:
                text = f"{after}{row[level]}{before}"
                if kind not in kinds(text):
                    lost.add(row[level])
    assert {*lost} == EXCHANGED_ONLY


def test_every_list_is_read_and_each_word_found_alone_or_in_its_place() -> None:
    files = shipped_files()
    assert [*files] == ["age", "disability", "national_origin", "orientation", "race", "religion", "sex"]
    for kind, content in files.items():
        for row in csv.DictReader(content.decode().splitlines()):
            before = f" {row['before'].split('|')[0]}" if row["before"] else ""
            after = f"{row['after'].split('|')[0]} " if row["after"] else ""
            for word in row["word"].split("|"):
                assert kind in kinds(f"{after}{word}{before}"), (kind, word)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("she,female,race=x,,,,,", "also is a kind of another list"),
        ("she,female,,Exact,,,,", "case is empty or 'exact'"),
    ],
)
def test_a_list_with_a_fault_is_refused_with_its_line(row: str, told: str) -> None:
    from audit_lib.errors import LexiconError

    with pytest.raises(LexiconError, match=f"sex, line 2.*{told}"):
        ProtectedWords({"sex": f"{HEADER}\n{row}\n".encode()})


GROUPS = {"attributes": {"sex": ["female", "male"]}, "reference": {"sex": "male"},
          "categories": {"sex": {"female": "Female"}}, "provenance": "self_reported"}  # fmt: skip


def audited(folder: Path, texts: list[str], **sections: Any) -> Run:
    folder.mkdir(exist_ok=True)
    rows = [
        {"prompt_id": f"p{i:03d}", "position": "cook", "resume": text, "note": "Ana Ruiz, 5 Elm Street",
         "sex": ["female", "male"][i % 2], "recorded_selected": i % 3 == 0}
        for i, text in enumerate(texts)
    ]  # fmt: skip
    whole: dict[str, Any] = {
        "groups": GROUPS, "decision": {"rule": "recorded"}, "report": {"policy": "generic"},
        "source": {"kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume", "note"], "windowed": False},
        "measure": {"metrics": ["decision_rate_gap"], "strata": [[]]},
        "framework": {"task": "classification", "ftu": True, "person_level": True, "equal_prevalence": True},
    }  # fmt: skip
    return do(new_run(folder, str(folder / "store"), rows=rows, **(whole | sections)), until="report")


TEXTS = ["She cooks well and Zacharias agrees.", "Cooks well.", "A Black engineer.", "Cooks maps."] * 10


def test_prompts_of_any_source_are_counted_by_kind_field_and_group(tmp_path: Path) -> None:
    run = audited(tmp_path, TEXTS)
    found = run.stage("variants").read_json("design.json")["protected_words"]
    assert (found["prompts"], found["unaware"], found["without_text"]) == (40, False, 0)
    shares = {one["attribute"]: one["mentioning"] for one in found["kinds"]}
    assert {kind: n for kind, n in shares.items() if n} == {"sex": 10, "race": 10}
    low, high = proportion_confint(20, 40, method="wilson")
    assert found["any"] == {"mentioning": 20, "share": 0.5, "interval": pytest.approx([low, high], abs=1e-6)}
    assert {one["field"]: one["any"]["mentioning"] for one in found["fields"]} == {"note": 0, "resume": 20}
    assert {one["group"]["sex"]: (one["prompts"], one["any"]["mentioning"]) for one in found["groups"]} == {
        "female": (20, 20),
        "male": (20, 0),
    }
    assert {(one["kind"], one["word"], one["prompts"]) for one in found["words"]} == {
        ("sex", "she", 10),
        ("race", "black", 10),
    }
    said = json.dumps(found)
    assert "Zacharias" not in said and "Ruiz" not in said and "cooks" not in said, "other words are masked"


def test_failing_it_leads_the_framework_on_the_page_and_the_spec_is_told(tmp_path: Path) -> None:
    run = audited(tmp_path, TEXTS)
    design = run.stage("variants").read_json("design.json")
    (warning,) = design["warnings"]
    assert "framework.ftu says that no prompt mentions" in warning and "of 40 prompts 20 mention" in warning
    page = run.stage("report").read("report.html").decode()
    assert page.index('id="unawareness"') < page.index('id="framework"')
    assert (
        "The model is not unaware of groups" in page and "20 of 40 prompts mention a protected word" in page
    )
    assert "Zacharias" not in page


def test_unaware_prompts_are_said_to_be_and_prompts_without_a_text_are_not(tmp_path: Path) -> None:
    run = audited(tmp_path / "a", ["Cooks well."] * 40)
    assert run.stage("variants").read_json("design.json")["protected_words"]["unaware"] is True
    assert "None of 40 prompts mentions a protected word" in run.stage("report").read("report.html").decode()
    source = {"kind": "files", "paths": ["prompts.jsonl"], "windowed": False}
    bare = audited(tmp_path / "b", [""] * 40, source=source)
    found = bare.stage("variants").read_json("design.json")["protected_words"]
    assert (found["unaware"], found["without_text"]) == (None, 40)
    assert "No prompt has a text" in bare.stage("report").read("report.html").decode()


SPANISH = "Ella es una excelente cocinera y madre de dos hijos, y trabaja en la ciudad."


def test_prompts_in_another_language_are_not_called_unaware(tmp_path: Path) -> None:
    run = audited(tmp_path, [SPANISH] * 30 + ["Cooks well for the guests of a large hotel."] * 10)
    design = run.stage("variants").read_json("design.json")
    found = design["protected_words"]
    assert (found["unaware"], found["not_english"], found["any"]["mentioning"]) == (None, 30, 0)
    (warning,) = design["warnings"]
    assert "30 of 40 prompts are not in English" in warning and "not measured" in warning
    page = run.stage("report").read("report.html").decode()
    assert "Unawareness was not measured" in page and "30 of 40 prompts are not in English" in page
    assert "None of 40 prompts mentions" not in page


def test_a_mention_is_told_in_whatever_language_the_others_are(tmp_path: Path) -> None:
    run = audited(tmp_path, [SPANISH] * 30 + ["She cooks well."] * 10)
    found = run.stage("variants").read_json("design.json")["protected_words"]
    assert (found["unaware"], found["not_english"], found["any"]["mentioning"]) == (False, 30, 10)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\uff33\uff48\uff45 cooks.", "\uff33\uff48\uff45"),
        ("So s\u200bhe cooks.", "s\u200bhe"),
        ("A fe\u00admale cook", "fe\u00admale"),
        ("An African\u2011American cook", "African\u2011American"),
        ("A wheelchair\u00a0user", "wheelchair\u00a0user"),
    ],
    ids=["full width", "zero width", "soft hyphen", "non-breaking hyphen", "non-breaking space"],
)
def test_characters_that_only_look_the_same_hide_no_word(text: str, found: str) -> None:
    assert [text[one.start : one.end] for one in WORDS.find(text)] == [found]


def test_the_lists_are_archived_and_the_share_comes_from_them_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A count of one's own from the archived list, and a library whose lists have changed since."""
    texts = ["she leads", "he cooks", "they cook", "nobody at all"]
    run = audited(tmp_path, [texts[i % 4] for i in range(40)])
    counted = json.loads(run.stage("variants").read("design.json"))["protected_words"]
    archived = {kind: run.stage("plan").read(f"inputs/protected_words.{kind}") for kind in counted["lists"]}
    assert {kind: hashlib.sha256(content).hexdigest() for kind, content in archived.items()} == counted[
        "lists"
    ]
    rows = csv.DictReader(archived["sex"].decode().splitlines())
    said = {word for row in rows for word in row["word"].split("|") if not row["before"] and not row["after"]}
    own = sum(bool(said & set(texts[i % 4].split())) for i in range(40))
    (sex,) = [one for one in counted["kinds"] if one["attribute"] == "sex"]
    assert sex["mentioning"] == own == 20
    changed = {kind: content.replace(b"she", b"xyzzy") for kind, content in archived.items()}
    monkeypatch.setattr("audit_lib.spec.audit.shipped_files", lambda: changed)
    again = perturb(Run.load(run.uri)).artefacts["design.json"]
    assert again == run.stage("variants").read("design.json")


def test_without_a_framework_nothing_is_counted(tmp_path: Path) -> None:
    run = audited(tmp_path, TEXTS[:8], framework=None)
    assert "protected_words" not in run.stage("variants").read_json("design.json")


def test_the_recommendation_takes_what_was_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = audited(tmp_path, TEXTS)
    main(["recommend", "--run", run.uri, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["answers"]["ftu"] is False
