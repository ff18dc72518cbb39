"""Random kernels as Python source, with arguments full of edge values, and the rule by which results must agree.

`python -m tests.fuzz --seconds 600` compares backends on them for that long.

Results must agree to the last bit, except that the sign and payload of NaNs are free and that what `exp`, `log` and the
like compute, which is only ever stored, may be off by what their documentation says. Kernels whose floats are
multiplied are compiled without fusion; all others with it, which must then change nothing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.accuracy import UNARY
from tests.random_expressions import DTYPES, FLOATS, INTEGERS, RANK, Expr, Expressions

HEADER = "import {package} as triton\nimport {package}.language as tl\n\n\n"


@dataclass(frozen=True)
class Case:
    """A kernel's text, without imports, and how to launch it."""

    seed: int
    #: The lines of the helper functions, and of the kernel's body.
    helpers: tuple[str, ...]
    lines: tuple[str, ...]
    #: Array parameters with their element types, in order; then the scalars, then the constexprs.
    arrays: dict[str, str]
    scalars: dict[str, Any]
    constants: dict[str, Any]
    grid: int
    #: Elements of each array, and the arrays that have 8 more.
    size: int
    longer: tuple[str, ...]
    #: An array that is the memory of another one, moved by some elements.
    alias: tuple[str, str, int] | None
    #: Arrays that hold results of exp, log and the like.
    approximate: tuple[str, ...]
    #: Whether a product of floats may meet an addition.
    multiplies: bool
    #: Whether lanes read or write what other lanes write: only the order of the host backends is defined then.
    ordered: bool

    def source(self, package: str = "mytriton") -> str:
        """The text of a module with the kernel `k`."""
        names = [*self.arrays, *self.scalars, *(f"{name}: tl.constexpr" for name in self.constants)]
        head = f"@triton.jit\ndef k({', '.join(names)}):\n"
        body = "".join(f"    {line}\n" for line in self.lines)
        return HEADER.format(package=package) + "".join(line + "\n" for line in self.helpers) + head + body

    def arguments(self) -> list[Any]:
        """Fresh run-time arguments, the same each time."""
        rng = np.random.default_rng(self.seed)
        made = {name: numbers(rng, t, self.size + 8) for name, t in self.arrays.items()}
        arrays = {name: a[: self.size + 8 * (name in self.longer)] for name, a in made.items()}
        if self.alias is not None:
            name, of, moved = self.alias
            arrays[name] = made[of][moved : moved + self.size]
        return [*arrays.values(), *self.scalars.values()]


def numbers(rng: np.random.Generator, type_: str, size: int) -> Any:
    """Random elements, edge values among them."""
    dtype = DTYPES[type_]
    if type_ == "int1":
        return rng.integers(0, 3, size).astype(np.uint8).view(np.bool_)
    if type_ in INTEGERS:
        info = np.iinfo(dtype)
        edges = [0, 1, -1, 2, 7, -7, info.max, info.min, info.max - 1, info.min + 1, 2**24 + 1, 2**31 - 1, -(2**31)]
        edges = [(n - info.min) % (info.max - info.min + 1) + info.min for n in edges]
        small = rng.integers(-9, 10, size).astype(dtype)
        wide = rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
        return np.choose(rng.integers(0, 3, size), [small, wide, rng.choice(np.array(edges, dtype), size)])
    edges = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, 1e38, 2**31, -(2**31), 2**63, 65504, 6e-8, 1e-310, 0.5]
    small = rng.integers(-9, 10, size) / rng.choice([1, 2, 3, 10], size)
    wide = rng.standard_normal(size) * 10.0 ** rng.integers(-12, 13, size)
    with np.errstate(all="ignore"):
        return np.choose(rng.integers(0, 3, size), [small, wide, rng.choice(np.array(edges), size)]).astype(dtype)


SCALARS = (0, 1, -1, 16, 7, 2**31 - 1, -(2**31), 2**40 + 1, 2**63 + 5, 2**31, 0.5, -0.0, 1e30, True, False)


class Writer(Expressions):
    """Writes one random kernel."""

    #: Sizes of blocks that are drawn besides those up to 256.
    large: tuple[int, ...] = ()

    def __init__(self, source: random.Random, portable: bool) -> None:
        super().__init__(source, portable)
        pick = self.pick
        self.lines: list[str] = []
        self.helpers: list[str] = []
        self.seed = source.randrange(2**32)
        #: The names of the numbers of a block's elements, in the block and in the arrays, and of those that exist.
        self.lanes, self.offs, self.mask_name = "lanes", "offs", "mask"
        self.margin = ""
        self.number = 0
        #: What Triton leaves undefined where a mask is off.
        self.unnamed = ", other=0" if portable else ""
        self.ordered = self.chance(0.4)
        self.block = pick((1, 2, 4, 16, 32, 64, 128, 256, *self.large))
        self.grid = 1 if self.ordered else pick((1, 2, 3))
        self.size = 2 ** (self.block * self.grid - 1).bit_length() * pick((1, 2))
        self.arrays = {f"x{i}": pick(self.types) for i in range(pick((2, 3, 4)))}
        self.outputs = [f"out{i}" for i in range(pick((1, 2, 3)))]
        self.arrays |= {name: pick(self.types) for name in self.outputs}
        #: Written by exp, log and the like only, and never read.
        self.approximate = {"near": pick(FLOATS[2 * portable :])} if self.chance(0.4) else {}
        pairs = [(o, x) for o in self.outputs for x, t in self.arrays.items() if t == self.arrays[o] and x != o]
        self.alias = (*pick(pairs), pick((0, 1, 4)) if self.ordered else 0) if pairs and self.chance(0.5) else None
        self.stored = [*self.outputs, *(x for x in self.arrays if x not in self.outputs and self.chance(0.2))]
        # What nobody writes may be read from any lane.
        shared = self.alias[:2] if self.alias else ()
        self.read_only = [a for a in self.arrays if a not in self.stored and a not in shared]
        self.scalars = {"n": self.random.randint(0, self.size + 2)}
        self.scalars |= {f"s{i}": pick(SCALARS[: -7 if portable else None]) for i in range(pick((1, 2)))}
        self.constants = {"BLOCK": self.block, "C": pick((-2, 0, 1, 3)), "F": pick((0.5, 2.0))}

    # --- statements ---

    def emit(self, text: str) -> None:
        self.lines.append(self.margin + text)

    def fresh(self, value: Expr) -> Expr:
        self.number += 1
        name = f"v{self.number}"
        self.emit(f"{name} = {value.text}")
        named = Expr(name, value.type, value.block)
        self.pool.append(named)
        return named

    def offsets(self) -> str:
        """Offsets inside the arrays that only this lane uses (but for `ordered` kernels)."""
        if not self.ordered or self.chance(0.5):
            return self.offs
        moved = self.any("int32", "int64", "uint32", "uint64").text
        offs, last = self.offs, self.size - 1
        return self.pick((f"(({moved}) & {last})", f"(({offs} + {self.pick(range(5))}) & {last})",
                          f"({offs} ^ {self.pick((1, 3, last))} & {last})"))  # fmt: skip

    def address(self, array: str, offsets: str) -> str:
        offs, lanes = self.offs, self.lanes
        if offsets == offs:
            return self.pick((f"{array} + {offs}", f"{offs} + {array}", f"({array} + pid * BLOCK) + {lanes}",
                              f"{array} + {lanes} + pid * BLOCK", f"{array} - 3 + {offs} + 3",
                              f"{array} + {offs}.to(tl.int64)", f"({array} + {offs}) - C + C",
                              f"{array} - (-{offs})"))  # fmt: skip
        return f"{array} + {offsets}"

    def mask(self) -> str | None:
        mask = self.mask_name
        return self.pick((None, mask, mask, f"{mask} & ({self.any('int1').text})"))

    def load(self, array: str) -> None:
        type_ = self.arrays[array]
        as_is = "({} != 0)" if type_ == "int1" and self.portable else "{}"
        if self.chance(0.15) and (self.ordered or array in self.read_only):
            text = f"tl.load({array} + {self.random.randrange(self.size)})"
            self.fresh(Expr(as_is.format(text), type_, False))
            return
        text = self.address(array, self.offsets())
        block = self.wide(text)
        mask = self.mask() if block else None
        others = (f", other={self.literal(type_)}", f", other={self.kept(self.any(), array).text}", self.unnamed)
        loaded = f"tl.load({text}{f', mask={mask}{self.pick(others)}' if mask else ''})"
        self.fresh(Expr(as_is.format(loaded), type_, block))

    def kept(self, value: Expr, array: str) -> Expr:
        """A value to store to an array or to read instead: floats saturate in an array of integers."""
        type_ = self.arrays[array]
        return self.converted(value, type_) if self.portable and value.type in FLOATS and RANK[type_] < 2 else value

    def wide(self, text: str) -> bool:
        """Whether an address is a block: its offsets are, or it holds a name that is."""
        names = {e.text for e in self.pool if e.block} | {self.offs, self.lanes}
        words = "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
        return any(w in names for w in words) or "tl.full" in text

    def store(self) -> None:
        array = self.pick(self.stored)
        text, value = self.address(array, self.offsets()), self.kept(self.expr(2), array)
        block = self.wide(text)
        if block or not value.block:
            mask = self.mask() if block else None
            self.emit(f"tl.store({text}, {value.text}{f', mask={mask}' if mask else ''})")

    def transcendental(self) -> None:
        for name, type_ in self.approximate.items():
            functions = ("exp", "log") if self.portable else tuple(UNARY)
            value = f"tl.{self.pick(functions)}({self.any(type_).text})"
            self.emit(f"tl.store({name} + {self.offs}, {value}, mask={self.mask_name})")

    def statement(self, depth: int) -> None:
        chance = self.random.random()
        if chance < 0.25:
            self.load(self.pick(list(self.arrays)))
        elif chance < 0.4:
            self.store()
        elif chance < 0.45:
            self.transcendental()
        elif chance < 0.5 and depth:
            self.branch(depth)
        elif chance < 0.57 and depth:
            self.loop(depth)
        elif chance < 0.62:
            a, b = self.fresh(self.any()), self.fresh(self.any())
            self.emit(f"{a.text}, {b.text} = {b.text}, {a.text}")
            self.pool[-2:] = [Expr(a.text, b.type, b.block), Expr(b.text, a.type, a.block)]
        else:
            self.fresh(self.expr(3))

    def nested(self, depth: int, count: int) -> None:
        margin, pool = self.margin, list(self.pool)
        self.margin += "    "
        for _ in range(count):
            self.statement(depth - 1)
        if not self.lines[-1].startswith(self.margin):
            self.emit("pass")
        self.margin, self.pool = margin, pool

    def branch(self, depth: int) -> None:
        self.emit(f"if C {self.pick(('>', '==', '<='))} {self.pick((0, 1))} and BLOCK >= {self.pick((1, 16))}:")
        before = list(self.lines)
        self.nested(depth, 2)
        if len(self.lines) == len(before):
            self.emit("    pass")
        if self.chance(0.5):
            self.emit("else:")
            self.nested(depth, 2)

    def loop(self, depth: int) -> None:
        carried = self.fresh(self.any(*self.types[1:], block=True))
        bounds = self.pick(("3", "C", "1, 3", "3, 0, -1", "0, 7, 3"))
        self.emit(f"for j in {self.pick(('range', 'tl.static_range'))}({bounds}):")
        op = "+" if carried.type in FLOATS and not self.multiplies else self.pick("+-*")
        step = "j" if self.chance(0.5) else self.any(carried.type, block=True).text
        self.emit(f"    {carried.text} = ({carried.text} {op} {step}).to(tl.{carried.type})")
        self.nested(depth, 2)

    def write(self) -> None:
        """The whole body."""
        self.emit("pid = tl.program_id(0)")
        self.emit("lanes = tl.arange(0, BLOCK)")
        self.emit("offs = pid * BLOCK + lanes")
        self.emit(f"mask = offs < {self.pick(('n', 'n', str(self.size)))}")
        self.pool += [
            Expr("pid", "int32", False),
            Expr("offs", "int32"),
            Expr("mask", "int1"),
            Expr("n", "int32", False),
        ]
        self.add_scalars()
        for array in self.arrays:
            if array not in self.outputs:
                self.load(array)
        for _ in range(self.random.randint(4, 24)):
            self.statement(2)
        for array in self.outputs:
            self.emit(f"tl.store({array} + offs, {self.kept(self.expr(2), array).text}, mask=mask)")
        self.transcendental()

    def add_scalars(self) -> None:
        """Put the scalar arguments into the pool."""
        for name, value in self.scalars.items():
            if isinstance(value, bool):
                self.pool.append(Expr(name, "int1", False))
            elif isinstance(value, float):
                self.pool.append(Expr(name, "float32", False))
            else:
                type_ = "int32" if -(2**31) <= value < 2**31 else "int64" if value < 2**63 else "uint64"
                self.pool.append(Expr(name, type_, False))

    def case(self) -> Case:
        """What was written, with its arguments."""
        return Case(
            self.seed, tuple(self.helpers), tuple(self.lines), self.arrays | self.approximate, self.scalars,
            self.constants, self.grid, self.size, tuple(self.read_only), self.alias, tuple(self.approximate),
            self.multiplies, self.ordered,
        )  # fmt: skip


def case(seed: int, portable: bool = False) -> Case:
    """The random kernel of a seed; `portable` ones use only what Triton's interpreter takes and defines."""
    writer = Writer(random.Random(seed), portable)
    writer.write()
    return writer.case()
