"""Loop-invariant code motion: what leaves a loop, and what does not."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Value
from mytriton.passes.licm import licm
from mytriton.types import f32, i32, i64
from tests.ir.kernels import copy_kernel
from tests.ir.structured import branch, loop, while_loop
from tests.passes.test_regions import Kernel, Log, listing, log


def hoisted(kernel: Kernel) -> tuple[list[str], Log]:
    func = kernel.func()
    listing(func)
    result, changes = licm(func)
    assert (result is func) == (not changes)
    return listing(result), log(changes)


def test_operations_leave_the_loops_their_operands_come_from_outside_of() -> None:
    k = Kernel()

    def inner(b: Builder, j: Value, i: Value) -> list[Value]:
        squared = b.add(ops.Mul, lhs=k.n, rhs=k.n)
        twice = b.add(ops.Add, lhs=i, rhs=squared)
        k.store(b, b.add(ops.Add, lhs=twice, rhs=j))
        return []

    loop(k.b, 0, k.n, 1, [], lambda b, i: list(loop(b, 0, k.n, 1, [], lambda b, j: inner(b, j, i))))
    text, changes = hoisted(k)
    assert text == [
        "%2 = mul n, n : i32",
        "for %0 = 0 to n step 1 {",
        "  %3 = add %0, %2 : i32",
        "  for %1 = 0 to n step 1 {",
        "    %4 = add %3, %1 : i32",
        "    store out, %4",
        "  }",
        "}",
    ]
    assert changes == [
        ("hoist", "%2 = mul n, n : i32", "%2 = mul n, n : i32", "the same in every trip of 2 loops"),
        ("hoist", "%3 = add %0, %2 : i32", "%3 = add %0, %2 : i32", "the same in every trip of the loop"),
    ]


def test_what_prints_inside_its_user_moves_only_with_it() -> None:
    k = Kernel()

    def body(b: Builder, i: Value) -> list[Value]:
        wide = b.cast(b.cast(k.n, i64), f32)
        shape = (4,)
        moved = b.add(ops.Mul, lhs=b.splat(wide, shape), rhs=b.constant(2.0, f32, shape))
        total = b.add(ops.Reduce, source=moved, axis=0, combine="add")
        k.store(b, b.add(ops.Add, lhs=total, rhs=b.cast(i, f32)))
        k.store(b, b.constant(7, i32))
        return []

    loop(k.b, 0, k.n, 1, [], body)
    func = k.func()
    result, changes = licm(func)
    assert listing(result) == [
        "%1 = mul f32(i64(n)), 2.0 : vector<4 x f32>",
        "for %0 = 0 to n step 1 {",
        "  %2 = reduce %1 {axis=0, combine=add} : f32",
        "  %3 = add %2, f32(%0) : f32",
        "  store fout, %3",
        "  store out, 7",
        "}",
    ]
    assert len(changes) == 1
    (nest,) = (op for op in result.body.ops if op.regions)
    # The cast of the loop's variable and the 7 that is stored stay, and so does the reduction, which orders memory.
    assert [op.opcode for op in nest.regions[0].ops] == ["reduce", "cast", "add", "store", "constant", "store", "yield"]


def test_branches_are_left_with_the_loop_they_are_in_only() -> None:
    k = Kernel()

    def then(b: Builder) -> list[Value]:
        k.store(b, b.add(ops.FloorDiv, lhs=k.x, rhs=k.n))
        return []

    branch(k.b, k.c, then)
    assert hoisted(k)[1] == []
    loop(k.b, 0, k.n, 1, [], lambda b, i: list(branch(b, k.c, then)))
    text = hoisted(k)[0]
    assert text[4:] == [
        "%2 = idiv x, n : i32",
        "for %1 = 0 to n step 1 {",
        "  if c {",
        "    store out, %2",
        "  }",
        "}",
    ]


def test_conditions_of_loops_give_up_what_does_not_change() -> None:
    k = Kernel()

    def condition(b: Builder, v: Value) -> list[Value]:
        limit = b.add(ops.Mul, lhs=k.n, rhs=b.add(ops.Load, pointer=k.out))
        return [b.add(ops.CmpLt, lhs=v, rhs=limit)]

    def body(b: Builder, v: Value) -> list[Value]:
        # The body may not run, so its load stays.
        return [b.add(ops.Add, lhs=v, rhs=b.add(ops.Load, pointer=k.out))]

    (last,) = while_loop(k.b, [k.x], condition, body)
    k.store(k.b, last)
    text = hoisted(k)[0]
    assert text == [
        "%1 = load out : i32",
        "%2 = mul n, %1 : i32",
        "%7 = while with %0 = x : i32 {",
        "  %3 = cmp_lt %0, %2 : bool",
        "  yield %3",
        "} do with %4 {",
        "  %5 = load out : i32",
        "  %6 = add %4, %5 : i32",
        "  yield %6",
        "}",
        "store out, %7",
    ]


def loads(upper: Value | int, **hints: object) -> Kernel:
    """A loop that adds up one element again and again."""
    k = Kernel()
    upper = k.n if upper == "n" else upper
    mask = {"mask": k.c} if hints.pop("mask", False) else {}
    effect = hints.pop("effect", None)

    def body(b: Builder, i: Value, v: Value) -> list[Value]:
        value = b.add(ops.Load, pointer=k.out, **mask, **hints)
        if effect == "store":
            b.append(ops.Store(pointer=k.fout, value=k.y))
        elif effect == "assert":
            b.append(ops.Assert(condition=k.c, message=""))
        elif effect == "if":
            (value,) = branch(b, k.c, lambda b: [b.add(ops.Load, pointer=k.out, cache="cg")], lambda b: [value])
        return [b.add(ops.Add, lhs=v, rhs=value)]

    (last,) = loop(k.b, 0, upper, 1, [k.x], body)
    k.store(k.b, last)
    return k


def test_loads_leave_loops_that_run_and_do_not_write() -> None:
    def moved(k: Kernel) -> list[str]:
        return [c[1] for c in hoisted(k)[1]]

    assert moved(loads(4)) == ["%2 = load out : i32"]
    assert moved(loads(4, mask=True)) == ["%2 = load out, c : i32"]
    assert moved(loads("n")) == []  # it may make no trip
    assert moved(loads(0)) == []
    assert moved(loads(4, volatile=True)) == []
    assert moved(loads(4, effect="store")) == []
    assert moved(loads(4, effect="assert")) == []  # the assertion may be about the address
    assert moved(loads(4, effect="if")) == ["%2 = load out : i32"]  # not the one in the branch


def test_a_load_leaves_as_many_loops_as_are_sure_to_run() -> None:
    k = Kernel()

    def inner(b: Builder, j: Value, w: Value) -> list[Value]:
        return [b.add(ops.Add, lhs=w, rhs=b.add(ops.Load, pointer=k.out))]

    (last,) = loop(k.b, 0, k.n, 1, [k.x], lambda b, i, v: list(loop(b, 0, 3, 1, [v], inner)))
    k.store(k.b, last)
    text = hoisted(k)[0]
    assert text[:3] == [
        "%7 = for %0 = 0 to n step 1 with %1 = x : i32 {",
        "  %4 = load out : i32",
        "  %6 = for %2 = 0 to 3 step 1 with %3 = %1 : i32 {",
    ]


def test_kernels_without_loops_stay_as_they_are() -> None:
    func = copy_kernel()
    assert licm(func) == (func, ())
