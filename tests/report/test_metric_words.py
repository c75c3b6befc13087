"""How the page prints and draws each metric: by what it was registered with, never by how its name ends."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audit_lib.documents.metrics import Leakage
from audit_lib.measure.metric import METRICS, metric, record_of
from audit_lib.report.blocks import Chart, Notice, Section
from audit_lib.report.content import Content, gather
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.report.sections.metric_estimates import metric_estimates
from audit_lib.report.sections.other_rate_tables import other_rate_tables
from audit_lib.report.text import tables_text
from audit_lib.results import Estimate, Interval
from tests.report.runs import made

GAPS = ["demographic_parity_gap", "equal_opportunity_gap", "auc_gap", "score_gap"]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    run = made(tmp_path_factory.mktemp("words"), n=64, measure={"metrics": ["impact_ratio", *GAPS]})
    return gather(run)


def estimate(name: str, value: float, *, reference: bool = True, group: str = "female") -> Estimate:
    return Estimate(
        metric=name, value=value, group={"sex": group}, reference={"sex": "male"} if reference else {},
        interval=Interval(low=value - 0.1, high=value + 0.1, method="x"), n=20, n_group=10, n_reference=10,
        clusters=20, method="x",
    )  # fmt: skip


def drawn(content: Content, *estimates: Estimate) -> list[Chart]:
    section = metric_estimates(replace(content, metrics=replace(content.metrics, estimates=estimates)))
    assert isinstance(section, Section)
    return [block for block in section.blocks if isinstance(block, Chart)]


def test_every_registered_metric_says_its_title_and_parity() -> None:
    for name, _ in METRICS:
        said = record_of(name)
        assert said.title != name.replace("_", " ").capitalize() or "_" not in name or said.meaning, name
        assert said.parity in (None, 0.0, 1.0) and not re.search(r"Auc|Rabbi|Bleu|[Uu]ndefined", said.title)
    with pytest.raises(TypeError, match="parity"):
        metric("without_parity", title="No parity")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "parity"),
    [("counterfactual_bleu", 1), ("jaccard_at_k", 1), ("sentiment_parity_weak", 0), ("auc_gap", 0)],
)
def test_the_line_of_parity_is_the_metric_s_own(content: Content, name: str, parity: int) -> None:
    (chart,) = drawn(content, estimate(name, 0.7))
    assert f"The line at {parity} is parity." in chart.caption and 'class="origin"' in chart.wide


def test_a_group_s_own_rate_has_no_parity_and_no_sign(content: Content) -> None:
    own, gap = drawn(content, estimate("fraction", 0.4, reference=False), estimate("fraction", 0.2))[::-1]
    assert (
        "parity" not in own.caption
        and 'class="origin"' not in own.wide
        and "+" not in own.wide.split("<desc>")[1]
    )
    assert "The line at 0 is parity." in gap.caption and "+0.200" in gap.wide


def test_a_metric_that_does_not_say_has_none(content: Content) -> None:
    (chart,) = drawn(content, estimate("somebody_s_ratio", 0.7))
    assert "parity" not in chart.caption and 'class="origin"' not in chart.wide


def test_no_label_says_undefined_twice(content: Content) -> None:
    page = render_html(make_page(content)).decode()
    cells = [
        re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", one)) for one in re.findall(r"<td.*?</td>", page, re.S)
    ]
    assert any("no row says who is qualified" in cell for cell in cells)
    assert not [cell for cell in cells if cell.count("undefined") > 1]
    assert "AUC gap" in page and "Auc gap" not in page


def test_leakage_has_its_own_section_only(content: Content) -> None:
    leaks = Leakage(embedding={"kind": "words"}, split="2 folds", penalty=1.0, estimates=())
    with_leaks = replace(content, metrics=replace(content.metrics, leakage=leaks))  # type: ignore[call-arg]
    section = other_rate_tables(with_leaks)
    assert section is None or "Leakage" not in json.dumps([str(block) for block in section.blocks])


def test_the_terminal_prints_an_audit_without_rate_tables(content: Content) -> None:
    effect = replace(estimate("standardised_effect", 0.2), parameters={"variation": "task:other_place"})
    null = replace(
        estimate("standardised_effect", 0.1), flags=("uninterpretable",), remark="uninterpretable: why",
        parameters={"variation": "none"},
    )  # fmt: skip
    metrics = replace(content.metrics, tables=(), estimates=(null, effect, estimate("auc_gap", 0.1)))
    printed = tables_text(metrics, content.policy)
    assert "no rate table" not in printed
    assert re.search(r"female against male, task: other place +\+0\.200 +\+0\.100 to \+0\.300", printed)
    assert re.search(r"female against male +\+0\.100 +0\.000 to .* uninterpretable\n", printed)
    assert "  uninterpretable: why" in printed and "\nAUC gap\n" in printed


def test_the_tutorial_shows_the_columns_that_are_printed(content: Content) -> None:
    head = next(
        line for line in tables_text(content.metrics, content.policy).splitlines() if "category " in line
    )
    tutorial = Path(__file__).parents[2] / "docs" / "tutorial" / "first-audit.md"
    shown = next(line for line in tutorial.read_text(encoding="utf-8").splitlines() if "  category " in line)
    assert shown.split() == head.split()


def test_a_stranger_s_metric_is_explained_and_drawn_by_its_own_record(
    content: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    from audit_lib.measure import metric as module

    monkeypatch.setattr(METRICS, "_parts", dict(METRICS._parts))
    monkeypatch.setattr(module, "_RECORDS", dict(module._RECORDS))

    @metric(
        "odds_of_hire",
        title="Odds of hire",
        parity=1.0,
        better="parity",
        unit="ratio",
        meaning="The odds of the group over those of its reference.",
        cite="Stranger (2026), Odds",
        gap="Odds of hire, difference",
    )
    def estimates(rows: Any, spec: Any, policy: Any) -> Any: ...

    found = [estimate("odds_of_hire", 0.7), estimate("odds_of_hire_gap", 0.2)]
    section = metric_estimates(replace(content, metrics=replace(content.metrics, estimates=found)))
    assert isinstance(section, Section)
    printed = repr(section.blocks)
    for words in (
        "Odds of hire", "The odds of the group over those of its reference.", "Defined in Stranger (2026), Odds.",
    ):  # fmt: skip
        assert words in printed
    ratio, difference = (block for block in section.blocks if isinstance(block, Chart))
    assert "The line at 1 is parity." in ratio.caption
    assert "The line at 0 is parity." in difference.caption and "+0.200" in difference.wide


@pytest.mark.parametrize(
    ("fewest", "most", "said", "warned"),
    [
        (3, 3, "Each prompt has 3 generations (m = 3).", True),
        (24, 30, "Prompts have from 24 to 30 generations (m).", True),
        (25, 25, "Each prompt has 25 generations (m = 25).", False),
    ],
)
def test_the_generations_of_each_prompt_are_printed_and_few_ones_warn(
    content: Content, fewest: int, most: int, said: str, warned: bool
) -> None:
    own = replace(
        estimate("expected_maximum", 0.2, reference=False),
        parameters={"generations": fewest, "generations_most": most},
    )
    section = metric_estimates(replace(content, metrics=replace(content.metrics, estimates=(own,))))
    assert isinstance(section, Section)
    told = [block for block in section.blocks if said in str(block)]
    assert [isinstance(block, Notice) for block in told] == [warned]


def test_the_words_of_a_score_are_a_table_and_a_figure_of_their_own(content: Content) -> None:
    own = [
        replace(estimate("cooccurrence_bias_score_by_word", value), parameters={"word": word})
        for word, value in (("kind", 0.8), ("able", -0.7))
    ]
    section = metric_estimates(replace(content, metrics=replace(content.metrics, estimates=tuple(own))))
    assert isinstance(section, Section)
    said = str(section.blocks)
    assert "kind: female against male" in said.lower() and "able: female against male" in said.lower()
    assert "+0.800" in said and "\N{MINUS SIGN}0.700" in said
    assert [isinstance(block, Chart) for block in section.blocks].count(True) == 1
