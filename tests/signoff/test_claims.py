"""What only an independent auditor's signed audit may claim is claimed nowhere else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from audit_lib.cli.main import main
from audit_lib.errors import InputError
from audit_lib.policies import load_policy, policy_names
from audit_lib.report import pdf, report
from audit_lib.report.content import gather
from audit_lib.report.page import make_page
from audit_lib.run import Run
from audit_lib.signoff import (
    AuditorAnswers,
    attestations,
    generate_key,
    load_private_key,
    sign_off,
    verify_signed,
)
from audit_lib.site import publish
from tests.archive.cases import do, new_run
from tests.report.runs import signature

CLAIMS = re.compile(r"valid until|no use after|summary of results of a bias audit|may be relied on", re.I)
USE: dict[str, Any] = {
    "employer": "Example Hotels, Inc.",
    "vendor": "Tools GmbH",
    "data": "historical",
    "months": 7,
    "last_used": "2026-08-31",
    "posted_until": "2127-03-31",
    "earlier_audits": ["2026-01-05"],
}
TITLE = load_policy("nyc_ll144").wording["title_audit"]


def small(folder: Path, **sections: Any) -> Run:
    return do(new_run(folder, str(folder / "store"), use=USE, **sections), until="evidence")


def everything(run: Run, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """All that any output says of a run: report, site, feeds, OSCAL, and the commands."""
    store = str(folder / "store")
    said = [path.read_text("utf-8") for path in (folder / "store").rglob("report/*") if path.suffix != ".pdf"]
    assert main(["publish", "--store", store]) == 0
    said += [path.read_text("utf-8") for path in (folder / "store/site").rglob("*") if path.is_file()]
    for command in (["show", run.uri], ["verify", run.uri], ["verify", run.uri, "--as-of", "2026-12-01"]):
        main(command)
    if pytest.importorskip("trestle"):
        assert main(["oscal", run.uri, "--out", str(folder / "o.json")]) == 0
        said.append((folder / "o.json").read_text("utf-8"))
    assert main(["report", run.uri, "--out", str(folder / "again")]) == 0
    said += [path.read_text("utf-8") for path in (folder / "again").iterdir() if path.suffix != ".pdf"]
    return "\n".join([*said, *capsys.readouterr()])


def test_an_unsigned_run_claims_nothing_that_only_an_auditor_may(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = small(tmp_path)
    said = everything(run, tmp_path, capsys)
    assert not CLAIMS.findall(said)
    page = run.stage("report").read("report.html").decode()
    assert "<h1>Draft calculation, not a bias audit: no independent auditor has signed it</h1>" in page
    assert "<dt>Computed</dt>" in page and "Date of the audit" not in page
    document = run.stage("report").read_json("report.json")
    assert document["title"].startswith("Draft") and document["attested"] == []


def test_the_signed_audit_claims_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = small(tmp_path)
    generate_key(tmp_path / "a.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    made = sign_off(run, who, load_private_key(tmp_path / "a.key"))
    page = made.folder.read("report.html").decode()
    assert f"<h1>{TITLE}</h1>" in page and "<dt>No use after</dt>" in page and "valid until" in page
    assert made.folder.read_json("report.json")["title"] == TITLE
    assert CLAIMS.search(run.stage("report").read("report.html").decode()) is None, "the sealed page stays"
    assert verify_signed(run.uri).ok
    (one,) = publish(str(tmp_path / "store")).validity
    assert one.last_day is not None
    assert main(["verify", run.uri, "--as-of", str(one.last_day)]) == 0
    assert "may be relied on" in capsys.readouterr().out
    feed = json.loads((tmp_path / "store/site/feed.json").read_bytes())
    assert feed["items"][0]["_audit"]["no_use_after"] == str(one.last_day)


@pytest.mark.parametrize(
    "organisation", ["Example Hotels, Inc.", "EXAMPLE HOTELS", "Tools", "tools gmbh.", "T\u043e\u043els"]
)
def test_nobody_signs_as_independent_for_the_employer_or_the_vendor(
    organisation: str, tmp_path: Path
) -> None:
    run = small(tmp_path)
    generate_key(tmp_path / "a.key")
    who = AuditorAnswers(auditor="Val Vendor", organisation=organisation, attested=tuple(attestations(run)))
    with pytest.raises(
        InputError, match=r"organisation: it is the (employer|maker).*use\.(employer|vendor).*5-300"
    ):
        sign_off(run, who, load_private_key(tmp_path / "a.key"))


def test_nobody_signs_in_place_of_the_auditor_whom_the_spec_names(tmp_path: Path) -> None:
    run = small(tmp_path, report={"auditor": "Ada Auditor, Independent LLP"})
    generate_key(tmp_path / "a.key")
    key = load_private_key(tmp_path / "a.key")
    attested = tuple(attestations(run))
    who = AuditorAnswers(auditor="Bob Builder", organisation="Other LLP", attested=attested)
    with pytest.raises(
        InputError, match=r"report.auditor of the spec is Ada Auditor, .* and Bob Builder, Other LLP"
    ):
        sign_off(run, who, key)
    sign_off(run, AuditorAnswers(auditor="Ada Auditor", organisation="Other LLP", attested=attested), key)


@pytest.mark.parametrize(
    "changes",
    [{"attestations": ()}, {"organisation": "Tools GmbH"}, {"organisation": "Example Hotels"}],
    ids=["attests nothing", "the vendor", "the employer"],
)
def test_a_signature_that_is_not_independent_changes_no_title(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    """Such a statement can lie in a store: another version's, or one that somebody else's software made."""
    run = small(tmp_path)
    made = report(run, signature=signature(**changes)).artefacts
    for name in ("report.html", "report.json"):
        assert CLAIMS.search(made[name].decode()) is None
    fields = {one["id"]: one["status"] for one in json.loads(made["report.json"])["required_fields"]}
    status = "missing" if "attestations" in changes else "not met"
    assert {fields[name] for name in ("F01", "F15", "F19")} == {status}


@pytest.mark.parametrize("name", policy_names())
def test_no_pack_prints_the_words_of_new_york_unsigned(name: str, tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "s"), use=USE, report={"policy": name}), until="report")
    for file in ("report.html", "report.json"):
        assert CLAIMS.search(run.stage("report").read(file).decode()) is None
    signed = report(run, signature=signature(name)).artefacts["report.html"].decode()
    assert f"<h1>{load_policy(name).wording['title_audit']}</h1>" in signed
    assert ("No use after" in signed) == (name == "nyc_ll144"), "no other law ends the use"


def test_a_signed_run_whose_facts_contradict_is_no_audit(tmp_path: Path) -> None:
    """A plan of before the facts were checked can hold them."""
    facts = USE | {"data": None, "months": 0, "last_used": "2026-01-31"}
    run = do(new_run(tmp_path, str(tmp_path / "s"), use=facts), until="report")
    made = report(run, signature=signature()).artefacts
    for name in ("report.html", "report.json"):
        assert CLAIMS.search(made[name].decode()) is None
        assert "the facts that are stated contradict each other" in made[name].decode()
    fields = {one["id"]: one for one in json.loads(made["report.json"])["required_fields"]}
    assert {fields[name]["status"] for name in ("F01", "F08", "F15")} == {"not met"}
    assert all(fact in fields["F15"]["found"] for fact in ("use.months is 0", "use.last_used is 2026-01-31"))


def test_an_experiment_stays_one_whoever_signs(tmp_path: Path) -> None:
    run = small(tmp_path, groups={"provenance": "assigned"})
    made = report(run, signature=signature()).artefacts
    assert CLAIMS.search(made["report.html"].decode()) is None
    assert CLAIMS.search(made["report.json"].decode()) is None


@pytest.mark.slow  # sets and reads 27 pages
@pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))
def test_the_pdf_says_what_the_page_says(tmp_path: Path) -> None:
    plumber = pytest.importorskip("pdfplumber", reason="reads the PDF")
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf.render_pdf(make_page(gather(small(tmp_path)))))
    with plumber.open(path) as document:
        words = " ".join(page.extract_text() for page in document.pages)
        title = document.metadata["Title"]
    assert not CLAIMS.search(" ".join(words.split())) and "Draft calculation" in title
