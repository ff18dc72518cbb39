"""The interpreter as a backend: launching through the public interface, errors at the author's line, torch tensors."""

from __future__ import annotations

import sys
import types
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton.arrays import host_array
from mytriton.backends.interp import BACKEND
from mytriton.target import Target


@mytriton.jit
def shift_kernel(x, out, n, by, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offs + by)
    tl.store(out + offs, value * 2, mask=offs < n)


def launch(x: Any, out: Any, by: int, **options: Any) -> Any:
    return shift_kernel[(2,)](x, out, len(out), by, BLOCK=4, backend="interp", **options)


def test_a_launch_runs_in_place() -> None:
    x, out = np.arange(12, dtype=np.int64), np.zeros(7, np.int64)
    result = launch(x, out, 3)
    assert out.tolist() == [6, 8, 10, 12, 14, 16, 18]
    assert result.compilation.stages[-1].name == "opt/dce"
    assert result.src == result.compilation.stage("opt/dce").text


def test_it_has_no_stages_and_is_always_available() -> None:
    assert BACKEND.name == "interp"
    assert tuple(BACKEND.planned(Target(backend="interp"))) == ()
    assert BACKEND.available() is None


def test_an_access_outside_is_an_error_at_the_authors_line() -> None:
    x, out = np.arange(8, dtype=np.int64), np.zeros(8, np.int64)
    line = shift_kernel.function.__code__.co_firstlineno + 3
    with pytest.raises(mytriton.LaunchError) as error:
        launch(x, out, 3)
    text = str(error.value)
    assert text.startswith(f"{__file__}:{line}:13: load outside of `x`: element 8 of 8, lane 1 of program (1, 0, 0)")
    with pytest.raises(mytriton.LaunchError, match="element -1 of 8, lane 0 of program"):
        launch(x, out, -1)


class FakeTensor:
    """As much of a torch CPU tensor as is used; torch itself is not a dependency."""

    def __init__(self, array: np.ndarray[Any, Any], dtype: str = "float32", device: str = "cpu") -> None:
        self.array, self.dtype = array, dtype
        self.device = types.SimpleNamespace(type=device)

    def detach(self) -> FakeTensor:
        return self

    def view(self, dtype: str) -> FakeTensor:
        return FakeTensor(self.array.view(dtype), dtype)

    def element_size(self) -> int:
        return self.array.itemsize

    def numpy(self) -> np.ndarray[Any, Any]:
        if self.dtype in ("torch.bfloat16", "torch.float8_e5m2"):
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return self.array


def test_torch_tensors_share_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.SimpleNamespace(Tensor=FakeTensor, int16="int16", int8="int8")
    monkeypatch.setitem(sys.modules, "torch", fake)  # type: ignore[arg-type]
    floats = np.zeros(4, np.float32)
    assert host_array(FakeTensor(floats)) is floats
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        short = np.ones(4, dtype)
        viewed = host_array(FakeTensor(short, f"torch.{np.dtype(dtype).name}"))
        assert viewed.dtype == dtype
        viewed[0] = 3
        assert short[0] == 3
    on_gpu = FakeTensor(floats, device="cuda")
    assert host_array(on_gpu) is on_gpu
    assert host_array(5) == 5


@mytriton.jit
def add_one(x: Any) -> None:
    tl.store(x, tl.load(x) + 1)


def test_an_array_without_axes_is_changed_in_place() -> None:
    x = np.array(2, np.float32)
    add_one[1](x, backend="interp")
    assert x == 3
