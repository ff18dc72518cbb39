"""What folding and dead code elimination do to control flow: each rule with the listing and the log it leaves."""

from __future__ import annotations

from collections.abc import Callable

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes.dce import dce
from mytriton.passes.fold import fold
from mytriton.stage import Change
from mytriton.types import f32, i1, i32
from tests.ir.kernels import at, pointer
from tests.ir.structured import branch, loop, while_loop

Log = list[tuple[str, str, str, str]]


def listing(func: Func) -> list[str]:
    verify(func)
    return [line.text for line in print_func(func)]


def log(changes: tuple[Change, ...]) -> Log:
    assert all(c.span == at(1) for c in changes)
    return [(c.rule, c.before, c.after, c.why) for c in changes]


class Kernel:
    """A kernel under construction with parameters `n`, `x` (i32), `c` (i1), `y` (f32) and `out`, `fout`."""

    def __init__(self) -> None:
        self.b = Builder()
        self.b.span = at(1)
        self.n, self.x, self.c, self.y = (parameter(s, t) for s, t in zip("nxcy", (i32, i32, i1, f32), strict=True))
        self.out, self.fout = pointer("out", i32), pointer("fout", f32)

    def store(self, b: Builder, value: Value) -> None:
        b.append(ops.Store(pointer=self.out if value.type == i32 else self.fout, value=value))

    def func(self) -> Func:
        return self.b.finish("k", (self.n, self.x, self.c, self.y, self.out, self.fout))


def folded(make: Callable[[Kernel], object]) -> tuple[list[str], Log]:
    """The listing and the log of folding and then dropping what is unused, of which only constants are expected."""
    kernel = Kernel()
    make(kernel)
    func = kernel.func()
    verify(func)
    result, changes = fold(func)
    assert (result is func) == (not changes)
    verify(result)
    return listing(dce(result)[0]), log(changes)


def plus_one(k: Kernel) -> Callable[..., list[Value]]:
    return lambda b, i, v: [b.add(ops.Add, lhs=v, rhs=i)]


# --- folding ----------------------------------------------------------------------------------------------------------


def test_a_branch_that_is_decided_takes_the_place_of_its_if() -> None:
    def make(k: Kernel) -> None:
        condition = k.b.constant(False, i1)
        (value,) = branch(
            k.b,
            condition,
            lambda b: [k.n],
            lambda b: [b.add(ops.Add, lhs=b.add(ops.Mul, lhs=k.n, rhs=b.constant(1, i32)), rhs=b.constant(0, i32))],
        )
        k.store(k.b, k.b.add(ops.Add, lhs=value, rhs=k.x))

    assert folded(make) == (
        ["%3 = add n, x : i32", "store out, %3"],
        [
            ("if_constant", "%2 = if false : i32", "%1", "An `if` on a constant is the branch it takes"),
            ("mul_one", "%0 = mul n, 1 : i32", "n", "x * 1 = x"),
            (
                "add_zero",
                "%1 = add n, 0 : i32",
                "n",
                "x + 0 = x (for floats x + -0.0 = x; x + 0.0 turns -0.0 into 0.0)",
            ),
        ],
    )


def test_what_both_branches_yield_needs_no_if() -> None:
    def make(k: Kernel) -> None:
        def then(b: Builder) -> list[Value]:
            k.store(b, k.n)
            return [k.x, b.constant(2, i32), b.constant(True, i1), b.constant(False, i1), k.n]

        def orelse(b: Builder) -> list[Value]:
            return [k.x, b.constant(2, i32), b.constant(False, i1), b.constant(True, i1), k.x]

        first, second, taken, other, last = branch(k.b, k.c, then, orelse)
        for value in (first, second, k.b.cast(taken, i32), k.b.cast(other, i32), last):
            k.store(k.b, value)

    text, changes = folded(make)
    assert text == [
        "%5 = not c : bool",
        "%4 = if c : i32 {",
        "  store out, n",
        "  yield n",
        "} else {",
        "  yield x",
        "}",
        "store out, x",
        "store out, 2",
        "store out, i32(c)",
        "store out, i32(%5)",
        "store out, %4",
    ]
    why = "What both branches yield, and `true` in one and `false` in the other, needs no `if`"
    assert changes == [("if_same", "%0, %1, %2, %3, %4 = if c : i32, i32, bool, bool, i32", "%4 = if c : i32", why)]


def test_loops_without_trips() -> None:
    def make(k: Kernel) -> None:
        for lower, upper, step in ((0, 0, 1), (3, 2, 1), (0, 5, -1), (0, 5, 0), (k.x, k.x, 1), (0, k.x, 0)):
            (value,) = loop(k.b, lower, upper, step, [k.n], plus_one(k))
            k.store(k.b, value)

    text, changes = folded(make)
    assert text == ["store out, n"] * 6
    why = "A loop that makes no trip is its initial values"
    assert changes[1] == ("for_no_trip", "%7 = for %4 = 3 to 2 step 1 with %5 = n : i32", "n", why)
    assert [c[0] for c in changes] == ["for_no_trip"] * 6


def test_loops_of_one_trip() -> None:
    def make(k: Kernel) -> None:
        for lower, upper, step in ((2, 3, 1), (-2, 5, 7), (5, -1, -100)):
            (value,) = loop(k.b, lower, upper, step, [k.n], plus_one(k))
            k.store(k.b, value)
        loop(k.b, 0, 2, 1, [k.n], plus_one(k))

    text, changes = folded(make)
    assert text == [
        "%2 = add n, 2 : i32",
        "store out, %2",
        "%6 = add n, -2 : i32",
        "store out, %6",
        "%10 = add n, 5 : i32",
        "store out, %10",
    ]
    why = "A loop of one trip is its body"
    assert changes[0] == ("for_one_trip", "%3 = for %0 = 2 to 3 step 1 with %1 = n : i32", "%2", why)
    assert len(changes) == 3


def test_nested_loops_of_one_trip_fold_from_outside() -> None:
    def make(k: Kernel) -> None:
        def body(b: Builder, i: Value, v: Value) -> list[Value]:
            upper = b.add(ops.Add, lhs=i, rhs=b.constant(1, i32))
            return list(loop(b, i, upper, 1, [v], plus_one(k)))

        (value,) = loop(k.b, 4, 5, 1, [k.n], body)
        k.store(k.b, value)

    text, changes = folded(make)
    assert text == ["%5 = add n, 4 : i32", "store out, %5"]
    assert [c[0] for c in changes] == ["for_one_trip", "constant", "for_one_trip"]


def test_a_while_that_never_runs_still_computes_its_condition() -> None:
    def make(k: Kernel) -> None:
        def condition(b: Builder, v: Value) -> list[Value]:
            k.store(b, v)
            return [b.add(ops.CmpLt, lhs=v, rhs=v)]

        (value,) = while_loop(k.b, [k.n], condition, lambda b, v: [b.add(ops.Add, lhs=v, rhs=k.x)])
        k.store(k.b, value)

    text, changes = folded(make)
    assert text == ["store out, n", "store out, n"]
    assert [c[0] for c in changes] == ["compare_self", "while_false"]
    assert changes[1][1:] == ("%4 = while with %0 = n : i32", "n", "A loop whose condition is false makes no trip")


def test_carried_values_that_no_trip_changes() -> None:
    def make(k: Kernel) -> None:
        def body(b: Builder, i: Value, same: Value, two: Value, zero: Value, total: Value) -> list[Value]:
            kept = b.add(ops.Add, lhs=same, rhs=zero)
            return [kept, b.constant(2, i32), zero, b.add(ops.Add, lhs=total, rhs=two)]

        initial = [k.n, k.b.constant(2, i32), k.b.constant(0, i32), k.x]
        results = loop(k.b, 0, k.n, 1, initial, body)
        for value in results:
            k.store(k.b, value)

    text, changes = folded(make)
    assert text == [
        "%10 = for %0 = 0 to n step 1 with %4 = x : i32 {",
        "  %6 = add %4, 2 : i32",
        "  yield %6",
        "}",
        "store out, n",
        "store out, 2",
        "store out, 0",
        "store out, %10",
    ]
    # That `same` is one of them shows when the addition of 0 is gone: in the second walk.
    assert [c[0] for c in changes] == ["carried_unchanged", "add_zero", "carried_unchanged"]
    before, after = changes[0][1:3]
    assert before.endswith("for %0 = 0 to n step 1 with %1 = n, %2 = 2, %3 = 0, %4 = x : i32, i32, i32, i32")
    assert after.endswith("for %0 = 0 to n step 1 with %1 = n, %4 = x : i32, i32")


def test_carried_values_of_a_while() -> None:
    def make(k: Kernel) -> None:
        def condition(b: Builder, v: Value, limit: Value) -> list[Value]:
            return [b.add(ops.CmpLt, lhs=v, rhs=limit)]

        results = while_loop(k.b, [k.n, k.x], condition, lambda b, v, limit: [b.add(ops.Add, lhs=v, rhs=limit), limit])
        for value in results:
            k.store(k.b, value)

    text, changes = folded(make)
    assert text == [
        "%6 = while with %0 = n : i32 {",
        "  %2 = cmp_lt %0, x : bool",
        "  yield %2",
        "} do with %3 {",
        "  %5 = add %3, x : i32",
        "  yield %5",
        "}",
        "store out, %6",
        "store out, x",
    ]
    assert [c[0] for c in changes] == ["carried_unchanged"]


def test_swapped_values_are_not_unchanged() -> None:
    def make(k: Kernel) -> None:
        for value in loop(k.b, 0, k.n, 1, [k.x, k.n], lambda b, i, v, w: [w, v]):
            k.store(k.b, value)

    assert folded(make)[1] == []


def test_assertions_that_hold() -> None:
    def make(k: Kernel) -> None:
        k.b.append(ops.Assert(condition=k.b.add(ops.CmpEq, lhs=k.n, rhs=k.n), message="n is n"))
        k.b.append(ops.Assert(condition=k.b.constant(False, i1), message="never"))

    text, changes = folded(make)
    assert text == ["assert false {message=never}"]
    assert changes[1][:3] == ("assert_true", "assert true {message=n is n}", "")


def test_constant_masks() -> None:
    def make(k: Kernel) -> None:
        true, false = k.b.constant(True, i1), k.b.constant(False, i1)
        three = k.b.constant(3, i32)
        for mask, other in ((true, three), (false, None), (false, three)):
            value = k.b.add(ops.Load, pointer=k.out, mask=mask, other=other, cache="cg")
            k.b.append(ops.Store(pointer=k.out, value=value, mask=true))
        k.b.append(ops.Store(pointer=k.out, value=k.x, mask=false))

    text, changes = folded(make)
    assert text == ["%3 = load out {cache=cg} : i32", "store out, %3", "store out, 0", "store out, 3"]
    assert [c[1:3] for c in changes if c[0] == "store_constant_mask"] == [
        ("store out, %3, true", "store out, %3"),
        ("store out, 0, true", "store out, 0"),
        ("store out, 3, true", "store out, 3"),
        ("store out, x, false", ""),
    ]


# --- dead code --------------------------------------------------------------------------------------------------------


def swept(make: Callable[[Kernel], object]) -> tuple[list[str], Log]:
    kernel = Kernel()
    make(kernel)
    result, changes = dce(kernel.func())
    return listing(result), log(changes)


def test_carried_values_that_only_feed_themselves() -> None:
    def make(k: Kernel) -> None:
        def body(b: Builder, i: Value, v: Value, w: Value, u: Value) -> list[Value]:
            k.store(b, w)
            more = b.add(ops.Mul, lhs=v, rhs=u)
            return [more, b.add(ops.Add, lhs=w, rhs=i), more]

        loop(k.b, 0, k.n, 1, [k.n, k.x, k.b.add(ops.Neg, source=k.x)], body)

    text, changes = swept(make)
    assert text == [
        "for %1 = 0 to n step 1 with %3 = x : i32 {".replace("for", "%8 = for"),
        "  store out, %3",
        "  %6 = add %3, %1 : i32",
        "  yield %6",
        "}",
    ]
    assert changes == [
        ("unused", "%0 = neg x : i32", "", "unused"),
        (
            "unused_carried",
            "%7, %8, %9 = for %1 = 0 to n step 1 with %2 = n, %3 = x, %4 = %0 : i32, i32, i32",
            "%8 = for %1 = 0 to n step 1 with %3 = x : i32",
            "nothing uses %7, %9",
        ),
        ("unused", "%5 = mul %2, %4 : i32", "", "unused"),
    ]


def test_a_carried_value_that_another_one_needs_stays() -> None:
    def make(k: Kernel) -> None:
        _, w = loop(k.b, 0, k.n, 1, [k.n, k.x], lambda b, i, v, w: [b.add(ops.Add, lhs=v, rhs=i), v])
        k.store(k.b, w)

    assert swept(make)[1] == []


def test_unused_results_of_branches() -> None:
    def make(k: Kernel) -> None:
        def then(b: Builder) -> list[Value]:
            k.store(b, k.n)
            return [b.add(ops.Mul, lhs=k.n, rhs=k.n), k.n]

        _, used = branch(k.b, k.c, then, lambda b: [b.add(ops.Add, lhs=k.n, rhs=k.n), k.x])
        k.store(k.b, used)
        branch(k.b, k.c, lambda b: [b.add(ops.Load, pointer=k.out)], lambda b: [k.n])

    text, changes = swept(make)
    assert text == [
        "%3 = if c : i32 {",
        "  store out, n",
        "  yield n",
        "} else {",
        "  yield x",
        "}",
        "store out, %3",
    ]
    assert [c[:3] for c in changes] == [
        ("unused_result", "%2, %3 = if c : i32, i32", "%3 = if c : i32"),
        ("unused", "%0 = mul n, n : i32", ""),
        ("unused", "%1 = add n, n : i32", ""),
        ("unused", "%5 = if c : i32", ""),
    ]


def test_a_loop_without_effect_is_dropped_with_its_condition() -> None:
    def make(k: Kernel) -> None:
        limit = k.b.add(ops.Mul, lhs=k.n, rhs=k.n)
        while_loop(
            k.b,
            [k.n],
            lambda b, v: [b.add(ops.CmpLt, lhs=v, rhs=limit)],
            lambda b, v: [b.add(ops.Add, lhs=v, rhs=k.x)],
        )

    assert swept(make)[0] == []


def test_what_shows_outside_stays() -> None:
    def make(k: Kernel) -> None:
        def body(b: Builder, i: Value) -> list[Value]:
            b.append(ops.Print(values=(i,), prefix="i"))
            b.append(ops.Assert(condition=k.c, message="c"))
            b.add(ops.Load, pointer=k.out, volatile=True)
            b.add(ops.Load, pointer=k.out)
            return []

        loop(k.b, 0, k.n, 1, [], body)

    assert swept(make)[0] == [
        "for %0 = 0 to n step 1 {",
        "  print %0 {prefix=i}",
        "  assert c {message=c}",
        "  %1 = load out {volatile=True} : i32",
        "}",
    ]
