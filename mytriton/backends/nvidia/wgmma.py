"""The instructions of warpgroups as PTX ("Asynchronous Warpgroup Level Matrix Instructions"), which both backends put
into functions of their own."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.ir import ops
from mytriton.layout.mma import instruction
from mytriton.layout.warpgroup import Matrix
from mytriton.types import ScalarType, bf16, element_of, f16, f32, i8, u8

#: What PTX calls the types of factors.
_FACTORS: dict[ScalarType, str] = {f16: "f16", bf16: "bf16", f32: "tf32", i8: "s8", u8: "u8"}

#: Before the first product: registers are as they were made. After the last: all are one group. Then: it is done.
FENCE = "wgmma.fence.sync.aligned;"
COMMIT = "wgmma.commit_group.sync.aligned;"
WAIT = "wgmma.wait_group.sync.aligned 0;"
#: What threads have stored is there for warpgroups, once all threads have met.
STORED = "fence.proxy.async.shared::cta;"


def function(op: ops.Dot, sides: Sequence[Matrix]) -> str:
    """The name of the function that multiplies: `_m` and `_n` say that rows of a factor do not run along the depth,
    `_r` that the first is in registers."""
    letters = ("_r" if op.held else "_m"), "_n"
    turned = "".join(name for name, matrix in zip(letters, sides, strict=True) if name == "_r" or not matrix.along)
    return f"mt_wgmma_{element_of(op.lhs.type)}_n{instruction(op).columns}{turned}"


def multiply(op: ops.Dot, sides: Sequence[Matrix], sums: str, lhs: str, rhs: str) -> str:
    """The instruction on the registers listed in `sums` and the descriptors in two more, or a list of four if the first
    factor is held."""
    factor = element_of(op.lhs.type)
    assert isinstance(factor, ScalarType)
    name, total = _FACTORS[factor], "s32" if factor in (i8, u8) else "f32"
    # The sums are added to; floats may be negated, but are not; those of 16 bits may be turned.
    how = ["1", *(["1", "1"] if total == "f32" else [])]
    how += [str(int(not matrix.along)) for matrix in (sides[1:] if op.held else sides) if factor.bits == 16]
    head = f"wgmma.mma_async.sync.aligned.{instruction(op).name}.{total}.{name}.{name}"
    return f"{head} {{{sums}}}, {lhs}, {rhs}, {', '.join(how)};"
