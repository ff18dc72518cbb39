"""Random programs with loops, branches, shapes, reductions and memory, and arguments to run them on.

Written from a seed: the same number, the same program. Offsets are cut down so that every access is inside its array,
and loops make a few trips.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, ParamInfo, Value
from mytriton.types import (
    BlockType,
    PointerType,
    ScalarType,
    Type,
    element_of,
    f32,
    i1,
    i32,
    i64,
    is_pointer,
    shape_of,
    u8,
)
from tests.ir.kernels import at, pointer
from tests.ir.structured import block, fresh

SIZE = 4096
GRID = 2
ELEMENTS = (i1, u8, i32, i64, f32)
SHAPES = ((), (), (8,), (2, 4), (4, 2), (8, 1), (1, 8))
_BINARY: dict[str, tuple[type[ops.Binary], ...]] = {
    "bool": (ops.And, ops.Or, ops.Xor),
    "int": (ops.Add, ops.Sub, ops.Mul, ops.FloorDiv, ops.Mod, ops.And, ops.Shl, ops.Shr, ops.Maximum, ops.Minimum),
    "float": (ops.Add, ops.Sub, ops.Mul, ops.Div),
}
_COMPARE = (ops.CmpEq, ops.CmpNe, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe)
_NUMBERS: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int": (0, 1, 1, 2, 4, 7, 16, 127),
    "float": (0.0, 1.0, 2.0, -0.5, 0.25),
}


def arguments(func: Func, seed: int) -> list[Any]:
    """Fresh runtime arguments; equal each time. For every third seed, `q_...` is the array of `p_...`."""
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for param in func.params:
        if isinstance(param.type, PointerType):
            numbers = rng.integers(-3, 9, SIZE)
            dtype = {i1: np.uint8, u8: np.uint8, i32: np.int32, i64: np.int64, f32: np.float32}[param.type.element]
            if param.id.startswith("q_") and seed % 3 == 0:
                found.append(next(a for p, a in zip(func.params, found, strict=False) if p.id == "p" + param.id[1:]))
                continue
            array = (numbers % 3 if param.type.element == i1 else numbers).astype(dtype)
            found.append(array.view(np.bool_) if param.type.element == i1 else array)
        else:
            found.append(int(rng.integers(-4, 6)))
    return found


class Writer:
    """Writes one program."""

    def __init__(self, seed: int, size: int = 40, depth: int = 3) -> None:
        self.random = random.Random(seed)
        self.left, self.depth, self.line, self.kept = size, depth, 0, 0
        self.memory = (0.2, 0.8)[seed % 2]  # how often a statement is about memory
        b = Builder()
        self.pointers = [pointer(f"p_{t.name}", t) for t in ELEMENTS] + [pointer("q_i32", i32), pointer("q_f32", f32)]
        self.outputs = [pointer(f"o_{t.name}", t) for t in ELEMENTS]
        self.scalars = [parameter("n", i32), parameter("m", i32), parameter("k", i64)]
        pool = [*self.scalars, b.add(ops.ProgramId, axis=0), b.add(ops.Arange, start=0, end=8)]
        self.steps(b, pool, 0)
        for value in pool:
            self.keep(b, value)
        params = (*self.pointers, *self.outputs, *self.scalars)
        self.func = b.finish("random", params, {"p_f32": ParamInfo(True), "m": ParamInfo(False)})

    def steps(self, b: Builder, pool: list[Value], depth: int) -> None:
        """A few statements."""
        memory = [*[self.load] * 3, *[self.store_any] * 3, self.store_load, self.move, self.keep_any]
        others = [
            *[self.binary] * 4,
            self.compare,
            self.select,
            self.cast,
            self.shape,
            self.shape,
            self.reduce,
            self.again,
        ]
        for _ in range(self.left if depth == 0 else self.random.randint(2, 8)):
            if self.left <= 0:
                break
            self.left -= 1
            self.line += 1
            b.span = at(self.line)
            if depth < self.depth and self.random.random() < 0.3:
                kind = self.random.choice((self.loop, self.loop, self.branch, self.while_loop))
                pool += kind(b, pool, depth + 1)
                continue
            choices = memory if self.random.random() < self.memory else others
            made = self.random.choice(choices)(b, pool)
            if made is not None:
                pool.append(made)
                if choices is memory and self.random.random() < 0.6 and not is_pointer(made.type):
                    b.append(ops.Print(values=(made,), prefix="v"))

    # --- values ---------------------------------------------------------------------------------------------------

    def pick(self, pool: list[Value], fits: Callable[[Value], bool]) -> Value | None:
        """A value that fits, rather a late one."""
        found = [v for v in pool if fits(v)]
        return found[int(len(found) * self.random.random() ** 0.5)] if found else None

    def constant(self, b: Builder, type_: Type) -> Value:
        element = element_of(type_)
        assert isinstance(element, ScalarType)
        return b.constant(self.random.choice(_NUMBERS[element.kind]), element, shape_of(type_))

    def of_type(self, b: Builder, pool: list[Value], type_: Type) -> Value:
        """A value of a type, made if there is none."""
        found = self.pick(pool, lambda v: v.type == type_)
        if is_pointer(type_):
            return found or b.splat(next(p for p in self.pointers if p.type == element_of(type_)), shape_of(type_))
        return self.constant(b, type_) if found is None or self.random.random() < 0.25 else found

    def number(self, pool: list[Value]) -> Value:
        found = self.pick(pool, lambda v: not is_pointer(v.type))
        assert found is not None
        return found

    def binary(self, b: Builder, pool: list[Value]) -> Value:
        x = self.number(pool)
        element = element_of(x.type)
        assert isinstance(element, ScalarType)
        y = self.of_type(b, pool, x.type)
        x, y = (x, y) if self.random.random() < 0.7 else (y, x)
        return b.add(self.random.choice(_BINARY[element.kind]), lhs=x, rhs=y)

    def compare(self, b: Builder, pool: list[Value]) -> Value:
        x = self.number(pool)
        return b.add(self.random.choice(_COMPARE), lhs=x, rhs=self.of_type(b, pool, x.type))

    def condition(self, b: Builder, pool: list[Value], shape: tuple[int, ...]) -> Value:
        found = self.pick(pool, lambda v: element_of(v.type) == i1 and shape_of(v.type) == shape)
        if found is None or self.random.random() < 0.2:
            x = self.pick(pool, lambda v: shape_of(v.type) == shape and not is_pointer(v.type))
            if x is None:
                return b.constant(self.random.random() < 0.5, i1, shape)
            return b.add(self.random.choice(_COMPARE), lhs=x, rhs=self.constant(b, x.type))
        return found

    def select(self, b: Builder, pool: list[Value]) -> Value:
        x = self.random.choice(pool)
        condition = self.condition(b, pool, shape_of(x.type))
        return b.add(ops.Select, condition=condition, if_true=x, if_false=self.of_type(b, pool, x.type))

    def cast(self, b: Builder, pool: list[Value]) -> Value:
        x = self.number(pool)
        if element_of(x.type) in (i32, f32) and self.random.random() < 0.3:
            return b.add(ops.Bitcast, source=x, to=f32 if element_of(x.type) == i32 else i32)
        return b.add(ops.Cast, source=x, to=self.random.choice(ELEMENTS))

    def shape(self, b: Builder, pool: list[Value]) -> Value:
        """Another value of 8 elements, or of one."""
        x = self.random.choice(pool)
        shape = shape_of(x.type)
        if not shape:
            return b.splat(x, self.random.choice(SHAPES[2:]))
        if len(shape) == 2 and self.random.random() < 0.3:
            return b.add(ops.Transpose, source=x, order=self.random.choice(((0, 1), (1, 0))))
        if 1 in shape and self.random.random() < 0.6:
            missing = 8 // prod(shape)
            axis = shape.index(1)
            return b.add(ops.Broadcast, source=x, shape=(*shape[:axis], missing, *shape[axis + 1 :]))
        new = [s for s in (*SHAPES, (4,), (4, 1), (1, 4), (2,), (2, 1), (1, 2), (1,)) if prod(s) == prod(shape)]
        return b.add(ops.Reshape, source=x, shape=self.random.choice(new))

    def reduce(self, b: Builder, pool: list[Value]) -> Value | None:
        x = self.pick(pool, lambda v: bool(shape_of(v.type)) and not is_pointer(v.type))
        if x is None:
            return None
        element = element_of(x.type)
        assert isinstance(element, ScalarType)
        names = {"bool": ("and", "or", "xor"), "int": ("add", "mul", "maximum", "minimum", "xor"), "float": ("add",)}
        axis = self.random.randrange(len(shape_of(x.type)))
        return b.add(ops.Reduce, source=x, axis=axis, combine=self.random.choice(names[element.kind]))

    def again(self, b: Builder, pool: list[Value]) -> Value:
        """Something that has been made before, or almost."""
        x = self.of_type(b, pool, self.random.choice((i32, f32)))
        return b.add(self.random.choice((ops.Add, ops.Mul, ops.Sub)), lhs=x, rhs=x)

    # --- memory ---------------------------------------------------------------------------------------------------

    def pointer(self, pool: list[Value]) -> Value:
        """A pointer, rather often the same one."""
        found = self.pick(pool, lambda v: is_pointer(v.type))
        if found is None or self.random.random() < 0.4:
            return self.random.choice(self.pointers if self.memory < 0.5 else self.pointers[-2:])
        return found

    def move(self, b: Builder, pool: list[Value]) -> Value:
        """A pointer moved by a little."""
        p = self.pointer(pool)
        shape = shape_of(p.type) or self.random.choice(SHAPES)
        offset = self.pick(pool, lambda v: element_of(v.type) in (i32, i64) and shape_of(v.type) == shape)
        if offset is None or self.random.random() < 0.3:
            offset = b.constant(self.random.randint(0, 8), self.random.choice((i32, i64)), shape)
        elif offset.id != "%1" or self.random.random() < 0.3:  # %1 is arange(0, 8)
            offset = b.add(ops.And, lhs=offset, rhs=b.constant(7, element_of(offset.type), shape))  # type: ignore[arg-type]
        return b.add(ops.AddPtr, pointer=b.splat(p, shape), offset=offset)

    def place(self, b: Builder, pool: list[Value]) -> tuple[Value, Value | None]:
        """A pointer and perhaps a mask."""
        p = self.pointer(pool)
        return p, self.condition(b, pool, shape_of(p.type)) if self.random.random() < 0.3 else None

    def load(self, b: Builder, pool: list[Value]) -> Value:
        p, mask = self.place(b, pool)
        other = None
        element = element_of(p.type)
        assert isinstance(element, PointerType)
        if mask is not None and self.random.random() < 0.5:
            other = b.constant(self.random.choice(_NUMBERS[element.element.kind]), element.element, shape_of(p.type))
        volatile = self.random.random() < 0.1
        return b.add(ops.Load, pointer=p, mask=mask, other=other, volatile=volatile)

    def store_any(self, b: Builder, pool: list[Value]) -> None:
        p, mask = self.place(b, pool)
        element = element_of(p.type)
        assert isinstance(element, PointerType)
        type_ = BlockType(shape_of(p.type), element.element) if shape_of(p.type) else element.element
        b.append(ops.Store(pointer=p, value=self.of_type(b, pool, type_), mask=mask))

    def keep(self, b: Builder, value: Value) -> None:
        """Store a value where nothing else is stored, so that a difference shows."""
        output = next((p for p in self.outputs if p.type == PointerType(element_of(value.type))), None)  # type: ignore[arg-type]
        if output is None:
            return
        place = b.add(ops.AddPtr, pointer=output, offset=b.constant(8 * self.kept, i32))
        self.kept += 1
        shape = shape_of(value.type)
        if shape:
            lanes = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=prod(shape)), shape=shape)
            place = b.add(ops.AddPtr, pointer=b.splat(place, shape), offset=lanes)
        b.append(ops.Store(pointer=place, value=value))

    def keep_any(self, b: Builder, pool: list[Value]) -> None:
        self.keep(b, self.random.choice(pool))

    def store_load(self, b: Builder, pool: list[Value]) -> Value:
        """A store, and soon a load through the same pointer."""
        p, mask = self.place(b, pool)
        element = element_of(p.type)
        assert isinstance(element, PointerType)
        type_ = BlockType(shape_of(p.type), element.element) if shape_of(p.type) else element.element
        b.append(ops.Store(pointer=p, value=self.of_type(b, pool, type_), mask=mask))
        if self.random.random() < 0.3:
            self.store_any(b, pool)
        return b.add(ops.Load, pointer=p, mask=self.random.choice((mask, mask, None)))

    # --- control flow ---------------------------------------------------------------------------------------------

    def bound(self, b: Builder, pool: list[Value]) -> Value:
        x = self.pick(pool, lambda v: v.type == i32)
        if x is None or self.random.random() < 0.6:
            return b.constant(self.random.randint(-1, 4), i32)
        return b.add(ops.And, lhs=x, rhs=b.constant(3, i32))

    def initial(self, b: Builder, pool: list[Value]) -> list[Value]:
        values = [self.random.choice([*pool, *self.pointers]) for _ in range(self.random.randint(0, 3))]
        return [
            self.constant(b, v.type) if not is_pointer(v.type) and self.random.random() < 0.4 else v for v in values
        ]

    def inner(self, pool: list[Value], depth: int, types: list[Type]) -> Callable[..., list[Value]]:
        """What a nested block does."""

        def body(b: Builder, *params: Value) -> list[Value]:
            inside = [*pool, *params]
            self.steps(b, inside, depth)
            # Rather what was made here than what was there before.
            return [self.of_type(b, inside[len(pool) :] if self.random.random() < 0.8 else inside, t) for t in types]

        return body

    def loop(self, b: Builder, pool: list[Value], depth: int) -> tuple[Value, ...]:
        lower, upper = self.bound(b, pool), self.bound(b, pool)
        if self.random.random() < 0.6:
            lower, upper = b.constant(0, i32), b.constant(2, i32)
        step = b.constant(self.random.choice((1, 1, 1, 1, 1, 1, 2, -1, 0)), i32)
        if self.random.random() < 0.1:
            step = self.bound(b, pool)
        initial = self.initial(b, pool)
        body = block(b, fresh(b, [lower, *initial]), self.inner(pool, depth, [v.type for v in initial]))
        return b.append(ops.For(lower=lower, upper=upper, step=step, initial=tuple(initial), body=body)).results

    def while_loop(self, b: Builder, pool: list[Value], depth: int) -> tuple[Value, ...]:
        count, initial = self.bound(b, pool), self.initial(b, pool)
        first = [b.constant(self.random.randint(0, 3), i32), *initial]

        def test(b: Builder, i: Value, *params: Value) -> list[Value]:
            inside = [*pool, i, *params]
            if self.random.random() < 0.5:
                self.steps(b, inside, self.depth)
            return [b.add(ops.CmpLt, lhs=i, rhs=count)]

        def body(b: Builder, i: Value, *params: Value) -> list[Value]:
            made = self.inner([*pool, i], depth, [v.type for v in initial])(b, *params)
            return [b.add(ops.Add, lhs=i, rhs=b.constant(1, i32)), *made]

        condition = block(b, fresh(b, first), test)
        nested = block(b, fresh(b, first), body)
        return b.append(ops.While(initial=tuple(first), condition=condition, body=nested)).results

    def branch(self, b: Builder, pool: list[Value], depth: int) -> tuple[Value, ...]:
        condition = self.condition(b, pool, ())
        types = [self.random.choice(pool).type for _ in range(self.random.randint(0, 3))]
        then = block(b, (), self.inner(pool, depth, types))
        orelse = block(b, (), self.inner(pool, depth, types) if self.random.random() < 0.7 or types else lambda b: [])
        return b.append(ops.If(condition=condition, then=then, orelse=orelse)).results
