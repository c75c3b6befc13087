"""``audit check-report`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from audit_lib.canonical import pretty_json
from audit_lib.check.json_schema import check_schema
from audit_lib.cli.main import main
from tests.check.cases import html, save, summary
from tests.policies.packs import OWN

PUBLISHED = Path(__file__).parent.parent.parent / "docs" / "reference" / "check-report.schema.json"


def test_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path, html(summary()))
    assert main(["check-report", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{path}: HTML, 3 tables of rates\n46 of 46 printed rates and ratios rebuilt\n")
    assert "Findings: none" in out


def test_findings_as_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = summary()
    tables["Sex categories"][1][2] = "9,999"
    path = save(tmp_path, html(tables))
    assert main(["check-report", str(path)]) == 1
    assert "error: more_selected_than_applied [5-300, Selection Rate]" in capsys.readouterr().out
    assert main(["check-report", str(path), "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["ok"]) == ("audit-check-report/2", False)
    assert "more_selected_than_applied" in [finding["id"] for finding in document["findings"]]
    assert len(document["rebuilt"]) == 46 - 1  # the rate of a row with impossible counts is not rebuilt


def test_a_pack_by_name_or_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, pack = save(tmp_path, html(summary())), tmp_path / "ours.yaml"
    text = OWN.replace("extends: generic", "extends: nyc_ll144").replace("  - guidelines\n", "")
    pack.write_text(text.replace("  - evidence\n", "").replace("status: new", "kind: validity, status: new"))
    for policy, named in (("nyc_ll144", "nyc_ll144 "), (str(pack), "example_county ")):
        assert main(["check-report", str(path), "--policy", policy, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["policy"].startswith(named)
    assert main(["check-report", str(path), "--policy", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: no policy pack is there" in capsys.readouterr().err


def test_the_published_schema_is_the_one_in_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert PUBLISHED.read_bytes() == pretty_json(check_schema())
    assert main(["schema", "--check-report"]) == 0
    assert json.loads(capsys.readouterr().out) == check_schema()
    Draft202012Validator.check_schema(check_schema())


def test_the_json_follows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reader may rely on the keys: they change only together with the name of the schema."""
    tables = summary()
    tables["Sex categories"][1][4] = "0.001"
    main(["check-report", str(save(tmp_path, html(tables))), "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    validator = Draft202012Validator(check_schema())
    assert list(validator.iter_errors(document)) == []
    assert tuple(document) == tuple(check_schema()["required"])
    (finding,) = document["findings"]
    assert all(finding[key] for key in ("table", "row", "column", "printed", "recomputed"))
    assert finding["rule"] == "5-300, Impact Ratio"
    for change in (
        {"schema": "audit-check-report/0"}, {"ok": "yes"}, {"format": "odt"}, {"further": 1},
        {"findings": [finding | {"severity": "fatal"}]}, {"findings": [finding | {"id": "unheard_of"}]},
        {"rebuilt": [{}]}, {"conventions": {"counts, half up": 0}},
    ):  # fmt: skip
        assert not validator.is_valid(document | change), change


def test_age(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(save(tmp_path, html(summary())))
    assert main(["check-report", path, "--as-of", "2024-06-28"]) == 0
    assert main(["check-report", path, "--as-of", "2025-01-01"]) == 1
    assert "audit_too_old [5-301(a)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["check-report", path, "--as-of", "yesterday"])
    assert "not a date" in capsys.readouterr().err


def test_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-report", str(tmp_path / "none.html")]) == 2
    assert main(["check-report", str(save(tmp_path, "<html>Nothing here</html>"))]) == 2
    assert "Looked for a header row" in capsys.readouterr().err
