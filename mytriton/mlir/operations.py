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
from mytriton.target import MLIR_BACKENDS

#: How many operands of an operation of linalg are read, and written.
_SEGMENTS = "operandSegmentSizes"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name, the row (from 1) and column of the text it came from (0 if that is unknown), the symbols
    of the operations around it, its attributes and the types of its operands and results, as MLIR prints them. `maps`
    are the kinds of its indexing maps (`kinds_of`), one for each operand, where linalg and vector have them. Of a
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


def _walk(op: Any, within: tuple[str, ...], around: tuple[int, int] = (0, 0)) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                # What an operation has in its body without its being written, such as a product, stands where it does.
                at = next(places(str(inner.location), {}), around)
                yield _record(inner, within, at)
                name = symbol(inner)
                yield from _walk(inner, (*within, name) if name else within, at)


def _record(op: Any, within: tuple[str, ...], at: tuple[int, int]) -> Operation:
    return Operation(
        op.name,
        *at,
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
    results = ir.DenseI32ArrayAttr(op.attributes[_SEGMENTS])[1] if _SEGMENTS in op.attributes else 1
    return kinds_of(maps, results)


def kinds_of(maps: Sequence[Any], results: int = 1) -> tuple[tuple[str, ...], bool]:
    """What affine maps, from loops to the axes of operands, do, of which the last `results` are of what is written; and
    whether there are *reduced* loops, which no axis of that stands for. Reduced loops are not looked at otherwise:

    - `transpose`: the axes are not in the order of the loops. The factors of a product are transposed where they
      are not as `linalg.matmul` takes them: own axes before the reduced ones in the first, behind them in others.
    - `broadcast`: an operand has no axis for a loop, so that its elements are the same in all of its turns. That a
      factor of a product lacks the axes of another one (as the rows of one of `linalg.matmul` the columns of the
      other) is none.
    - `identity`, or `projection` if there is no axis for some loops; and `other`: sums, constants, an axis twice.
    """
    used = [{d for e in m.results for d in _loops(e)} for m in maps]
    written = set[int]().union(*used[len(maps) - results :])
    reduced = set[int]().union(*used[: len(maps) - results]) - written
    factors = [number for number, loops in enumerate(used[: len(maps) - results]) if loops & reduced]
    product = len(factors) > 1
    plain = all(_is_plain(maps[number]) for number in factors)
    kinds = []
    for number, m in enumerate(maps):
        axes, others = _dimensions(m), set[int]()
        if product and number in factors:
            others = set[int]().union(*(used[f] for f in factors if f != number))
        found = []
        if not _is_plain(m):
            kinds.append("other")
            continue
        kept = [d for d in axes if d not in reduced]
        own = [at for at, d in enumerate(axes) if d not in reduced | others]
        summed = [at for at, d in enumerate(axes) if d in reduced]
        turned = own and summed and (own[0] < summed[0]) != (number == factors[0])
        if kept != sorted(kept) or (product and plain and turned):
            found.append("transpose")
        if number < len(maps) - results and written - used[number] - others:
            found.append("broadcast")
        kinds.append(" ".join(found) or ("identity" if axes == [*range(m.n_dims)] else "projection"))
    return tuple(kinds), bool(reduced)


def _is_plain(native: Any) -> bool:
    """Whether each axis is a loop of its own."""
    return len(set(_dimensions(native))) == len(native.results)


def _loops(expression: Any) -> Iterator[int]:
    """The loops in an expression."""
    from mlir import ir

    if isinstance(expression, ir.AffineDimExpr):
        yield expression.position
    elif isinstance(expression, ir.AffineBinaryExpr):
        yield from _loops(expression.lhs)
        yield from _loops(expression.rhs)


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
    return any("broadcast" in m for m in op.maps) or _has(op, "*.broadcast", "*.splat")


#: Questions by their names; what is transposed and what broadcast says `kinds_of`.
QUERIES: dict[str, tuple[str, Callable[[Operation], bool]]] = {
    "reductions": ("operations that combine elements along an axis", lambda op: op.reduces),
    "transposes": ("operands read or written with their axes in another order", _transposes),
    "broadcasts": ("operands without an axis for a loop that is not reduced", _broadcasts),
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
    known = [name for name in compilation.planned if name.split("/")[0] in MLIR_BACKENDS]
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
