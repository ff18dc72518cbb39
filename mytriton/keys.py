"""Cache keys: what of a kernel's surroundings goes into its code, so that nothing stale is ever run."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mytriton.frontend.kernel import FileModule, Kernel, Unresolved, is_kernel
from mytriton.language import constexpr
from mytriton.types import ScalarType


def spelled(value: Any, seen: set[Hashable] | None = None) -> tuple[Any, ...]:
    """A compile-time value as part of a cache key: equal only for values that compile alike. `seen` collects the
    helpers that are in the key already."""
    if isinstance(value, constexpr):
        return "constexpr", *spelled(value.value)
    if isinstance(value, float):
        return "float", value.hex()
    if isinstance(value, (tuple, list)):
        return "tuple", tuple(spelled(v, seen) for v in value)
    if is_kernel(value):
        return "kernel", code_key(value.kernel, set() if seen is None else seen)
    if isinstance(value, Unresolved):
        return "unresolved", value.reason, spelled(value.otherwise, seen)
    if isinstance(value, FileModule):
        return "module", value.name  # what a kernel takes from it is among the kernel's names
    plain = value is None or isinstance(value, (bool, int, str, ScalarType))
    return type(value).__name__, value if plain else id(value)


def names_key(kernel: Kernel, seen: set[Hashable] | None = None) -> Hashable:
    """The values of a kernel's globals as part of a cache key, helpers by their source and their globals. Modules and
    other objects count by identity, so a cache must keep the kernel: then they live, and their ids are not used again.
    """
    seen = set() if seen is None else seen
    return tuple([(name, spelled(value, seen)) for name, value in kernel.names.items()])


def launch_key(kernel: Kernel) -> Hashable:
    """The same for a live kernel, quickly: helpers by what they are now (`LiveKernel.stamp`)."""
    names = kernel.names.items()
    return tuple([(name, value.live.stamp if is_kernel(value) else spelled(value)) for name, value in names])


def code_key(kernel: Kernel, seen: set[Hashable] | None = None) -> Hashable:
    """Equal for kernels that compile to the same, wherever they stand in their file."""
    seen = set() if seen is None else seen
    source = (kernel.unit.path, kernel.unit.name, kernel.unit.text)
    if source in seen:
        return source
    seen.add(source)
    return source, tuple(spelled(p.default, seen) for p in kernel.params), names_key(kernel, seen)
