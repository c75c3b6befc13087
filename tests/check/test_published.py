"""Summaries in the manner of other auditors, of invented numbers: clean ones pass, a planted fault is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_report
from tests.check.cases import kinds

PAGES = Path(__file__).parent / "published"
REBUILT = {
    "merged_cells.html": 46,  # cells merged as in the rule's own example
    "stacked.html": 49,  # one table of three, with totals, shares and whole percents
    "two_positions.html": 84,  # scoring rates as fractions, small categories without a ratio
    "long.csv": 46,  # a row a category, with holes where an attribute does not apply
    "spreadsheet.csv": 46,  # titles, totals, semicolons and blank lines
}
FAULTS = [
    (
        "merged_cells.html",
        "<td>37.9%</td><td>0.809</td>",
        "<td>37.9%</td><td>0.890</td>",
        "ratio_not_rebuilt",
    ),
    ("merged_cells.html", "<td>44.9%</td>", "<td>49.4%</td>", "rate_not_rebuilt"),
    (
        "merged_cells.html",
        "; the audit before this one was completed on March 20, 2024",
        "",
        "use_before_audit",
    ),
    ("merged_cells.html", "214 applicants", "Some applicants", "field_not_found"),
    (
        "stacked.html",
        "<td>262</td><td>19%</td><td>98</td>",
        "<td>262</td><td>19%</td><td>89</td>",
        "rate_not_rebuilt",
    ),
    ("stacked.html", "<td>86</td><td>6%</td>", "<td>86</td><td>9%</td>", "share_not_rebuilt"),
    ("stacked.html", "<td>39%</td><td>1.00</td>", "<td>39%</td><td>0.97</td>", "ratio_not_rebuilt"),
    (
        "stacked.html",
        "<tr><td>Black/African American</td><td>249</td><td>18%</td><td>76</td><td>31%</td><td>0.67</td></tr>\n",
        "",
        "category_left_out",
    ),
    (
        "two_positions.html",
        "<td>0.468</td><td>0.866</td>",
        "<td>0.468</td><td>0.886</td>",
        "ratio_not_rebuilt",
    ),
    ("two_positions.html", "<td>104</td><td>0.515</td>", "<td>104</td><td>0.551</td>", "rate_not_rebuilt"),
    ("two_positions.html", "are excluded from", "have no part in", "field_not_found"),
    ("long.csv", "White,3340,712,0.2132", "White,3340,712,0.2312", "rate_not_rebuilt"),
    ("long.csv", "0.2071,0.9873", "0.2071,0.9783", "ratio_not_rebuilt"),
    ("long.csv", "Asian,2011", "Asian,2101", "tables_do_not_add_up"),
    ("spreadsheet.csv", "46.99%;0.96", "46.99%;0.69", "ratio_not_rebuilt"),
    (
        "spreadsheet.csv",
        "Total;2512;1110;;\r\n\r\nTable 2",
        "Total;2521;1110;;\r\n\r\nTable 2",
        "total_mismatch",
    ),
    ("spreadsheet.csv", "Female - Asian;242;115;47.52%;0.94\r\n", "", "tables_do_not_add_up"),
]


def read(name: str) -> str:
    return (PAGES / name).read_bytes().decode()


@pytest.mark.parametrize("name", REBUILT)
def test_clean(name: str) -> None:
    report = check_report(PAGES / name)
    assert kinds(report, notes=False) == []
    assert report.conventions() == {"counts, half up": REBUILT[name]}
    assert not any("columns that were not read" in line for line in report.not_checked)
    assert not any("whether tables add up" in line for line in report.not_checked)


@pytest.mark.parametrize(("name", "before", "after", "kind"), FAULTS)
def test_a_planted_fault(name: str, before: str, after: str, kind: str, tmp_path: Path) -> None:
    text = read(name)
    assert text.count(before) == 1
    path = tmp_path / name
    path.write_bytes(text.replace(before, after).encode())
    report = check_report(path)
    assert kind in kinds(report)
