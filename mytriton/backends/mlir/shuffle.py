"""Shuffles of elements of every type: `gpu.shuffle` takes 32 and 64 bits."""

from __future__ import annotations

from mytriton.backends.mlir.writer import Writer
from mytriton.types import ScalarType, bf16, f16, i16, i32


def shuffle(w: Writer, mode: str, value: str, lane: str, width: str, element: ScalarType) -> str:
    """What another lane of the warp has as `value`: that whose number is `lane` exclusive or its own (`xor`), or `lane`
    (`idx`). `width` is the number of lanes, 32."""
    if element.bits >= 32:
        result = w.temporary()
        w.write(f"{result}, {result}_valid = gpu.shuffle {mode} {value}, {lane}, {width} : {element.signless}")
        return result
    if element in (f16, bf16):
        bits = shuffle(w, mode, w.convert("arith.bitcast", value, element, i16), lane, width, i16)
        return w.convert("arith.bitcast", bits, i16, element)
    other = shuffle(w, mode, w.convert("arith.extui", value, element, i32), lane, width, i32)
    return w.convert("arith.trunci", other, i32, element)
