"""A tensor descriptor that the host makes, and a kernel gets as an argument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mytriton.diagnostics import LaunchError

_MAX_RANK = 5


@dataclass
class TensorDescriptor:
    """What a kernel sees as `tl.make_tensor_descriptor(base, shape, strides, block_shape, padding)`. `base` is an
    array, `shape` and `strides` are those of the tensor in it, in elements, the last stride being 1; `padding`, "zero"
    or "nan", is what is read outside of it. Raises `LaunchError`."""

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"

    def __post_init__(self) -> None:
        checked(self)

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Sequence[int], padding: str = "zero") -> TensorDescriptor:
        """The descriptor of a whole array (NumPy, CuPy or torch) in blocks of a shape."""
        if not hasattr(tensor, "dtype"):
            raise LaunchError(f"a TensorDescriptor is made of an array, not of a {type(tensor).__name__}")
        if callable(getattr(tensor, "stride", None)):  # torch counts elements, the others bytes
            strides = tuple(tensor.stride())
        else:
            strides = tuple(stride // tensor.itemsize for stride in tensor.strides)
        return TensorDescriptor(tensor, tuple(tensor.shape), strides, block_shape, padding)


def checked(descriptor: Any) -> Any:
    """The descriptor, which may be Triton's; raises `LaunchError` if its fields do not fit together."""
    block, strides = list(descriptor.block_shape), list(descriptor.strides)
    if not 1 <= len(block) <= _MAX_RANK or not len(block) == len(strides) == len(descriptor.shape):
        rank = len(descriptor.shape), len(strides), len(block)
        raise LaunchError(
            f"a TensorDescriptor has 1 to {_MAX_RANK} axes, as many in its shape ({rank[0]}) as in its strides "
            f"({rank[1]}) and its block_shape ({rank[2]})"
        )
    if any(extent < 1 or extent & (extent - 1) for extent in block):
        raise LaunchError(f"the block_shape of a TensorDescriptor consists of powers of 2, got {block}")
    if strides[-1] != 1:
        hint = "pass a contiguous copy, or strides and tl.make_block_ptr"
        raise LaunchError(f"the last stride of a TensorDescriptor must be 1, got {strides[-1]}; {hint}")
    if descriptor.padding not in ("zero", "nan"):
        raise LaunchError(f'the padding of a TensorDescriptor is "zero" or "nan", got {descriptor.padding!r}')
    if getattr(descriptor, "round_f32_to_tf32", False):
        raise LaunchError("round_f32_to_tf32 of a TensorDescriptor is not taken; without it numbers stay exact")
    return descriptor
