"""Matrix products."""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["dot"]


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

    Both factors are of one type. int8 gives int32; float16, bfloat16 and float32 give float32; float64 gives float64.
    float16 factors give float16 if `out_dtype` or `acc` is float16; `out_dtype` means nothing for other types. `acc`
    is of the result's type. Products are added up in the result's type (of float16 in float32, converted at the end),
    in an unspecified order. `input_precision` says what is enough for float32: "tf32" (the default, as in Triton)
    allows factors rounded to 10 bits, "tf32x3" about 21, "ieee" none; every backend multiplies in full float32 so far.
    `max_num_imprecise_acc` is about float8 and has no meaning here.
    """
    kernel_only("dot")
