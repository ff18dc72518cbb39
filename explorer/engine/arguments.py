"""What types and constexprs a kernel is compiled for, and how that is written.

In order of rank: `-D`, the signature, or types by name and the example, annotations and defaults, a guess. A kernel
edited after its example was described keeps the example's types for the parameters that are still there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.engine.plain import TYPE_NAMES, from_plain
from explorer.model.result import ExampleInfo
from mytriton.diagnostics import LaunchError
from mytriton.frontend.guess import guessed_signature
from mytriton.frontend.kernel import MISSING, Kernel, KernelParam
from mytriton.ir.core import ParamInfo
from mytriton.specialize import Specialization, parse_signature
from mytriton.types import PointerType, ScalarType, Type


def choose(
    kernel: Kernel,
    defines: Mapping[str, Any],
    signature: str,
    example: ExampleInfo | None,
    types: Mapping[str, str] | None = None,
) -> Specialization:
    """The specialization to compile; raises `LaunchError` if something is missing or is not a type. `defines` are plain
    values; `types`, by name, go with an example or alone, not with a signature."""
    defines = {name: from_plain(value) for name, value in defines.items()}
    types = {name: text for name, text in (types or {}).items() if any(p.name == name for p in kernel.params)}
    if signature.strip():
        try:
            return parse_signature(kernel, signature, defines)
        except LaunchError:
            if example is None:
                raise
            names = {p.name for p in kernel.params}
            known = {name: from_plain(value) for name, value in example.constexprs.items() if name in names}
            return parse_signature(kernel, signature, {**known, **defines})
    if example is None or not example.described or example.error:
        if not types and not any(p.type for p in kernel.params) and example is not None and example.error:
            raise LaunchError(f"the example {example.label} gives no types: {example.error}")
        if not types:
            return parse_signature(kernel, "", defines)
        example = ExampleInfo("")
    entries = [_entry(kernel, param, defines, example, types) for param in kernel.params]
    known = {name: value for name, value in example.constexprs.items() if name not in types}
    constexprs = {p.name: from_plain(known[p.name]) for p in kernel.params if p.name in known}
    return parse_signature(kernel, ", ".join(entries), {**constexprs, **defines})


def guess(kernel: Kernel, defines: Mapping[str, Any], types: Mapping[str, str] | None = None) -> Specialization:
    """A specialization for a kernel that says nothing of its types, with what is given by name."""
    defines = {name: from_plain(value) for name, value in defines.items()}
    entries = {name: (types or {}).get(name, entry) for name, entry in guessed_signature(kernel).items()}
    return parse_signature(kernel, ", ".join("None" if n in defines else e for n, e in entries.items()), defines)


def _entry(
    kernel: Kernel, param: KernelParam, defines: Mapping[str, Any], example: ExampleInfo, types: Mapping[str, str]
) -> str:
    if param.name in types and param.name not in defines:
        return types[param.name]
    if param.name in defines or param.name in example.constexprs:
        return "None"  # its place in the signature; the value is given by name
    if param.name in example.types and not param.is_constexpr:
        return example.types[param.name]
    if param.type and not param.is_constexpr:
        return param.type
    if param.default is not MISSING:
        return literal(param.default)
    what = f"constexpr parameter `{param.name}`" if param.is_constexpr else f"parameter `{param.name}`"
    if not example.label:
        raise LaunchError(f"the {what} of `{kernel.name}` is not given")
    hint = "add it to the example and save the file" + (
        f", or give -D {param.name}=VALUE" if param.is_constexpr else ""
    )
    raise LaunchError(f"the example {example.label} has no value for the {what} of `{kernel.name}`; {hint}")


def literal(value: Any) -> str:
    """A constexpr as it stands in a signature."""
    if isinstance(value, ScalarType):
        return TYPE_NAMES[value]
    return repr(value)


def type_text(type_: Type, info: ParamInfo) -> str:
    """A runtime parameter's type in Triton's notation: `*fp32:16`, `i32`."""
    pointer = isinstance(type_, PointerType)
    element = type_.element if isinstance(type_, PointerType) else type_
    assert isinstance(element, ScalarType)  # no parameter is a block
    known = ":16" if info.divisible_by_16 else ":1" if info.is_one else ""
    return ("*" if pointer else "") + TYPE_NAMES[element] + known


def signature_text(kernel: Kernel, specialization: Specialization) -> str:
    """The specialization as one signature, in parameter order: what `--signature` takes."""
    entries = {name: type_text(type_, info) for name, type_, info in specialization.params}
    entries.update((each.name, str(each)) for each in specialization.descriptors)
    entries.update((name, literal(value)) for name, value in specialization.constexprs)
    return ", ".join(entries[p.name] for p in kernel.params)
