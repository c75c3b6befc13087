"""What a page says first: what stands, and how few people the smallest ratio rests on."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from audit_lib.check import check_report
from audit_lib.documents.metrics import TestFamily
from audit_lib.plan.power_limits import SIMULATED, THESE_NAMES, of_names
from audit_lib.report.blocks import Bullets, Figures, FindingList, Heading, Paragraph, Section
from audit_lib.report.content import Content, gather
from audit_lib.report.document import make_document
from audit_lib.report.findings import RatioFinding, findings_of
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.sections import statutory
from audit_lib.report.sections.rate_charts import ratios_chart
from audit_lib.report.sections.rate_table import rate_table
from audit_lib.report.sections.summary import leaders, summary
from audit_lib.report.sections.uncertainty import uncertainty_table
from audit_lib.report.sections.verdict import verdict
from audit_lib.report.tables import tables_csv
from audit_lib.report.text import tables_text
from tests.inputs import recorded_rows, write_jsonl
from tests.report.runs import reported
from tests.specs import INCLUDE, load, write

RACES = ["White", "Black", "Rare"]


def audit(folder: Path, rows: list[dict[str, Any]], **sections: Any) -> Content:
    """Decisions of people who told their groups."""
    attributes = {"sex": ["female", "male"], "race": RACES}
    groups = {
        "provenance": "self_reported", "attributes": attributes, "reference": {"sex": "male", "race": "White"},
    }  # fmt: skip
    given: dict[str, Any] = {
        "source": {"reason": "Every application of the window."},
        "groups": groups,
        "decision": {"rule": "recorded", "k": None, "round": None},
        "measure": {"metrics": ["impact_ratio"]},
        "report": {"policy": "generic"},
        "checks": {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5},
    }  # fmt: skip
    path = write(folder, **given | sections)
    write_jsonl(folder / "prompts.jsonl", rows)
    return gather(reported(path))


def people(count: int = 600) -> list[dict[str, Any]]:
    """Women are selected at 6 of 10, men at 9 of 10; one of a rare race is not."""
    rows = recorded_rows(count)
    for number, row in enumerate(rows):
        row["sex"], row["race"] = ("female", "male")[number % 2], RACES[number // 2 % 2]
        row["position"] = "cook"
        row["recorded_score"] = None
        row["recorded_selected"] = number // 4 % 10 < (6 if number % 2 == 0 else 9)
    for row in rows[:1]:
        row["race"], row["recorded_selected"] = "Rare", False
    return rows


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    rows = people()
    for row in rows:
        row["employer"] = "Acme"
    sections = {
        "source": {"reason": "All.", "fields": ["resume", "employer"]},
        "measure": {"metrics": ["impact_ratio"], "strata": [[], ["position"], ["employer"]]},
    }
    return audit(tmp_path_factory.mktemp("summary"), rows, **sections)


def words(section: Section | None, kind: type[Any]) -> list[str]:
    """The text of each item of the first block of a kind."""
    assert section is not None
    block = next(block for block in section.blocks if isinstance(block, kind))
    if isinstance(block, Figures):
        return [f"{item.value} {item.detail}" for item in block.items]
    if isinstance(block, Bullets):
        return ["".join(run.text for run in item) for item in block.items]
    return ["".join(run.text for run in block.text)]


def verdict_of(content: Content) -> Section:
    return verdict(content, make_page(content).sections)


def listed(section: Section) -> dict[str, list[str]]:
    """The findings of each heading, in order."""
    found: dict[str, list[str]] = {}
    heading = ""
    for block in section.blocks:
        if isinstance(block, Heading):
            heading = block.text
            found[heading] = []
        elif isinstance(block, FindingList):
            found[heading] += ["".join(run.text for run in item.text) for item in block.items]
    return found


def test_what_stands_after_the_adjustment_is_named_first(content: Content) -> None:
    family = content.metrics.multiplicity
    assert isinstance(family, TestFamily)
    assert family.findings.holm >= 1
    heading, first = next(iter(listed(verdict_of(content)).items()))
    assert heading == f"Differences shown: {family.findings.holm}"
    table = next(t for t in content.headline if t.family == "sex")
    women, men = table.row("Female"), table.row("Male")
    expected = (
        f"{women.label}: ratio {float(women.ratio):.3f}. {women.selected} of {women.n} against {men.selected} of "  # type: ignore[arg-type]
        f"{men.n} ({men.label}), all positions together. 95% interval "
    )
    assert any(one.startswith(expected) and "(adjusted p " in one for one in first)
    assert len(first) == min(4, family.findings.holm)
    ratios = [float(one.split("ratio ")[1].split(". ")[0]) for one in first]
    assert all(ratio < 0.8 for ratio in ratios)


def test_every_comparison_of_the_audit_is_in_one_place_of_the_verdict(content: Content) -> None:
    found = findings_of(content)
    headline = [(t, row) for t in content.headline for row in t.rows if row.label != t.comparator]
    of_whole = [
        one for one in (*found.shown, *found.open) if isinstance(one, RatioFinding) and not one.table.stratum
    ]
    compared = [row for _, row in headline if isinstance(row.ratio, Fraction)]
    assert len(of_whole) + found.equivalent == len(compared)
    assert sum(found.not_computed.values()) == len(headline) - len(compared)


def test_a_finding_on_too_few_people_is_open_and_counted(content: Content) -> None:
    found = findings_of(content)
    rare = [one for one in found.open if isinstance(one, RatioFinding) and one.row.label.endswith("Rare")]
    assert len(rare) == 2 and all(one.few and one.ratio == 0 for one in rare)
    assert found.open[-1] in rare, "they come last, whatever their ratio"
    texts = ["".join(r.text for r in b.text) for b in verdict_of(content).blocks if isinstance(b, Paragraph)]
    assert any(
        "2 of all these rest on fewer than 5 people in one of their two groups." in one for one in texts
    )


def test_nothing_is_named_where_nothing_stands(tmp_path: Path) -> None:
    rows = people(60)
    for number, row in enumerate(rows):
        row["race"], row["recorded_selected"] = "White", number // 2 % 10 < (5 if number % 2 else 6)
    section = verdict_of(audit(tmp_path, rows))
    assert next(iter(listed(section).items())) == ("Differences shown: 0", [])
    texts = ["".join(r.text for r in b.text) for b in section.blocks if isinstance(b, Paragraph)]
    assert "No difference is shown. That is not to say that there is none." in texts
    assert any(one.startswith("Open is no sign of equal treatment") for one in texts)
    assert not any("no bias" in one.lower() for one in texts)


def test_each_finding_leads_to_a_section_of_the_page_and_has_a_bar_with_its_number(content: Content) -> None:
    page = make_page(content)
    ids = {section.id: section.title for section in page.sections}
    items = [item for b in page.sections[0].blocks if isinstance(b, FindingList) for item in b.items]
    assert items
    for item in items:
        assert item.link is not None and ids[item.link[1].removeprefix("#")] == item.link[0]
        said = "".join(run.text for run in item.text).split("ratio ")[1].split(". ")[0]
        assert f">{said}</text></svg>" in item.picture


def test_a_ratio_of_few_people_does_not_lead_and_is_counted(content: Content) -> None:
    card = words(summary(content), Figures)[0]
    rare = [(t, r) for t in content.headline for r in t.rows if r.label.endswith("Rare") and r.n]
    assert len(rare) == 2 and all(row.ratio == 0 for _, row in rare), "the smallest ratios are theirs"
    (women,) = [r for t in content.headline if t.family == "sex" for r in t.rows if r.label == "Female"]
    assert f"{women.label}: {women.selected} of {women.n}, against" in card and not card.startswith("0.000")
    assert (
        "2 ratios rest on fewer than 5 people in one of their two groups, 2 of them below the guideline"
        in card
    )


def test_where_all_have_enough_people_none_is_kept_back(tmp_path: Path) -> None:
    rows = [row | {"race": "White" if row["race"] == "Rare" else row["race"]} for row in people()]
    cards = words(summary(audit(tmp_path, rows)), Figures)
    assert "rest on fewer" not in cards[0] and "rests on fewer" not in cards[0]


def test_where_every_group_is_small_nothing_leads_and_the_page_says_so(tmp_path: Path) -> None:
    rows = people(16)
    for number, row in enumerate(rows):
        row["recorded_selected"] = number % 2 == 1  # no woman is selected, and every man
    small = audit(tmp_path, rows, measure={"metrics": ["impact_ratio"], "small_cell": 30})
    figure = leaders(small)[0]
    assert figure.value == "too few to tell" and figure.tone == "plain"
    assert figure.detail.startswith("No ratio leads.") and "fewer than 30 people" in figure.detail
    assert make_document(small).headline == {}
    assert not any("leading ratio" in item for item in words(summary(small), Bullets))
    charts = [ratios_chart(small, list(small.headline)), rate_table(small, small.headline[0])]
    assert "flagged" not in charts[0].wide and all(c.tone == "plain" for r in charts[1].rows for c in r.cells)


def test_the_first_interval_is_the_one_of_a_picked_comparator(content: Content) -> None:
    table = max(content.headline, key=lambda t: len(t.rows))
    women = next(r for r in table.rows if r.label == "Female, White")
    limits = [women.estimate.intervals[0], women.estimate.interval]
    assert [one.kind for one in limits] == ["simultaneous", "conditional"]  # type: ignore[union-attr]
    picked, fixed = (f"{one.low:.3f} to {one.high:.3f}" for one in limits)  # type: ignore[union-attr]
    assert picked != fixed
    (row,) = [row for row in rate_table(content, table).rows if row.header == women.label]
    beside = uncertainty_table(content, table)
    (own,) = [row for row in beside.rows if row.header == women.label]
    chart = ratios_chart(content, [table])
    assert row.cells[-1].note.replace("\N{NO-BREAK SPACE}", " ") == picked
    assert [own.cells[2].text, own.cells[5].text] == [picked, fixed]
    assert chart is not None and "comparator picked by the data" in chart.caption
    assert "comparator picked by the data" in leaders(content)[0].detail
    printed = tables_text(content.metrics, content.policy)
    assert picked in printed and fixed not in printed


def test_where_the_leading_ratio_is_not_distinguishable_it_says_so(tmp_path: Path) -> None:
    rows = people(60)
    for number, row in enumerate(rows):
        row["race"], row["recorded_selected"] = "White", number // 2 % 10 < (5 if number % 2 else 6)
    same = audit(tmp_path, rows)
    (reading,) = [i for i in words(summary(same), Bullets) if i.startswith("The leading ratio is not")]
    assert "reaches 1 (Male, all positions together)" in reading
    assert leaders(same)[0].detail.endswith("Not below the guideline, and not distinguishable from 1.")


def test_a_verdict_by_steps_is_not_called_indistinguishable_by_an_interval_without_steps(
    tmp_path: Path,
) -> None:
    rows = recorded_rows(94)
    races = ["Rare"] * 4 + ["Black"] * 59 + ["White"] * 31
    chosen = [False] * 4 + [i < 41 for i in range(59)] + [i < 28 for i in range(31)]
    for row, race, selected in zip(rows, races, chosen, strict=True):
        row |= {"race": race, "recorded_selected": selected, "position": "cook"}
    groups = {
        "provenance": "self_reported", "attributes": {"race": RACES}, "reference": {"race": "White"}, "categories": {},
    }  # fmt: skip
    content = audit(tmp_path, rows, groups=groups)
    (table,) = content.headline
    black = table.row("Black")
    assert black.estimate.verdict.found and black.estimate.intervals[0].high == 1  # type: ignore[union-attr]
    said, (figure,) = " ".join(words(summary(content), Bullets)), leaders(content)
    assert figure.tone == "flag" and "Verdict: difference." in figure.detail
    assert "not distinguishable" not in said + figure.detail
    assert "The leading ratio is distinguishable from 1 by its test only. The test, adjusted" in said
    assert any("goes by steps" in note for note in uncertainty_table(content, table).notes)


def test_an_interval_without_a_test_that_agrees_names_nobody(content: Content) -> None:
    tables = tuple(
        replace(table, rows=tuple(replace(row, estimate=_untested(row.estimate)) for row in table.rows))
        for table in content.tables
    )
    items = words(summary(replace(content, tables=tables)), Bullets)
    assert not any("each of these is distinguishable" in item for item in items)


def _untested(estimate: Any) -> Any:
    return replace(estimate, tests=tuple(replace(test, p_value=0.2) for test in estimate.tests))


def test_strata_of_the_same_people_say_which_and_are_in_the_csv(content: Content, tmp_path: Path) -> None:
    assert [entry.same_as for entry in content.metrics.strata_identical] == [{}, {}]
    section = statutory.strata(content)
    assert section is not None
    texts = ["".join(r.text for r in b.text) for b in section.blocks if isinstance(b, statutory.Paragraph)]
    said = "cook (the same people as all positions together); Acme (the same people as all positions together). The"
    assert any(said in t for t in texts)
    lines = tables_csv(content).decode().splitlines()
    whole = [line for line in lines if ",position=cook," not in line and ",employer=Acme," not in line][1:]
    for stratum in ("position=cook", "employer=Acme"):
        again = [line.replace(f",{stratum},", ",,", 1) for line in lines if f",{stratum}," in line]
        assert again == whole
    path = tmp_path / "tables.csv"
    path.write_bytes(tables_csv(content))
    report = check_report(path)
    assert [
        f
        for f in report.findings
        if f.id not in ("small_cell", "category_outside_taxonomy", "category_missing")
    ] == []
    assert set(report.conventions()) == {"counts, half up"}


def test_a_list_of_the_same_people_that_is_cut_says_so(
    content: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statutory, "MOST_STRATA", 1)
    section = statutory.strata(content)
    assert section is not None
    texts = ["".join(r.text for r in b.text) for b in section.blocks if isinstance(b, statutory.Paragraph)]
    (cut,) = [t for t in texts if "the same people" in t]
    assert (
        "cook" in cut
        and "Acme" not in cut
        and "; and 1 more. The rows of all of them are in tables.csv" in cut
    )


CLAIMS = re.compile(r"holm|family-?wise|false discovery rate(?! gap)|fdr|benjamini", re.IGNORECASE)


def page_of(content: Content) -> str:
    """The page without its transcript: letters that stand for bytes spell anything."""
    page = render_html(make_page(content)).decode()
    return unescape(re.sub(r'<meta name="audit-page-transcript"[^>]*>', "", page))


def test_adjusted_p_values_are_called_what_they_are_everywhere(content: Content) -> None:
    page = page_of(content)
    assert not CLAIMS.search(page)
    assert "allows for the comparator being the highest rate, picked by the data" in page
    document = make_document(content).as_dict()
    told = document["metrics"]["multiplicity"]
    assert "whichever comparator the data pick" in told["rule"]
    assert "rate" not in json.dumps(told["methods"]), "it names steps, not what they would control"
    assert not re.search(r"(?i)family-?wise|controlled", json.dumps(document, default=str))
    assert not CLAIMS.search(tables_text(content.metrics, content.policy))


def test_the_page_says_what_the_simulated_power_takes_for_granted(content: Content) -> None:
    page = page_of(content)
    assert page.count(SIMULATED) == 1 and "What the audit could find" in page
    assert "People are taken as independent" in page and "nominal" not in page.lower()
    # Sizes are not known here: no single ratio is promised at the top of the page.
    assert "What this audit could have found." not in page


def test_with_names_in_the_design_intervals_are_of_these_names_only(content: Content) -> None:
    assert not of_names(content.spec) and THESE_NAMES not in content.caveats
    shown = load(
        perturb={"kind": "persona", "names": str(INCLUDE / "lexicons" / "names.csv")},
        prompt={"template": str(INCLUDE / "prompts" / "resume_screening.yaml"), "labels": ["No", "Yes"]},
        model={"backend": "transformers", "name": "smollm2-135m-instruct"},
    )
    with_names = replace(content, spec=shown)
    assert THESE_NAMES in with_names.caveats and re.search(r"\d+ to \d+%", THESE_NAMES)
    assert any(item.startswith("These names only.") for item in words(summary(with_names), Bullets))
