"""Matrix products."""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["dot", "dot_scaled"]


def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: Any = None,
) -> Any:
    """The matrix product of two blocks, plus `acc`: (M, K) times (K, N) gives (M, N); with a third axis in front, of
    one extent, that many products. Extents are powers of two, from 1 up.

    Both factors are of one type, or both of 8-bit floats. int8 gives int32, float64 gives float64, other floats give
    float32; factors of float16 or 8-bit floats give float16 if `out_dtype` or `acc` is float16, and `out_dtype` means
    nothing for other types. `acc` is of the result's type. Products are added up in the result's type (of float16 in
    float32, converted at the end), in an unspecified order. `input_precision` says what is enough for float32: "tf32"
    (the default, as in Triton) allows factors rounded to 10 bits, "tf32x3" about 21, "ieee" none; GPUs with tensor
    cores use them for the first two, all else multiplies in full float32. `max_num_imprecise_acc` is about sums of
    8-bit floats, which are as exact as others here.
    """
    kernel_only("dot")


def dot_scaled(
    lhs: Any,
    lhs_scale: Any,
    lhs_format: str,
    rhs: Any,
    rhs_scale: Any,
    rhs_format: str,
    acc: Any = None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: Any = None,
) -> Any:
    """The matrix product of two blocks in microscaling formats, plus `acc`: (M, K) times (K, N) gives (M, N) of
    float32, also in batches.

    A format is "e4m3", "e5m2", "fp16", "bf16" (blocks of that type, or of unsigned integers that are its bits), or
    "e2m1": two numbers of 4 bits a uint8, the first in the lower bits, along K, or along M or N where `lhs_k_pack` or
    `rhs_k_pack` is False. `lhs_scale` (M, K / 32) and `rhs_scale` (N, K / 32) hold a factor for each 32 numbers along
    K (or 16): a uint8 that is the exponent of two with a bias of 127, 255 being NaN, or a float8e4nv; None is 1. The
    scaled numbers and their products are float32. `fast_math` changes nothing.
    """
    kernel_only("dot_scaled")
