"""A page of ours is held against the transcript that it carries: edits of what it shows are found, and only those."""

from __future__ import annotations

import base64
import bz2
import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.check import CheckResult, check_report
from audit_lib.check.own_numerals import own_numerals
from audit_lib.check.own_ranges import COUNTS, out_of_range
from audit_lib.cli.main import main
from audit_lib.errors import InputError
from audit_lib.page_transcript import (
    NAME,
    numerals,
    read_transcript,
    read_visible,
    write_transcript,
)
from audit_lib.run import Run
from benchmarks.own_pages import written_anew
from tests.report.browser import CHROMIUM, dump
from tests.report.runs import made

KINDS = {"numeral_changed", "words_changed", "marks_changed", "transcript_unreadable", "number_contradicted"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made(tmp_path_factory.mktemp("own"), report={"languages": ["es"]})


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return run.stage("report").read("report.html").decode()


def own(result: CheckResult) -> list[tuple[str, str, str]]:
    return [(one.id, one.printed, one.recomputed) for one in result.findings if one.id in KINDS]


def checked(tmp_path: Path, page: str) -> list[tuple[str, str, str]]:
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    return own(check_report(path))


def test_a_page_as_it_was_made_has_no_such_finding(tmp_path: Path, page: str) -> None:
    assert checked(tmp_path, page) == []


def test_every_numeral_of_a_page_is_typed_in_its_transcript(run: Run, page: str) -> None:
    seen = read_visible(page)
    told = read_transcript(seen.transcript)
    assert told.shown == seen.texts
    assert sum(len(numerals(one.words)) for one in seen.texts) > 300
    # Read another way: the digits between tags, outside of the style sheet, and those of labels, are all in it.
    body = re.sub(r"(?s)<style>.*?</style>", "", page)
    between = re.sub(r"\D", "", re.sub(r"(?s)<[^>]*>", " ", body).replace("&#39;", "").replace("&#34;", ""))
    said = [re.sub(r"\D", "", one.words) for one in told.texts if one.kind != "aria-label"]
    assert between == "".join(said)


@pytest.mark.parametrize(
    ("was", "becomes", "kind"),
    [
        (r"(\d+) of (\d+) tests fall", r"7\1 of \2 tests fall", "numeral_changed"),
        (r'<text class="value"([^>]*)><tspan>(\d)', r'<text class="value"\1><tspan>9\2', "numeral_changed"),
        (r"<desc>([^<]*?)0\.(\d)", r"<desc>\g<1>0.9\2", "numeral_changed"),
        (r"Verdict: undecided", "Verdict: differs", "words_changed"),
        (r'<span class="mark">\*</span>', "", "words_changed"),
        (r'class="flag"', 'class="plain"', "marks_changed"),
        (r'<circle class="dot" cx="(\d)', r'<circle class="dot" cx="9\1', "marks_changed"),
        (r"</style>", "td{visibility:hidden}</style>", "marks_changed"),
        (r'aria-label="Selection', 'aria-label="Unequal selection', "words_changed"),
        (r"</main>", "<p>All 400 of 400 passed.</p></main>", "numeral_changed"),
        (r"<td[^>]*>[^<]*</td>", "<td></td>", "numeral_changed"),
    ],
)
def test_an_edit_of_what_it_shows_is_found(
    tmp_path: Path, page: str, was: str, becomes: str, kind: str
) -> None:
    edited = re.sub(was, becomes, page, count=1)
    assert edited != page, "nothing was edited"
    assert kind in {id_ for id_, _, _ in checked(tmp_path, edited)}


def test_a_spanish_page_is_read_too(tmp_path: Path, run: Run) -> None:
    page = run.stage("report").read("report.es.html").decode()
    assert checked(tmp_path, page) == []
    edited = re.sub(r"(<td[^>]*>)(\d+)<", r"\g<1>\g<2>1<", page, count=1)
    assert "numeral_changed" in [id_ for id_, _, _ in checked(tmp_path, edited)]


def test_an_edit_of_the_transcript_is_found(tmp_path: Path, page: str) -> None:
    written = read_visible(page).transcript
    told = read_transcript(written)
    without = write_transcript(told.texts[:-1], told.elements, told.sources)
    assert [i for i, _, _ in checked(tmp_path, page.replace(written, without))] == ["numeral_changed"]
    for broken in (written[:-8], written[1:], "AAAA", written[: len(written) // 2]):
        assert [i for i, _, _ in checked(tmp_path, page.replace(written, broken))] == [
            "transcript_unreadable"
        ]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (r'(data-of="n".*?<td[^>]*>)(\d+)<', r"\g<1>1\2<"),
        (r'(data-of="ratio".*?<td[^>]*>\d+</td>.*?<td[^>]*>)(\d+)<', r"\g<1>9\2<"),
        (r'(data-of="ratio".*?<td[^>]*>[\d.]+%)', lambda found: found[0][:-2] + "X%"),
        (r'(data-of="ratio".*?<td[^>]*>)(0\.\d+)', r"\g<1>0.999"),
        (r'(data-of="ratio".*?)<span class="mark">\*</span>', r"\1"),
        (r"(\d+) (of|de) (\d+) (impact ratios|razones de impacto)", r"9\1 \2 9\3 \4"),
        (r"(?<=: )(\d+) (of|de) (\d+), (against|frente a)", r"1\1 \2 1\3, \4"),
        (r"(\d+) (of|de) (?:las )?(\d+) (tests fall|pruebas quedan)", r"\1 \2 9\3 \4"),
        (r"(<desc>[^<]*?: )0\.(\d)", r"\g<1>0.9\g<2>4"),
    ],
)
def test_a_number_that_the_counts_contradict_is_found_though_the_transcript_is_made_anew(
    tmp_path: Path, run: Run, language: str, was: str, becomes: Any
) -> None:
    name = "report.html" if language == "en" else f"report.{language}.html"
    page = run.stage("report").read(name).decode()
    start = page.index("<body")
    edited = page[:start] + re.sub(was, becomes, page[start:], count=1, flags=re.DOTALL)
    edited = edited.replace("X%", "9%" if "9%" not in page else "8%")
    assert edited != page, "nothing was edited"
    assert {id_ for id_, _, _ in checked(tmp_path, written_anew(page, edited))} == {"number_contradicted"}


@pytest.fixture(scope="module")
def document(run: Run) -> bytes:
    return run.stage("report").read("report.json")


def of_json(tmp_path: Path, document: object) -> list[str]:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    result = check_report(path)
    assert result.format == "json"
    return [one.column for one in result.findings]


def test_a_report_json_as_it_was_made_has_no_finding(tmp_path: Path, document: bytes) -> None:
    assert of_json(tmp_path, json.loads(document)) == []


def test_an_edit_of_a_report_json_is_found_in_its_field(tmp_path: Path, document: bytes) -> None:
    edited = json.loads(document)
    edited["metrics"]["label_mass"] = [{"n": 7}]
    assert of_json(tmp_path, edited) == ["metrics"]
    assert of_json(tmp_path, {**json.loads(document), "more": 1}) == ["more"]
    assert "caveats" in of_json(tmp_path, {k: v for k, v in json.loads(document).items() if k != "caveats"})


def _first_row(document: Any) -> Any:
    return next(
        row
        for table in document["metrics"]["tables"]
        for row in table["rows"]
        if row["label"] != table["comparator"]
    )


def _set(*path: str | int, value: Any) -> Callable[[Any], None]:
    def change(row: Any) -> None:
        for key in path[:-1]:
            row = row[key]
        row[path[-1]] = value(row[path[-1]]) if callable(value) else value

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_set("n", value=lambda n: n + 1), "rate"),
        (_set("selected", value=lambda n: n + 1), "rate"),
        (_set("rate", "value", value=lambda v: v + 0.001), "rate"),
        (_set("rate", "interval", "low", value=0.999), "rate.interval"),
        (_set("impact_ratio", "value", value=lambda v: v + 0.001), "impact_ratio"),
        (_set("impact_ratio", "n_reference", value=lambda v: v + 1), "impact_ratio.n_reference"),
        (_set("impact_ratio", "intervals", 0, "high", value=0.0), "interval of the impact ratio"),
        (_set("four_fifths_flag", value=lambda v: not v), "four_fifths_flag"),
        (
            _set("unknown", "rate_bounds", value=lambda v: [v[0], v[1] + 0.01]),
            "unknown: upper bound of the rate",
        ),
        (_set("impact_ratio", "verdict", "kind", value="difference"), "verdict"),
    ],
)
def test_a_number_that_its_counts_contradict_is_found_though_all_digests_are_made_anew(
    tmp_path: Path, document: bytes, change: Callable[[Any], None], named: str
) -> None:
    edited = json.loads(document)
    change(_first_row(edited))
    edited["digests"] = {k: sha256(pretty_json(v)) for k, v in edited.items() if k != "digests"}
    assert named in of_json(tmp_path, edited)


def _somewhere(name: str) -> Callable[[Any], Any]:
    """The first object of a document with a number of this name."""

    def find(value: Any) -> Any:
        if isinstance(value, dict):
            if isinstance(value.get(name), int | float) and not isinstance(value[name], bool):
                return value
            return next((found for one in value.values() if (found := find(one)) is not None), None)
        return (
            next((found for one in value if (found := find(one)) is not None), None)
            if isinstance(value, list)
            else None
        )

    return find


@pytest.mark.parametrize(
    ("name", "impossible", "must"),
    [
        ("p_value", 1.2, "from 0 to 1"),
        ("p_value", -0.01, "from 0 to 1"),
        ("level", 95.0, "between 0 and 1"),
        ("alpha", 1.0, "between 0 and 1"),
        ("share_of_data", 1.5, "from 0 to 1"),
        ("matched", -3, "a whole number, 0 or more"),
        ("matched", 12.5, "a whole number, 0 or more"),
        ("answered", 7.0, "a whole number, 0 or more"),
        ("family_size", -1, "a whole number, 0 or more"),
        ("standard_error", -0.1, "0 or more"),
        ("low", 7.5, "in ascending order"),
    ],
)
def test_a_number_that_cannot_be_is_found_though_nothing_else_determines_it(
    tmp_path: Path, document: bytes, name: str, impossible: float, must: str
) -> None:
    edited = json.loads(document)
    place = _somewhere(name)(edited["metrics"])
    assert place is not None, f"no number is called {name}"
    place[name] = impossible
    edited["digests"] = {k: sha256(pretty_json(v)) for k, v in edited.items() if k != "digests"}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(edited), encoding="utf-8")
    said = [(one.printed, one.recomputed) for one in check_report(path).findings]
    assert any(str(impossible) in printed and recomputed == must for printed, recomputed in said)


def test_counts_by_name_are_counts_and_an_authors_parameters_are_free() -> None:
    said = {
        "served": {"tool": -1},
        "demographics": {"unknown": {"sex": 2.5}, "unknown_values": {"sex": {"x": -1}}},
        "unknown": {"n": 0, "rate_bounds": [0.5, 0.25]},
        "parameters": {"n": -4, "level": 3},
        "rate": {"value": 0.5, "interval": {"low": 0.4, "high": 1.25}, "intervals": []},
    }
    assert sorted(f"{one.table}/{one.column}" for one in out_of_range(said)) == [
        "/rate",
        "demographics/unknown/sex",
        "demographics/unknown_values/sex/x",
        "served/tool",
        "unknown/rate_bounds",
    ]


def test_every_count_of_the_documents_schema_is_known_to_be_one() -> None:
    described = json.loads(Path("docs/reference/report.schema.json").read_text(encoding="utf-8"))
    names = {
        name
        for kind in (described, *described["$defs"].values())
        for name, of in kind.get("properties", {}).items()
        if any(one.get("type") == "integer" for one in (of, *of.get("anyOf", ())))
    }
    # Numbers of people in the two groups of an estimate, beside objects of the same names.
    assert names - COUNTS == {"group", "reference", "holm"}


@pytest.mark.parametrize("name", ["report.html", "report.es.html"])
def test_a_page_without_its_transcript_is_not_clean(tmp_path: Path, run: Run, name: str) -> None:
    path = tmp_path / "page.html"
    page = run.stage("report").read(name).decode()
    path.write_text(page, encoding="utf-8")
    assert "transcript_missing" not in {one.id for one in check_report(path).findings}
    path.write_text(re.sub(rf'<meta name="{NAME}"[^>]*>', "", page), encoding="utf-8")
    result = check_report(path)
    assert [one.severity for one in result.findings if one.id == "transcript_missing"] == ["warning"]
    assert not result.ok


def test_a_document_without_its_digests_is_not_clean(tmp_path: Path, document: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({k: v for k, v in json.loads(document).items() if k != "digests"}))
    result = check_report(path)
    assert [one.id for one in result.findings] == ["transcript_missing"]
    assert not result.ok


def test_a_spanish_page_is_held_to_the_law_that_it_names(tmp_path: Path, run: Run) -> None:
    page = run.stage("report").read("report.es.html").decode()
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    assert check_report(path).policy.startswith("nyc_ll144 ")
    path.write_text(page.replace("nyc_ll144 1", "us_ugesp 1"), encoding="utf-8")
    assert check_report(path).policy.startswith("us_ugesp ")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_page_that_a_browser_wrote_anew_is_as_it_was_made(tmp_path: Path, page: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    saved = dump(path)
    assert saved != page
    assert checked(tmp_path, saved) == []


def test_its_numerals_are_listed_with_what_determines_them(tmp_path: Path, page: str) -> None:
    path, out = tmp_path / "page.html", tmp_path / "numerals.csv"
    path.write_text(page, encoding="utf-8")
    main(["check-report", str(path), "--numerals", str(out)])
    with out.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    transcript = read_transcript(read_visible(page).transcript)
    assert [one["numeral"].removeprefix("'") for one in found] == [
        numeral.text for text in transcript.texts for numeral in text.numerals
    ]
    selected = next(one for one in found if one["of"] == "selected" and one["table"])
    assert "metrics/metrics.json" in selected["sources"].split() and selected["type"] == "count"


def test_the_numerals_of_an_edited_page_are_not_listed(tmp_path: Path, page: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(page.replace("320 decisions", "321 decisions"), encoding="utf-8")
    with pytest.raises(InputError, match="not what was written"):
        own_numerals(path)
    path.write_text("<p>9 of 24</p>", encoding="utf-8")
    with pytest.raises(InputError, match="no page that this library made"):
        own_numerals(path)


def test_a_transcript_of_the_form_before_is_still_held_against_its_page(tmp_path: Path, page: str) -> None:
    # As older versions wrote it: numerals with their type alone, facts without their term, parts without files.
    bare = re.sub(r' data-from="[^"]*"', "", re.sub(rf'\n<meta name="{NAME}"[^>]*>', "", page))
    seen = read_visible(bare)
    texts = [
        {
            name: value
            for name in ("part", "kind", "words", *(("table", "row", "column", "of") if one.table else ()))
            if (value := getattr(one, name))
        }
        | {"numerals": [[found.type, found.text] for found in numerals(one.words)]}
        for one in seen.texts
    ]
    document = {"schema": "audit-page-transcript/1", "elements": seen.elements, "texts": texts}
    written = base64.b64encode(bz2.compress(canonical_json(document))).decode()
    older = bare.replace("</title>", f'</title>\n<meta name="{NAME}" content="{written}">', 1)
    assert checked(tmp_path, older) == []
    assert "numeral_changed" in {
        one[0] for one in checked(tmp_path, older.replace("320 decisions", "321 decisions"))
    }
