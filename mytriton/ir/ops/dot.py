"""The product of blocks of matrices."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Op, Value, attribute, operand
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import FLOATS, ScalarType, Type, element_of, f32, f64, i8, i32, shape_of, u8

#: How products of f32 may be computed: exactly, or with factors rounded to tf32 (10 bits of mantissa), once or thrice.
PRECISIONS = ("ieee", "tf32", "tf32x3")


def accumulates_in(factor: ScalarType) -> ScalarType:
    """The type in which products of two factors are added up: i32 for i8, f64 for f64, f32 for all other floats."""
    if factor in (i8, u8):
        return i32
    return f64 if factor == f64 else f32


@dataclass(frozen=True, eq=False, kw_only=True)
class Dot(Op):
    """`acc + lhs @ rhs`: [..., M, K] times [..., K, N] to [..., M, N], leading axes in step. Factors of one type are
    converted to that of `acc` (`accumulates_in`) and multiplied and added up in it; the order of the sum, and whether a
    product is rounded before it is added, are unspecified. `precision` is what factors of f32 need to have; a backend
    may give more.

    `staged` names the factors that stand in shared memory already, `lhs`, `rhs` or `both`: the layout step's doing, by
    which copies of them are on their way while earlier ones are multiplied. `instruction` is the shape of the
    instruction of tensor cores that multiplies, which the layout step chooses too, and "" where threads do. If `held`,
    threads hold the first factor as that takes it. A product that is only `begun` has its result when it is finished
    (`layout.ops.Finish`)."""

    opcode: ClassVar[str] = "dot"
    lhs: Value = operand()
    rhs: Value = operand()
    acc: Value = operand()
    precision: str = attribute(default="")
    staged: str = attribute(default="")
    instruction: str = attribute(default="")
    held: bool = attribute(default=False)
    begun: bool = attribute(default=False)

    def type_rule(self) -> tuple[Type, ...]:
        left, right, acc = (shape_of(v.type) for v in self.operands)
        factor = element_of(self.lhs.type)
        require(len(left) >= 2, "a dot takes blocks of matrices, got {}", self.lhs.type)
        fits = left[:-2] == right[:-2] and left[-1:] == right[-2:-1]
        require(fits, "{} and {} have no product", self.lhs.type, self.rhs.type)
        require(factor == element_of(self.rhs.type), "factors differ: {} and {}", self.lhs.type, self.rhs.type)
        numbers = isinstance(factor, ScalarType) and (factor in FLOATS or factor in (i8, u8))
        require(numbers, "there is no dot of {}", factor)
        require(self.precision in ("", *PRECISIONS), "{} is no precision", self.precision)
        assert isinstance(factor, ScalarType)
        require(element_of(self.acc.type) == accumulates_in(factor), "products of {} are added in {}, not {}", factor,
                accumulates_in(factor), self.acc.type)  # fmt: skip
        require(acc == (*left[:-1], right[-1]), "the product has the shape {}, not {}", (*left[:-1], right[-1]), acc)
        return (self.acc.type,)
