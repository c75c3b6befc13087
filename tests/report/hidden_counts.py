"""Audits of the same people under other names: for each hidden count, the most and the least that it could be.

A solver of integer programs (SciPy's) that knows of the printed ``report.json`` alone, and nothing of how cells are
chosen, moves people between groups and positions. What it finds is run as an audit of its own, and everything that is
published about the two audits is compared.
"""

from __future__ import annotations

import base64
import bz2
import io
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from audit_lib import pipeline, policies
from audit_lib.bag.write_bag import export_run
from audit_lib.cli.main import main
from audit_lib.oscal import assessment_results
from audit_lib.report_forms import report_forms
from audit_lib.run import Run
from audit_lib.site import publish
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.report.runs import WINDOW
from tests.report.test_suppress import suppressing

SEXES: Final = ("female", "male")
RACES: Final = ("White", "Black", "Asian")
POSITIONS: Final = ("cook", "driver", "clerk")
NAMES: Final = {
    "sex": {"female": "Female", "male": "Male"},
    "race": {"White": "White", "Black": "Black or African American", "Asian": "Asian"},
}
_DAY: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]?(\d\d:\d\d(:\d\d)?(\.\d+)?)?(Z|\+00:00)?( UTC)?|\d{8}T\d{6}Z"
)
_DIGEST_OR_TIME: Final = re.compile(
    r"(?<![0-9a-z])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,}(-[0-9a-f-]+)?"
    r"|\b[0-9a-f]{64}\b|\b\d{16}…|\b\d\d:\d\d(:\d\d)?\b"
)
Profile = tuple[str, str | None, str | None]
"""Position, sex and race; None: not known."""
State = tuple[bool, float | None]
"""Selected, and the score."""
People = Counter[tuple[Profile, State]]


@dataclass(frozen=True, slots=True)
class Case:
    """A made-up audit.

    Parameters
    ----------
    seed : int
        Of what is drawn.
    small : int
        Cells of fewer people are hidden.
    positions : int
        How many there are.
    unknown : float
        Share of people of unknown sex or race.
    scored : bool
        Whether there are scores, of which a tenth is missing, besides the decisions.
    pdf : bool
        Whether a PDF is made too.
    """

    seed: int
    small: int = 5
    positions: int = 2
    unknown: float = 0.0
    scored: bool = False
    pdf: bool = False

    def people(self) -> People:
        """Draw the people."""
        rng = np.random.default_rng(self.seed)
        found: People = Counter()
        for position in POSITIONS[: self.positions]:
            shares = rng.dirichlet(np.full(len(SEXES) * len(RACES), 1.2))
            rates = rng.uniform(0.2, 0.7, len(shares))
            for i in rng.choice(len(shares), 60, p=shares):
                sex, race = list(itertools.product(SEXES, RACES))[i]
                gone = rng.random(2) < self.unknown
                score = (None if rng.random() < 0.1 else float(rng.integers(1, 4))) if self.scored else None
                profile = position, None if gone[0] else sex, None if gone[1] else race
                found[profile, (bool(rng.random() < rates[i]), score)] += 1
        return found


def run_of(case: Case, people: People, folder: Path) -> Run:
    """Run the audit of some people to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    measure = ["impact_ratio", *(["scoring_rate_impact_ratio"] if case.scored else [])]
    path = recorded_audit(
        folder,
        groups={
            "provenance": "self_reported",
            "attributes": {"sex": list(SEXES), "race": list(RACES)},
        },
        decision={"rule": "recorded", "k": None, "round": None},
        measure={"metrics": measure, "strata": [[], ["position"]]},
        checks={"minimum_answered_share": 0.2, "maximum_answered_gap": 1.0},
        report={"formats": ["pdf"] if case.pdf else []},
    )
    each = [one for one, n in sorted(people.items(), key=repr) for _ in range(n)]
    rows = recorded_rows(len(each))
    for row, ((position, sex, race), (selected, score)) in zip(rows, each, strict=True):
        row |= {"position": position, "sex": sex, "race": race, "recorded_selected": selected}
        row |= {"recorded_score": score, "round_id": None, "occurred_at": "2026-01-06T12:00:00+00:00"}
    write_jsonl(folder / "prompts.jsonl", rows)
    run = pipeline.open_run(path, WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


class _Text(HTMLParser):
    """All that a page says: texts, attributes, scripts' data and drawings."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("name") == "audit-page-transcript":
            packed = base64.b64decode(str(given["content"]))
            given["content"] = bz2.decompress(packed).decode()
        self.said += [tag, *(word for k, v in given.items() for word in f"{k}={v}".split())]

    def handle_data(self, data: str) -> None:
        self.said += data.split()


def outputs(run: Run, folder: Path) -> dict[str, list[str]]:
    """Everything that is for people outside, as words, without digests and times, which tell runs apart."""
    found: dict[str, bytes] = {}
    for name in run.stage("report").success().artefacts:
        found[name] = run.stage("report").read(name)
    store = folder / "store"
    publish(str(store), base="https://audits.example.org/")
    for path in sorted(p for p in (store / "site").rglob("*") if p.is_file()):
        found[f"site/{path.relative_to(store / 'site').as_posix()}"] = path.read_bytes()
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(["show", run.uri]) == 0
    found["audit show"] = shown.getvalue().replace(str(folder), "FOLDER").encode()
    found["oscal"] = assessment_results(run)
    forms = report_forms(run, ["html", "json", "csv", "card"])
    found |= {f"form/{name}": content for name, content in forms.items()}
    export_run(run.uri, folder / "bag.zip", level="digests")
    with zipfile.ZipFile(folder / "bag.zip") as bag:
        for name in bag.namelist():
            if "/report/" in name and not name.endswith("_SUCCESS"):
                found[f"bag/{name.rpartition('/')[2]}"] = bag.read(name)
    return {_plain(name): _words(name, content) for name, content in found.items()}


def _words(name: str, content: bytes) -> list[str]:
    if name.endswith(".pdf"):
        import pdfplumber

        with pdfplumber.open(io.BytesIO(content)) as document:
            return _plain(" ".join(page.extract_text() for page in document.pages)).split()
    if name.endswith((".png", ".woff2", ".gz", ".ico")):
        return []
    said = content.decode()
    words = _Text(said).said if name.endswith((".html", ".svg")) else re.split(r"[\s,]+", said)
    return [_plain(word) for word in words]


def _plain(text: str) -> str:
    return _DIGEST_OR_TIME.sub("#", _DAY.sub("DAY", text))


def suppressed(patch: pytest.MonkeyPatch, case: Case) -> None:
    """Let audits be under a policy that hides."""
    pack = suppressing(case.small)
    patch.setattr(policies, "load_policy", lambda name, *_: pack)


def hide_the_same(patch: pytest.MonkeyPatch, hidden: frozenset[Any]) -> None:
    """Let the same cells be hidden: which were chosen is nothing that is promised to say nothing."""
    patch.setattr("audit_lib.report.suppress.redact.hidden_cells", lambda *_: hidden)


@dataclass(frozen=True)
class Count:
    """A hidden count: which people, in which state, and the range that it must keep."""

    name: str
    of: frozenset[int]
    true: int
    width: int
    within: int | None


class Attack:
    """What ``report.json`` says, as lines over the numbers of people of each profile in each state."""

    def __init__(
        self,
        document: Mapping[str, Any],
        people: People,
        small: int,
        names: Mapping[str, Mapping[str, str]] = NAMES,
    ) -> None:
        self.names = names
        states = sorted({state for _, state in people}, key=repr)
        places = sorted({profile[0] for profile, _ in people})
        sexes = [*names["sex"], *([None] if any(p[1] is None for p, _ in people) else [])]
        races = [*names["race"], *([None] if any(p[2] is None for p, _ in people) else [])]
        self.keys = [(p, s) for p in itertools.product(places, sexes, races) for s in states]
        self.true = np.array([people[key] for key in self.keys])
        self.lines: list[tuple[dict[int, int], float, float]] = []
        self.counts: list[Count] = []
        # Scores, decisions and their numbers in each position stay as they are: only whose they are may change.
        for place in places:
            for state in states:
                if any(score is not None for _, (_, score) in self.keys):
                    self._same(i for i, (p, s) in enumerate(self.keys) if p[0] == place and s == state)
        for state in states:
            self._same(i for i, (_, s) in enumerate(self.keys) if s == state)
        for table in document["metrics"]["tables"]:
            self._table(table, small)

    def _same(self, of: Any) -> None:
        of = list(of)
        self.lines.append((dict.fromkeys(of, 1), self.true[of].sum(), self.true[of].sum()))

    def _table(self, table: Mapping[str, Any], small: int) -> None:
        selection = table["kind"] == "selection"
        where = table["stratum"].get("position")
        own = [i for i, (p, _) in enumerate(self.keys) if where in (None, p[0])]
        if not selection:
            own = [i for i in own if self.keys[i][1][1] is not None]
        yes = {i for i in own if self._yes(i, own, selection)}
        rows = [(row, [i for i in own if self._in(i, row["category"])]) for row in table["rows"]]
        gone = [of for row, of in rows if row.get("suppressed")]
        self._same([i for _, of in rows for i in of])
        self._same(own)  # and so the people of unknown category
        if len(gone) < len(rows):
            self._same([i for of in gone for i in of if i in yes])
        for row, of in rows:
            if not row.get("suppressed"):
                assert row["n"] == self.true[of].sum(), (row, table["stratum"])
                self._same(of)
                self._same([i for i in of if i in yes])
                if set(row["category"]) == set(NAMES):  # whose scores are printed: quartiles, mean, how many
                    for score in {self.keys[i][1][1] for i in of}:
                        self._same([i for i in of if self.keys[i][1][1] == score])
        self._top(table, rows, yes)
        everybody = [i for _, of in rows for i in of]
        totals = [int(self.true[[i for i in everybody if (i in yes) == one]].sum()) for one in (True, False)]
        for row, of in rows:
            of_cell = int(self.true[of].sum())
            # Of a category that the spec has no level of, everybody knows that nobody is in it.
            if row.get("suppressed") and sum(totals) and of:
                name = f"{table['kind']} {table['stratum']} {row['label']}"
                self.counts.append(Count(name, frozenset(of), of_cell, min(small, sum(totals)), small - 1))
                for state, total in zip((True, False), totals, strict=True):
                    part = frozenset(i for i in of if (i in yes) == state)
                    width = max(1, min(of_cell, small - 1, total))
                    n = int(self.true[list(part)].sum())
                    self.counts.append(Count(f"{name} {state}", part, n, width, None))

    def _yes(self, i: int, own: list[int], selection: bool) -> bool:
        selected, score = self.keys[i][1]
        if selection:
            return selected
        place = self.keys[i][0][0]
        scores = np.repeat(
            [self.keys[j][1][1] for j in own if self.keys[j][0][0] == place],
            [self.true[j] for j in own if self.keys[j][0][0] == place],
        )  # fmt: skip
        return bool(score > np.median(scores))

    def _in(self, i: int, category: Mapping[str, str]) -> bool:
        _, sex, race = self.keys[i][0]
        own = {"sex": self.names["sex"].get(sex or ""), "race": self.names["race"].get(race or "")}
        return all(own[key] == value for key, value in category.items())

    def _top(self, table: Mapping[str, Any], rows: list[tuple[Any, list[int]]], yes: set[int]) -> None:
        """Who has the highest rate is the same row, or one of the hidden ones."""
        rates = [self.true[[i for i in of if i in yes]].sum() / max(1, self.true[of].sum()) for _, of in rows]
        top = int(np.argmax(rates))
        best, of_top = rows[top]
        for number, (row, of) in enumerate(rows):
            alike = bool(row.get("suppressed")) == bool(best.get("suppressed"))
            if number == top or row.get("excluded") or alike or not self.true[of].sum():
                continue
            line: Counter[int] = Counter()
            if best.get("suppressed"):  # rate of the top is at least the shown one
                s, n = row["selected"], row["n"]
                for i in of_top:
                    line[i] += (n if i in yes else 0) - s
                low = 1 if number < top else 0
                self.lines.append((dict(line), low, np.inf))
            else:
                s, n = best["selected"], best["n"]
                for i in of:
                    line[i] += s - (n if i in yes else 0)
                self.lines.append((dict(line), 1 if number < top else 0, np.inf))

    def extreme(self, count: Count, sign: int) -> np.ndarray | None:
        """Return the people among whom a count is largest (or smallest), whatever else is printed."""
        rows = [(r, v, c) for r, (line, _, _) in enumerate(self.lines) for v, c in line.items()]
        matrix = np.zeros((len(self.lines), len(self.keys)))
        for r, v, c in rows:
            matrix[r, v] = c
        gain = np.array([-sign * float(i in count.of) for i in range(len(self.keys))])
        result = milp(
            gain, integrality=np.ones(len(gain)), bounds=Bounds(0, np.inf),
            constraints=LinearConstraint(matrix, *np.array([line[1:] for line in self.lines]).T),
        )  # fmt: skip
        return None if result.x is None else np.rint(result.x).astype(int)

    def narrowed(self) -> tuple[list[str], list[np.ndarray]]:
        """Return which counts have less than their range, and the other audits, those furthest from the truth first."""
        told: list[str] = []
        ends: dict[bytes, np.ndarray] = {}
        for count in self.counts:
            found = [one for sign in (1, -1) if (one := self.extreme(count, sign)) is not None]
            assert len(found) == 2, "the truth is one of the possible audits"
            high, low = (int(one[list(count.of)].sum()) for one in found)
            covers = count.within is not None and low <= 1 and high >= count.within
            if high - low < count.width and not covers:
                told.append(f"{count.name}: {count.true}, {low} to {high}, needs {count.width}")
            ends |= {one.tobytes(): one for one in found if (one != self.true).any()}
        return told, sorted(ends.values(), key=lambda one: -abs(one - self.true).sum())

    def people(self, found: np.ndarray) -> People:
        """Return a solution as people."""
        return Counter({key: int(n) for key, n in zip(self.keys, found, strict=True) if n})


def differences(one: dict[str, list[str]], other: dict[str, list[str]]) -> Iterator[str]:
    """Say where two runs publish something else."""
    for name in sorted(one.keys() | other.keys()):
        a, b = one.get(name, []), other.get(name, [])
        if a != b:
            differ = [i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
            for i in differ[:3] or [min(len(a), len(b))]:
                near = slice(max(0, i - 6), i + 3)
                yield f"{name}: {' '.join(a[near])!r} / {' '.join(b[near])!r}"[:400]
