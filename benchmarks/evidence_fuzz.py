"""Feeds changed bytes to the readers of evidence for some time, in one process, and keeps what went wrong.

    python -m benchmarks.evidence_fuzz readers --seeds FOLDER --seconds 1800 --out FILE.json
    python -m benchmarks.evidence_fuzz whole --seeds FOLDER --seconds 1800 --out FILE.json

`readers` read one document each; they are guided by coverage where the package atheris is there, else fed by chance.
It is no dependency: ``pip install --target FOLDER atheris``, and FOLDER on ``PYTHONPATH``. `whole` verifies a run of
which one file was changed, by chance alone, with equal time for each way of doing so. A fault is an exception that is
not the reader's own, an input that takes more than `SLOW` seconds of the processor, and one that makes the process
`LARGE` bytes larger. The first input of each is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from benchmarks.evidence_targets import Target

SLOW: Final = 20.0
LARGE: Final = 512 << 20
GUIDED: Final = (
    "audit_lib.canonical", "audit_lib.typed_json", "audit_lib.documents.evidence", "audit_lib.documents.trust",
    "audit_lib.documents.journal", "audit_lib.journal", "audit_lib.journal_lines", "audit_lib.signing", "audit_lib.bag",
    "audit_lib.archive.record_proof", "audit_lib.archive.personal_data", "audit_lib.archive.merkle",
    "audit_lib.archive.record_tree", "verifier",
)  # fmt: skip
"""Modules and packages whose branches guide the choice of inputs."""


@dataclass
class Count:
    """What is counted of one target."""

    inputs: int = 0
    refused: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    slowest_s: float = 0.0
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)


class Fuzzing:
    """Several targets, and what is counted while they are fed; the first byte of an input chooses the target."""

    def __init__(self, targets: dict[str, Target], seconds: float, out: Path, engine: str) -> None:
        self.names, self.targets = list(targets), targets
        self.seconds, self.out, self.engine = seconds, out, engine
        self.counts = {name: Count() for name in targets}
        self._began = self._told = time.monotonic()
        self._cpu = time.process_time()

    @property
    def seeds(self) -> list[bytes]:
        """Inputs to begin with, of all targets."""
        return [
            bytes([number]) + one
            for number, name in enumerate(self.names)
            for one in self.targets[name].seeds
        ]

    def header(self, data: bytes) -> int:
        """Return how many of the first bytes choose what is fed."""
        return 1 + self.targets[self._name(data)].header

    def _name(self, data: bytes) -> str:
        return self.names[data[0] % len(self.names)] if data else self.names[0]

    def feed(self, data: bytes) -> None:
        """Give one input to the target that it chooses."""
        name = self._name(data)
        target, count = self.targets[name], self.counts[name]
        size, wall, cpu = _size(), time.monotonic(), time.process_time()
        try:
            target.call(data[1:])
        except target.refusals:
            count.refused += 1
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is what is looked for
            self._fault(name, f"{type(error).__name__} at {_where(error)}", data, traceback.format_exc())
        took, grown = time.process_time() - cpu, _size() - size
        if took > SLOW:
            self._fault(name, f"slower than {SLOW:.0f} s", data, f"{took:.1f} s")
        if grown > LARGE:
            self._fault(name, f"more than {LARGE >> 20} MiB", data, f"{grown >> 20} MiB")
        count.inputs += 1
        count.cpu_s += took
        count.wall_s += time.monotonic() - wall
        count.slowest_s = max(count.slowest_s, took)
        if time.monotonic() - self._told > 5:
            self.tell()

    def _fault(self, name: str, what: str, data: bytes, detail: str) -> None:
        fault = self.counts[name].faults.setdefault(what, {"times": 0, "detail": detail[-3000:]})
        if not fault["times"]:
            number = sum(len(one.faults) for one in self.counts.values())
            path = self.out.with_name(f"{self.out.stem}-fault-{number}.bin")
            path.write_bytes(data)
            fault["input"] = path.name
        fault["times"] += 1

    def tell(self) -> None:
        """Write how far it is: the guided engine ends the process without a word."""
        self._told = time.monotonic()
        said = {
            "engine": self.engine,
            "wall_s": round(self._told - self._began, 1),
            "cpu_s": round(time.process_time() - self._cpu, 1),
            "peak_mib": _size() >> 20,
            "targets": {name: asdict(one) for name, one in self.counts.items()},
        }
        self.out.write_text(json.dumps(said, indent=2))

    def by_chance(self, number: int) -> None:
        """Feed changed seeds until the time is over, to the target that had the least of it."""
        from benchmarks.evidence_changes import changed

        draw = random.Random(number)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            name = min(self.names, key=lambda one: (self.counts[one].wall_s, self.counts[one].inputs))
            data = bytes([self.names.index(name)]) + draw.choice(self.targets[name].seeds)
            start = self.header(data)
            for _ in range(draw.randrange(1, 4)):
                data = data[:start] + changed(data[start:], draw)
            self.feed(data)
        self.tell()

    def guided(self, number: int) -> None:
        """Let atheris choose the inputs; it ends this process."""
        import atheris

        from benchmarks.evidence_changes import changed

        def change(given: bytes, size: int, seed: int) -> bytes:
            draw, data = random.Random(seed), bytes(given)
            start = self.header(data)
            rest = data[start:]
            made = atheris.Mutate(rest, size - start) if draw.random() < 0.4 else changed(rest, draw)
            return (data[:start] + bytes(made))[:size]

        corpus = self.out.with_suffix(".corpus")
        corpus.mkdir(exist_ok=True)
        for place, one in enumerate(self.seeds):
            (corpus / f"seed-{place:04d}").write_bytes(one)
        options = [
            f"-max_total_time={self.seconds:.0f}", f"-max_len={2 * max(map(len, self.seeds))}", "-timeout=1000000",
            f"-seed={number}", "-rss_limit_mb=6000", "-len_control=0", f"-artifact_prefix={corpus}-",
        ]  # fmt: skip
        atheris.Setup([sys.argv[0], *options, str(corpus)], self.feed, custom_mutator=change)
        atheris.Fuzz()


def _instrument() -> None:
    """Have each function of these modules tell which branches it takes."""
    import atheris

    for name, module in sorted(sys.modules.items()):
        if not any(name == one or name.startswith(f"{one}.") for one in GUIDED):
            continue
        owners = [module, *(one for one in vars(module).values() if isinstance(one, type))]
        for owner in owners:
            for value in list(vars(owner).values()):
                if isinstance(value, FunctionType) and value.__module__ == name:
                    atheris.instrument_func(value)


def _size() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _where(error: BaseException) -> str:
    frames = [
        f"{Path(one.filename).name}:{one.lineno}"
        for one in traceback.extract_tb(error.__traceback__)
        if any(f"/{folder}/" in one.filename for folder in ("audit_lib", "verifier", "benchmarks"))
    ]
    return frames[-1] if frames else "?"


def main(arguments: list[str] | None = None) -> None:
    """Feed some targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=("readers", "whole"))
    parser.add_argument("--seeds", type=Path, required=True, help="folder of evidence_runs.write_seeds")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--number", type=int, default=1, help="seed of the draws")
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    guided = options.which == "readers" and find_spec("atheris") is not None
    from benchmarks import evidence_targets

    if guided:
        _instrument()
    names = evidence_targets.READERS if options.which == "readers" else evidence_targets.WHOLE
    targets = {name: evidence_targets.target(name, options.seeds) for name in names}
    engine = "guided by coverage (atheris)" if guided else "by chance"
    fuzzing = Fuzzing(targets, options.seconds, options.out, engine)
    for one in fuzzing.seeds if options.which == "readers" else ():
        fuzzing.feed(one)
    fuzzing.tell()
    (fuzzing.guided if guided else fuzzing.by_chance)(options.number)


if __name__ == "__main__":
    main()
