"""Where a thread stands: launch grid indices, the position of each of its elements, and which thread may store."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.mlir.text import Text
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.ir.printer import Printer
from mytriton.layout.layout import Layout
from mytriton.layout.program import LaidOut

AXES = "xyz"
THREAD = "%thread_id_x"


def write_indices(text: Text, laid_out: LaidOut) -> None:
    """The grid and thread indices the function uses, as i32: gpu dialect operations, then their conversions."""
    printer = Printer(laid_out.func)
    used: dict[tuple[str, str, str], Op | None] = {}
    found = list(laid_out.func.walk())
    for kind, short, name, axis_of in (
        ("block_id", "bid", "block_id", ops.ProgramId),
        ("grid_dim", "programs", "grid_dim", ops.NumPrograms),
    ):
        for op in found:
            if isinstance(op, axis_of):
                used.setdefault((f"gpu.{kind}", short, f"{name}_{AXES[op.axis]}"), op)
    # Positions depend on the thread, and so does who stores a scalar.
    threads = [op for op in found if isinstance(op, (ops.Arange, ops.Store))]
    if threads:
        used["gpu.thread_id", "tid", "thread_id_x"] = threads[0]
    links = [(op.span, printer.ids(op)) if op is not None else (None, ()) for op in used.values()]
    for (gpu, short, name), link in zip(used, links, strict=True):
        text.at(*link)
        text.write(f"%{short}_{name[-1]} = {gpu} {name[-1]}")
    for (_, short, name), link in zip(used, links, strict=True):
        text.at(*link)
        text.write(f"%{name} = arith.index_cast %{short}_{name[-1]} : index to i32")


def _runs(entries: Sequence[int]) -> list[tuple[int, int]]:
    """`entries` as (mask, shift) pairs: source bits under the mask, moved left by shift, give their positions."""
    masks: dict[int, int] = {}
    for bit, entry in enumerate(entries):
        if entry & (entry - 1):
            raise InternalError(f"the emitters take layouts whose entries are single bits, got {list(entries)}")
        if entry:
            shift = entry.bit_length() - 1 - bit
            masks[shift] = masks.get(shift, 0) | 1 << bit
    return [(mask, shift) for shift, mask in masks.items()]


def _place(text: Text, source: str, entries: Sequence[int], name: str) -> str | None:
    """The positions that the bits of `source` select, in `name` if it takes an operation; None if that is 0 for all."""
    runs = _runs(entries)
    parts = []
    for i, (mask, shift) in enumerate(runs):
        part, stem = source, name if len(runs) == 1 else f"{name}_{i}"
        if mask != (1 << len(entries)) - 1:
            masked = f"{stem}_bits" if shift else stem
            text.write(f"{masked} = arith.andi {part}, {text.i32(mask)} : i32")
            part = masked
        if shift:
            opcode = "arith.shli" if shift > 0 else "arith.shrui"
            text.write(f"{stem} = {opcode} {part}, {text.i32(abs(shift))} : i32")
            part = stem
        parts.append(part)
    total = parts[0] if parts else None
    for i, part in enumerate(parts[1:], 2):  # the runs' bits are disjoint: adding them is or-ing them
        partial = name if i == len(parts) else f"{name}_sum{i}"
        text.write(f"{partial} = arith.addi {total}, {part} : i32")
        total = partial
    return total


class Positions:
    """Positions of the elements a thread holds, made once per region: scalars, or `vector<Wxi32>` for chunks."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._thread: dict[Layout, str | None] = {}

    def write_thread(self, layout: Layout) -> None:
        """The part that depends on the thread alone, for use in all segments; call it at the function's top level."""
        if layout not in self._thread:
            entries = layout.lane + layout.warp
            self._thread[layout] = _place(self._text, THREAD, entries, f"%at{layout.size}")

    def first(self, layout: Layout, width: int, loop: bool) -> str:
        """The position of this thread's element in the loop's current trip: of the first one of a chunk of `width`."""
        text, at_thread = self._text, self._thread[layout]
        chunk_bits = layout.register[width.bit_length() - 1 :]
        if not loop or not any(chunk_bits):
            return at_thread or text.i32(0)

        def make(name: str) -> None:
            at_register = _place(text, "%r", chunk_bits, f"%trip{layout.size}")
            text.write(f"{name} = arith.addi {at_thread or text.i32(0)}, {at_register} : i32")

        return text.once(f"%first{layout.size}", make)

    def vector(self, layout: Layout, width: int, loop: bool) -> str:
        """The positions of a chunk of `width` consecutive elements."""
        text, size = self._text, layout.size
        lanes = f"dense<[{', '.join(map(str, range(width)))}]>"

        def make(name: str) -> None:
            first = self.first(layout, width, loop)
            text.once(f"%lanes{width}", lambda n: text.write(f"{n} = arith.constant {lanes} : vector<{width}xi32>"))
            text.write(f"%chunk{size} = vector.broadcast {first} : i32 to vector<{width}xi32>")
            text.write(f"{name} = arith.addi %chunk{size}, %lanes{width} : vector<{width}xi32>")

        return text.once(f"%pos{size}", make)

    def owner(self, layout: Layout) -> str | None:
        """An i1: this thread's elements are the originals, not copies. None if no thread holds copies."""
        register, lane, warp = layout.free_bits()
        if register:
            raise InternalError(f"registers that hold copies are not expected: {layout}")
        copies, threads = lane | warp << len(layout.lane), 1 << len(layout.lane + layout.warp)
        if not copies:
            return None
        text = self._text

        def make(name: str) -> None:
            if copies == threads - layout.size:  # the upper threads repeat the lower ones
                text.write(f"{name} = arith.cmpi ult, {THREAD}, {text.i32(layout.size)} : i32")
            else:
                text.write(f"{name}_bits = arith.andi {THREAD}, {text.i32(copies)} : i32")
                text.write(f"{name} = arith.cmpi eq, {name}_bits, {text.i32(0)} : i32")

        return text.once(f"%owner{layout.size}", make)
