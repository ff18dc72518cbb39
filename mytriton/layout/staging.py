"""The operations by which blocks come into shared memory while earlier ones are multiplied (`pipeline.py`).

A ring is a row of buffers in shared memory, each of which holds one block. Threads copy elements there asynchronously
(`cp.async`), in groups; they wait for a group before they read what it has copied. All are defined on whole blocks,
whoever holds the elements, so the interpreter runs them as well.
"""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Effect, Op, Value, attribute, operand
from mytriton.ir.ops.memory import check_mask
from mytriton.ir.ops.rules import require
from mytriton.layout.routes import BitMap
from mytriton.records import dataclass
from mytriton.types import BlockType, PointerType, Type, element_of, i32, shape_of

#: The bytes that one asynchronous copy moves (PTX ISA, "cp.async").
COPY_BYTES = (16, 8, 4)


@dataclass(frozen=True, slots=True)
class Ring:
    """`stages` buffers of `bytes` each, from byte `start` of the kernel's shared memory on, for blocks of type `type`.
    `slot` says for each bit of a position in a block which bits it flips in the element's number in its buffer."""

    number: int
    stages: int
    start: int
    bytes: int
    type: BlockType
    slot: BitMap

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + self.stages * self.bytes

    def __str__(self) -> str:
        return f"#{self.number} of {self.stages}"


@dataclass(frozen=True, eq=False, kw_only=True)
class AsyncCopy(Op):
    """Begin to copy the elements at `pointer` to buffer `stage` of a ring, zeros where `mask` is false; `width` of
    them, consecutive ones of a thread, at a time. `place` is as `Ring.slot`, for positions in the block of pointers
    (the ring's may be that block transposed)."""

    opcode: ClassVar[str] = "async_copy"
    effect: ClassVar[Effect] = Effect.WRITE
    pointer: Value = operand()
    stage: Value = operand()
    mask: Value | None = operand(None)
    ring: Ring = attribute()
    place: BitMap = attribute()
    width: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        pointer = element_of(self.pointer.type)
        fits = isinstance(pointer, PointerType) and pointer.element == element_of(self.ring.type)
        require(fits, "cannot copy from {} to blocks of {}", self.pointer.type, self.ring.type)
        require(self.stage.type == i32, "a buffer's number is an i32, got {}", self.stage.type)
        check_mask(self.mask, shape_of(self.pointer.type))
        return ()

    @property
    def attributes(self) -> dict[str, object]:
        """Without what follows from the layout of the factor."""
        return {"ring": self.ring, "width": self.width}


@dataclass(frozen=True, eq=False, kw_only=True)
class AsyncCommit(Op):
    """What this thread has begun to copy since the last one is a group."""

    opcode: ClassVar[str] = "async_commit"
    effect: ClassVar[Effect] = Effect.WRITE

    def type_rule(self) -> tuple[Type, ...]:
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class AsyncWait(Op):
    """Wait until at most the last `pending` groups of this thread are on their way, then for all other threads."""

    opcode: ClassVar[str] = "async_wait"
    effect: ClassVar[Effect] = Effect.WRITE
    pending: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Staged(Op):
    """The block in buffer `stage` of a ring. It stays there: products read it where it stands, nothing else uses it."""

    opcode: ClassVar[str] = "staged"
    stage: Value = operand()
    ring: Ring = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        require(self.stage.type == i32, "a buffer's number is an i32, got {}", self.stage.type)
        return (self.ring.type,)
