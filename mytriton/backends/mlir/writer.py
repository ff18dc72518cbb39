"""MLIR text on numbers, a line an operation, for scalars (gpu) and for `vector<WxT>` (cpu): names, types, constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.numbers import bits_of
from mytriton.types import ScalarType, i1

#: Predicate for signed integers, for unsigned ones and bool, and for floats: ordered, so that NaN is unequal to all.
PREDICATES: Mapping[type[Op], tuple[str, str, str]] = {
    ops.CmpEq: ("eq", "eq", "oeq"),
    ops.CmpNe: ("ne", "ne", "une"),
    ops.CmpLt: ("slt", "ult", "olt"),
    ops.CmpLe: ("sle", "ule", "ole"),
    ops.CmpGt: ("sgt", "ugt", "ogt"),
    ops.CmpGe: ("sge", "uge", "oge"),
}


def literal(value: bool | int | float, type_: ScalarType) -> str:
    """A constant of `type_` as MLIR reads it back exactly: decimal where seven digits are exact, else the bit pattern.

    Bit patterns are the only form MLIR has for nan and the infinities (`0x7FC00000 : f32`).
    """
    if type_.kind == "bool":
        return "true" if value else "false"
    if type_.kind == "int":
        return str(int(value))
    value = float(value)
    if type_.is_float8:  # held as its bits
        return str(bits_of(value, type_))
    if math.isfinite(value) and float(text := f"{value:.6e}") == value:
        return text
    return f"0x{bits_of(value, type_):0{2 * type_.bytes}X}"


def constant_name(value: bool | int | float, type_: ScalarType) -> str:
    """A name that says the value, different for different constants: `c_i32_256`, `c_f32_0_0`, `c_i32_m1`."""
    text = str(bool(value)).lower()
    if type_.kind != "bool":
        text = repr(float(value) if type_.kind == "float" else int(value))
    return f"c_{type_.name}_" + text.replace("-", "m").replace(".", "_").replace("+", "")


class Writer:
    """Writes single operations. Methods that take `result` write to that SSA name and return it; without one they
    make a temporary, named after the operation begun last (`%v3_0`).

    write   takes each line, without indentation
    width   None for scalars; W for `vector<WxT>` operands and results
    float8  the target has instructions that round to float8
    """

    def __init__(self, write: Callable[[str], None], width: int | None = None, float8: bool = False) -> None:
        self.write = write
        self.width = width
        self.float8 = float8
        self._stem = "%t"
        self._temporaries = 0

    def begin(self, stem: str) -> None:
        """Name the temporaries that follow after `stem`, an SSA name."""
        self._stem, self._temporaries = stem, 0

    def temporary(self) -> str:
        """A fresh name."""
        self._temporaries += 1
        return f"{self._stem}_{self._temporaries - 1}"

    def mlir_type(self, element: ScalarType) -> str:
        """The MLIR type of a value: `f32`, or `vector<8xf32>`."""
        return element.signless if self.width is None else f"vector<{self.width}x{element.signless}>"

    def constant(self, value: bool | int | float, element: ScalarType, result: str = "") -> str:
        """`%c = arith.constant 256 : i32`, splat to the width."""
        result, text = result or self.temporary(), literal(value, element)
        if self.width is not None:
            text = f"dense<{text}> : {self.mlir_type(element)}"
        elif element.kind != "bool":
            text = f"{text} : {element.signless}"
        self.write(f"{result} = arith.constant {text}")
        return result

    def apply(
        self, name: str, operands: Sequence[str], element: ScalarType, result: str = "", contract: bool = False
    ) -> str:
        """`%r = arith.addf %a, %b fastmath<contract> : f32`: operands and result of one type."""
        result = result or self.temporary()
        flags = " fastmath<contract>" if contract else ""
        self.write(f"{result} = {name} {', '.join(operands)}{flags} : {self.mlir_type(element)}")
        return result

    def convert(self, name: str, source: str, old: ScalarType, new: ScalarType, result: str = "") -> str:
        """`%r = arith.extf %a : f16 to f32`."""
        result = result or self.temporary()
        self.write(f"{result} = {name} {source} : {self.mlir_type(old)} to {self.mlir_type(new)}")
        return result

    def compare(self, kind: type[Op], lhs: str, rhs: str, element: ScalarType, result: str = "") -> str:
        """`%r = arith.cmpi slt, %a, %b : i32`; the result is i1."""
        result = result or self.temporary()
        signed, unsigned, ordered = PREDICATES[kind]
        integer = signed if element.kind == "int" and element.signed else unsigned
        predicate = ordered if element.kind == "float" else integer
        name = "arith.cmpf" if element.kind == "float" else "arith.cmpi"
        self.write(f"{result} = {name} {predicate}, {lhs}, {rhs} : {self.mlir_type(element)}")
        return result

    def select(self, condition: str, if_true: str, if_false: str, element: ScalarType, result: str = "") -> str:
        """`%r = arith.select %c, %a, %b : f32`."""
        result = result or self.temporary()
        types = self.mlir_type(element) if self.width is None else f"{self.mlir_type(i1)}, {self.mlir_type(element)}"
        self.write(f"{result} = arith.select {condition}, {if_true}, {if_false} : {types}")
        return result

    def intrinsic(self, name: str, source: str, old: ScalarType, new: ScalarType, result: str = "") -> str:
        """`%r = llvm.call_intrinsic "llvm.sqrt.f32"(%a) : (f32) -> f32`; `name` is completed with the result type, and
        with the operand's if it is another."""
        result = result or self.temporary()
        types = (new,) if old == new else (new, old)
        suffix = "".join(f".{t.signless}" if self.width is None else f".v{self.width}{t.signless}" for t in types)
        signature = f"({self.mlir_type(old)}) -> {self.mlir_type(new)}"
        self.write(f'{result} = llvm.call_intrinsic "{name}{suffix}"({source}) : {signature}')
        return result
