"""What a kernel is compiled for besides the target: argument types, what is known of them, and constexpr values."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mytriton import types
from mytriton.descriptors import Described, array_in, described, is_descriptor, parsed
from mytriton.diagnostics import LaunchError
from mytriton.frontend.kernel import MISSING, Kernel, KernelParam
from mytriton.frontend.names import SIGNATURE_TYPES, split_signature
from mytriton.ir.core import ParamInfo
from mytriton.keys import spelled
from mytriton.language import constexpr
from mytriton.numbers import is_numpy_scalar
from mytriton.types import PointerType, ScalarType, Type

if TYPE_CHECKING:
    from mytriton.arrays import ArrayInfo

#: Launch keywords of Triton's that tune what is not here to be tuned.
_TRITON_ONLY = ("num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim")


@dataclass(frozen=True, slots=True)
class Specialization:
    """`params` are the runtime parameters in order (name, type, what is known), `constexprs` the others by name.
    `descriptors` say which parameters are the parts of one."""

    params: tuple[tuple[str, Type, ParamInfo], ...]
    constexprs: tuple[tuple[str, Any], ...] = ()
    descriptors: tuple[Described, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """A cache key. Python says 1 == 1.0 == True and 0.0 == -0.0, but each compiles differently, so constexprs are
        keyed by type and spelling."""
        return self.params, tuple((name, *spelled(value)) for name, value in self.constexprs), self.descriptors


def bind(kernel: Kernel, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by parameter name, defaults filled in, as Python would bind them. Raises `LaunchError`."""
    names = [p.name for p in kernel.params]
    if len(args) > len(names):
        raise LaunchError(f"`{kernel.name}` takes {len(names)} arguments ({', '.join(names)}), got {len(args)}")
    bound = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name not in names:
            from mytriton.options import SETTINGS  # which looks for a device, and nothing else here needs

            near = get_close_matches(name, [*names, *SETTINGS], 1)
            hint = f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(names)}"
            hint = "the option is Triton's, leave it away" if name in _TRITON_ONLY else hint
            raise LaunchError(f"`{kernel.name}` has no parameter `{name}`; {hint}")
        if name in bound:
            raise LaunchError(f"`{kernel.name}` got `{name}` twice, by position and by name")
        bound[name] = value
    missing = []
    for param in kernel.params:
        if param.name not in bound:
            if param.default is MISSING:
                missing.append(param)
            bound[param.name] = param.default
    if missing:
        listed = ", ".join(f"`{p.name}`" for p in missing)
        what = "constexpr parameter" if all(p.is_constexpr for p in missing) else "argument"
        plural = "s" if len(missing) > 1 else ""
        example = f"{missing[0].name}=..."
        raise LaunchError(f"`{kernel.name}` needs the {what}{plural} {listed}; pass {example} at the launch")
    return {name: bound[name] for name in names}


def unpacked(kernel: Kernel, bound: Mapping[str, Any]) -> tuple[Kernel, dict[str, Any]]:
    """A kernel and its arguments with a parameter for each item of a tuple, since numbers and arrays are what can be
    handed over. `Kernel.tuples` says which of them make the tuple that the kernel sees."""
    params: list[KernelParam] = []
    values: dict[str, Any] = {}
    tuples: dict[str, tuple[str, ...]] = {}
    taken = {p.name for p in kernel.params}

    def add(param: KernelParam, value: Any) -> None:
        if param.is_constexpr or not isinstance(value, tuple):
            params.append(param)
            values[param.name] = value
            return
        names = []
        for number, item in enumerate(value):
            name = f"{param.name}_{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            names.append(name)
            add(replace(param, name=name, is_constexpr=isinstance(item, constexpr), default=MISSING), item)
        tuples[param.name] = tuple(names)

    for param in kernel.params:
        add(param, bound[param.name])
    return (replace(kernel, params=tuple(params), tuples=tuples) if tuples else kernel), values


def specialize(
    kernel: Kernel, args: Mapping[str, Any], runs: bool = True, arrays: Mapping[str, ArrayInfo] | None = None
) -> Specialization:
    """The specialization for bound arguments (`bind`). Raises `LaunchError` for a value no kernel takes.

    A pointer is known to be divisible by 16 if its array's address is; for arrays that only select what is compiled
    (`runs` is False) it is assumed, so that listings do not change from run to run. A parameter that is not to be
    specialized has only its type. `arrays` are the arrays' `array_info`, if the caller has it already.
    """
    params: list[tuple[str, Type, ParamInfo]] = []
    constexprs: list[tuple[str, Any]] = []
    descriptors: list[Described] = []
    for param in kernel.params:
        value = args[param.name]
        if param.is_constexpr or value is None:
            constexprs.append((param.name, constexpr_value(param.name, value)))
            continue
        if arrays is not None and param.name in arrays:
            type_, known = _array_type(param.name, arrays[param.name], runs)
        else:
            type_, known = argument_type(param.name, array_in(value), runs)
        if is_descriptor(value):
            descriptors.append(described(param.name, value, (type_, known), args))
            params += descriptors[-1].params
            continue
        params.append((param.name, type_, known if param.specialized else ParamInfo()))
    return Specialization(tuple(params), tuple(constexprs), tuple(descriptors))


def constexpr_value(name: str, value: Any) -> Any:
    """A constexpr argument as plain data: a number, string, None, dtype, or a tuple of these."""
    if isinstance(value, constexpr):
        value = value.value
    if is_numpy_scalar(value) and isinstance(value.item(), (bool, int, float)):
        return value.item()  # before the next test: np.float64 is a float
    if value is None or isinstance(value, (bool, int, float, str, ScalarType)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(constexpr_value(name, v) for v in value)
    what = "an array" if hasattr(value, "dtype") else f"a {type(value).__name__}"
    raise LaunchError(
        f"the constexpr parameter `{name}` got {what}; a constexpr is a number, string, None, dtype or tuple of these"
    )


def argument_type(name: str, value: Any, runs: bool = True) -> tuple[Type, ParamInfo]:
    """The type of a runtime argument and what is known of it. Raises `LaunchError`."""
    if isinstance(value, (bool, int, float)) and not hasattr(value, "dtype"):
        return _number_type(name, value)
    if is_numpy_scalar(value):
        return _numpy_scalar_type(name, value)
    from mytriton.arrays import array_info  # see `numbers`

    array = array_info(value)
    if array is None:
        hint = "mark it `tl.constexpr`" if isinstance(value, (str, ScalarType, tuple)) else _ARRAYS
        if isinstance(value, list):
            hint = "make it an array: np.array(...)"
        raise LaunchError(f"argument `{name}` is a {type(value).__name__}, which no kernel takes; {hint}")
    return _array_type(name, array, runs)


def _array_type(name: str, array: ArrayInfo, runs: bool) -> tuple[Type, ParamInfo]:
    if array.element is None:
        supported = "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, "
        supported += "float8_e4m3fn and float8_e5m2"
        message = f"argument `{name}` is a {array.library} of {array.dtype}; kernels take arrays of {supported}"
        how = ".to(torch.float32)" if "torch" in array.library else ".astype(np.float32)"
        raise LaunchError(f"{message}: convert it, as with {how}")
    if not array.whole:
        message = f"the elements of `{name}`, a {array.library}, do not lie a whole number of elements apart"
        raise LaunchError(f"{message}; pass a contiguous copy, as from np.ascontiguousarray({name})")
    return PointerType(array.element), ParamInfo(not runs or array.address % 16 == 0)


_ARRAYS = "pass a number or an array (NumPy, CuPy or torch)"


def _number_type(name: str, value: bool | int | float) -> tuple[ScalarType, ParamInfo]:
    if isinstance(value, bool):
        return types.i1, ParamInfo()
    if isinstance(value, float):
        return types.f32, ParamInfo()
    fitting = next((t for t in (types.i32, types.i64, types.u64) if t.low <= value <= t.high), None)
    if fitting is None:
        raise LaunchError(f"argument `{name}` is {value}, which does not fit in a 64-bit integer")
    return fitting, ParamInfo(value % 16 == 0, value == 1)


def _numpy_scalar_type(name: str, value: Any) -> tuple[ScalarType, ParamInfo]:
    """NumPy numbers keep their dtype."""
    from mytriton.arrays import DTYPES

    element = next((t for t, dtype in DTYPES.items() if value.dtype == dtype), None)
    if element is not None:
        return element, ParamInfo(element.kind == "int" and int(value) % 16 == 0)
    raise LaunchError(f"argument `{name}` is a NumPy {value.dtype}, which no kernel takes; {_ARRAYS}")


# --- signatures -------------------------------------------------------------------------------------------------------


def parse_signature(kernel: Kernel, signature: str = "", constexprs: Mapping[str, Any] | None = None) -> Specialization:
    """The specialization that a signature in Triton's notation describes: `"*fp32:16, *fp16, i64:16, fp32, i1, 1024"`.

    One entry a parameter: `*` and an element type for a pointer, a type for a scalar, `:16` if it is divisible by 16,
    `:1` if it is 1, `tensordesc<fp16[128,64]>` for a descriptor of blocks, and a literal for a constexpr. `constexprs`
    (by name) win over the signature's; constexpr parameters that they or a default give a value may be left out.
    Parameters annotated with their type (`x: "*fp32"`) need no entry if the signature is empty. Raises `LaunchError`.
    """
    given = dict(constexprs or {})
    unknown = [name for name in given if all(p.name != name for p in kernel.params)]
    if unknown:
        names = ", ".join(p.name for p in kernel.params)
        raise LaunchError(f"`{kernel.name}` has no parameter `{unknown[0]}`; its parameters are {names}")
    entries = split_signature(signature) if signature.strip() else []
    annotated = not entries
    params: list[tuple[str, Type, ParamInfo]] = []
    constants: list[tuple[str, Any]] = []
    descriptors: list[Described] = []
    for position, param in enumerate(kernel.params):
        if param.is_constexpr or param.name in given:
            written = _literal(entries[0]) if entries else MISSING
            if written is not MISSING or (entries and len(entries) == len(kernel.params) - position):
                entry = entries.pop(0)
                written = SIGNATURE_TYPES.get(entry, written)
                if written is MISSING and entry.isidentifier():  # not to be compiled for another value in silence
                    what = f'a value of the constexpr `{param.name}`; a string is "{entry}"'
                    raise LaunchError(f"{entry!r} is not {what}")
            value = given.get(param.name, written if written is not MISSING else param.default)
            if value is MISSING:
                raise LaunchError(_missing(kernel, param, "give it as a literal in the signature or with -D"))
            constants.append((param.name, constexpr_value(param.name, value)))
            continue
        if annotated and param.type:
            entry = param.type
        elif entries:
            entry = entries.pop(0)
        elif param.default is not MISSING:
            constants.append((param.name, constexpr_value(param.name, param.default)))
            continue
        else:
            listed = ", ".join(p.name for p in kernel.params)
            hint = f'give its type, as in --signature "*fp32, *fp32, i32, 1024", an entry for each of {listed}'
            raise LaunchError(_missing(kernel, param, hint))
        value = _literal(entry)
        descriptor = parsed(param.name, entry, [p.name for p in kernel.params])
        if value is not MISSING:
            constants.append((param.name, value))
        elif descriptor is not None:
            descriptors.append(descriptor)
            params += descriptor.params
        else:
            params.append((param.name, *_entry_type(entry)))
    if entries:
        count = f"{len(kernel.params)} parameters"
        raise LaunchError(f"the signature has entries left over for `{kernel.name}` ({count}): {', '.join(entries)}")
    return Specialization(tuple(params), tuple(constants), tuple(descriptors))


def _missing(kernel: Kernel, param: KernelParam, hint: str) -> str:
    what = "constexpr parameter" if param.is_constexpr else "parameter"
    return f"the {what} `{param.name}` of `{kernel.name}` is not given; {hint}"


def _literal(entry: str) -> Any:
    """The value of a literal entry; `MISSING` if the entry is a type."""
    try:
        value = ast.literal_eval(entry)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # TypeError: `{[]: 1}`
        special = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
        return special.get(entry, MISSING)
    return MISSING if isinstance(value, int) and value.bit_length() > 4096 else value  # Python prints no longer ones


def _entry_type(entry: str) -> tuple[Type, ParamInfo]:
    text, _, known = (part.strip() for part in entry.partition(":"))
    name = text.removeprefix("*").strip()
    element = SIGNATURE_TYPES.get(name)
    takes = ("16",) if text.startswith("*") else ("16", "1") if element is not None and element.kind == "int" else ()
    if element is None or known not in ("", *takes):
        near = get_close_matches(name, SIGNATURE_TYPES, 1)
        hint = f"did you mean {text.replace(name, near[0])!r}?" if near and name else _NOTATION
        raise LaunchError(f"{entry!r} is not a type of a signature; {hint if element is None else _NOTATION}")
    return PointerType(element) if text.startswith("*") else element, ParamInfo(known == "16", known == "1")


_NOTATION = "use *fp32, *fp16, *bf16, i32, i64, u8, fp32, i1 ..., with :16 for divisible by 16, :1 for 1, or a literal"
