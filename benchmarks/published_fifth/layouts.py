"""All layouts, who writes them, and what they may draw."""

from __future__ import annotations

from benchmarks.published_fifth import layouts_reports as reports
from benchmarks.published_fifth import layouts_sheets as sheets
from benchmarks.published_fifth import layouts_web as web
from benchmarks.published_fifth.model import Layout, Options

FULL = (("n", "k", "rate", "ratio"),)
SHORT = (("n", "rate", "ratio"),)
BOTH = FULL + SHORT
NO_TEST = ("own", "own", "pooled_own")

LAYOUTS = [
    Layout(
        "rule_page",
        "learn",
        ("html_hand", "chromium_pdf", "scan_png"),
        web.rule_page,
        Options(races=("full", "eeo"), pairs=("sex_race",), columns=BOTH, rates=("pct1", "pct0", "pct2")),
    ),
    Layout(
        "accordion",
        "held",
        ("html_builder", "weasyprint_pdf"),
        web.accordion,
        Options(columns=(*BOTH, ("rate", "ratio", "n"))),
    ),
    Layout(
        "react_tabs",
        "learn",
        ("html_react", "chromium_pdf"),
        web.react_tabs,
        Options(
            units=(1, 1, 2),
            pairs=("race_sex", "words", "slash"),
            columns=(*FULL, ("n", "rate", "ratio"), ("ratio", "rate", "n")),
        ),
    ),
    Layout(
        "letter",
        "held",
        ("latex_pdf", "docx", "scan_pdf"),
        reports.letter,
        Options(ratios=("r3", "r2"), columns=BOTH, rates=("pct1", "pct2", "frac3"), totals=20),
    ),
    Layout(
        "consulting",
        "learn",
        ("docx", "libreoffice_pdf"),
        reports.consulting,
        Options(
            units=(1, 1, 2, 3),
            columns=(("n", "share", "k", "rate", "ratio"), ("n", "k", "rate", "ratio")),
            rates=("pct1", "frac3", "frac4"),
            ratios=("r2", "r3", "r4"),
        ),
    ),
    Layout(
        "one_table",
        "held",
        ("chromium_pdf", "html_hand"),
        reports.one_table,
        Options(
            units=(1, 1, 1, 2),
            pairs=("race_sex", "comma", "sex_race"),
            columns=(*FULL, ("rate", "n", "ratio"), ("n", "share", "rate", "ratio")),
            rates=("pct1", "bare1", "frac2", "pct2"),
            totals=25,
        ),
    ),
    Layout(
        "matrix",
        "learn",
        ("weasyprint_pdf", "latex_pdf", "excel_html"),
        reports.matrix,
        Options(
            columns=BOTH, pairs=("race_sex",), totals=35, rates=("pct1", "pct0", "pct1"), ratios=("r2", "r3")
        ),
    ),
    Layout(
        "workbook",
        "held",
        ("xlsx", "excel_html", "libreoffice_pdf"),
        sheets.workbook,
        Options(
            units=(1, 1, 2),
            columns=(*FULL, ("k", "n", "rate", "ratio"), ("n", "rate", "ratio")),
            rates=("pct1", "pct2", "frac3", "frac4"),
            ratios=("r2", "r3", "r4"),
            pairs=("race_sex", "comma", "sex_race"),
        ),
    ),
    Layout(
        "csv_sheet",
        "learn",
        ("csv", "xlsx"),
        sheets.sheet,
        Options(
            columns=BOTH,
            rates=("pct1", "frac3", "frac4", "dot3"),
            ratios=("r2", "r3", "dot2"),
            counts=("plain",),
            pairs=("race_sex", "slash", "words"),
        ),
    ),
    Layout(
        "csv_tidy",
        "held",
        ("csv", "xlsx"),
        sheets.tidy,
        Options(
            columns=BOTH,
            rates=("pct1", "frac4", "frac2", "bare2"),
            ratios=("r2", "r3", "r4"),
            counts=("plain", "comma"),
            pairs=("race_sex", "comma", "sex_race"),
        ),
    ),
    Layout(
        "year_on_year",
        "learn",
        ("reportlab_pdf", "html_builder"),
        reports.year_on_year,
        Options(
            old=True,
            data=NO_TEST,
            columns=BOTH,
            exclude=("none", "row"),
            axis=10,
            totals=20,
            pairs=("race_sex", "sex_race", "words"),
        ),
    ),
    Layout(
        "families",
        "held",
        ("latex_pdf", "reportlab_pdf"),
        reports.families,
        Options(units=(2, 3, 3, 4), columns=BOTH, rates=("pct1", "frac3", "pct2"), sizes=(600, 5000)),
    ),
    Layout(
        "transposed",
        "learn",
        ("weasyprint_pdf", "chromium_pdf"),
        reports.transposed,
        Options(
            columns=BOTH,
            exclude=("none", "none", "row"),
            races=("short", "plain", "slash"),
            pairs=("sex_race",),
            totals=25,
        ),
    ),
    Layout(
        "faq_prose",
        "held",
        ("html_builder", "libreoffice_pdf"),
        web.faq_prose,
        Options(columns=(*BOTH, ("nk", "rate", "ratio")), pairs=("race_sex", "words", "comma"), highest=85),
    ),
    Layout(
        "minimal",
        "learn",
        ("docx", "html_hand", "scan_pdf"),
        reports.minimal,
        Options(
            columns=BOTH,
            pairs=("race_sex", "words", "slash", "comma"),
            races=("short", "plain", "slash"),
            rates=("pct1", "dot3", "frac2", "pct0"),
            ratios=("r2", "dot2", "r3"),
            totals=25,
        ),
    ),
    Layout(
        "scorecard",
        "held",
        ("reportlab_pdf", "scan_png"),
        reports.scorecard,
        Options(
            measures=(True,),
            columns=BOTH,
            pairs=("race_sex",),
            rates=("pct1", "pct2", "frac3"),
            races=("plain", "slash", "short"),
        ),
    ),
    Layout(
        "careers_saved",
        "learn",
        ("html_react", "chromium_pdf"),
        web.careers_saved,
        Options(
            old=True,
            data=NO_TEST,
            columns=(*BOTH, ("nk", "rate", "ratio")),
            rates=("pct1", "pct2", "bare1"),
            ratios=("r2", "r3", "pct1"),
        ),
    ),
    Layout(
        "trust_center",
        "held",
        ("weasyprint_pdf", "html_react"),
        web.trust_center,
        Options(
            measures=(True, True, False),
            columns=(*BOTH, ("ratio", "n", "rate")),
            rates=("pct1", "frac3", "pct0"),
        ),
    ),
]
