"""What examples/mlir shows works, and is in the README."""

from __future__ import annotations

import gc
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mytriton import mlir
from tests.running import runner

FOLDER = Path(__file__).parents[2] / "examples/mlir"
README = FOLDER.parents[1] / "README.md"


def example(name: str) -> ModuleType:
    runner("cpu")  # skips where there is no MLIR
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_names_all() -> None:
    named = set(re.findall(r"examples/mlir/(\w+)\.py", README.read_text()))
    assert named == {path.stem for path in FOLDER.glob("*.py")}


def test_saxpy(capsys: pytest.CaptureFixture[str]) -> None:
    example("saxpy").main()
    assert "the array holds float64" in capsys.readouterr().out


def test_walk(capsys: pytest.CaptureFixture[str]) -> None:
    example("walk").main()
    printed = capsys.readouterr().out
    assert "linalg.generic at 15:8 in row_sums: identity, projection" in printed
    assert "linalg.generic at 6:8 in add_transposed: identity, transpose, identity" in printed


def test_pipelines(capsys: pytest.CaptureFixture[str]) -> None:
    example("pipelines").main()
    printed = capsys.readouterr().out
    assert "no such option no-such-option" in printed
    assert "affine-loop-unroll: Unroll affine loops" in printed


def test_builders(capsys: pytest.CaptureFixture[str]) -> None:
    example("builders").main()
    assert capsys.readouterr().out.count("math.fma") == 4


def test_matmul(capsys: pytest.CaptureFixture[str]) -> None:
    matmul = example("matmul")
    matmul.main(64, 0.0)
    rows = capsys.readouterr().out.splitlines()
    assert [row.split("  ")[0] for row in rows[4:]] == ["NumPy", *matmul.WAYS]
    schedules = mlir.read(FOLDER / "matmul_schedules.mlir")
    texts = {name: mlir.apply(matmul.payload(64), schedules, name).text for name in ("tiled", "vectorized", "packed")}
    assert "linalg.matmul" in texts["tiled"]
    assert "iter_args" not in texts["tiled"]
    for name in ("vectorized", "packed"):  # what stays in registers is handed from step to step
        assert "linalg" not in texts[name]
        assert "iter_args" in texts[name]
    assert "memref.alloc" in texts["packed"]


def test_a_bound_call_keeps_its_code() -> None:
    runner("cpu")
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    call = mlir.jit(mlir.read(FOLDER / "saxpy.mlir"))["saxpy"].bind(2.0, x, y)
    gc.collect()
    call()
    assert y.tolist() == [3, 3, 3, 3]
