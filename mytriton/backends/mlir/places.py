"""Where a thread stands: launch grid indices, the position of each of its elements, and which thread may store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mytriton.backends.mlir.context import Context, View
from mytriton.backends.mlir.text import ZERO, Text
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.ir.printer import Printer
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import LaidOut
from mytriton.layout.routes import number
from mytriton.layout.staging import AsyncCopy

AXES = "xyz"
THREAD = "%thread_id_x"


def write_indices(text: Text, laid_out: LaidOut) -> None:
    """The grid and thread indices the function uses, as i32: gpu dialect operations, then their conversions."""
    printer = Printer(laid_out.func)
    used: dict[tuple[str, str, str], Op | None] = {}
    found = list(laid_out.func.walk())
    for op in found:
        if isinstance(op, ops.ProgramId):
            used.setdefault(("gpu.block_id", "bid", f"block_id_{AXES[op.axis]}"), op)
        elif isinstance(op, ops.Print):
            for axis in AXES:
                used.setdefault(("gpu.block_id", "bid", f"block_id_{axis}"), op)
    for op in found:
        if isinstance(op, ops.NumPrograms):
            used.setdefault(("gpu.grid_dim", "programs", f"grid_dim_{AXES[op.axis]}"), op)
    # Positions depend on the thread, and so do who stores a scalar and whose elements are exchanged.
    effects = (ops.Store, ops.Atomic, ops.Assert, ops.Print, AsyncCopy)
    exchanges = (ops.Dot, ops.Pick, ops.Gather, ops.Histogram, Convert, PartialReduce)
    threads = [op for op in found if isinstance(op, (ops.Arange, *effects, *exchanges))]
    if threads:
        used["gpu.thread_id", "tid", "thread_id_x"] = threads[0]
    links = [(op.span, printer.ids(op)) if op is not None else (None, ()) for op in used.values()]
    for (gpu, short, name), link in zip(used, links, strict=True):
        text.at(*link)
        text.write(f"%{short}_{name[-1]} = {gpu} {name[-1]}")
    for (_, short, name), link in zip(used, links, strict=True):
        text.at(*link)
        text.write(f"%{name} = arith.index_cast %{short}_{name[-1]} : index to i32")


def place(text: Text, sources: Iterable[tuple[str, Sequence[int]]], name: str) -> str | None:
    """The sum of what the bits of some numbers stand for. `sources` are SSA names with the number that each of their
    bits adds; what two add is flipped. It is in `name` if it takes an operation; None if it is always 0."""
    seen = 0
    parts = [(source, mask, shift, len(bits)) for source, bits in sources for mask, shift in _runs(bits)]
    total = None
    for i, (source, mask, shift, bits) in enumerate(parts):
        made = mask << shift if shift > 0 else mask >> -shift
        opcode, seen = "arith.xori" if made & seen else "arith.addi", seen | made
        part, stem = source, name if len(parts) == 1 else f"{name}_{i}"
        if mask != (1 << bits) - 1:
            masked = f"{stem}_bits" if shift else stem
            text.write(f"{masked} = arith.andi {part}, {text.i32(mask)} : i32")
            part = masked
        if shift:
            moved = "arith.shli" if shift > 0 else "arith.shrui"
            text.write(f"{stem} = {moved} {part}, {text.i32(abs(shift))} : i32")
            part = stem
        if total is None:
            total = part
        else:
            partial = name if i == len(parts) - 1 else f"{name}_sum{i + 1}"
            text.write(f"{partial} = {opcode} {total}, {part} : i32")
            total = partial
    return total


def onto(text: Text, base: str, taken: Sequence[int], sources: Sequence[tuple[str, Sequence[int]]], name: str) -> str:
    """`base`, some of the bits `taken`, with what the bits of some numbers stand for: those that several have are
    flipped, and all others added at last, so that an address keeps a part that is constant once loops are unrolled."""
    masks, common = [taken, *(masks for _, masks in sources)], 0
    for i, one in enumerate(masks):
        common |= _all(one) & _all(mask for other in (*masks[:i], *masks[i + 1 :]) for mask in other)
    for opcode, kept, stem in (("arith.xori", common, f"{name}_flipped"), ("arith.addi", ~common, name)):
        part = place(text, [(source, [mask & kept for mask in bits]) for source, bits in sources], f"{stem}_by")
        if part is not None:
            text.write(f"{stem} = {opcode} {base}, {part} : i32")
            base = stem
    return base


def _all(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _runs(entries: Sequence[int]) -> list[tuple[int, int]]:
    """`entries` as (mask, shift) pairs: source bits under the mask, moved left by shift, give their positions."""
    masks: dict[int, int] = {}
    for bit, entry in enumerate(entries):
        while entry:
            shift = entry.bit_length() - 1 - bit
            masks[shift] = masks.get(shift, 0) | 1 << bit
            entry ^= 1 << entry.bit_length() - 1
    return [(mask, shift) for shift, mask in masks.items()]


class Positions:
    """Positions of the elements a thread holds, made once per region: scalars, or `vector<Wxi32>` for chunks."""

    def __init__(self, context: Context) -> None:
        self._context, self._text = context, context.text
        self._tags: dict[tuple[object, int], str] = {}
        self._thread: dict[str, str | None] = {}

    def tag(self, layout: Layout) -> str:
        """A suffix for names that belong to the layout: its size, and a number if there are several of that size."""
        key = layout.map, layout.size
        if key not in self._tags:
            others = sum(size == layout.size for _, size in self._tags)
            self._tags[key] = f"{layout.size}_l{others}" if others else str(layout.size)
        return self._tags[key]

    def write_thread(self, layout: Layout) -> None:
        """The part that depends on the thread alone, for use in all segments; call it at the function's top level."""
        tag = self.tag(layout)
        if tag not in self._thread:
            self._thread[tag] = place(self._text, [(THREAD, layout.lane + layout.warp)], f"%at{tag}")

    def first(self, layout: Layout) -> str:
        """The position of the element at hand in `layout`: of the first one of a chunk."""
        text, view, tag = self._text, self._context.view, self.tag(layout)
        at_thread = self._thread[tag]
        if view is not None:
            index, bits, tag = view.index, layout.register, f"{tag}_{view.index.lstrip('%')}"
        else:
            index = "%r" if self._context.trips > 1 else ZERO
            bits = layout.register[self._chunk_bits() :]
        if not any(bits) or index == ZERO:
            return at_thread or text.i32(0)

        def make(name: str) -> None:
            at_register = place(text, [(index, bits)], f"%trip{tag}")
            text.write(f"{name} = arith.addi {at_thread or text.i32(0)}, {at_register} : i32")

        return text.once(f"%first{tag}", make)

    def index(self, layout: Layout) -> list[str]:
        """The index of the element at hand along each axis."""
        text, found, below = self._text, [], 1
        for axis in reversed(range(len(layout.shape))):
            extent, position = layout.shape[axis], self.first(layout)
            bits = (0,) * (below.bit_length() - 1) + tuple(1 << i for i in range(extent.bit_length() - 1))
            bits += (0,) * (layout.size.bit_length() - 1 - len(bits))
            name = text.fresh(f"%at{self.tag(layout)}_axis{axis}")
            found.append(place(text, [(position, bits)], name) or text.i32(0))
            below *= extent
        return found[::-1]

    def vector(self, layout: Layout, width: int) -> str:
        """The positions of the elements of a chunk."""
        text, view = self._text, self._context.view
        low = view.low if view is not None else tuple(1 << i for i in range(self._chunk_bits()))
        offsets = [number(layout.register, number(low, i)) for i in range(width)]
        known = text.recall((layout.map, layout.size, view))
        return known or self._vector(layout, view, offsets)

    def _vector(self, layout: Layout, view: View | None, offsets: list[int]) -> str:
        text, width = self._text, len(offsets)
        tag = self.tag(layout) + ("" if view is None else f"_{view.index.lstrip('%')}")
        first = self.first(layout)
        name, chunk = text.fresh(f"%pos{tag}"), text.fresh(f"%chunk{tag}")
        lanes = f"%lanes{width}" + ("" if offsets == list(range(width)) else f"_{'_'.join(map(str, offsets))}")
        dense = f"arith.constant dense<[{', '.join(map(str, offsets))}]> : vector<{width}xi32>"
        if any(offsets):
            text.once(lanes, lambda n: text.write(f"{n} = {dense}"))
        text.write(f"{chunk if any(offsets) else name} = vector.broadcast {first} : i32 to vector<{width}xi32>")
        if any(offsets):
            text.write(f"{name} = arith.addi {chunk}, {lanes} : vector<{width}xi32>")
        text.remember((layout.map, layout.size, view), name)
        return name

    def _chunk_bits(self) -> int:
        return (self._context.width or 1).bit_length() - 1

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

        return text.once(f"%owner{self.tag(layout)}", make)
