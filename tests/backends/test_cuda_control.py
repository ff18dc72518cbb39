"""How loops, branches, carried values and exchanges read in CUDA C++."""

from __future__ import annotations

import pytest

from mytriton.backends.cuda.emit import emit
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Block, Func, Value
from mytriton.layout.assign import lay_out
from mytriton.source import Span
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import f32, i32, u32
from tests.backends.gpu_control_cases import collatz, rotation
from tests.backends.gpu_tile_cases import transposed
from tests.ir.kernels import at, pointer
from tests.ir.structured import branch, loop, while_loop


def emitted(func: Func, target: Target | None = None) -> list[Line]:
    target = target or Target()
    return emit(lay_out(func, target), target)


def kernel_lines(func: Func, target: Target | None = None) -> list[str]:
    """The lines of the kernel's body, without indentation."""
    lines = [line.text for line in emitted(func, target)]
    first = next(n for n, line in enumerate(lines) if line.endswith(") {") and not line.startswith(" "))
    return [line.strip() for line in lines[first + 1 : lines.index("}", first)]]


def counting(lower: Value | int, upper: Value | int, step: Value | int, *params: Value) -> Func:
    b, out = Builder(), pointer("out", i32)
    (total,) = loop(b, lower, upper, step, [b.constant(0, i32)], lambda b, i, t: [b.add(ops.Xor, lhs=t, rhs=i)])
    b.append(ops.Store(pointer=out, value=total))
    return b.finish("counting", (out, *params))


N = parameter("n", i32)


@pytest.mark.parametrize(
    ("bounds", "head"),
    [
        ((0, N, 1), "for (int v0 = 0; v0 < n; ++v0) {"),
        ((N, 0, -1), "for (int v0 = n; v0 > 0; --v0) {"),
        ((0, 64, 16), "for (int v0 = 0; v0 < 64; v0 += 16) {"),
        ((7, -9, -4), "for (int v0 = 7; v0 > -9; v0 -= 4) {"),
        ((9, 2**31 - 1, 2), "for (unsigned v0_trip = 0, v0_trips = mt_trips_i32(9, 2147483647, 2); v0_trip < v0_trips; ++v0_trip) {"),  # noqa: E501
        ((5, N, 4), "for (unsigned v0_trip = 0, v0_trips = mt_trips_i32(5, n, 4); v0_trip < v0_trips; ++v0_trip) {"),
        ((0, 9, N), "for (unsigned v0_trip = 0, v0_trips = mt_trips_i32(0, 9, n); v0_trip < v0_trips; ++v0_trip) {"),
    ],
)  # fmt: skip
def test_a_loop_counts_by_itself_where_it_cannot_pass_the_end_of_its_type(
    bounds: tuple[Value | int, Value | int, Value | int], head: str
) -> None:
    assert head in kernel_lines(counting(*bounds, N))


def test_counted_trips_say_where_the_variable_stands() -> None:
    assert "int v0 = 5u + v0_trip * 4u;" in kernel_lines(counting(5, N, 4, N))
    assert "int v0 = v0_trip * (unsigned)n;" in kernel_lines(counting(0, 9, N, N))
    assert "int v0 = (unsigned)n + v0_trip * (unsigned)-3;" in kernel_lines(counting(N, -(2**31), -3, N))


def test_a_carried_value_is_one_variable() -> None:
    lines = kernel_lines(counting(0, N, 1, N), Target(num_warps=1))
    assert lines == [
        "int v1 = 0;",
        "for (int v0 = 0; v0 < n; ++v0) {",
        "v1 = v1 ^ v0;",
        "}",
        "if (threadIdx.x == 0) {",
        "*out = v1;",
        "}",
    ]


def test_rotations_put_aside_only_what_a_cycle_needs() -> None:
    lines = kernel_lines(rotation((256,), 2).func)
    turn = lines.index("v3[r] = v5[r];")
    # x, y, z = y, z, new needs nothing; k, m = m, new neither; p, q = q, p is a cycle.
    assert lines[turn : turn + 2] == ["v3[r] = v5[r];", "v5[r] = v7[r];"]
    old = [line for line in lines if "_old" in line]
    assert len(old) == 2 and old[0].startswith("float* ")


def test_while_with_a_simple_condition() -> None:
    lines = kernel_lines(collatz().func)
    assert "while (v2 != 1LL) {" in lines
    assert lines.count("else {") == 1 and "v2 = v2 / 2LL;" in lines


def test_while_whose_condition_takes_several_steps() -> None:
    b, x, out = Builder(), pointer("x", i32), pointer("out", i32)

    def condition(b: Builder, p: Value) -> list[Value]:
        return [b.add(ops.CmpNe, lhs=b.add(ops.Load, pointer=p), rhs=b.constant(0, i32))]

    (end,) = while_loop(b, [x], condition, lambda b, p: [b.add(ops.AddPtr, pointer=p, offset=b.constant(1, i32))])
    b.append(ops.Store(pointer=out, value=b.add(ops.Load, pointer=end)))
    lines = kernel_lines(b.finish("find", (x, out)), Target(num_warps=1))
    start = lines.index("while (true) {")
    assert lines[start + 1 : start + 7] == [
        "int v1 = *v0;",
        "bool v2 = v1 != 0;",
        "if (!v2) {",
        "break;",
        "}",
        "v0 = v0 + 1;",
    ]


def test_a_branch_that_does_nothing_is_not_printed() -> None:
    b, out, n = Builder(), pointer("out", i32), parameter("n", i32)
    condition = b.add(ops.CmpLt, lhs=n, rhs=b.constant(0, i32))
    value = b.add(ops.Mul, lhs=n, rhs=n)
    (same,) = branch(b, condition, lambda b: [value], lambda b: [b.add(ops.Neg, source=value)])
    b.append(ops.Store(pointer=out, value=same))
    lines = kernel_lines(b.finish("choose", (out, n)), Target(num_warps=1))
    assert lines[2:5] == ["if (!v0) {", "v1 = 0u - v1;", "}"]


def test_names_of_the_author_carry_through_and_mean_one_thing() -> None:
    b, out, n = Builder(), pointer("out", i32), parameter("n", i32)
    zero, one = b.constant(0, i32), b.constant(1, i32)
    for _ in range(2):  # two loops over `k`, one after the other, that add to `total`
        k, total = (Value(b.ids.fresh(False), i32, hint) for hint in ("k", "total"))
        inner = Builder(b.ids)
        inner.hint = "total"
        more = inner.add(ops.Add, lhs=total, rhs=k)
        inner.append(ops.Yield(values=(more,)))
        body = Block((k, total), tuple(inner.ops))
        b.hint = "total"
        zero = b.append(ops.For(lower=one, upper=n, step=one, initial=(zero,), body=body)).result
        b.hint = ""
    b.append(ops.Store(pointer=out, value=zero))
    lines = kernel_lines(b.finish("sums", (out, n)), Target(num_warps=1))
    assert lines[:4] == ["int total = 0;", "for (int k = 1; k < n; ++k) {", "total = (unsigned)total + k;", "}"]
    assert lines[4:7] == lines[1:4]


def test_lines_of_loops_know_their_place_and_values() -> None:
    b, out = Builder(), pointer("out", i32)
    b.span = at(3)

    def body(b: Builder, i: Value, t: Value) -> list[Value]:
        b.span = at(4)
        return [b.add(ops.Xor, lhs=t, rhs=i)]

    (total,) = loop(b, 0, N, 1, [b.constant(0, i32)], body)
    b.span = at(5)
    b.append(ops.Store(pointer=out, value=total))
    lines = emitted(b.finish("counting", (out, N), span=Span(1, 1, 5, 1)), Target(num_warps=1))
    found = {line.text.strip(): line for line in lines}
    head = found["for (int v0 = 0; v0 < n; ++v0) {"]
    assert head.span == at(3) and {"%0", "n"} <= set(head.values)
    assert found["v1 = v1 ^ v0;"].span == at(4)
    assert {"%0", "%1", "%2"} <= set(found["v1 = v1 ^ v0;"].values)
    assert found["*out = v1;"].span == at(5)


def test_a_matrix_goes_through_shared_memory_in_rounds() -> None:
    lines = kernel_lines(transposed(u32, (128, 128), (1, 0)).func)
    assert lines[0] == "__shared__ __align__(16) unsigned char mt_shared[32768];"
    start = lines.index("for (int round = 0; round < 2; ++round) {")
    assert lines[start + 1] == "__syncthreads();"
    assert "__syncthreads();" in lines[start + 2 : lines.index("}", start) + 10]


def test_shuffles_combine_the_lanes() -> None:
    b, x, out = Builder(), pointer("x", f32), pointer("out", f32)
    lanes = b.add(ops.Arange, start=0, end=32)
    value = b.add(ops.Load, pointer=b.add(ops.AddPtr, pointer=b.splat(x, (32,)), offset=lanes))
    b.append(ops.Store(pointer=out, value=b.add(ops.Reduce, source=value, axis=0, combine="add")))
    func = b.finish("sum32", (x, out))
    lines = kernel_lines(func, Target(num_warps=1))
    start = lines.index("for (int lane = 16; lane > 0; lane /= 2) {")
    assert lines[start + 1] == "v4 = v4 + __shfl_xor_sync(0xffffffffu, v4, lane);"
    assert not any("shared" in line for line in lines)
