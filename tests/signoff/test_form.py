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
    (address,) = re.findall(r"<(file://[^>]+)>", form.body)
    page = Path(address.removeprefix("file://")).read_text("utf-8")
    values = re.findall(r": \*\*(.+?)\*\*\. ", form.body)
    printed = re.findall(r'<dd[^>]*>\s*([^<]+?)\s*</dd>|<p class="value[^>]*>([^<]+)<', page)
    assert values and all(value.replace("\\", "") in page for value in values), printed
    assert sha256(run.stage("evidence").read("manifest.json")) in form.body
    assert f"audit verify {run.uri}" in form.body
    on_site = form_of(run, "https://audits.example.org/").body
    assert (
        f"<https://audits.example.org/{run.key.prefix}/report.html>" in on_site and "file://" not in on_site
    )


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
