"""Loads that are replaced by what is known to be in memory."""

from __future__ import annotations

import pytest

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes.forward import MEMORY, forward
from mytriton.types import BlockType, PointerType, Type, f32, i1, i8, i32, i64
from tests.ir.kernels import at_offsets, pointer
from tests.ir.structured import branch, loop


class Kernel:
    """A kernel on `p` and `q` (i32), with `n` (i32), `k` (i64), `c` (i1), whose values of interest are printed."""

    def __init__(self) -> None:
        self.b = Builder()
        self.p, self.q = pointer("p", i32), pointer("q", i32)
        self.n, self.k, self.c = parameter("n", i32), parameter("k", i64), parameter("c", i1)
        self.lanes = self.b.add(ops.Arange, start=0, end=4)

    def store(self, p: Value, value: Value | None = None, mask: Value | None = None, b: Builder | None = None) -> None:
        (b or self.b).append(ops.Store(pointer=p, value=value or self.n, mask=mask))

    def load(self, p: Value, b: Builder | None = None, **options: object) -> Value:
        b = b or self.b
        value = b.add(ops.Load, pointer=p, **options)
        b.append(ops.Print(values=(value,), prefix="v"))
        return value

    def moved(self, offset: Value | int, p: Value | None = None) -> Value:
        number = self.b.constant(offset, i32) if isinstance(offset, int) else offset
        return self.b.add(ops.AddPtr, pointer=p or self.p, offset=number)

    def block(self, scale: int = 1) -> Value:
        """`p + arange(4) * scale`."""
        offs = self.b.add(ops.Mul, lhs=self.lanes, rhs=self.b.constant(scale, i32, (4,)))
        return at_offsets(self.b, self.p, offs)

    def func(self) -> Func:
        return self.b.finish("k", (self.p, self.q, self.n, self.k, self.c))


def forwarded(k: Kernel) -> list[tuple[str, str, str]]:
    func = k.func()
    verify(func)
    result, changes = forward(func)
    verify(result)
    assert (result is func) == (not changes)
    return [(c.rule, c.before, c.after) for c in changes]


def test_a_load_of_what_was_stored() -> None:
    k = Kernel()
    k.store(k.p)
    k.load(k.p)
    result, (change,) = forward(k.func())
    verify(result)
    assert [line.text for line in print_func(result)][1:] == ["store p, n", "print n {prefix=v}"]
    assert (change.rule, change.before, change.after) == ("load_after_store", "%1 = load p : i32", "n")
    assert change.why == "n was stored there, and nothing since may have changed it"


def test_a_load_of_what_was_loaded() -> None:
    k = Kernel()
    k.load(k.p)
    k.load(k.p)
    assert forwarded(k) == [("load_after_load", "%2 = load p : i32", "%1")]


def test_other_pointers_may_be_the_same() -> None:
    k = Kernel()
    k.store(k.p)
    k.store(k.q)
    k.load(k.p)
    assert forwarded(k) == []


@pytest.mark.parametrize(
    ("first", "second", "known"),
    [(0, 1, True), (1, 1, False), (-1, 1, True), ("n", 1, False), ("small", 8, True), ("small", 7, False)],
)
def test_offsets_from_one_pointer(first: int | str, second: int, known: bool) -> None:
    k = Kernel()
    small = k.b.add(ops.And, lhs=k.n, rhs=k.b.constant(7, i32))
    p = k.moved({"n": k.n, "small": small}.get(first, first))  # type: ignore[arg-type]
    q = k.moved(second)
    k.store(p)
    k.store(q)
    k.load(p)
    assert len(forwarded(k)) == known


def test_offsets_that_might_wrap_an_address() -> None:
    k = Kernel()
    p = k.b.add(ops.AddPtr, pointer=k.p, offset=k.b.constant(-(2**63), i64))
    k.store(k.p)
    k.store(p)  # 2**63 elements of 4 bytes are 0 modulo 2**64
    k.load(k.p)
    assert forwarded(k) == []


def test_blocks_beside_each_other() -> None:
    k = Kernel()
    second = k.b.add(ops.AddPtr, pointer=k.block(), offset=k.b.constant(4, i32, (4,)))
    overlapping = k.b.add(ops.AddPtr, pointer=k.block(), offset=k.b.constant(3, i32, (4,)))
    p = k.block()
    value = k.b.splat(k.n, (4,))
    k.store(p, k.lanes)
    k.store(second, value)
    k.load(p)
    k.store(overlapping, value)
    k.load(p)
    assert [c[2] for c in forwarded(k)] == ["%0"]


@pytest.mark.parametrize(("scale", "known"), [(1, True), (3, True), (-2, True), (0, False)])
def test_of_several_elements_stored_to_one_address_one_wins(scale: int, known: bool) -> None:
    k = Kernel()
    p = k.block(scale)
    k.store(p, k.lanes)
    k.load(p)
    assert len(forwarded(k)) == known


def test_strides_not_known_may_be_zero_but_equal_elements_do_no_harm() -> None:
    k = Kernel()
    p = at_offsets(k.b, k.p, k.b.add(ops.Mul, lhs=k.lanes, rhs=k.b.splat(k.n, (4,))))
    k.store(p, k.lanes)
    k.load(p)
    k.store(p, k.b.splat(k.n, (4,)))
    k.load(p)
    assert [c[2] for c in forwarded(k)] == ["n"]


def test_masks() -> None:
    k = Kernel()
    p = k.block()
    mask = k.b.add(ops.CmpLt, lhs=k.lanes, rhs=k.b.splat(k.n, (4,)))
    five = k.b.constant(5, i32, (4,))
    k.store(p, k.lanes, mask)
    k.load(p)  # where the mask is false, who knows
    k.store(p, k.lanes, mask)
    k.load(p, mask=mask)
    k.load(p, mask=mask, other=five)
    k.store(p, k.lanes)
    k.load(p, mask=mask, other=five)
    assert forwarded(k) == [
        ("load_after_store", "%5 = load %2, %3 : vector<4 x i32>", "%8 = select %3, %0, 0 : vector<4 x i32>"),
        ("load_after_store", "%6 = load %2, %3, 5 : vector<4 x i32>", "%9 = select %3, %0, 5 : vector<4 x i32>"),
        ("load_after_store", "%7 = load %2, %3, 5 : vector<4 x i32>", "%10 = select %3, %0, 5 : vector<4 x i32>"),
    ]


def test_masked_loads_of_what_was_loaded() -> None:
    k = Kernel()
    five = k.b.constant(5, i32)
    k.load(k.p, mask=k.c, other=five)
    k.load(k.p, mask=k.c, other=five)
    k.load(k.p, mask=k.c)
    k.load(k.p)
    k.load(k.p, mask=k.c)
    assert [c[1:] for c in forwarded(k)] == [
        ("%2 = load p, c, 5 : i32", "%1"),
        ("%3 = load p, c : i32", "%6 = select c, %1, 0 : i32"),
        ("%5 = load p, c : i32", "%7 = select c, %1, 0 : i32"),
    ]


def test_volatile_loads_are_done_and_nothing_is_known_after_them() -> None:
    k = Kernel()
    k.store(k.p)
    k.load(k.p, volatile=True)
    k.load(k.p)
    assert forwarded(k) == []


def test_pointers_to_other_types_may_lead_to_the_same_bytes() -> None:
    k = Kernel()
    type_: Type = PointerType(i8)
    bytes_ = k.moved(1, k.b.add(ops.Bitcast, source=k.moved(64), to=type_))
    k.store(k.p)
    k.b.append(ops.Store(pointer=bytes_, value=k.b.constant(1, i8)))
    k.load(k.p)
    assert forwarded(k) == []


def test_bools_and_floats_come_back_as_they_were_stored() -> None:
    for element in (i1, f32):
        b = Builder()
        p, x = pointer("p", element), parameter("x", element)
        b.append(ops.Store(pointer=p, value=x))
        b.append(ops.Store(pointer=p, value=b.add(ops.Load, pointer=p)))
        result, changes = forward(b.finish("k", (p, x)))
        verify(result)
        assert [c.after for c in changes] == ["x"]


def test_branches_see_what_was_before_and_change_what_is_after() -> None:
    k = Kernel()
    k.store(k.p)

    def stores(b: Builder) -> list[Value]:
        k.load(k.p, b)  # known
        k.store(k.q, b=b)
        k.load(k.p, b)
        return []

    def quiet(b: Builder) -> list[Value]:
        k.load(k.p, b)  # known
        k.load(k.q, b)
        return []

    branch(k.b, k.c, quiet, quiet)
    k.load(k.p)  # known
    k.load(k.q)  # not what was loaded in a branch
    branch(k.b, k.c, quiet, stores)
    k.load(k.p)
    assert [c[1].split(" ")[0] for c in forwarded(k)] == ["%1", "%3", "%5", "%7", "%8", "%9"]


def test_loops_that_write_know_nothing_of_before() -> None:
    k = Kernel()

    def quiet(b: Builder, i: Value) -> list[Value]:
        k.load(k.p, b)  # known
        k.load(k.q, b)
        k.load(k.q, b)  # known
        return []

    def writes(b: Builder, i: Value) -> list[Value]:
        k.load(k.p, b)
        k.store(k.p, i, b=b)
        k.load(k.p, b)  # known
        return []

    k.store(k.p)
    loop(k.b, 0, k.n, 1, [], quiet)
    k.load(k.p)  # known
    loop(k.b, 0, k.n, 1, [], writes)
    k.load(k.p)
    assert [c[1].split(" ")[0] for c in forwarded(k)] == ["%2", "%4", "%5", "%8"]


def test_as_many_pointers_are_remembered_as_is_cheap() -> None:
    k = Kernel()
    pointers = [k.moved(n) for n in range(MEMORY + 1)]
    for p in pointers:
        k.store(p)
    for p in pointers:
        k.load(p)
    # The first one was forgotten; loading it again made it the last, and the second is forgotten, and so on.
    assert forwarded(k) == []
    k = Kernel()
    pointers = [k.moved(n) for n in range(MEMORY)]
    for p in pointers:
        k.store(p)
    for p in pointers:
        k.load(p)
    assert len(forwarded(k)) == MEMORY
    assert isinstance(k.lanes.type, BlockType)
