"""The GPU benchmark's steps run without a GPU, and say that none was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "gpu.py"


@pytest.mark.slow  # two processes that import torch: 30 s
@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-5), ("bfloat16", 0.1)])
def test_the_gpu_benchmark_runs_in_smoke_mode(tmp_path, dtype, most):
    into = tmp_path / "result.json"
    command = [sys.executable, str(SCRIPT), "--smoke", "--dtype", dtype, "--json", str(into)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "not measured on a GPU" in done.stdout
    result = json.loads(into.read_text())
    assert result["measured_on_gpu"] is False and result["dtype"] == dtype
    (shape,) = result["shapes"]
    assert set(shape["floors"]) == (
        set() if dtype == "float32" else {"alone", "tree", "prefix", "branches", "once"}
    )
    assert [w["workload"] for w in shape["workloads"]] == ["pointwise", "pairwise"]
    for one in shape["workloads"]:
        assert one["bound"] > 1.2 and one["unique_tokens"] < one["tokens"] and one["way"] == "tree"
        assert one["largest_difference"] < most and one["share_of_peak"] > 0
