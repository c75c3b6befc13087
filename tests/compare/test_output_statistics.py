"""What answers look like, whom the papers would leave out, and what models perceive: on answers that were planted."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from audit_lib.compare import compare
from audit_lib.errors import InputError
from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.score.requests import Request
from tests.compare.cases import sealed
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake
from tests.specs import INCLUDE

MIDDLE = 135
"""Of 256: how many of the pairs turn with the order, so that the share lies between the two limits."""


def turns(request: Request, most: int) -> bool:
    """Tell by a hash whether a pair is one that turns with the order; the same in both orders."""
    pair = " and ".join(sorted(one.variant_id for one in request.candidates))
    return hashlib.sha256(pair.encode()).digest()[0] < most


def prefers(most: int) -> Any:
    """Name the first in the alphabet, and of some pairs whoever is shown first."""

    def answer(request: Request) -> tuple[float, ...]:
        names = request.labels[:2]
        chosen = names[0] if turns(request, most) else min(names)
        return tuple(0.9 if label == chosen else 0.05 for label in request.labels)

    return answer


def test_models_whose_answers_turn_are_counted_by_both_rules(tmp_path: Path) -> None:
    runs = []
    for name, most in (("steady", 0), ("middle", MIDDLE), ("turning", 256)):
        fake(name, prefers(most))
        model = {"backend": name, "name": name, "valid_judge": False}
        runs.append(
            up_to(open_audit(tmp_path / name, "pairwise", model=model, audit=f"of_{name}"), "evidence")
        )
    made = compare(runs)
    document = json.loads(made["comparison.json"])
    shares = [inconsistent(run) for run in runs]
    assert shares[0] == 0 and 0.5 < shares[1] <= 0.55 and shares[2] == 1
    for run, share in zip(document["runs"], shares, strict=True):
        pairs = run["statistics"]["pairs"]
        assert pairs["inconsistent"] / pairs["pairs"] == pytest.approx(share, abs=1e-12)
    excluded = {one["limit"]: one["excluded"] for one in document["exclusions"]}
    assert excluded == {
        limit: [place for place, share in enumerate(shares) if share > limit] for limit in (0.5, 0.55)
    }
    page = made["comparison.html"].decode()
    assert "2 of 3 models have more than 50% of their pairs not consistent" in page
    assert "1 of 3 models have more than 55% of their pairs not consistent" in page


def inconsistent(run: Run) -> float:
    """Count pairs whose two orders do not name one candidate, from the archived answers."""
    found: dict[frozenset[str], set[str]] = {}
    for shard in (0, 1):
        answers = from_parquet(run.stage(f"scores/{shard}").read("pairs.parquet"))
        for row in answers.to_dict("records"):
            winner = row[row["answer"]] if row["answer"] in ("first", "second") else row["answer"]
            found.setdefault(frozenset((row["first"], row["second"])), set()).add(str(winner))
    return sum(len(winners) > 1 for winners in found.values()) / len(found)


def test_what_models_perceive_stands_side_by_side(tmp_path: Path) -> None:
    question = tmp_path / "sex.yaml"
    question.write_text("messages:\n- {role: user, content: '{{resume}} Is it female or male?'}\n")
    runs = []
    for name in ("sees", "guesses"):
        fake(name, perceiving(sees=name == "sees"))
        sections: dict[str, Any] = {
            "model": {"backend": name, "name": name, "valid_judge": False},
            "audit": f"of_{name}",
            "prompt": {"template": str(INCLUDE / "prompts" / "resume_screening.yaml"), "read": "labels",
                       "labels": ["No", "Yes"], "relevance": [0, 1]},
            "manipulation": {"questions": {"sex": str(question)}, "unsure": "unsure"},
            "measure": {"metrics": ["score_gap", "manipulation_agreement"], "strata": [[]]},
            "checks": {"minimum_agreement": 0.1},
        }  # fmt: skip
        runs.append(up_to(open_audit(tmp_path / name, "pointwise", **sections), "evidence"))
    made = compare(runs)
    rows = from_parquet(runs[0].stage("variants").read("variants.parquet"))
    rows = rows[rows["variation"] == "check:sex"]
    asked, of_women = len(rows), int((rows["sex"] == "female").sum())
    seen = int(((rows["sex"] == "female") & rows["messages"].str.contains("Ms.", regex=False)).sum())
    assert 0 < seen < of_women < asked
    section = made["comparison.html"].decode()
    section = section[section.index('id="manipulation"') :]
    section = re.sub(r"<[^>]+>", " ", section[: section.index("</section>")])
    table = " ".join(section.split())
    assert re.search(rf"sees sex, all levels [\d. to]+ {asked} {asked - of_women + seen} 0 0 0 0", table), (
        table
    )
    # It is right about half of each application's versions, by design: between these nothing varies.
    assert re.search(
        rf"guesses sex, all levels 0\.500 undefined {asked} {asked - of_women} 0 0 0 0", table
    ), table


def perceiving(*, sees: bool) -> Any:
    """Name the sex by the title, or say male of everybody."""

    def answer(request: Request) -> tuple[float, ...]:
        if "female" not in request.labels:
            return (0.3, 0.7)
        women = "Ms." in request.messages[-1].content
        chosen = "female" if women and sees else "male"
        return tuple(0.9 if label == chosen else 0.05 for label in request.labels)

    return answer


def test_other_versions_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sealed(tmp_path, "fair-1")
    from audit_lib.archive import manifest

    here = manifest.software()
    monkeypatch.setattr(manifest, "software", lambda: here | {"audit-lib": "0.0.9"})
    second = sealed(tmp_path, "kind-1")
    made = compare([first, second])
    versions = [one["software"]["audit-lib"] for one in json.loads(made["comparison.json"])["runs"]]
    assert versions == [here["audit-lib"], "0.0.9"]
    page = made["comparison.html"].decode()
    assert f"audit-lib {versions[0]} (fair-1), 0.0.9 (kind-1)" in page and "Different versions" in page


def test_the_same_versions_are_not_mentioned(tmp_path: Path) -> None:
    made = compare([sealed(tmp_path, "fair-1"), sealed(tmp_path, "kind-1")])
    assert "Different versions" not in made["comparison.html"].decode()


def test_other_numbers_of_generations_are_refused(tmp_path: Path) -> None:
    """The highest of three answers is not that of two."""
    lines = (INCLUDE / "demo" / "letters.jsonl").read_text(encoding="utf-8").splitlines()
    runs = []
    for number in (2, 3):
        rows = [json.loads(line) | {"recorded_model": f"letters-{number}"} for line in lines]
        runs.append(
            sealed(
                tmp_path, f"letters-{number}", rows, task="generation", decision=None,
                source={"paths": [f"letters-{number}.jsonl"], "fields": ["request"]},
                groups={"provenance": "assigned", "attributes": {"sex": ["female", "male"]},
                        "reference": {"sex": "male"}, "categories": {}},
                score={"repeats": number},
                classifiers=[{"name": "rude", "kind": "lexicon", "measures": "toxicity",
                              "options": {"words": str(INCLUDE / "demo" / "rude_words.csv")}}],
                measure={"metrics": ["expected_maximum"], "strata": [[]]},
            )
        )  # fmt: skip
    with pytest.raises(InputError, match=r"score\.repeats \(3, and 2 in .*expected_maximum grows"):
        compare(runs)
