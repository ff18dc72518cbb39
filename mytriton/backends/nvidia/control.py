"""The control code of a SASS instruction: what the assembler tells the scheduler, which nvdisasm only gives as hex.

Bits 105 to 121 of the 128 of an instruction since Volta (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking", arXiv:1804.06826, section 2.1; reuse flags, above them, nvdisasm prints as `.reuse`).
"""

from __future__ import annotations

#: Where the control code begins in the upper 64 bits, and the barrier number that stands for none.
_SHIFT, _NONE = 105 - 64, 7


def control_code(upper: int) -> str:
    """The control code in the upper 64 bits of an instruction, as a column: `[01---- r2 w3 y s05]` waits for barriers 0
    and 1, gives barrier 2 free when its operands are read and 3 when its result is written, lets another warp go first
    and takes 5 cycles till the next instruction. In small letters, as `R2` is a register."""
    code = upper >> _SHIFT
    stall, stay, write, read, wait = code & 15, code >> 4 & 1, code >> 5 & 7, code >> 8 & 7, code >> 11 & 63
    waits = "".join(str(barrier) if wait >> barrier & 1 else "-" for barrier in range(6))
    reads, writes = ("-" if barrier == _NONE else str(barrier) for barrier in (read, write))
    return f"[{waits} r{reads} w{writes} {'-' if stay else 'y'} s{stall:02}]"
