"""Packs extend one another: each says only what differs, cites its own law for it, and may come from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.errors import SpecError
from audit_lib.policies import load_policy, parse_policy, policy_names, policy_of
from audit_lib.run import Run
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.inputs import recorded_audit
from tests.policies.packs import OWN, own_pack, shipped

MOST_REPEATED = 0.2
LENIENT = {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5}

RESOLVED = {
    "california_cppa": "1.0.0 207d99bfa1932e92e06c7f1cf5c8b8d3dca1e7d6563f826e1b014d1eee1ccd1f",
    "california_crd": "1.4.0 360655e69b731ed8a6739822fb3f80ce4d5c579e49ca52c15984221191b18080",
    "colorado_sb26_189": "1.1.0 07f8008520a262475ebce42903630eced102d31f7f9beeb05bcdf88b697b84c1",
    "connecticut_sb5": "1.0.0 9d0846d096300bcadac24a06cbf37955ee466bcc773ca79322771e187e3ebf28",
    "eu_ai_act_annex_iii": "1.4.0 07d6b3871397ebf59038556e63f971a523feb4c041d77de482ec7f1b48c5af35",
    "generic": "1.2.0 3c4160714a91a9a600543fd0ca9072a603e65b6e07b879d1a27afc123ce97d33",
    "illinois_hb3773": "1.0.0 e10455f33c76f5cc82a8bf5479447c7f51f34f664228644e980cdfe7ce6d0146",
    "new_jersey_13_16": "1.1.0 3242e1d5ce69877dbc8021f214b9c975fe3db3a2238358fb9f5382adf25bfc8f",
    "nyc_ll144": "1.5.0 7be47548dd3ed6e876cabb830c9ab2c6a4eb50c00cfa01a3858465d9ed6cb3cc",
    "ontario_esa": "1.0.0 e44b64cb7329df065f62d071b68e251de0b6d96837a52d839302f3cdba20b45f",
    "texas_hb149": "1.0.0 9e4437db492cd29453a140527d4ae6688713a63c43c10051be30b827b8cd81d0",
    "us_ugesp": "1.4.0 5976f8bbcfc9615d8e93fe6ee32085e910024854452bd9979f6ded6a2bedea32",
}
"""Version and digest of each pack with all that it extends: a pack that changes gets another version."""


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value with its place; an entry of a list is placed by its name, and a bare name is no value."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, f"{path}/{key}")
    elif isinstance(node, list):
        for place, one in enumerate(node):
            if isinstance(one, dict):
                name = next((one[key] for key in ("id", "name", "term") if key in one), place)
                yield from leaves({k: v for k, v in one.items() if v is not name}, f"{path}/{name}")
            else:
                yield f"{path}/{one}", one
    else:
        yield path, node


def own_document(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(shipped(name))
    return document


def repeated(own: dict[str, Any], base: dict[str, Any]) -> list[str]:
    there = dict(leaves(base))
    return [path for path, value in leaves(own) if path in there and there[path] == value]


@pytest.mark.parametrize("name", sorted(set(policy_names()) - {"generic"}))
def test_no_pack_repeats_what_it_extends(name: str) -> None:
    own = own_document(name)
    base = own_document(own["extends"])
    again = repeated(own, base)
    assert len(again) <= MOST_REPEATED * len(list(leaves(base))), again
    assert len(again) <= MOST_REPEATED * len(list(leaves(own))), again


def test_what_counts_as_repeated() -> None:
    """Written out in full, as the packs were, each of them would fail."""
    for name in sorted(set(policy_names()) - {"generic"}):
        base = own_document("generic")
        whole = json.loads(load_policy(name).model_dump_json(by_alias=True))
        assert len(repeated(whole, base)) > MOST_REPEATED * len(list(leaves(base))), name


@pytest.mark.parametrize("name", policy_names())
def test_a_pack_that_changes_gets_another_version(name: str) -> None:
    pack = load_policy(name)
    assert f"{pack.version} {pack.digest}" == RESOLVED[name]


def test_what_is_not_said_is_the_other_packs() -> None:
    pack, base = parse_policy(OWN.encode(), "ours.yaml"), load_policy("generic")
    ours, theirs = pack.clock("validity"), base.clock("validity")
    assert (ours.amount, ours.unit, ours.cite) == (6, "months", "section 4")
    assert (ours.starts, ours.kind) == (theirs.starts, "validity")
    assert pack.clocks[1] == base.clocks[1]
    assert [one.id for one in pack.citations] == ["ordinance", "guidelines"]
    for part in ("tables", "guidance", "switches", "wording", "caveats", "glossary", "required_fields"):
        assert getattr(pack, part) == getattr(base, part)


def test_a_list_says_which_entries_there_are_and_in_which_order() -> None:
    text = OWN + "glossary: [Undefined, {term: Median, text: The middle.}, {term: New, text: A new one.}]\n"
    pack = parse_policy(text.encode(), "ours.yaml")
    undefined = next(one for one in load_policy("generic").glossary if one.term == "Undefined")
    assert pack.glossary[0] == undefined
    assert [(one.term, one.text) for one in pack.glossary[1:]] == [
        ("Median", "The middle."),
        ("New", "A new one."),
    ]
    assert parse_policy((OWN + "gates: []\n").encode(), "ours.yaml").gates == ()


def test_null_takes_a_key_out() -> None:
    pack = parse_policy((OWN + "wording: {title_unsigned: null}\n").encode(), "ours.yaml")
    assert set(load_policy("generic").wording) - set(pack.wording) == {"title_unsigned"}


@pytest.mark.parametrize("name", policy_names())
@pytest.mark.parametrize("extends", [None, "generic"])
def test_a_pack_under_another_states_name_is_refused(name: str, extends: str | None) -> None:
    document = json.loads(load_policy(name).model_dump_json(by_alias=True))
    document["caveats"] = [{"name": str(n), "text": text} for n, text in enumerate(document["caveats"])]
    document["experiment_caveats"] = [
        {"name": str(n), "text": text} for n, text in enumerate(document["experiment_caveats"])
    ]
    document |= {"name": "texas", "jurisdiction": "Texas", "law": "Law of Texas", "short_law": "Texas"}
    if extends:
        document["extends"] = extends
    with pytest.raises(SpecError, match=r"texas\.yaml: cites no law of its own: `citations` holds no source"):
        parse_policy(yaml.safe_dump(document).encode(), "texas.yaml")


def test_a_source_on_which_nothing_rests_is_no_law_of_its_own() -> None:
    text = OWN[: OWN.index("clocks:")]
    with pytest.raises(SpecError, match="cites no law of its own: every `cite` in it is one of another pack"):
        parse_policy(text.encode(), "ours.yaml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            ", cite: section 4",
            "",
            r"clocks\.audit: differs in amount, seen, status, unit, what; give the `cite`",
        ),
        ("  - evidence", "  - evidences", r"clocks: no entry is named 'evidences'; did you mean 'evidence'"),
        ("version: 1.0.0\n", "", "version: each pack says its own"),
        ("citations:", "citation:", "citations: each pack says its own"),
        (
            "extends: generic",
            "extends: generics",
            "extends: no policy is named 'generics'; did you mean 'generic'",
        ),
        ("extends: generic", "extends: [generic]", "extends: should be the name of a pack"),
        ("extends: generic", "extends: ../generic.yaml", "extends: no policy is named '../generic.yaml'"),
        ("name: example_county", "name: nyc_ll144", "a pack named 'nyc_ll144' is there already"),
        ("short_law: ", "short_law: x\nshort_law: ", "the key 'short_law' is given twice"),
        ("amount: 6", "amount: six", "clocks.0.amount"),
    ],
)
def test_a_fault_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecError, match=f"ours.yaml.*{said}|^{said}"):
        parse_policy(own_pack(old, new, OWN), "ours.yaml")


def with_pack(folder: Path, text: str = OWN) -> Path:
    """Write a spec that names a pack next to it."""
    folder.mkdir(exist_ok=True)
    (folder / "ours.yaml").write_text(text, encoding="utf-8")
    return recorded_audit(folder, report={"policy": "ours.yaml"}, checks=LENIENT)


def opened(path: Path) -> Run:
    return pipeline.open_run(path, Window.parse("2026-01-05", "2026-01-12"), str(path.parent / "store"))


def test_a_pack_next_to_the_spec_is_archived_and_verifies_without_its_file(tmp_path: Path) -> None:
    path = with_pack(tmp_path)
    pipeline.check(AuditSpec.load(path))
    run = opened(path)
    pipeline.run_all(run)
    (tmp_path / "ours.yaml").unlink()
    archived = Run.load(run.uri)
    pack = policy_of(archived.spec)
    plan = archived.stage("plan").read_json("plan.json")
    assert plan["policy"] == {"name": "example_county", "version": "1.0.0"}
    assert plan["policy_digest"] == parse_policy(OWN.encode(), "x").digest
    assert archived.design_file("report.policy") == OWN.encode()
    assert pack.clock("validity").amount == 6
    assert "Ordinance 7" in archived.stage("report").read("report.html").decode()
    checked = verify(run.uri)
    assert not checked.findings and {"plan", "metrics", "report"} <= {*checked.recomputed}


def test_another_pack_under_the_same_name_is_another_run(tmp_path: Path) -> None:
    first = opened(with_pack(tmp_path / "one"))
    again = opened(with_pack(tmp_path / "two"))
    other = opened(with_pack(tmp_path / "three", OWN.replace("amount: 6", "amount: 7")))
    assert first.key == again.key != other.key


def test_a_pack_that_is_changed_in_the_evidence_is_found(tmp_path: Path) -> None:
    run = opened(with_pack(tmp_path))
    pipeline.run_all(run)
    archived = Path(run.uri) / "plan" / "inputs" / "report.policy"
    archived.chmod(0o644)
    archived.write_text(OWN.replace("amount: 6", "amount: 60"), encoding="utf-8")
    assert any("report.policy" in finding.path for finding in verify(run.uri).findings)


def test_a_pack_that_is_not_there_is_told_before_the_run(tmp_path: Path) -> None:
    path = with_pack(tmp_path)
    (tmp_path / "ours.yaml").unlink()
    with pytest.raises(SpecError, match=r"report\.policy: ours\.yaml cannot be read"):
        pipeline.check(AuditSpec.load(path))


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_pack_that_is_no_file_is_refused_and_nobody_waits(tmp_path: Path, kind: str) -> None:
    path = with_pack(tmp_path)
    pack = tmp_path / "ours.yaml"
    pack.unlink()
    if kind == "pipe":
        os.mkfifo(pack)
    elif kind == "folder":
        pack.mkdir()
    else:
        pack.symlink_to("/dev/zero")
    with pytest.raises(SpecError, match=r"report\.policy: ours\.yaml in .* is not a file"):
        pipeline.check(AuditSpec.load(path))
