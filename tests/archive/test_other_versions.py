"""Evidence that another version made has no verdict here: it is neither verified nor accused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.recompute import _plan_again
from audit_lib.archive.verify import Verification, verify
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.cli.main import main
from audit_lib.signoff import verify_signed
from tests.archive.cases import do, new_run, reseal
from tests.archive.test_mutations import unpacked


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    run = do(new_run(folder, str(folder / "store")))
    return Path(run.uri)


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "bundle"))


def edit(path: Path, change: Callable[[Any], None], write: Callable[[Any], bytes] = pretty_json) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_bytes(write(document))


def by_an_older_pack(bundle: Path) -> None:
    edit(bundle / "plan/plan.json", lambda plan: plan["policy"].update(version="0.9.0"))
    reseal(bundle)


def by_one_that_kept_no_digest_of_packs(bundle: Path) -> None:
    """Without a key that plans have now: under one number the library was not always the same."""
    edit(bundle / "plan/plan.json", lambda plan: plan.pop("policy_digest"))
    reseal(bundle)


def by_an_older_library(bundle: Path) -> None:
    edit(bundle / "plan/plan.json", lambda plan: plan.update(seed=plan["seed"] + 1))
    reseal(bundle)
    edit(
        bundle / "evidence/manifest.json",
        lambda manifest: manifest["software"].update({"audit-lib": "0.0.9"}),
        canonical_json,
    )
    reseal(bundle)


def by_one_that_let_it_pass(bundle: Path) -> None:
    """The spec has what this version refuses, under the digest that names the run."""
    edit(bundle / "plan/spec.json", lambda spec: spec.update(a_key_of_old=1))
    inputs = {p.name: sha256(p.read_bytes()) for p in (bundle / "plan/inputs").glob("*")}
    digest = sha256((bundle / "plan/spec.json").read_bytes() + canonical_json(inputs))
    edit(bundle / "plan/plan.json", lambda plan: plan.update(spec_digest=digest))
    edit(
        bundle / "evidence/manifest.json",
        lambda manifest: manifest.update(spec_digest=digest),
        canonical_json,
    )
    reseal(bundle)


def plan_again(folder: Path) -> Verification:
    """Verify with the plan alone computed again: its difference is the one that counts here."""
    return verify(str(folder), recompute={"plan": _plan_again})


def test_as_it_was_made_it_verifies(bundle: Path) -> None:
    reseal(bundle)
    assert plan_again(bundle).ok


@pytest.mark.parametrize(
    "made",
    [
        by_an_older_pack,
        by_an_older_library,
        by_one_that_let_it_pass,
        by_one_that_kept_no_digest_of_packs,
    ],
)
def test_another_version_s_run_could_not_be_checked(bundle: Path, made: Callable[[Path], None]) -> None:
    made(bundle)
    checked = plan_again(bundle)
    assert checked.unchecked and not checked.ok, checked.summary()
    assert (
        checked.summary().startswith("COULD NOT BE CHECKED") and "version that made it" in checked.summary()
    )


def test_a_run_without_a_key_of_later_plans_is_shown(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_one_that_kept_no_digest_of_packs(bundle)
    assert main(["show", str(bundle)]) == 0
    assert main(["report", str(bundle), "--out", str(tmp_path / "again")]) == 0
    assert "is missing" not in "".join(capsys.readouterr())


def test_the_command_ends_with_2(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_one_that_let_it_pass(bundle)
    assert main(["verify", str(bundle)]) == 2
    assert "this version refuses it" in capsys.readouterr().out


@pytest.mark.parametrize(
    "made", [by_an_older_pack, by_one_that_let_it_pass, by_one_that_kept_no_digest_of_packs]
)
def test_a_version_excuses_no_changed_file(bundle: Path, made: Callable[[Path], None]) -> None:
    made(bundle)
    path = bundle / "report/report.html"
    path.write_bytes(path.read_bytes() + b"<p>approved</p>")
    checked = plan_again(bundle)
    assert not checked.ok and not checked.unchecked


def test_a_changed_plan_of_this_version_is_a_finding(bundle: Path) -> None:
    edit(bundle / "plan/plan.json", lambda plan: plan.update(seed=plan["seed"] + 1))
    reseal(bundle)
    checked = plan_again(bundle)
    assert not checked.ok and not checked.unchecked


def test_a_design_that_is_not_the_run_s_is_no_other_version(bundle: Path) -> None:
    edit(bundle / "plan/spec.json", lambda spec: spec.update(a_key_of_old=1))
    reseal(bundle)
    checked = plan_again(bundle)
    assert not checked.ok and not checked.unchecked


class TestItsNumbers:
    """Words change from version to version; the numbers that come out again are counted."""

    def test_of_format_1_every_number_comes_out_again(self, tmp_path: Path) -> None:
        """Nothing but words, and the pack's number, differs; what was signed has the sealed report's numbers."""
        checked = verify_signed(str(unpacked("format-1.zip", tmp_path) / "sealed"))
        assert checked.unchecked, checked.summary()
        version = checked.findings[-1]
        assert version.detail.endswith("of its 4,458 numbers in metrics/metrics.json 4,458 come out again")
        assert [line.startswith('signed by "Ada Auditor"') for line in checked.signed] == [True]
        assert any("its words were not made again" in note for note in checked.notes)

    def test_one_that_was_changed_is_named(self, bundle: Path) -> None:
        by_an_older_pack(bundle)
        edit(bundle / "metrics/metrics.json", lambda it: it["tables"][0]["rows"][0].update(selected=1))
        reseal(bundle)
        said = verify(str(bundle)).summary()
        assert said.startswith("COULD NOT BE CHECKED")
        assert "1 come out otherwise (tables[0].rows[0].selected)" in said

    def test_a_number_that_only_the_archive_has_is_counted(self, bundle: Path) -> None:
        by_an_older_pack(bundle)
        edit(bundle / "metrics/metrics.json", lambda it: it["tables"][0].update(of_old=[1, 2.5]))
        reseal(bundle)
        assert "2 are of a kind that is not computed here" in verify(str(bundle)).summary()
