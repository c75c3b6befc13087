"""What an auditor is shown before signing follows from the run: its report, its figures, its policy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit_lib.canonical import sha256
from audit_lib.errors import IncompleteRunError
from audit_lib.policies import load_policy, policy_names
from audit_lib.run import Run
from audit_lib.signoff.form import form_of
from tests.archive.cases import do, new_run


def sealed(folder: Path, **sections: object) -> Run:
    return do(new_run(folder, str(folder / "store"), **sections), until="evidence")


def test_it_links_the_report_and_shows_its_figures(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    form = form_of(run)
    (address,) = re.findall(r"\[Open the report\]\(<(file://[^>]+)>\)", form.body)
    assert not re.search(r"^\|", form.body, re.M), "Airflow cuts a table off in a narrow window; a list wraps"
    page = Path(address.removeprefix("file://")).read_text("utf-8")
    values = re.findall(r": \*\*(.+?)\*\*\. ", form.body)
    printed = re.findall(r'<dd[^>]*>\s*([^<]+?)\s*</dd>|<p class="value[^>]*>([^<]+)<', page)
    assert values and all(value.replace("\\", "") in page for value in values), printed
    assert sha256(run.stage("evidence").read("manifest.json")) in form.body
    assert f"audit verify {run.uri}" in form.body
    on_site = form_of(run, "https://audits.example.org/").body
    assert (
        f"[Open the report](<https://audits.example.org/{run.key.prefix}/report.html>)" in on_site
        and "file://" not in on_site
    )


def test_its_subject_names_audit_window_and_verdict(tmp_path: Path) -> None:
    run = sealed(tmp_path, title="Interviews at the Example Hotel")
    form = form_of(run)
    assert form.subject.startswith("Sign off Interviews at the Example Hotel, 2026-01-05 to 2026-01-12: ")
    below, compared = map(int, re.findall(r"(\d+) of (\d+) ratios below 0\.8$", form.subject)[0])
    headline = [
        row["four_fifths_flag"]
        for table in run.stage("metrics").read_json("metrics.json")["tables"]
        if not table["stratum"]
        for row in table["rows"]
        if row["label"] != table["comparator"] and row["four_fifths_flag"] is not None
    ]
    assert (sum(headline), len(headline)) == (below, compared) and compared > below > 0
    assert "- Law on the last day of the window: in force on 2026" in form.body.replace("\\", "")


def test_it_says_whether_the_evidence_verifies(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    assert re.search(r"- Evidence: \d+ files are as they were sealed", form_of(run).body)
    page = Path(run.uri.removeprefix("file://")) / "report" / "tables.csv"
    page.chmod(0o644)
    page.write_bytes(page.read_bytes() + b"x")
    said = form_of(run).body.replace("\\", "")
    assert re.search(r"DOES NOT VERIFY, do not sign: .*report/tables\.csv", said)
    assert "as they were sealed" not in said


@pytest.mark.parametrize("name", policy_names())
def test_it_asks_what_the_run_s_own_policy_asks(name: str, tmp_path: Path) -> None:
    form = form_of(sealed(tmp_path, report={"policy": name}))
    assert list(form.attestations) == [one.id for one in load_policy(name).attestations]
    assert ("asks for no attestation" in form.body) == (name != "nyc_ll144")


def test_words_of_a_spec_do_nothing_in_it(tmp_path: Path) -> None:
    bad = "Hotel <img src=x> [approve](https://evil.example) | **x**\n# Heading"
    form = form_of(sealed(tmp_path, title=bad))
    assert "<img" not in form.body.replace("\\<", "") and "](https" not in form.body
    assert "\n# Heading" not in form.body and "\n" not in form.subject


def test_a_run_that_is_not_sealed_has_none(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store")), until="report")
    with pytest.raises(IncompleteRunError, match="evidence is not complete"):
        form_of(run)
