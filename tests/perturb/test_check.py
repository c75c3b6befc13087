"""What a spec's section ``perturb`` gets wrong is found before anything is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import LexiconError, SpecError
from audit_lib.perturb.check import check_perturb
from audit_lib.pipeline import check
from tests.inputs import write_jsonl
from tests.perturb.cases import GROUPS, prompts, table, write_lexicons
from tests.specs import LIVE, load

NAMES = ["first_name", "last_name", "sex", "race"]
LEXICONS = {"names": "names.csv", "pronouns": "pronouns.csv", "titles": "titles.csv"}


@pytest.mark.parametrize(
    ("lexicons", "perturb", "message"),
    [
        ({"pronouns": table(["sex", "subject"], [])}, {}, r"perturb\.pronouns: the lexicon has no row"),
        ({"names": table(NAMES, [["A", "B", *g] for g in GROUPS[1:]])}, {}, "0 names for female White"),
        ({"titles": table(["sex", "title"], [["male", "Mr."]])}, {}, r"perturb\.titles: no row for sex 'female'"),
        ({}, {"minimum_first_share": 0.9}, r"perturb\.names: no column 'first_name_share', which a key"),
        ({"sexes": table(["female"], [["she"]])}, {"terms": {"sex": "sexes.csv"}}, r"perturb\.terms\.sex"),
    ],
)  # fmt: skip
def test_a_lexicon_that_cannot_be_used(
    tmp_path: Path, lexicons: dict[str, str], perturb: dict[str, Any], message: str
) -> None:
    write_lexicons(tmp_path, **lexicons)
    write_jsonl(tmp_path / "prompts.jsonl", prompts())
    spec = load(tmp_path, perturb=LEXICONS | perturb, prompt={"template": "template.csv"}, model=LIVE)
    with pytest.raises(LexiconError, match=message):
        check(spec)


@pytest.mark.parametrize("size", [4, 9])
def test_a_block_that_is_no_part_of_the_groups(tmp_path: Path, size: int) -> None:
    write_lexicons(tmp_path)
    design = {"design": "balanced_incomplete", "block_size": size}
    spec = load(tmp_path, perturb=LEXICONS | design, prompt={"template": "template.csv"}, model=LIVE)
    with pytest.raises(
        SpecError, match=rf"perturb\.block_size: .* of 4 groups needs .* 2 to 3 .* has {size}; choose"
    ):
        check_perturb(spec, spec.read_design_files())


def test_two_groups_have_no_incomplete_blocks(tmp_path: Path) -> None:
    write_lexicons(tmp_path)
    spec = load(
        tmp_path,
        groups={"attributes": {"sex": ["female", "male"]}, "reference": {"sex": "male"}, "categories": {}},
        perturb=LEXICONS | {"design": "balanced_incomplete", "block_size": 2},
        prompt={"template": "template.csv"},
        model=LIVE,
    )
    with pytest.raises(
        SpecError, match=r"perturb\.design: 2 groups have no incomplete blocks; use `design: full`"
    ):
        check_perturb(spec, spec.read_design_files())


def test_lexicons_that_can_be_used_pass(tmp_path: Path) -> None:
    write_lexicons(tmp_path)
    design = {"design": "balanced_incomplete", "block_size": 2}
    spec = load(tmp_path, perturb=LEXICONS | design, prompt={"template": "template.csv"}, model=LIVE)
    check_perturb(spec, spec.read_design_files())
