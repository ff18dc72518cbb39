"""What a module holds, as plain records, and the questions that analyses ask first.

A pass walks operations; so do these functions, without leaving anything native behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from mytriton import checked
from mytriton.backends.mlir.listing import Listings, places
from mytriton.diagnostics import MytritonError
from mytriton.mlir.module import Module, Run
from mytriton.mlir.reductions import accumulates, named
from mytriton.mlir.symbols import symbol
from mytriton.records import dataclass
from mytriton.source import SourceUnit
from mytriton.stage import Compilation, Line


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name, the row (from 1) and column of the text it came from (0 if that is unknown), the symbols
    of the operations around it, its attributes and the types of its operands and results, as MLIR prints them. `maps`
    are the kinds of its indexing maps (`kind_of`), one for each operand, where linalg and vector have them. Of a
    compilation `stage` is the one that it stands in, and `path` the file that the row is of."""

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
    #: Whether it is part of a sum over lanes or over the turns of a loop (`reductions.accumulates`).
    accumulates: bool = False
    stage: str = ""
    path: str = ""

    @property
    def function(self) -> str:
        """The innermost symbol around it; '' if there is none."""
        return self.within[-1] if self.within else ""

    @property
    def reduces(self) -> bool:
        """Whether it combines elements along some axis."""
        iterators = self.attributes.get("iterator_types", "")
        if self.name == "affine.parallel":
            return "reductions" in self.attributes and self.attributes["reductions"] != "[]"
        return "reduction" in iterators or self.contracts or self.accumulates or named(self.name, self.operands)


def walk(module: Module) -> Iterator[Operation]:
    """Every operation below the module, outer before inner, in order."""
    checked.module(module, "mlir.walk")
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
        accumulates=accumulates(op),
    )


def _maps(op: Any) -> tuple[tuple[str, ...], bool]:
    from mlir import ir

    found: Any = None
    if op.name.startswith("linalg."):
        from mlir._mlir_libs._mlirDialectsLinalg import get_indexing_maps

        found = get_indexing_maps(op)  # of named operations, too
    elif "indexing_maps" in op.attributes:
        found = op.attributes["indexing_maps"]
    elif "permutation_map" in op.attributes:  # from memory to the vector: the other way round
        return (_permutation(ir.AffineMapAttr(op.attributes["permutation_map"]).value),), False
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


def _permutation(native: Any) -> str:
    """What the map of a transfer does: its results are the axes of the vector, those that are no axis of memory are
    broadcast."""
    positions = _dimensions(native)
    kinds = ["transpose"] if positions != sorted(positions) else []
    kinds += ["broadcast"] if len(positions) < len(native.results) else []
    return " ".join(kinds) or "identity"


def _dimensions(native: Any) -> list[int]:
    """The loops that are axes, in order of the axes; sums and constants are left out."""
    from mlir import ir

    return [e.position for e in native.results if isinstance(e, ir.AffineDimExpr)]


def _has(op: Operation, *names: str) -> bool:
    return any(fnmatchcase(op.name, name) for name in names)


def _transposes(op: Operation) -> bool:
    columns = op.name in ("nvvm.ldmatrix", "nvgpu.ldmatrix") and (
        "col" in op.attributes.get("layout", "") or op.attributes.get("transpose") == "true"
    )
    return columns or any("transpose" in m for m in op.maps) or _has(op, "*.transpose")


def _broadcasts(op: Operation) -> bool:
    # A result that is reduced into has fewer axes than there are loops, which is no broadcast.
    operands = op.maps if "permutation_map" in op.attributes else op.maps[:-1]
    return any("broadcast" in m for m in operands) or _has(op, "*.broadcast", "*.splat")


#: Questions by their names.
QUERIES: dict[str, tuple[str, Callable[[Operation], bool]]] = {
    "reductions": ("operations that combine elements along an axis", lambda op: op.reduces),
    "transposes": ("operands read or written with their axes in another order", _transposes),
    "broadcasts": ("operands of fewer axes than the loops around them", _broadcasts),
    "casts": ("conversions that no pass has resolved", lambda op: op.name == "builtin.unrealized_conversion_cast"),
}


def query(
    what: Module | Compilation, question: str, stage: str = "", units: Sequence[SourceUnit] | None = None
) -> list[Operation]:
    """The operations that a question is about: the name of one of `QUERIES`, or that of operations (`linalg.*`).

    Of a compilation, be it of a kernel or a run of passes, those of every stage that is MLIR, or of `stage` alone;
    their rows are those of the kernel's file, of which `units` say where they stand by now. Raises `MytritonError` for
    a question that is none and a compilation without MLIR, and `CompileError` if it fails.
    """
    checked.module(what, "mlir.query", (Compilation,), ", or a compilation")
    checked.expect(question, str, "mlir.query", "a question as a text")
    if question in QUERIES:
        wanted = QUERIES[question][1]
    elif "." in question or "*" in question:

        def wanted(op: Operation) -> bool:
            return fnmatchcase(op.name, question)

    else:
        raise MytritonError(
            f"no question {question!r}; ask for {', '.join(QUERIES)}, or an operation such as 'linalg.*'"
        )
    return [op for op in (walk(what) if isinstance(what, Module) else _walk_stages(what, stage, units)) if wanted(op)]


def _walk_stages(compilation: Compilation, stage: str, units: Sequence[SourceUnit] | None) -> Iterator[Operation]:
    """Every operation of the stages that are MLIR, or of one of them."""
    known = [name for name in compilation.planned if name.split("/")[0] in ("mlir", "cpu")]
    if not known:
        raise MytritonError(f"backend {compilation.target.backend} has no MLIR: compile for mlir or cpu")
    if stage and stage not in known:
        raise MytritonError(f"no stage {stage!r} is MLIR; there are {', '.join(known)}")
    compilation.run(stage or known[-1]).raise_if_failed()
    emit, emitted = known[0], next(s for s in compilation.stages if s.language == "mlir").lines
    listings = Listings()
    for made in compilation.stages:
        if made.name not in ([stage] if stage else known):
            continue
        if made.name == emit:
            code = "\n".join(line.text for line in emitted).encode()
        elif isinstance(made.artifact, bytes):
            code = made.artifact
        else:  # PTX, of which the module holds nothing else
            continue
        with listings.module(code) as native:
            found = [*_walk(native.operation, ())]
        for op in found:
            op = replace(op, stage=made.name)
            # Rows of a text are its own places, and more than those of what was emitted for a kernel.
            yield op if isinstance(compilation, Run) else _placed(op, emitted, units or compilation.units)


def _placed(op: Operation, emitted: Sequence[Line], units: Sequence[SourceUnit]) -> Operation:
    """An operation with the place in the author's file that its row of the emitted text came from."""
    span = emitted[op.row - 1].span if 0 < op.row <= len(emitted) else None
    if span is None or span.unit >= len(units):
        return replace(op, row=0, column=0)
    unit = units[span.unit]
    return replace(op, row=unit.file_line(span), column=span.column, path=unit.path)
