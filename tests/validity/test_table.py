"""A table of scores: what it may leave out, and each fault refused with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from audit_lib.cli.main import main
from audit_lib.errors import InputError
from audit_lib.validity import TableOptions, panel_of_table, study_of
from tests.validity.panels import lines, panel, table

HEADER = "model,job,group,candidate,round,score,qualified"
GOOD = [
    "a,cook,x,c1,r1,0.5,yes", "a,cook,y,c2,r1,0.4,no", "b,cook,x,c1,r1,0.1,yes", "b,cook,y,c2,r1,0.4,no",
]  # fmt: skip


def read(*rows: str, header: str = HEADER, reference: str = "y") -> None:
    content = "\n".join([header, *rows]) + "\n"
    panel_of_table(content.encode(), TableOptions(reference=reference), "scores.csv")


def test_a_good_table_is_read() -> None:
    read(*GOOD)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([*GOOD, "a,cook,x,c3,r1,high,yes"], "line 6: score 'high' is not a finite number"),
        ([*GOOD, "a,cook,x,c3,r1,inf,yes"], "line 6: score 'inf' is not a finite number"),
        ([GOOD[0], "a,cook,y,c2,r1,0.4"], "line 3: 6 cells for 7 columns"),
        ([GOOD[0], "", *GOOD[1:]], "line 3: 0 cells for 7 columns"),
        ([GOOD[0], ",cook,y,c2,r1,0.4,no"], "line 3: no model"),
        ([GOOD[0], "a,cook,y,c2,,0.4,no"], "line 3: no round"),
        ([GOOD[0], "a,,y,c2,r1,0.4,no"], "line 3: no job"),
        ([GOOD[0], "a,cook,y,c2,r1,0.4,maybe"], "line 3: qualified 'maybe' is not yes, no"),
        ([*GOOD, GOOD[0]], "line 6: candidate 'c1' stands in round 'r1' of 'a' and 'cook' already, in line 2"),
        (['a,cook,"x\nx",c1,r1,0.5,yes', "a,cook,y,c2,r1,?,no"], "line 4: score '?'"),
        (GOOD[:2], "one model, a: metrics are judged by how they tell models apart"),
        ([], "no line after the header"),
    ],
)  # fmt: skip
def test_a_faulty_line_is_refused_by_its_number(rows: list[str], words: str) -> None:
    with pytest.raises(InputError) as error:
        read(*rows)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("model,group,round", "line 1: no column score; needed are model, group, round, score"),
        (HEADER + ",sex", "line 1: column 'sex' is not known"),
        (HEADER.replace("qualified", "qualifed"), "did you mean 'qualified'"),
        (HEADER.replace("job", "group"), "line 1: column 'group' stands there twice"),
    ],
)
def test_a_faulty_header_is_refused(header: str, words: str) -> None:
    with pytest.raises(InputError, match=r"scores\.csv: ") as error:
        read(*GOOD, header=header)
    assert words in str(error.value)


def test_the_reference_is_one_of_the_groups() -> None:
    with pytest.raises(InputError, match="no line is of the reference group 'z'.*the groups are x, y"):
        read(*GOOD, reference="z")


def test_bytes_that_are_no_text_are_refused_by_their_line() -> None:
    with pytest.raises(InputError, match="line 3: is not UTF-8"):
        panel_of_table(f"{HEADER}\n{GOOD[0]}\n".encode() + b"\xff,", TableOptions(reference="y"))


def test_a_share_differs_within_a_model() -> None:
    rows = [f"{row},0.{number}" for number, row in enumerate(GOOD)]
    with pytest.raises(InputError, match=r"line 3: inconsistent_share 0\.1, but 0 before"):
        read(*rows, header=HEADER + ",inconsistent_share")


def test_the_order_of_lines_changes_no_number() -> None:
    rows = list(lines(rounds=10))
    shuffled = sorted(rows, key=lambda row: (row["model"], row["job"], row["score"]))
    one, other = study_of(panel(rows)), study_of(panel(shuffled))
    assert one.correlations == other.correlations and one.selection == other.selection
    assert one.best == other.best


def test_what_is_left_out_has_a_default() -> None:
    rows = [{k: row[k] for k in ("model", "group", "round", "score")} for row in lines(jobs=1, rounds=10)]
    study = study_of(panel(rows))
    assert {one.gap for one in study.points} == {"demographic_parity_gap"}
    assert not study.same_pools and study_of(panel(list(lines(rounds=10)))).same_pools
    assert {(one.job, one.task) for one in study.points} == {("all", "scores")}


def test_no_score_and_no_group_are_counted() -> None:
    rows = list(lines(models=3, jobs=1, rounds=12))
    rows[0] |= {"score": ""}
    rows[1] |= {"group": ""}
    first = panel(rows).models[0]
    assert (first.rows, first.scored, first.unknown_group) == (36, 35, 1)


def test_other_candidates_are_not_the_same_pools() -> None:
    rows = list(lines(rounds=10))
    rows[0] |= {"candidate": "somebody else"}
    assert not panel(rows).same_pools


class TestCommand:
    def run(self, folder: Path, *more: str, content: bytes | None = None) -> int:
        (folder / "scores.csv").write_bytes(table(lines(rounds=12)) if content is None else content)
        return main(["validity", "--table", str(folder / "scores.csv"), "--out", str(folder / "out"), *more])

    def test_it_writes_page_document_and_tables(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run(tmp_path, "--reference", "White men", "--quotas", "1", "2") == 0
        assert {path.name for path in (tmp_path / "out").iterdir()} == {
            "validity.html", "validity.json", "correlations.csv", "model_selection.csv", "points.csv",
        }  # fmt: skip
        assert "highest mean correlation" in capsys.readouterr().out
        page = (tmp_path / "out" / "validity.html").read_text("utf-8")
        assert "<script" not in page and "Demographic parity gap" in page and "Equal opportunity gap" in page

    def test_nothing_is_overwritten(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run(tmp_path, "--reference", "White men", "--quotas", "1") == 0
        assert self.run(tmp_path, "--reference", "White men", "--quotas", "1") == 0
        assert self.run(tmp_path, "--reference", "White men", "--quotas", "2") == 2
        assert "is there already, and says something else" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ((), "--table needs --reference"),
            (("--reference", "White men", "some_run"), "runs and --table: give one or the other"),
            (("--reference", "white men"), "did you mean 'White men'"),
        ],
    )
    def test_what_does_not_go_together_is_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], words: str
    ) -> None:
        assert self.run(tmp_path, *more) == 2
        assert words in capsys.readouterr().err

    def test_the_schema_describes_what_is_written(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run(tmp_path, "--reference", "White men", "--quotas", "1") == 0
        capsys.readouterr()
        assert main(["schema", "--validity"]) == 0
        schema = json.loads(capsys.readouterr().out)
        document = json.loads((tmp_path / "out" / "validity.json").read_text("utf-8"))
        assert list(Draft202012Validator(schema).iter_errors(document)) == []
        assert list(Draft202012Validator(schema).iter_errors(document | {"level": "high"}))

    def test_options_of_a_table_do_not_go_with_runs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["validity", "a", "b", "--reference", "x", "--out", "nowhere"]) == 2
        assert "--reference goes with --table" in capsys.readouterr().err
