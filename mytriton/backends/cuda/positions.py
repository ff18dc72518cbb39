"""Layouts, and the ways between them, as C++ expressions of `threadIdx.x` and the register number `r`."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.layout.dots import mapped
from mytriton.layout.layout import Layout
from mytriton.layout.routes import BitMap


def position(layout: Layout, start: int) -> str:
    """The element that register `r` of this thread holds, plus `start`: `(threadIdx.x & 31) * 4 + r`."""
    terms = [*_terms("threadIdx.x", layout.lane + layout.warp), *_terms("r", layout.register)]
    entries = layout.lane + layout.warp + layout.register
    # Bits that no two hardware bits share add up; else they must be combined as the layout says.
    disjoint = sum(entries) == _or(entries)
    text = (" + " if disjoint else " ^ ").join(terms if disjoint or len(terms) == 1 else [f"({t})" for t in terms])
    if not text:
        return str(start)
    if start == 0:
        return text
    text = text if disjoint else f"({text})"
    return f"{text} + {start}" if start > 0 else f"{text} - {-start}"


def owner(layout: Layout, threads: int) -> list[str]:
    """The conditions under which this thread's register `r` is the one copy of its element that is stored."""
    register, lane, warp = layout.free_bits()
    free = lane | warp << len(layout.lane)
    conditions = []
    if free == threads - 1:
        conditions.append("threadIdx.x == 0")
    elif free and free | (free & -free) - 1 == threads - 1:  # the upper bits alone
        conditions.append(f"threadIdx.x < {free & -free}")
    elif free:
        conditions.append(f"(threadIdx.x & {free}) == 0")
    if register:
        conditions.append(f"(r & {register}) == 0")
    return conditions


def bits(name: str, masks: Sequence[int]) -> str:
    """The number that a bit map gives for the number `name`, whose bits are as many as the masks: `(r >> 2) * 4`."""
    return " + ".join(_terms(name, masks)) or "0"


def mixed(name: str, masks: Sequence[int]) -> str:
    """The same of a bit map whose bits flip each other's, `x ^ y` then."""
    highest = [1 << mask.bit_length() - 1 if mask else 0 for mask in masks]
    rest = [mask ^ bit for mask, bit in zip(masks, highest, strict=True)]
    if sum(masks) == _or(masks) and not any(rest):
        return bits(name, masks)
    if not any(rest):  # several have the same bit
        distinct, repeated = list(highest), [0] * len(masks)
        for i, bit in enumerate(highest):
            if bit and bit in highest[:i]:
                distinct[i], repeated[i] = 0, bit
        return f"{_group(bits(name, distinct))} ^ {_group(mixed(name, repeated))}"
    return f"{_group(mixed(name, highest))} ^ {_group(mixed(name, rest))}"


def _group(text: str) -> str:
    return f"({text})" if " + " in text else text


def placed(layout: Layout, of_position: BitMap) -> str:
    """What a bit map of positions makes of that of register `r` of this thread."""
    of_thread, of_register = (mapped(of_position, e) for e in (layout.lane + layout.warp, layout.register))
    thread = mixed("threadIdx.x", of_thread)
    register = mixed("r", of_register) if layout.registers > 1 else ""
    if " ^ " in thread or " ^ " in register:
        return f"({' ^ '.join(f'({text})' for text in (thread, register) if text not in ('', '0'))})"
    return plus(thread, register)


def plus(*texts: str) -> str:
    """The sum of terms, without those that are 0 or missing."""
    return " + ".join(t for t in texts if t not in ("", "0")) or "0"


def _or(entries: Sequence[int]) -> int:
    result = 0
    for entry in entries:
        result |= entry
    return result


def _terms(name: str, entries: Sequence[int]) -> list[str]:
    """The contribution of one hardware number: a term for each run of bits that moves as one."""
    terms = []
    bit = 0
    while bit < len(entries):
        entry = entries[bit]
        length = 1
        power_of_two = entry & (entry - 1) == 0  # only then is a sum of entries a product
        while power_of_two and entry and bit + length < len(entries) and entries[bit + length] == entry << length:
            length += 1
        if entry:
            terms.append(_run(name, bit, length, entry, is_top=bit + length == len(entries)))
        bit += length
    return terms


def _run(name: str, bit: int, length: int, entry: int, is_top: bool) -> str:
    """Bits [bit, bit + length) of `name`, as a number, times `entry`."""
    text = name
    if bit:
        text = f"({text} >> {bit})"
    if not is_top:
        text = f"({text} & {(1 << length) - 1})"
    return text if entry == 1 else f"{text} * {entry}"
