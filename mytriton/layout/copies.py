"""Which loads of a loop can become asynchronous copies into rings of buffers, and why the others cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.layout.dots import dot_plan
from mytriton.layout.layout import Layout
from mytriton.layout.orders import Orders
from mytriton.layout.routes import BitMap
from mytriton.layout.staging import COPY_BYTES
from mytriton.records import dataclass
from mytriton.types import PointerType, element_of

_VIEWS = (ops.Reshape, ops.Transpose)


@dataclass(frozen=True)
class Staging:
    """A load that becomes a copy: the product that takes it, as its factor `side` (`lhs` or `rhs`), after `views` that
    only rename positions; where an element of the block that is loaded stands in a buffer (`place`), where one of the
    factor does (`slot`), and how many elements one copy moves."""

    load: ops.Load
    views: tuple[Op, ...]
    dot: ops.Dot
    side: str
    place: BitMap
    slot: BitMap
    width: int

    @property
    def factor(self) -> Value:
        """What the product takes."""
        return self.views[-1].result if self.views else self.load.result


class Copies:
    """Looks at the loads of one function; `orders` are what is known of its addresses and masks."""

    def __init__(
        self,
        layouts: Mapping[Value, Layout],
        orders: Orders,
        definitions: Mapping[Value, Op],
        users: Mapping[Value, Sequence[Op]],
    ) -> None:
        self._layouts, self._orders, self._definitions, self._users = layouts, orders, definitions, users

    def staging(self, load: ops.Load) -> Staging | str:
        """The copy, or why there is none."""
        value, views = load.result, list[Op]()
        while True:
            users = self._users.get(value, ())
            if len(users) != 1:
                return "its block has several uses" if users else "its block has no use"
            (user,) = users
            if not isinstance(user, _VIEWS):
                break
            views.append(user)
            value = user.result
        if not isinstance(user, ops.Dot) or (value is user.acc):
            return f"its block goes to `{user.opcode}`, not to a product as it is"
        if user.lhs is user.rhs:
            return "its block is both factors of a product"
        if load.volatile:
            return "it is volatile"
        if load.other is not None and not self._is_zero(load.other):
            return "what is masked off is not 0"
        side = "lhs" if value is user.lhs else "rhs"
        plan = dot_plan(user.evolve(staged="both"), self._layouts)
        slot = (plan.lhs if side == "lhs" else plan.rhs).slot
        renamed = self._renamed(load.result, value)
        place = tuple(slot[bit.bit_length() - 1] for bit in renamed)
        width, why = self._width(load, place)
        return why or Staging(load, tuple(views), user, side, place, slot, width)

    def _is_zero(self, value: Value) -> bool:
        op = self._definitions.get(value)
        while isinstance(op, (ops.Splat, ops.Broadcast, *_VIEWS)):
            op = self._definitions.get(op.source)
        return isinstance(op, ops.Constant) and not op.value

    def _renamed(self, loaded: Value, factor: Value) -> BitMap:
        """For each position bit of a block that of the same element in another, whose registers hold the same."""
        pairs = dict[int, int]()
        for old, new in zip(self._layouts[loaded].map, self._layouts[factor].map, strict=True):
            pairs |= zip(old, new, strict=True)
        return tuple(pairs[1 << bit] for bit in range(self._layouts[loaded].size.bit_length() - 1))

    def _width(self, load: ops.Load, place: BitMap) -> tuple[int, str]:
        """How many elements one copy moves, or why none can."""
        layout, element = self._layouts[load.pointer], element_of(load.pointer.type)
        assert isinstance(element, PointerType)
        axis, size = self._orders.along(layout), element.element.bytes
        width = min(layout.vector, COPY_BYTES[0] // size)
        while width > 1 and not _whole(place, layout.step, width):
            width //= 2
        kept = width
        width = min(width, axis[load.pointer].contiguous, axis[load.pointer].divisible) if axis else 1
        known = width
        width = min(width, axis[load.mask].constant) if load.mask is not None and axis else width
        if width * size in COPY_BYTES:
            return width, ""
        what = f"a copy moves at least {COPY_BYTES[-1]} bytes, but of {size} bytes each "
        if kept * size < COPY_BYTES[-1]:
            return 0, f"{what}a thread holds {kept} in a row"
        if known * size < COPY_BYTES[-1]:
            return 0, f"{what}{known} in a row are known to be consecutive and aligned"
        return 0, f"{what}{width} in a row have one mask"


def _whole(place: BitMap, step: int, width: int) -> bool:
    """Whether runs of `width` positions, `step` apart, stay together in the buffer."""
    first, bits = step.bit_length() - 1, width.bit_length() - 1
    inside, others = place[first : first + bits], (*place[:first], *place[first + bits :])
    return inside == tuple(1 << bit for bit in range(bits)) and not any(mask & (width - 1) for mask in others)
