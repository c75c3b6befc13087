"""Every way of asking, in steps too, is asked again from the bundle: whoever answers as before is reproduced."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.errors import AuditError
from audit_lib.run import Run
from tests.archive.cases import WEEK
from tests.combinations.axes import ANSWERING, ASKED, DECIDED, VARIED, design_files
from tests.combinations.biased_judge import Judge
from tests.combinations.covering import covering
from tests.combinations.planted import Combination, content, rows
from tests.combinations.who_answers import KEY, KEY_NAME, Answering, judging
from tests.reproduce.test_remote import again

pytestmark = pytest.mark.slow
RUNS = 3
"""At most, of each way of asking, each by another backend."""


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(0.8)


@pytest.fixture(scope="module")
def who(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Answering]]:
    pytest.importorskip("torch", reason="torch is not installed")
    models = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch, judging(judge, models) as found:
        patch.setenv(KEY_NAME, KEY)
        yield found


def sealed_runs(folder: Path, asked: str, judge: Judge, who: Mapping[str, Answering]) -> Iterator[Run]:
    """Yield sealed runs of one way of asking, of all who can be asked so."""
    cases = [
        Combination(*names)
        for names in covering(
            [list(VARIED), [one for one in ANSWERING if one in who], [asked], list(DECIDED)]
        )
    ]
    random.Random(asked).shuffle(cases)
    seen: set[str] = set()
    for number, case in enumerate(cases):
        own, answering = folder / str(number), who[case.answering]
        if answering.cannot(case) is not None or answering.backend in (*seen, "recorded"):
            continue
        own.mkdir()
        for name, text in {**design_files(), **answering.files()}.items():
            (own / name).write_text(text)
        (own / "prompts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows(case, judge)[:48]))
        (own / "planted.yaml").write_text(json.dumps(content(case, answering, number)))
        try:
            run = pipeline.open_run(own / "planted.yaml", WEEK, str(own / "store"))
            pipeline.run_all(run)
        except AuditError:  # refused before anybody was asked, or too few answers
            continue
        seen.add(answering.backend)
        yield run


@pytest.mark.parametrize("asked", list(ASKED))
def test_what_was_asked_so_is_reproduced(
    asked: str, judge: Judge, who: Mapping[str, Answering], tmp_path: Path
) -> None:
    done = 0
    for run in sealed_runs(tmp_path, asked, judge, who):
        out = tmp_path / f"again_{done}"
        code, record = again(run.uri, out)
        assert (code, record.outcome, record.causes) == (0, "reproduced", ()), (run.spec.model, record)
        done += 1
        if done == RUNS:
            break
    assert done >= 2
