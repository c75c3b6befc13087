"""What every source keeps to, those of installed packages too; and what a source that reads no file can do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import Field

from audit_lib.errors import InputError, SpecError
from audit_lib.options import Options
from audit_lib.preflight import preflight
from audit_lib.registry import Registry
from audit_lib.sample.sources import SOURCES, Input, Source, source_of
from audit_lib.sample.tables import Record, RecordStream
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.sample import cases
from tests.specs import load


@pytest.fixture(params=SOURCES.names())
def kind(request: pytest.FixtureRequest) -> type[Source]:
    return SOURCES.get(request.param)


def test_it_says_what_it_is_and_what_its_options_mean(kind: type[Source]) -> None:
    assert issubclass(kind, Source)
    assert (kind.__doc__ or "").strip()
    assert issubclass(kind.Options, Options)
    assert all(field.description for field in kind.Options.model_fields.values())
    assert set(kind.takes) <= {"paths", "batch_inputs"}


@pytest.mark.parametrize("name", SOURCES.names())
def test_it_refuses_an_unknown_option_by_its_key(name: str, tmp_path: Path) -> None:
    source = {
        "kind": name,
        "options": {"no_such_option": 1},
        "paths": ["x.jsonl"][: len(SOURCES.get(name).takes)],
    }
    with pytest.raises(SpecError, match=rf"source\.options\.no_such_option: unknown option of {name}"):
        source_of(load(tmp_path, source=source))


@pytest.mark.parametrize("name", [name for name, kind in SOURCES if "paths" in kind.takes])
def test_it_wants_files_where_it_reads_them(name: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=rf"source\.paths: name one file or more; kind {name} reads them"):
        source_of(load(tmp_path, source={"kind": name, "paths": []}))


@pytest.mark.parametrize("name", [name for name, kind in SOURCES if "batch_inputs" not in kind.takes])
def test_files_that_it_would_not_read_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match=rf"source\.batch_inputs: would be ignored by kind {name}; it is for openai"
    ):
        source_of(
            load(
                tmp_path,
                source={
                    "kind": name,
                    "paths": ["x.jsonl"][: len(SOURCES.get(name).takes)],
                    "batch_inputs": ["x"],
                },
            )
        )


class Made(Source):
    """Rows that are made, and read from nowhere."""

    class Options(Options):
        """How many."""

        people: int = Field(12, description="How many people.")

    Options: ClassVar[type[Options]] = Options

    def inputs(self, window: Window) -> Iterator[tuple[str, Input]]:
        rows = cases.people(self.options.people)
        yield "made", RecordStream(Record(row, f"row {n}") for n, row in enumerate(rows, start=1))

    def unreadable(self) -> Iterator[InputError]:
        yield InputError("made: the well is dry")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry[type[Source]]("sources", "audit_lib.sample.sources")
    for name, kind in SOURCES:
        registry(name)(kind)
    registry("made")(Made)
    monkeypatch.setattr("audit_lib.sample.sources.SOURCES", registry)


def spec_of(folder: Path, **options: Any) -> AuditSpec:
    return load(folder, source={"kind": "made", "paths": [], "options": options})


@pytest.mark.usefixtures("made")
def test_a_source_without_files_is_sampled_as_the_same_rows_of_a_file_are(tmp_path: Path) -> None:
    cases.write(tmp_path, "people.jsonl", cases.people(6))
    of_file = cases.run(tmp_path, source={"paths": ["people.jsonl"]})
    made = cases.run(tmp_path, source={"kind": "made", "paths": [], "options": {"people": 6}})
    assert made.artefacts["prompts.parquet"] == of_file.artefacts["prompts.parquet"]
    (told,) = cases.document(made)["sources"]
    lines = "".join(json.dumps(row, sort_keys=True) + "\n" for row in cases.people(6))
    assert told == {
        "path": "made",
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "rows_read": 6,
        "rows_in_window": 6,
    }


@pytest.mark.usefixtures("made")
def test_its_options_have_its_own_types(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"source\.options\.people: Input should be a valid integer"):
        source_of(spec_of(tmp_path, people="many"))
    with pytest.raises(
        SpecError, match=r"source\.options\.poeple: unknown option of made; did you mean 'people'"
    ):
        source_of(spec_of(tmp_path, poeple=3))


@pytest.mark.usefixtures("made")
def test_what_it_cannot_open_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    assert "made: the well is dry" in [fault.what for fault in preflight(spec_of(tmp_path), offline=True)]


@pytest.mark.usefixtures("made")
def test_a_source_that_reads_no_file_is_given_none(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match=r"source\.paths: would be ignored by kind made; it is for files, openai"
    ):
        source_of(load(tmp_path, source={"kind": "made", "paths": ["x.csv"]}))


def test_options_are_part_of_the_design_and_none_leave_its_bytes_as_they_were(tmp_path: Path) -> None:
    plain = load(tmp_path)
    assert b'"options"' not in plain.canonical().split(b'"demographics"')[0].split(b'"source"')[1]
    with_options = spec_of(tmp_path, people=3)
    assert json.loads(with_options.canonical())["source"]["options"] == {"people": 3}
    assert with_options.digest({}) != spec_of(tmp_path, people=4).digest({})
