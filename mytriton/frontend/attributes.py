"""What stands after a dot: the shape and type of run-time values, and what is asked of types, all at compile time."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from enum import EnumMeta
from math import prod
from typing import Any

from mytriton.frontend.casts import NAMES
from mytriton.frontend.not_yet import NOT_YET
from mytriton.frontend.outside import as_item
from mytriton.frontend.registry import DESCRIPTOR_METHODS, METHODS, Builtin, Param
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.shapes import transpose
from mytriton.frontend.values import Item, Known, Method, Mistake, Operand, Tuple, Window, is_number
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import BlockType, PointerType, ScalarType, Type, element_of, shape_of, with_element

#: Bits of the significand without the hidden one, and the bias of the exponent.
_FLOATS = {"f8e4nv": (3, 7), "f8e5": (2, 15), "f16": (10, 15), "bf16": (7, 127), "f32": (23, 127), "f64": (52, 1023)}

_VALUE: dict[str, Callable[[Type], Any]] = {
    "dtype": element_of,
    "shape": shape_of,
    "type": lambda type_: type_,
    "numel": lambda type_: prod(shape_of(type_)),
}

#: What conversions are called in NumPy and torch.
_CONVERSIONS = ("astype", "bool", "double", "float", "half", "int", "long", "type_as")

_SCALAR: dict[str, Callable[[ScalarType], Any]] = {
    "name": lambda t: NAMES[t],
    "primitive_bitwidth": lambda t: t.bits,
    "itemsize": lambda t: t.bits // 8,
}
_INTEGER: dict[str, Callable[[ScalarType], Any]] = {"int_bitwidth": lambda t: t.bits}
_FLOAT: dict[str, Callable[[ScalarType], Any]] = {
    "fp_mantissa_width": lambda t: _FLOATS[t.name][0],
    "exponent_bias": lambda t: _FLOATS[t.name][1],
}
_BLOCK: dict[str, Callable[[BlockType], Any]] = {
    "element_ty": lambda t: t.element,
    "shape": lambda t: t.shape,
    "numel": lambda t: prod(t.shape),
}


def _attributes(type_: Type) -> dict[str, Callable[[Any], Any]]:
    """What a type has after a dot besides its methods."""
    found: dict[str, Callable[[Any], Any]] = {"scalar": element_of}
    if isinstance(type_, BlockType):
        return found | _BLOCK
    if isinstance(type_, PointerType):
        return found | {"element_ty": lambda t: t.element}
    return found | _SCALAR | (_FLOAT if type_.kind == "float" else _INTEGER)


def _is(name: str) -> Callable[[ScalarType], bool]:
    return lambda t: NAMES[t] == name


def _signed(t: ScalarType) -> bool:
    return t.kind == "int" and t.signed


#: Methods of element types without arguments. As in Triton, int1 is an unsigned integer.
_QUERIES: dict[str, Callable[[ScalarType], Any]] = {
    "is_floating": lambda t: t.kind == "float",
    "is_standard_floating": lambda t: t.kind == "float" and not t.is_float8,
    "is_fp8": lambda t: t.is_float8,
    "is_int": lambda t: t.kind != "float",
    "is_int_signed": _signed,
    "is_int_unsigned": lambda t: t.kind != "float" and not _signed(t),
    "is_bool": lambda t: t.kind == "bool",
    "get_int_max_value": lambda t: 1 if t.kind == "bool" else t.high,
    "get_int_min_value": lambda t: 0 if t.kind == "bool" else t.low,
    "is_int1": lambda t: t.kind == "bool",
    **{f"is_{name}": _is(name) for name in ("fp16", "bf16", "fp32", "fp64", "int8", "int16", "int32", "int64")},
    **{f"is_{name}": _is(name) for name in ("uint8", "uint16", "uint32", "uint64")},
    **{f"is_fp8{form}": _is(f"fp8{form}") for form in ("e4nv", "e4b8", "e4b15", "e5", "e5b16")},
}


def _type(s: Semantics, operand: Operand) -> Type:
    assert isinstance(operand.item, Known)
    type_: Type = operand.item.value
    return type_


def _query(name: str, answer: Callable[[ScalarType], Any]) -> Builtin:
    def rule(s: Semantics, span: Span, type: Operand) -> Item:
        type_ = _type(s, type)
        if isinstance(type_, PointerType) and name.startswith("is_"):
            return Known(False)
        if not isinstance(type_, ScalarType):
            hint = f"ask the element type: {s.text(type.span).removesuffix('.type')}.dtype.{name}()"
            raise Mistake("MT134", f"`.{name}()` is for element types, not {s.describe(type)}", span, hint)
        if name.startswith("get_int") and type_.kind == "float":
            hint = "no float is larger than float('inf'), or smaller than float('-inf')"
            raise Mistake("MT134", f"`.{name}()` is for integers, not {s.describe(type)}", span, hint)
        return Known(answer(type_))

    return Builtin(name, (Param("type"),), rule)


def _structural(name: str, answer: Callable[[Type], Any]) -> Builtin:
    return Builtin(name, (Param("type"),), lambda s, span, type: as_item(answer(_type(s, type))))


def _with_element_ty(s: Semantics, span: Span, type: Operand, element_ty: Operand) -> Item:
    return Known(with_element(_type(s, type), s.element_type(element_ty)))


_TYPE_METHODS: dict[str, Builtin] = {
    **{name: _query(name, answer) for name, answer in _QUERIES.items()},
    "is_ptr": _structural("is_ptr", lambda t: isinstance(t, PointerType)),
    "is_block": _structural("is_block", lambda t: isinstance(t, BlockType)),
    "is_const": _structural("is_const", lambda t: False),
    "get_block_shapes": _structural("get_block_shapes", shape_of),
    "with_element_ty": Builtin("with_element_ty", (Param("type"), Param("element_ty")), _with_element_ty),
}


def is_type(value: Any) -> bool:
    """Whether a compile-time value is a type of the language."""
    return isinstance(value, (ScalarType, PointerType, BlockType))


def of_value(s: Semantics, span: Span, base: Operand, name: str) -> Item:
    """`base.name` of a run-time value."""
    assert isinstance(base.item, Value)
    if name in _VALUE:
        return as_item(_VALUE[name](base.item.type))
    if name == "T":
        if len(shape_of(base.item.type)) != 2:
            hint = "write tl.trans(x), or tl.permute(x, dims)"
            raise Mistake("MT221", f"`.T` is for blocks with 2 axes, not {s.describe(base)}", span, hint)
        s.builder.span = span
        return transpose(s, span, base)
    if name in METHODS:
        return Method(base, name)
    if name in NOT_YET:
        raise Mistake("MT135", f"`.{name}` is not supported yet", span, NOT_YET[name])
    near = ["to(dtype)"] if name in _CONVERSIONS else get_close_matches(name, [*METHODS, *_VALUE], 1)
    hint = f"did you mean `.{near[0]}`?" if near else f"values have .to(dtype), {', '.join(f'.{n}' for n in _VALUE)}"
    raise Mistake("MT134", f"{s.describe(base)} has no `.{name}`", span, hint)


def of_window(s: Semantics, span: Span, base: Operand, name: str) -> Item:
    """`base.name` of a block pointer, whose dtype is that of the base, or a descriptor, whose dtype is the tensor's."""
    window = base.item
    assert isinstance(window, Window)
    if name == "dtype":
        return Known(window.type.element if window.is_descriptor else window.type)
    if name == "type" and not window.is_descriptor:
        return Known(window.type)
    if name == "block_shape" and window.is_descriptor:
        return as_item(window.block)
    if name in DESCRIPTOR_METHODS and window.is_descriptor:
        return Method(base, name)
    if name == "advance" and not window.is_descriptor:
        return Method(base, name)
    hint = ", ".join([".dtype", ".block_shape", *(f".{n}(...)" for n in DESCRIPTOR_METHODS)])
    hint = f"it has {hint}" if window.is_descriptor else "it has .dtype; tl.load, tl.store and tl.advance take it"
    raise Mistake("MT134", f"{s.describe(base)} has no `.{name}`", span, hint)


def of_constexpr(s: Semantics, span: Span, base: Operand, name: str) -> Item:
    """`base.name` of what is known at compile time, but for modules."""
    item = base.item
    if name == "value":
        return item
    match item:
        case Known(value=number) if is_number(number) and name in METHODS:
            return Method(base, name)
        case Known(value=type_) if is_type(type_):
            return _of_type(s, span, base, name)
        case Known(value=EnumMeta() as members) if name in members.__members__:
            return Known(members[name])
    raise Mistake("MT134", f"{s.describe(base)} has no `.{name}`", span, _instead(item, name))


def _instead(item: Item, name: str) -> str:
    """What to write instead of an attribute that a compile-time value does not have."""
    match item:
        case Tuple(items=items):
            return f"take an item first: [{len(items) - 1}] is the last" if items else "it has no items"
        case Known(value=EnumMeta() as members):
            return f"it has {', '.join(members.__members__)}"
        case Known(value=number) if is_number(number):
            near = get_close_matches(name, METHODS, 1)
            return f"did you mean `.{near[0]}`?" if near else "a number known at compile time has .to(dtype)"
    return "blocks, numbers and types have attributes"


def _of_type(s: Semantics, span: Span, base: Operand, name: str) -> Item:
    """`base.name` of a type."""
    type_ = _type(s, base)
    attributes = _attributes(type_)
    if name in attributes:
        return as_item(attributes[name](type_))
    if name in _TYPE_METHODS:
        return Method(base, name)
    near = get_close_matches(name, [*attributes, *_TYPE_METHODS], 1)
    hint = f"did you mean `.{near[0]}`?" if near else f"a type has {', '.join(f'.{n}' for n in attributes)}"
    if name == "element_ty":
        hint = "it is the element type of a pointer: pointer.dtype.element_ty"
    raise Mistake("MT134", f"{s.describe(base)} has no `.{name}`", span, hint)


def method(item: Method) -> Builtin:
    """What a method calls: one of types, or of run-time values and numbers."""
    base = item.base.item
    if isinstance(base, Window) and base.is_descriptor:
        return DESCRIPTOR_METHODS[item.name]
    of_types = isinstance(base, Known) and is_type(base.value)
    return (_TYPE_METHODS if of_types else METHODS)[item.name]
