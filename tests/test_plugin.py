"""A package of somebody else's brings a metric, its figure, a policy pack, a source and a backend; one audit uses all.

The wheel is built, installed into a folder of its own, and used in processes that have this folder on their path: as
on a machine where it was installed, and with no edit in audit_lib.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.postgres import postgres_server
from tests.sample.cases import people
from tests.specs import REPOSITORY, content

sa = pytest.importorskip("sqlalchemy", reason="the source of the package needs SQLAlchemy")
pytest.importorskip("setuptools", reason="the wheel is built with setuptools")
pytestmark = pytest.mark.slow(
    reason="builds and installs a wheel, and runs whole audits in processes of their own"
)

WINDOW = ("2026-01-05", "2026-01-12")
QUERY = """
SELECT prompt_id, application_id, position, resume, sex, race, occurred_at
FROM applications WHERE occurred_at < :end ORDER BY prompt_id
"""


PROMPT = """
messages:
  - {role: user, content: "Should we interview this person? Answer Yes or No. {{resume}}"}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(REPOSITORY / "tests" / "plugin", folder / "source")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, folder / "source"],
        check=True,
    )
    (wheel,) = folder.glob("acme_audit-1.0-*.whl")
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--target", folder / "site", wheel], check=True
    )
    return folder / "site"


def fill(url: str) -> None:
    """Write the applicants into a table of the database, in an order of its own."""
    engine = sa.create_engine(url)
    rows = [
        {key: row[key] for key in ("prompt_id", "application_id", "position", "resume", "sex", "race")}
        | {"occurred_at": row["occurred_at"]}
        for row in people()
    ]
    kind = "TIMESTAMP WITH TIME ZONE" if engine.dialect.name == "postgresql" else "TEXT"
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE TABLE applications (prompt_id TEXT, application_id TEXT, position TEXT, resume TEXT, "
                f"sex TEXT, race TEXT, occurred_at {kind})"
            )
        )
        columns = ", ".join(rows[0])
        values = ", ".join(f":{name}" for name in rows[0])
        connection.execute(sa.text(f"INSERT INTO applications ({columns}) VALUES ({values})"), rows[::-1])
    engine.dispose()


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'people.db'}"
    fill(url)
    return url


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        fill(url)
        yield url


def environment(site: Path, **variables: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{REPOSITORY}", **variables}


def write_spec(folder: Path) -> Path:
    spec = content(
        source={
            "kind": "acme_database",
            "options": {"url_env": "PEOPLE_URL", "name": "the table applications", "query": QUERY},
            "windowed": True,
        },
        groups={"provenance": "self_reported"},
        model={"backend": "word_count", "name": "word count", "options": {"half": 50}, "valid_judge": False},
        prompt={"template": "prompt.yaml"},
        measure={"metrics": ["impact_ratio", "above_median_gap"]},
        report={"policy": "acme_county"},
    )
    del spec["source"]["paths"]
    (folder / "prompt.yaml").write_text(PROMPT, encoding="utf-8")
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def audit(*arguments: str | Path, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "audit_lib.cli", *map(str, arguments)],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def run_audit(folder: Path, site: Path, url: str) -> Path:
    """Run the audit; return the folder of its run."""
    folder.mkdir()
    spec, env = write_spec(folder), environment(site, PEOPLE_URL=url)
    for command in (("validate", spec), ("run", spec, "--window", *WINDOW, "--store", folder / "store")):
        done = audit(*command, env=env, cwd=folder)
        assert done.returncode == 0, done.stderr
    (found,) = (folder / "store" / "small").glob("*/*/evidence")
    return found.parent


@pytest.fixture(scope="module")
def of_sqlite(tmp_path_factory: pytest.TempPathFactory, site: Path, sqlite: str) -> Path:
    return run_audit(tmp_path_factory.mktemp("audit") / "sqlite", site, sqlite)


def test_one_audit_uses_all_four_and_verifies(of_sqlite: Path, site: Path, tmp_path: Path) -> None:
    done = audit("verify", of_sqlite, env=environment(site), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    metrics = json.loads((of_sqlite / "metrics" / "metrics.json").read_bytes())
    mine = [one for one in metrics["estimates"] if one["metric"] == "above_median_gap"]
    assert any(isinstance(one["value"], float) for one in mine)
    sample = json.loads((of_sqlite / "sample" / "sample.json").read_bytes())
    assert [source["path"] for source in sample["sources"]] == ["the table applications"]
    assert sample["rows"] == 7
    model = json.loads(next((of_sqlite / "scores").glob("*/model.json")).read_bytes())
    assert model["backend"] == "word_count"
    page = (of_sqlite / "report" / "report.html").read_text(encoding="utf-8")
    for said in ("Above-median gap", "minus that of the reference", "Ordinance 7", "the table applications"):
        assert said in page
    assert 'class="plain-list"' in page


def test_the_page_knows_a_metric_that_another_process_computed(site: Path) -> None:
    code = "from audit_lib.measure.metric import record_of; print(record_of('above_median_gap').title)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(site), capture_output=True, text=True, check=True
    )
    assert done.stdout == "Above-median gap\n"


def test_a_real_postgres_gives_the_same_sample_and_numbers(
    of_sqlite: Path, site: Path, postgres: str, tmp_path: Path
) -> None:
    of_postgres = run_audit(tmp_path / "postgres", site, postgres)
    for artefact in ("sample/prompts.parquet", "metrics/metrics.json"):
        assert (of_postgres / artefact).read_bytes() == (of_sqlite / artefact).read_bytes()


def test_a_database_that_is_not_there_is_told_before_anything_else(site: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/no/such/folder/people.db?password=hunter2"
    done = audit("validate", write_spec(tmp_path), env=environment(site, PEOPLE_URL=url), cwd=tmp_path)
    assert done.returncode != 0
    assert "the table applications: the database cannot be read (OperationalError)" in done.stderr
    assert "hunter2" not in done.stderr


def test_the_schema_knows_the_options_of_its_parts(site: Path, tmp_path: Path) -> None:
    done = audit("schema", env=environment(site), cwd=tmp_path)
    schema = json.loads(done.stdout)
    assert "acme_database" in schema["$defs"]["Source"]["properties"]["kind"]["examples"]
    assert '"url_env"' in done.stdout
    assert '"half"' in done.stdout


@pytest.mark.parametrize(
    ("contract", "part"),
    [
        ("tests/measure/test_metric_contract.py", "above_median_gap"),
        ("tests/sample/test_source_contract.py", "acme_database"),
        ("tests/score/test_backend_contract.py", "word_count"),
        ("tests/policies/test_policies.py", "acme_county"),
        ("tests/report/test_figure_contract.py", "plain_list"),
    ],
)
def test_the_contract_over_all_parts_holds_for_its_own(site: Path, contract: str, part: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", contract, "-k", f"[{part}"],
        env=environment(site),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
