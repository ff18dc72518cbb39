"""Which arrays a kernel may write to."""

from __future__ import annotations

from mytriton.analysis.written import written_params
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Value
from mytriton.types import PointerType, f32, i1, i32
from tests.ir.kernels import binary_kernel, pointer
from tests.ir.structured import branch, loop, while_loop


def test_an_elementwise_kernel_writes_its_output() -> None:
    func = binary_kernel()
    assert {p.id for p in written_params(func)} == {"out_ptr"}


def test_pointers_that_are_chosen_and_carried_are_followed() -> None:
    b = Builder()
    names = ("read", "a", "b", "c", "d", "e")
    read, *others = (pointer(name, f32) for name in names)
    flag, n = parameter("flag", i1), parameter("n", i32)
    moved, first, second, third, fourth = others
    value = b.add(ops.Load, pointer=read)
    block = b.splat(b.add(ops.AddPtr, pointer=moved, offset=n), (8,))
    cast = b.add(ops.Bitcast, source=block, to=PointerType(i32))
    b.append(ops.Store(pointer=cast, value=b.constant(0, i32, (8,))))
    (chosen,) = branch(b, flag, lambda b: [first], lambda b: [second])
    one = b.constant(1, i32)

    def step(b: Builder, i: Value, p: Value) -> list[Value]:
        return [b.add(ops.AddPtr, pointer=p, offset=one)]

    (carried,) = loop(b, 0, n, 1, [chosen], step)
    b.append(ops.Store(pointer=carried, value=value))

    def body(b: Builder, p: Value) -> list[Value]:
        b.append(ops.Store(pointer=p, value=value))
        return [third]

    while_loop(b, [fourth], lambda b, p: [flag], body)
    func = b.finish("k", (read, *others, flag, n))
    assert {p.id for p in written_params(func)} == {"a", "b", "c", "d", "e"}
