"""Block pointers and tensor descriptors: a block's place in a tensor of any strides, with its bounds.

Indices along an axis are offset plus 0, 1, ...; addresses are computed in 64 bits. What lies outside of the tensor,
below 0 or at its extent or above, is neither read nor written along the axes that are checked.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["advance", "load_tensor_descriptor", "make_block_ptr", "make_tensor_descriptor", "store_tensor_descriptor"]


def make_block_ptr(base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any) -> Any:
    """A pointer to a block with the constexpr shape `block_shape`, at `offsets` in a tensor of `shape` and `strides`
    (in elements) that begins at `base`; each a tuple with one number an axis. `tl.load` and `tl.store` take it, with
    `boundary_check=(0, 1)` naming the axes to check and `padding_option` ("zero", also if left out, or "nan") what is
    read outside. `order` lists the axes, the fastest first; it is checked and means nothing here."""
    kernel_only("make_block_ptr")


def advance(base: Any, offsets: Any) -> Any:
    """The block pointer moved by `offsets` elements along the axes; `base` stays where it is."""
    kernel_only("advance")


def make_tensor_descriptor(base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero") -> Any:
    """A descriptor of a tensor: `desc.load([i, j])` reads the block at these offsets, with `padding_option` outside of
    the tensor, and `desc.store([i, j], value)` writes it, all axes checked. The last stride is 1. `desc.dtype` is the
    element type and `desc.block_shape` the block's shape. It needs no aligned base or strides here."""
    kernel_only("make_tensor_descriptor")


def load_tensor_descriptor(desc: Any, offsets: Any) -> Any:
    """`desc.load(offsets)`: the block of a tensor at these offsets, one for each axis."""
    kernel_only("load_tensor_descriptor")


def store_tensor_descriptor(desc: Any, offsets: Any, value: Any) -> None:
    """`desc.store(offsets, value)`: writes a block of a tensor at these offsets, one for each axis."""
    kernel_only("store_tensor_descriptor")
