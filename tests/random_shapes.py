"""Random kernels' blocks of several shapes: reshaped, turned, reduced along an axis and spread again."""

from __future__ import annotations

import random
from math import prod

from tests.random_expressions import BITS, FLOATS, Expr
from tests.random_kernels import Writer

Shape = tuple[int, ...]


def shapes_of(size: int, source: random.Random) -> list[Shape]:
    """Shapes with so many elements: one of each rank, and turned ones."""
    bits = size.bit_length() - 1
    i, j = sorted(source.randint(0, bits) for _ in range(2))
    flat, cube = (1 << i, size >> i), (1 << i, 1 << j - i, size >> j)
    found = [(size,), flat, flat[::-1], cube, tuple(source.sample(cube, 3))]
    return [(size,), *dict.fromkeys(source.sample(found[1:], source.randint(0, 3)))]


def index(rank: int, *kept: int) -> str:
    """The index that makes a block of so many axes of one that has only some of them: `[:, None]`."""
    if len(kept) == rank:
        return ""
    return f"[{', '.join(':' if axis in kept else 'None' for axis in range(rank))}]"


class ShapeWriter(Writer):
    """Writes statements over blocks of several shapes. The pool holds the scalars and the blocks of the present shape;
    `others` the blocks of the other shapes."""

    large = (512, 2048)

    def __init__(self, source: random.Random, portable: bool = False) -> None:
        super().__init__(source, portable)
        self.shapes = shapes_of(self.block, source)
        self.shape: Shape = (self.block,)
        self.others: dict[Shape, list[Expr]] = {}
        self.small = 0
        # Threads hold other elements of a block of another shape: what they store is for one shape only.
        self.home = {name: source.choice(self.shapes) for name in self.arrays}
        if self.alias:
            self.home[self.alias[0]] = self.home[self.alias[1]]

    def place(self) -> None:
        """Emit the numbers of the elements of a block of each shape."""
        for number, shape in enumerate(self.shapes):
            axes = [f"tl.arange(0, {n}){index(len(shape), a)}" for a, n in enumerate(shape)]
            terms = [f"{axis} * {prod(shape[a + 1 :])}" for a, axis in enumerate(axes)]
            self.emit(f"lanes{number} = {' + '.join(terms)}")
            self.emit(f"offs{number} = pid * BLOCK + lanes{number}")
            self.emit(f"mask{number} = offs{number} < {self.pick(('n', 'n', str(self.size)))}")
            self.others[shape] = [Expr(f"offs{number}", "int32"), Expr(f"mask{number}", "int1")]

    def turn_to(self, shape: Shape) -> None:
        """Work with blocks of another shape from here on."""
        scalars = [e for e in self.pool if not e.block]
        self.others[self.shape] = [e for e in self.pool if e.block]
        self.named(shape)
        self.pool = [*self.others[shape], *scalars]

    def named(self, shape: Shape) -> None:
        """Use the names of a shape's numbers."""
        self.shape, self.extents, number = shape, str(shape), self.shapes.index(shape)
        self.lanes, self.offs, self.mask_name = f"lanes{number}", f"offs{number}", f"mask{number}"

    def switch(self) -> None:
        """Take a block along to another shape: turned, or in row-major order."""
        old, new = self.shape, self.pick(self.shapes)
        value = self.any(block=True)
        self.turn_to(new)
        orders = [order for order in ((1, 0), (2, 0, 1), (1, 2, 0), (0, 2, 1)) if len(order) == len(old)]
        turned = [f"tl.permute({value.text}, {o})" for o in orders if tuple(old[a] for a in o) == new]
        if old[::-1] == new and len(old) == 2:
            turned += [f"tl.trans({value.text})", f"{value.text}.T"]
        self.fresh(Expr(self.pick((f"tl.reshape({value.text}, {new})", *turned)), value.type))

    def reduced(self, value: Expr, axis: str) -> Expr:
        """A reduction along an axis, as the type of the value (of bools, as int32)."""
        text, type_ = value.text, value.type
        if axis and "None" not in axis and not self.portable and self.chance(0.15):
            # The first of equals, and of NaNs: its number is in no type's way.
            return Expr(f"tl.{self.pick(('argmax', 'argmin'))}({text}{axis}).to(tl.{type_})", type_, False)
        operations = ["max", "min"]
        if type_ in BITS:
            operations += ["sum", "xor_sum"] if type_ != "int1" else ["sum"]
        elif self.chance(0.5) and (type_ not in FLOATS[:2] or prod(self.shape) <= 256):
            # Whole numbers, so few and small that every order of additions gives the same.
            operations = ["sum"]
            whole = f"tl.where(tl.abs({text}) < 100, tl.floor({text}), 0.0)"
            text = f"({text} > 0).to(tl.{type_})" if type_ in FLOATS[:2] else whole
        result = "int32" if type_ == "int1" else type_
        if type_ == "int1":
            text = f"{text}.to(tl.int32)"
        operation = self.pick(operations)
        # Which zero of two is the larger is free.
        zero = " + 0.0" if type_ in FLOATS else ""
        return Expr(f"(tl.{operation}({text}{axis}){zero}).to(tl.{result})", result, False)

    def order(self) -> None:
        """A block in another order along an axis, or scanned."""
        value = self.any(block=True)
        axis = self.random.randrange(len(self.shape))
        text, type_ = value.text, value.type
        made = [f"tl.flip({text}, {axis})"]
        if type_ in BITS and type_ != "int1":
            backwards = self.pick(("", ", reverse=True"))
            made += [f"tl.cumsum({text}, axis={axis}{backwards}).to(tl.{type_})"]
            made += [f"tl.sort({text}, {len(self.shape) - 1}, descending={self.chance(0.5)})"]
            made += [f"tl.sort({text}, {axis}, descending={self.chance(0.5)})"] * (not self.portable)
        self.fresh(Expr(self.pick(made), type_))

    def reduce(self) -> None:
        """A row or column of a tile, its reduction, and the tile combined with both; or one number of all elements."""
        value = self.any(block=True)
        if len(self.shape) == 1 or self.chance(0.3):
            self.fresh(self.reduced(value, self.pick(("", ", axis=None")) if len(self.shape) > 1 else ", axis=0"))
            return
        axis = self.random.randrange(len(self.shape))
        rest = self.shape[:axis] + self.shape[axis + 1 :]
        keep = self.chance(0.3)
        line = self.reduced(value, f", axis={axis}{', keep_dims=True' if keep else ''}")
        self.number += 1
        name = f"r{self.number}"
        self.emit(f"{name} = {line.text}")
        if self.chance(0.5) and not keep:
            self.emit(
                f"{name} = ({name} {self.pick('+-')} {self.reduced(Expr(name, line.type), '').text}).to({name}.dtype)"
            )
        spread = name if keep else name + index(len(self.shape), *(a for a in range(len(self.shape)) if a != axis))
        self.fresh(Expr(f"tl.broadcast_to({spread}, {self.shape})", line.type))
        other = self.any(line.type, block=True)
        if line.type == other.type != "int1":  # (bools count as int32)
            self.fresh(Expr(f"({other.text} - {spread})", line.type))
        if not keep and self.small < 2:
            self.small += 1
            array = f"row{self.small}"
            self.arrays[array] = line.type
            numbers = [f"tl.arange(0, {n}){index(len(rest), a)} * {prod(rest[a + 1 :])}" for a, n in enumerate(rest)]
            self.emit(f"tl.store({array} + pid * BLOCK + {' + '.join(numbers)}, {name})")
