"""Random expressions of the kernel language, with the type each has."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {
    "int1": np.dtype(bool),
    **{t: np.dtype(t) for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
TYPES = tuple(DTYPES)
INTEGERS, FLOATS = TYPES[1:9], TYPES[9:]
BITS, UNSIGNED = TYPES[:9], INTEGERS[4:]
RANK = {t: 0 if t == "int1" else 1 if t in INTEGERS else 2 for t in TYPES}
WIDTH = {t: 8 * d.itemsize for t, d in DTYPES.items()}


@dataclass(frozen=True)
class Expr:
    """Text of an expression, its element type ("" for a literal), and whether it is a block."""

    text: str
    type: str
    block: bool = True


def promote(a: str, b: str) -> str:
    """The type `a + b` computes in; "" is a literal that does not widen."""
    if not a or not b or a == b:
        return a or b
    if RANK[a] != RANK[b]:
        higher = a if RANK[a] > RANK[b] else b
        return "float32" if higher == "bfloat16" else higher
    if WIDTH[a] == WIDTH[b]:
        return "float32" if a in FLOATS else a if a in UNSIGNED else b
    return a if WIDTH[a] > WIDTH[b] else b


INT_LITERALS = ("0", "1", "-1", "2", "3", "-7", "16", "100", "255", "65535", "2147483647", "-2147483648", "4294967295")
AMOUNTS = ("0", "1", "3", "7", "8", "15", "16", "31", "32", "63", "64", "100")
FLOAT_LITERALS = ("0.0", "-0.0", "1.0", "-1.5", "0.1", "1e-45", "3e38", "1e400", 'float("-inf")', 'float("nan")', "7.0")
LITERALS = (*INT_LITERALS, *FLOAT_LITERALS, "True", "C", "F")


def fitting(type_: str) -> tuple[str, ...]:
    """The integer literals that a type holds."""
    info = np.iinfo(DTYPES[type_] if type_ in INTEGERS else np.int32)
    return tuple(n for n in INT_LITERALS if info.min <= int(n) <= info.max)


class Expressions:
    """Writes expressions over the values in `pool`. `portable` ones are what Triton's interpreter takes and defines."""

    def __init__(self, source: random.Random, portable: bool) -> None:
        self.portable = portable
        # Triton's interpreter has no bf16 arithmetic and stores integers to bf16 as their bits; bools it adds by `or`.
        self.types = tuple(t for t in TYPES if not (portable and t == "bfloat16"))
        self.random = source
        #: The shape of the blocks in the pool, as it is written.
        self.extents = "(BLOCK,)"
        self.pool: list[Expr] = []
        self.multiplies = self.chance(0.6)
        self.constants: dict[str, Any] = {}

    def chance(self, share: float) -> bool:
        """True for that share of the calls."""
        return self.random.random() < share

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of several."""
        return self.random.choice(choices)

    def any(self, *types: str, block: bool | None = None) -> Expr:
        """A value of the pool, of one of these types if there is one, or a cast to such a type."""
        found = [e for e in self.pool if not types or e.type in types]
        if block is not None:
            found = [e for e in found if e.block == block]
        if found and self.chance(0.9):
            return self.pick(found[-8:] if self.chance(0.7) else found)
        any_ = self.pick([e for e in self.pool if block is None or e.block == block])
        return self.converted(any_, self.pick(types or self.types))

    def converted(self, value: Expr, to: str) -> Expr:
        text = value.text if value.text[-1] == ")" else f"({value.text})"
        if self.portable and to in INTEGERS and value.type in FLOATS:
            # Beyond the range of the integers, and for NaN, Triton leaves the result undefined.
            limit = min(2e9, 2.0 ** (WIDTH[to] - 1) - 1)
            kept = f"tl.abs({text})" if to in UNSIGNED else text
            text = f"tl.where(tl.abs({text}) < {limit}, {kept}, 3)"
        text = f"({text} != 0)" if to == "int1" and self.portable else f"{text}.to(tl.{to})"
        return Expr(text, to, value.block)

    def expr(self, depth: int) -> Expr:
        if depth <= 0 or self.chance(0.1):
            return self.any()
        often = (self.arithmetic,) * 3
        rule = self.pick((*often, self.division, self.bitwise, self.shift, self.compare, self.unary, self.where,
                          self.extremum, self.cast, self.conditional, self.constant, self.eighth))  # fmt: skip
        return rule(depth - 1)

    def literal(self, type_: str) -> str:
        # A literal of a lower kind, or of the same, keeps the type of the other side.
        if RANK[type_] < 2:
            return self.pick((*fitting(type_), "True", *(() if type_ in UNSIGNED else ("C",))))
        return self.pick((*FLOAT_LITERALS, *INT_LITERALS, "F", "C"))

    def pair(self, depth: int) -> tuple[Expr, Expr]:
        a = self.numeric(depth)
        if self.chance(0.7):
            return a, self.numeric(depth)
        text = self.literal(a.type)
        # An integer beside a bool makes it an int32.
        b = Expr(text, "int32" if a.type == "int1" and text != "True" else "", False)
        return (a, b) if self.chance(0.6) else (b, a)

    def numeric(self, depth: int) -> Expr:
        a = self.expr(depth)
        return self.converted(a, "int32") if self.portable and a.type == "int1" else a

    def arithmetic(self, depth: int) -> Expr:
        a, b = self.pair(depth)
        type_ = promote(a.type, b.type)
        op = self.pick("+-*")
        if op == "*" and type_ in FLOATS and not self.multiplies:
            op = "-"
        return Expr(f"({a.text} {op} {b.text})", "int32" if type_ == "int1" else type_, a.block or b.block)

    def division(self, depth: int) -> Expr:
        a, b = self.pair(depth)
        type_ = promote(a.type, b.type)
        both = a.block or b.block
        if RANK[type_] < 2 and self.chance(0.7):
            signs = self.pick((UNSIGNED, INTEGERS[:4]))
            a, d = self.any(*signs), self.any(*signs)
            op, type_ = self.pick(("//", "%")), promote(a.type, d.type)
            negative = ("-3",) if signs != UNSIGNED else ()
            divisor = self.pick(("({d} & 63) + 1", "-(({d} & 63) + 2)", "7", *negative, "16", "{d}")).format(d=d.text)
            text = f"({a.text} {op} ({divisor}))"
            type_ = type_ if d.text in divisor else a.type
            block = a.block or (d.block and d.text in divisor)
            if divisor == d.text:  # whatever division by zero and of INT_MIN by -1 give, it must not be used
                undefined = f"({d.text} == 0)" + (f" | ({d.text} == -1)" if negative else "")
                return Expr(f"tl.where({undefined}, 5, {text})", type_, block)
            return Expr(text, type_, block)
        if type_ in FLOATS or self.chance(0.5):
            op = "/" if type_ not in FLOATS else self.pick("/%")
            result = "float32" if RANK[type_] < 2 or WIDTH[type_] == 16 else type_
            return Expr(f"({a.text} {op} {b.text})", result, both)
        return self.arithmetic(depth)

    def bitwise(self, depth: int) -> Expr:
        a, b = self.any(*BITS), self.any(*BITS)
        op = self.pick("&|^")
        if self.chance(0.3):
            if a.type == "int1":
                return Expr(f"({a.text} {op} {self.pick(('True', 'False'))})", "int1", a.block)
            return Expr(f"({a.text} {op} {self.pick(fitting(a.type))})", a.type, a.block)
        return Expr(f"({a.text} {op} {b.text})", promote(a.type, b.type), a.block or b.block)

    def shift(self, depth: int) -> Expr:
        a, op = self.any(*INTEGERS), self.pick(("<<", ">>"))
        # Triton's interpreter shifts an int64 by a uint64 as one, and calls the result the other.
        same = UNSIGNED if a.type in UNSIGNED else INTEGERS[:4]
        b = self.any(*(same if self.portable else INTEGERS))
        if self.chance(0.5):
            amounts = [n for n in AMOUNTS if not self.portable or int(n) < WIDTH[a.type]]
            return Expr(f"({a.text} {op} {self.pick(amounts)})", a.type, a.block)
        type_ = promote(a.type, b.type)
        # Triton leaves shifts by the width or more undefined.
        amount = (
            f"({b.text} & {min(WIDTH[a.type], WIDTH[b.type]) - 1})" if self.portable or self.chance(0.5) else b.text
        )
        return Expr(f"({a.text} {op} {amount})", type_, a.block or b.block)

    def compare(self, depth: int) -> Expr:
        a, b = self.pair(depth)
        ops = ("<", "<=", ">", ">=", "==", "!=")
        if self.chance(0.1) and b.text not in LITERALS:
            c = self.any()
            text = f"({a.text} {self.pick(ops)} {b.text} {self.pick(ops)} {c.text})"
            return Expr(text, "int1", a.block or b.block or c.block)
        return Expr(f"({a.text} {self.pick(ops)} {b.text})", "int1", a.block or b.block)

    def unary(self, depth: int) -> Expr:
        op = self.pick(
            ("-", "~", "abs", "sqrt") if self.portable else ("-", "~", "abs", "sqrt", "floor", "ceil", "fma")
        )
        if op == "~":
            a = self.any(*BITS)
            return Expr(f"(~{a.text})", a.type, a.block)
        if op in ("sqrt", "floor", "ceil"):
            a = self.any(*FLOATS[2 * self.portable :])
            return Expr(f"tl.{op}({a.text})", a.type, a.block)
        if op == "fma":
            type_ = self.pick(FLOATS)
            a, b, c = self.any(type_), self.any(type_), self.any(type_)
            return Expr(f"tl.math.fma({a.text}, {b.text}, {c.text})", type_, a.block or b.block or c.block)
        a = self.numeric(depth)
        if op == "abs":
            return Expr(f"tl.abs({a.text})", a.type, a.block)
        return Expr(f"(-{a.text})", "int32" if a.type == "int1" else a.type, a.block)

    def where(self, depth: int) -> Expr:
        condition, (a, b) = self.any("int1"), self.pair(depth)
        return Expr(f"tl.where({condition.text}, {a.text}, {b.text})", promote(a.type, b.type),
                    condition.block or a.block or b.block)  # fmt: skip

    def extremum(self, depth: int) -> Expr:
        a, b = self.pair(depth)
        type_ = promote(a.type, b.type)
        text = f"tl.{self.pick(('maximum', 'minimum'))}({a.text}, {b.text})"
        # Which zero of two is returned is free: adding 0.0 makes it the positive one.
        text = f"({text} + 0.0)" if type_ in FLOATS else text
        return Expr(text, "int32" if type_ == "int1" else type_, a.block or b.block)

    def cast(self, depth: int) -> Expr:
        return self.converted(self.expr(depth), self.pick(self.types))

    def eighth(self, depth: int) -> Expr:
        """Something through 8-bit floats, to which Triton's interpreter does not round."""
        if self.portable:
            return self.cast(depth)
        short = self.pick(("float8e4nv", "float8e5"))
        a, b, c = self.expr(depth), self.any("uint8", "int8"), self.any("int1")
        made, read = f"({a.text}).to(tl.{short})", f"({b.text}).to(tl.{short}, bitcast=True)"
        value = self.pick(
            (
                Expr(made, "", a.block),
                Expr(f"{read}.to(tl.float8e5)", "", b.block),
                Expr(f"tl.where({c.text}, {made}, {read})", "", a.block or b.block or c.block),
                Expr(f"tl.abs({made})", "", a.block),
            )
        )
        if self.chance(0.3):
            return Expr(f"{value.text}.to(tl.uint8, bitcast=True)", "uint8", value.block)
        to = self.pick(self.types)
        return Expr(f"{value.text}.to(tl.{to})", to, value.block)

    def conditional(self, depth: int) -> Expr:
        a, b = self.any(), self.any()
        taken = self.constants["C"] > 0
        return Expr(f"({a.text} if C > 0 else {b.text})", (a if taken else b).type, (a if taken else b).block)

    def constant(self, depth: int) -> Expr:
        type_ = self.pick(self.types[1:])
        return Expr(f"tl.full({self.extents}, {self.literal(type_)}, tl.{type_})", type_)
