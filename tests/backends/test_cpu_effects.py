"""Assertions and prints on the cpu backend: as in the interpreter, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from mytriton.backends.mlir.run import mlir_available
from mytriton.diagnostics import LaunchError
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.source import Span
from mytriton.types import SCALARS, bf16, f32, i1, i32, i64
from tests.backends.cpu_support import agree, at, compilation, masked_offsets, run
from tests.ir.kernels import pointer
from tests.ir.structured import loop

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))


def guarded_copy(block: int) -> Func:
    """Asserts that all indices are below n, in a loop over rows, and copies what they point to."""
    b = Builder()
    x, index, out, n, rows = pointer("x", f32), pointer("index", i32), pointer("out", f32), parameter("n", i32), None
    rows = parameter("rows", i32)
    lanes = b.add(ops.Arange, start=0, end=block)
    pid = b.add(ops.ProgramId, axis=0)

    def body(b: Builder, i: Value) -> list[Value]:
        row = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=pid, rhs=rows), rhs=i)
        offs = b.add(ops.Add, lhs=b.splat(b.add(ops.Mul, lhs=row, rhs=b.constant(block, i32)), (block,)), rhs=lanes)
        where = b.add(ops.Load, pointer=at(b, index, offs))
        b.span = Span(7, 9, 7, 30)
        b.append(
            ops.Assert(condition=b.add(ops.CmpLt, lhs=where, rhs=b.splat(n, (block,))), message="index out of range")
        )
        b.append(ops.Store(pointer=at(b, out, offs), value=b.add(ops.Load, pointer=at(b, x, where))))
        return []

    loop(b, 0, rows, 1, [], body)
    return b.finish("guarded", (x, index, out, n, rows))


@pytest.mark.parametrize("block", [1, 4, 16, 64])
def test_a_failed_assertion_stops_before_what_relies_on_it(block: int) -> None:
    func, rows, programs = guarded_copy(block), 3, 4
    size = rows * programs * block
    x = np.arange(10, dtype=np.float32)
    index = np.arange(size, dtype=np.int32) % 10
    run(func, [x, index, out := np.zeros(size, np.float32), 10, rows], (programs,))
    np.testing.assert_array_equal(out, x[index])
    bad = 7 * block + block // 2
    index[bad:] = 2**30  # anywhere but in x
    messages = []
    for launch in (run, interp.run):
        out = np.full(size, -1, np.float32)
        with pytest.raises(LaunchError) as failed:
            launch(func, [x, index, out, 10, rows], (programs,))
        messages.append(str(failed.value))
        np.testing.assert_array_equal(out[: 7 * block], x[index[: 7 * block]])
        assert (out[7 * block :] == -1).all()
    assert messages[0] == messages[1]
    where = f"assertion failed in lane {block // 2} of program (2, 0, 0)"
    assert messages[0] == f"line 7 of the kernel, column 9: {where}: index out of range"


def test_scalars_are_asserted_at_any_place_in_the_grid() -> None:
    b = Builder()
    n = parameter("n", i32)
    ids = [b.add(ops.ProgramId, axis=axis) for axis in range(3)]
    total = b.add(ops.Add, lhs=b.add(ops.Add, lhs=ids[0], rhs=ids[1]), rhs=ids[2])
    b.append(ops.Assert(condition=b.add(ops.CmpNe, lhs=total, rhs=n), message="sum"))
    func = b.finish("k", (n,))
    run(func, [100], (2, 3, 4))
    for n_ in (0, 3, 6):
        texts = []
        for launch in (run, interp.run):
            with pytest.raises(LaunchError) as failed:
                launch(func, [n_], (2, 3, 4))
            texts.append(str(failed.value))
        assert texts[0] == texts[1]
    assert texts[0].endswith("assertion failed in program (1, 2, 3): sum")


def test_an_assertion_that_holds_after_one_that_failed() -> None:
    b = Builder()
    n, out = parameter("n", i32), pointer("out", i32)
    b.append(ops.Assert(condition=b.add(ops.CmpGt, lhs=n, rhs=b.constant(0, i32)), message="positive"))
    b.append(ops.Store(pointer=out, value=n))
    func = b.finish("k", (n, out))
    result = np.zeros(1, np.int32)
    for _ in range(3):
        with pytest.raises(LaunchError, match="positive"):
            run(func, [0, result])
        run(func, [5, result])
        assert result[0] == 5


def test_of_programs_on_several_threads_the_first_failure_is_told() -> None:
    b = Builder()
    x, out, n = pointer("x", f32), pointer("out", f32), parameter("n", i32)
    offs, mask = masked_offsets(b, 1024, n)
    value = b.add(ops.Load, pointer=at(b, x, offs), mask=mask)
    b.append(ops.Assert(condition=b.add(ops.CmpGe, lhs=value, rhs=b.constant(0.0, f32, (1024,))), message="negative"))
    b.append(ops.Store(pointer=at(b, out, offs), value=value, mask=mask))
    func = b.finish("k", (x, out, n))
    size = 1 << 20
    data = np.zeros(size, np.float32)
    data[[5 * 1024 + 3, size - 1]] = -1
    with pytest.raises(LaunchError, match=r"lane 3 of program \(5, 0, 0\): negative"):
        run(func, [data, np.zeros(size, np.float32), size], (size // 1024,))


def printing() -> Func:
    """Prints a value of each type, a block, a block of rank 2, and nothing, in a loop, in two programs."""
    b = Builder()
    pointers = [pointer(f"{t.name}_ptr", t) for t in SCALARS.values()]
    pid = b.add(ops.ProgramId, axis=1)
    lanes = b.add(ops.Arange, start=0, end=4)
    loaded = [b.add(ops.Load, pointer=b.add(ops.AddPtr, pointer=p, offset=pid)) for p in pointers]

    def body(b: Builder, i: Value) -> list[Value]:
        b.append(ops.Print(values=(i, *loaded), prefix="scalars"))
        row = b.add(ops.Add, lhs=lanes, rhs=b.splat(i, (4,)))
        tile = b.add(ops.Broadcast, source=b.add(ops.Reshape, source=row, shape=(4, 1)), shape=(4, 2))
        halves = b.add(ops.Div, lhs=b.cast(row, f32), rhs=b.constant(3.0, f32, (4,)))
        b.append(ops.Print(values=(halves, tile, b.cast(row, bf16), b.cast(row, i1)), prefix="blocks:"))
        b.append(ops.Print(prefix="nothing"))
        return []

    loop(b, 0, 2, 1, [], body)
    return b.finish("printing", tuple(pointers))


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    args = [(rng.standard_normal(2) * 3).astype(DTYPES[t]) for t in SCALARS.values()]
    run(printing(), args, (1, 2, 1))
    ours = capsys.readouterr().out
    interp.run(printing(), args, (1, 2, 1))
    assert ours == capsys.readouterr().out
    lines = ours.splitlines()
    assert lines[0] == "pid (0, 0, 0) idx () scalars: 0"
    assert "pid (0, 1, 0) idx (2) blocks:: 1.0" in lines
    assert "pid (0, 1, 0) idx (3, 1) blocks:: 4" in lines
    assert len(lines) == 2 * 2 * (1 + len(SCALARS) + 4 + 8 + 4 + 4)


def test_a_print_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BrokenPipeError("nobody listens")

    monkeypatch.setattr("builtins.print", refuse)
    with pytest.raises(BrokenPipeError, match="nobody listens"):
        run(printing(), [np.zeros(2, DTYPES[t]) for t in SCALARS.values()], (1, 2, 1))


def test_parameters_called_like_what_assertions_and_prints_need(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("failure", "print", "jump", "returned", "zero", "starts", "number", "lane")
    b = Builder()
    params = [parameter(name, i32) for name in names]
    b.append(ops.Print(values=tuple(params), prefix="all"))
    for param in params:
        b.append(ops.Assert(condition=b.add(ops.CmpGt, lhs=param, rhs=b.constant(0, i32)), message=param.id))
    func = b.finish("longjmp", tuple(params))
    run(func, [1] * len(names))
    assert len(capsys.readouterr().out.splitlines()) == len(names)
    for number, name in enumerate(names):
        with pytest.raises(LaunchError, match=f"program \\(0, 0, 0\\): {name}$"):
            run(func, [int(k != number) for k in range(len(names))])


def test_volatile_loads_are_done_as_often_as_they_are_written() -> None:
    b = Builder()
    x, out, n = pointer("x", i64), pointer("out", i64), parameter("n", i32)
    offs, mask = masked_offsets(b, 64, n)
    twice = [b.add(ops.Load, pointer=at(b, x, offs), volatile=True) for _ in range(2)]
    masked = [b.add(ops.Load, pointer=at(b, x, offs), mask=mask, volatile=True) for _ in range(2)]
    scalar = [b.add(ops.Load, pointer=x, volatile=True) for _ in range(2)]
    total = b.splat(b.add(ops.Add, lhs=scalar[0], rhs=scalar[1]), (64,))
    for value in (*twice, *masked):
        total = b.add(ops.Add, lhs=total, rhs=value)
    b.append(ops.Store(pointer=at(b, out, offs), value=total, mask=mask))
    func = b.finish("k", (x, out, n))
    assert compilation(func).stage("llvm").text.count("load volatile") == 2 + 2 + 2  # a masked one is in a loop
    data = np.arange(64, dtype=np.int64) + 7
    result = agree(func, [data, np.zeros(64, np.int64), 50])[1]
    np.testing.assert_array_equal(result[:50], 4 * data[:50] + 14)
