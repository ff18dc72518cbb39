"""What a module holds, as plain records, and the questions that analyses ask first.

A pass walks operations; so do these functions, without leaving anything native behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from mytriton.backends.mlir.listing import places
from mytriton.diagnostics import MytritonError
from mytriton.mlir.module import Module
from mytriton.mlir.symbols import symbol
from mytriton.records import dataclass

#: Operations that are reductions by name.
REDUCTIONS = (
    *("linalg.reduce", "linalg.softmax", "vector.reduction", "vector.multi_reduction", "vector.contract"),
    *("gpu.all_reduce", "gpu.subgroup_reduce", "scf.reduce", "tosa.reduce_*", "tosa.arg*"),
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name, the row (from 1) and column of the text it came from (0 if that is unknown), the symbols
    of the operations around it, its attributes and the types of its operands and results, as MLIR prints them. `maps`
    are the kinds of its indexing maps (`kind_of`), one for each operand, where linalg and vector have them."""

    name: str
    row: int
    column: int
    within: tuple[str, ...]
    attributes: Mapping[str, str]
    operands: tuple[str, ...]
    results: tuple[str, ...]
    maps: tuple[str, ...] = ()
    #: Whether loops that no axis of the result stands for go over elements of an operand.
    contracts: bool = False

    @property
    def function(self) -> str:
        """The innermost symbol around it; '' if there is none."""
        return self.within[-1] if self.within else ""

    @property
    def reduces(self) -> bool:
        """Whether it combines elements along some axis."""
        iterators = self.attributes.get("iterator_types", "")
        by_name = any(fnmatchcase(self.name, pattern) for pattern in REDUCTIONS)
        if self.name == "affine.parallel":
            return "reductions" in self.attributes and self.attributes["reductions"] != "[]"
        return "reduction" in iterators or self.contracts or by_name


def walk(module: Module) -> Iterator[Operation]:
    """Every operation below the module, outer before inner, in order."""
    with module.native() as native:
        yield from [*_walk(native.operation, ())]


def _walk(op: Any, within: tuple[str, ...]) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                yield _record(inner, within)
                name = symbol(inner)
                yield from _walk(inner, (*within, name) if name else within)


def _record(op: Any, within: tuple[str, ...]) -> Operation:
    row, column = next(places(str(op.location), {}), (0, 0))
    return Operation(
        op.name,
        row,
        column,
        within,
        {name: str(op.attributes[name]) for name in op.attributes},
        tuple(str(v.type) for v in op.operands),
        tuple(str(v.type) for v in op.results),
        *_maps(op),
    )


def _maps(op: Any) -> tuple[tuple[str, ...], bool]:
    from mlir import ir

    found: Any = None
    if op.name.startswith("linalg."):
        from mlir._mlir_libs._mlirDialectsLinalg import get_indexing_maps

        found = get_indexing_maps(op)  # of named operations, too
    elif "indexing_maps" in op.attributes:
        found = op.attributes["indexing_maps"]
    if found is None:
        return (), False
    maps = [ir.AffineMapAttr(a).value for a in found]
    read = {d for m in maps[:-1] for d in _dimensions(m)}
    return tuple(kind_of(m) for m in maps), bool(read - set(_dimensions(maps[-1])))


def kind_of(native: Any) -> str:
    """What an affine map, from loops to the axes of an operand, does: `identity`; `broadcast`, if loops leave the
    element where it is; `transpose`, if its axes are not in the order of the loops; both; else `other`."""
    positions = _dimensions(native)
    if len(positions) < len(native.results) or len(set(positions)) < len(positions):
        return "other"
    kinds = []
    if positions != sorted(positions):
        kinds.append("transpose")
    if len(positions) < native.n_dims:
        kinds.append("broadcast")
    return " ".join(kinds) or "identity"


def _dimensions(native: Any) -> list[int]:
    """The loops that are axes, in order of the axes; sums and constants are left out."""
    from mlir import ir

    return [e.position for e in native.results if isinstance(e, ir.AffineDimExpr)]


#: Questions by their names. A result that is reduced into has fewer axes than there are loops, which is no broadcast.
QUERIES: dict[str, tuple[str, Callable[[Operation], bool]]] = {
    "reductions": ("operations that combine elements along an axis", lambda op: op.reduces),
    "transposes": (
        "operands read or written with their axes in another order",
        lambda op: any("transpose" in m for m in op.maps),
    ),
    "broadcasts": (
        "operands of fewer axes than the loops around them",
        lambda op: any("broadcast" in m for m in op.maps[:-1]),
    ),
    "casts": ("conversions that no pass has resolved", lambda op: op.name == "builtin.unrealized_conversion_cast"),
}


def query(module: Module, question: str) -> list[Operation]:
    """The operations that a question is about: the name of one of `QUERIES`, or that of operations (`linalg.*`); raises
    `MytritonError` if it is neither."""
    if question in QUERIES:
        wanted = QUERIES[question][1]
    elif "." in question or "*" in question:

        def wanted(op: Operation) -> bool:
            return fnmatchcase(op.name, question)

    else:
        raise MytritonError(
            f"no question {question!r}; ask for {', '.join(QUERIES)}, or an operation such as 'linalg.*'"
        )
    return [op for op in walk(module) if wanted(op)]
