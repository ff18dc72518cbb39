"""Common subexpressions and dead code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Block, Func, Value
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from mytriton.passes.cse import cse
from mytriton.passes.dce import dce
from mytriton.passes.fold import fold
from mytriton.types import f32, i1, i32, i64
from tests.ir.kernels import at, at_offsets, binary_kernel, copy_kernel, offsets, pointer
from tests.ir.structured import branch, loop


def texts(func: Func) -> list[str]:
    verify(func)
    return [line.text for line in print_func(func)]


def test_repeated_offsets_are_merged_into_the_first() -> None:
    b = Builder()
    x, out = pointer("x", f32), pointer("out", f32)
    b.span = at(2)
    value = b.add(ops.Load, pointer=at_offsets(b, x, offsets(b, 128)))
    b.span = at(3)
    b.append(ops.Store(pointer=at_offsets(b, out, offsets(b, 128)), value=value))
    result, changes = cse(b.finish("k", (x, out)))
    assert texts(result) == [
        "%0 = program_id {axis=0} : i32",
        "%1 = mul %0, 128 : i32",
        "%2 = arange {start=0, end=128} : vector<128 x i32>",
        "%3 = add %1, %2 : vector<128 x i32>",
        "%4 = addptr x, %3 : vector<128 x ptr<f32>>",
        "%5 = load %4 : vector<128 x f32>",
        "%10 = addptr out, %3 : vector<128 x ptr<f32>>",
        "store %10, %5",
    ]
    assert [(c.before, c.after, c.why) for c in changes] == [
        ("%6 = program_id {axis=0} : i32", "%0", "same as %0"),
        ("%7 = mul %0, 128 : i32", "%1", "same as %1"),
        ("%8 = arange {start=0, end=128} : vector<128 x i32>", "%2", "same as %2"),
        ("%9 = add %1, %2 : vector<128 x i32>", "%3", "same as %3"),
    ]
    assert {c.span for c in changes} == {at(3)}


def test_loads_are_merged_unless_something_between_may_write() -> None:
    b = Builder()
    x, y, c = pointer("x", i32), pointer("y", i32), parameter("c", i1)

    def load(b: Builder, **hints: object) -> Value:
        value = b.add(ops.Load, pointer=x, **hints)
        b.append(ops.Print(values=(value,), prefix=""))
        return value

    def store(b: Builder) -> list[Value]:
        b.append(ops.Store(pointer=y, value=b.constant(0, i32)))
        return []

    first = load(b)
    load(b)  # merged
    load(b, mask=c)
    load(b, cache="cg")
    branch(b, c, lambda b: [load(b), load(b)][2:])  # both merged
    store(b)
    load(b)
    branch(b, c, lambda b: [*store(b), load(b)][1:], lambda b: [load(b)][1:])  # the second merged
    load(b)
    loop(b, 0, first, 1, [], lambda b, i: [load(b), *store(b)][1:])
    loop(b, 0, first, 1, [], lambda b, i: [load(b)][1:])
    load(b)  # the loop before may have made no trip
    load(b, volatile=True)
    load(b)
    result, changes = cse(b.finish("k", (x, y, c)))
    verify(result)
    assert [(c.before, c.after) for c in changes] == [
        ("%1 = load x : i32", "%0"),
        ("%4 = load x : i32", "%0"),
        ("%5 = load x : i32", "%0"),
        ("%8 = load x : i32", "%6"),
    ]
    assert changes[0].why == "same as %0, and nothing between them writes"


def test_a_load_of_an_outer_block_is_known_in_a_loop_that_does_not_write() -> None:
    b = Builder()
    x, n = pointer("x", i32), parameter("n", i32)
    first = b.add(ops.Load, pointer=x)
    (last,) = loop(b, 0, n, 1, [first], lambda b, i, v: [b.add(ops.Add, lhs=v, rhs=b.add(ops.Load, pointer=x))])
    b.append(ops.Store(pointer=x, value=last))
    result, changes = cse(b.finish("k", (x, n)))
    verify(result)
    assert [(c.before, c.after) for c in changes] == [("%3 = load x : i32", "%0")]


def both(cls: type[ops.Binary] | type[ops.Compare], a: str = "xy", b: str = "yx") -> int:
    """How many of two operations on given operands remain."""
    build = Builder()
    values = {name: parameter(name, i32) for name in "xy"}
    pair = [build.add(cls, lhs=values[s[0]], rhs=values[s[1]]) for s in (a, b)]
    out = pointer("out", i1 if issubclass(cls, ops.Compare) else i32)
    for value in pair:
        build.append(ops.Store(pointer=out, value=value))
    result, _ = cse(build.finish("k", (*values.values(), out)))
    verify(result)
    return sum(isinstance(op, cls) for op in result.walk())


def test_operands_of_commutative_operations_may_be_swapped() -> None:
    assert [both(cls) for cls in (ops.Add, ops.Mul, ops.CmpEq, ops.Maximum)] == [1, 1, 1, 1]
    assert [both(cls) for cls in (ops.Sub, ops.FloorDiv, ops.CmpLt)] == [2, 2, 2]
    assert both(ops.Sub, "xy", "xy") == 1


def test_constants_are_told_apart_by_type_and_bits() -> None:
    b = Builder()
    constants = [b.constant(0.0, f32), b.constant(-0.0, f32), b.constant(0.0, f32)]
    constants += [b.constant(1, i32), b.constant(1, i64), b.constant(True, i1)]
    nan = [b.constant(float("nan"), f32), b.constant(float("nan"), f32)]
    for value in (*constants, *nan):
        element = value.type
        out = pointer("out", element)  # type: ignore[arg-type]
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=constants[3]), value=value))
    func = b.finish("k", ())
    kept = [op.result.id for op in cse(func)[0].walk() if isinstance(op, ops.Constant)]
    assert kept == ["%c0", "%c1", "%c3", "%c4", "%c5", "%c6"]


def test_merged_constants_are_not_logged_because_no_line_changes() -> None:
    func = binary_kernel()
    b = Builder()
    x = parameter("x", i32)
    out = pointer("out", i32)
    y = b.add(ops.Mul, lhs=b.add(ops.Add, lhs=x, rhs=b.constant(3, i32)), rhs=b.constant(3, i32))
    b.append(ops.Store(pointer=out, value=y))
    func = b.finish("k", (x, out))
    result, changes = cse(func)
    assert changes == ()
    assert texts(result) == texts(func)
    assert len(result.body.ops) == len(func.body.ops) - 1


def test_unused_operations_are_dropped_with_what_only_they_use() -> None:
    b = Builder()
    x, out = pointer("x", i32), pointer("out", i32)
    b.span = at(2)
    unused = b.add(ops.Load, pointer=x)
    b.span = at(3)
    b.add(ops.Mul, lhs=unused, rhs=b.constant(2, i32))
    b.span = at(4)
    b.append(ops.Store(pointer=out, value=b.add(ops.Load, pointer=x)))
    result, changes = dce(b.finish("k", (x, out)))
    assert texts(result) == ["%2 = load x : i32", "store out, %2"]
    assert [(c.before, c.after, c.span, c.why) for c in changes] == [
        ("%0 = load x : i32", "", at(2), "unused"),
        ("%1 = mul %0, 2 : i32", "", at(3), "unused"),
    ]
    assert not any(isinstance(op, ops.Constant) for op in result.walk())


def test_passes_return_the_same_function_when_nothing_changes() -> None:
    func = copy_kernel()
    for pass_ in PASSES:
        func, _ = pass_.run(func)
    for pass_ in PASSES:
        assert pass_.run(func) == (func, ())


def test_pass_names_and_order() -> None:
    assert [p.name for p in PASSES] == ["fold", "licm", "cse", "forward", "strength", "dce"]


# --- nested blocks ----------------------------------------------------------------------------------------------------


def nested() -> Func:
    """A loop that makes `n * n` of outside again and stores `n + n`; then `n + n` again; then an unused loop."""
    b = Builder()
    n, out = parameter("n", i32), pointer("out", i32)
    a = b.add(ops.Mul, lhs=n, rhs=n)

    def first(body: Builder, i: Value) -> list[Value]:
        body.append(ops.Store(pointer=out, value=body.add(ops.Mul, lhs=n, rhs=n)))
        twice = body.add(ops.Add, lhs=body.add(ops.Add, lhs=n, rhs=n), rhs=body.constant(0, i32))
        body.append(ops.Store(pointer=out, value=twice))
        return []

    def second(body: Builder, i: Value, carried: Value) -> list[Value]:
        return [body.add(ops.Sub, lhs=carried, rhs=carried)]

    loop(b, 0, n, 1, [], first)
    b.append(ops.Store(pointer=out, value=b.add(ops.Add, lhs=n, rhs=n)))
    b.append(ops.Store(pointer=out, value=a))
    loop(b, 0, n, 1, [n], second)
    return b.finish("nested", (n, out))


def test_passes_look_into_nested_blocks() -> None:
    func = nested()
    assert texts(func) == [
        "%0 = mul n, n : i32",
        "for %1 = 0 to n step 1 {",
        "  %2 = mul n, n : i32",
        "  store out, %2",
        "  %3 = add n, n : i32",
        "  %4 = add %3, 0 : i32",
        "  store out, %4",
        "}",
        "%5 = add n, n : i32",
        "store out, %5",
        "store out, %0",
        "%9 = for %6 = 0 to n step 1 with %7 = n : i32 {",
        "  %8 = sub %7, %7 : i32",
        "  yield %8",
        "}",
    ]
    func, changes = fold(func)
    assert [c.rule for c in changes] == ["add_zero", "sub_self"]
    func, changes = cse(func)
    assert [(c.before, c.after) for c in changes] == [("%2 = mul n, n : i32", "%0")]
    func, changes = dce(func)
    assert [c.before for c in changes] == ["%9 = for %6 = 0 to n step 1 with %7 = n : i32"]
    assert texts(func) == [
        "%0 = mul n, n : i32",
        "for %1 = 0 to n step 1 {",
        "  store out, %0",
        "  %3 = add n, n : i32",
        "  store out, %3",
        "}",
        "%5 = add n, n : i32",  # the one inside may not have run
        "store out, %5",
        "store out, %0",
    ]


def test_values_of_an_inner_block_are_not_visible_after_it() -> None:
    func = nested()
    inner = next(op for op in func.body.ops if isinstance(op, ops.For)).body.ops[0].result
    last = ops.Store(pointer=func.params[1], value=inner)
    broken = replace(func, body=Block(func.params, (*func.body.ops, last)))
    with pytest.raises(InternalError, match=r"`store out, %2` uses %2 where it is not visible$"):
        verify(broken)
