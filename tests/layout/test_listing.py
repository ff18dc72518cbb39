"""The listing of exchanges and nested items."""

from __future__ import annotations

from mytriton.backends.cuda.emit import emit
from mytriton.ir import ops
from mytriton.ir.builder import parameter
from mytriton.ir.core import Value
from mytriton.layout.assign import lay_out
from mytriton.layout.printer import layout_lines
from mytriton.layout.staging import AsyncCopy
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import i32
from tests import feature_kernels_pipelines as pipelines
from tests.ir.kernels import at, pointer
from tests.layout.tiles import Tiles
from tests.stage_runs import optimized


def lines() -> list[Line]:
    """Column sums of a tile, added up in a loop, doubled in a branch, and its transpose."""
    b, x, out, trips = Tiles(), pointer("x", i32), pointer("out", i32), parameter("trips", i32)
    b.span = at(2)
    place = b.index((32, 64))
    tile = b.load(x, place)

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        b.span = at(4)
        return [b.binary(ops.Add, carried[0], b.reduce(tile, 0))]

    b.span = at(3)
    (total,) = b.loop(trips, [b.constant(0, i32, (64,))], body)
    test = b.add(ops.CmpGt, lhs=trips, rhs=b.constant(2, i32))
    (last,) = b.branch(test, lambda b: [total], lambda b: [b.binary(ops.Add, total, total)])
    b.store(out, b.index((64,)), last)
    b.span = at(9)
    moved = b.add(ops.Transpose, source=tile, order=(1, 0))
    b.store(out, b.shaped(place, (64, 32)), moved)
    return layout_lines(lay_out(b.finish("k", (x, out, trips)), Target()))


def test_exchanges_and_nested_items() -> None:
    texts = [line.text for line in lines()]
    start = texts.index("  %10 = load %9 : vector<32x64 x i32> #b32x64")
    assert texts[start - 5 : start + 1] == [
        "for each of 16 registers of #b32x64, keeping %8, %10:",
        "  %3 = broadcast %2 {shape=(32, 64)} : vector<32x64 x i32> #b32x64",
        "  %7 = broadcast %6 {shape=(32, 64)} : vector<32x64 x i32> #b32x64",
        "  %8 = add %3, %7 : vector<32x64 x i32> #b32x64",
        "  %9 = addptr x, %8 : vector<32x64 x ptr<i32>> #b32x64",
        "  %10 = load %9 : vector<32x64 x i32> #b32x64",
    ]
    assert texts[start + 1 :] == [
        "%15 = for %11 = 0 to trips step 1 with %12 = 0 : vector<64 x i32> #b64 {",
        "  %25 = sum of %10 along axis 0 across 4 registers : vector<8x64 x i32> #b8x64",
        "  %26 = sum of %25 along axis 0 across 2 lanes : vector<4x64 x i32> #b4x64",
        "  barrier",
        "  %27 = sum of %26 along axis 0 across 4 warps : vector<1x64 x i32> #b1x64"
        "  // bytes 0 to 1023, a barrier inside",
        "  for each of 4 registers of #b64, keeping %14:",
        "    %13 = reshape %27 {shape=(64,)} : vector<64 x i32> #b64",
        "    %14 = add %12, %13 : vector<64 x i32> #b64",
        "  yield %14",
        "}",
        "%18 = if %16 : vector<64 x i32> #b64 {",
        "  yield %15",
        "} else {",
        "  for each of 4 registers of #b64, keeping %17:",
        "    %17 = add %15, %15 : vector<64 x i32> #b64",
        "  yield %17",
        "}",
        "for each of 4 registers of #b64:",
        "  %19 = arange {start=0, end=64} : vector<64 x i32> #b64",
        "  %20 = mul %19, 1 : vector<64 x i32> #b64",
        "  %21 = addptr out, %20 : vector<64 x ptr<i32>> #b64",
        "  store %21, %18",
        "for each of 16 registers of #b64x32, keeping %22:",
        "  %22 = trans %10 {order=(1, 0)} : vector<64x32 x i32> #b64x32",
        "barrier",
        "%28 = convert %22 through shared memory : vector<64x32 x i32> #b64x32 -> #b64x32.2"
        "  // bytes 0 to 8191, swizzled, a barrier inside",
        "for each of 16 registers of #b64x32.2:",
        "  %23 = reshape %8 {shape=(64, 32)} : vector<64x32 x i32> #b64x32.2",
        "  %24 = addptr out, %23 : vector<64x32 x ptr<i32>> #b64x32.2",
        "  store %24, %28",
    ]


def test_layouts_come_first_in_words() -> None:
    texts = [line.text for line in lines()]
    first = texts.index("#b32x64 = layout<32x64: register=[1, 2, 512, 1024], lane=[4, 8, 16, 32, 64], warp=[128, 256]>")
    assert texts[first + 1] == "  16 registers in each of 128 threads, runs of 4 consecutive elements"
    turned = texts.index(
        "#b64x32 = layout<64x32: register=[32, 64, 8, 16], lane=[128, 256, 512, 1024, 1], warp=[2, 4]>"
    )
    assert texts[turned + 1] == "  16 registers in each of 128 threads, runs of 4 elements that are 32 apart"


def test_lines_are_linked() -> None:
    found = {line.text.strip().split(" = ")[0]: line for line in lines() if " = " in line.text}
    assert (found["%25"].span, found["%25"].values) == (at(4), ("%25", "%10"))
    assert (found["%28"].span, found["%28"].values) == (at(9), ("%28", "%22"))
    assert found["%15"].span == at(3) and {"%15", "%11", "%12", "trips"} <= set(found["%15"].values)


def test_the_log_says_what_was_done_and_why() -> None:
    """Row sums are stored where they are, so their places are made again; a transposed tile is converted."""
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    b.span = at(2)
    tile = b.load(x, b.index((32, 64)))
    rows = b.add(ops.Arange, start=0, end=32)
    column = b.broadcast(b.shaped(rows, (1, 32)), (64, 32))
    b.span = at(4)
    b.store(out, rows, b.load(x, rows))
    b.span = at(5)
    b.store(out, rows, b.reduce(tile, 1))
    b.span = at(6)
    b.store(out, b.index((64, 32)), b.binary(ops.Add, b.add(ops.Transpose, source=tile, order=(1, 0)), column))
    changes = lay_out(b.finish("k", (x, out)), Target()).changes
    assert [(c.rule, c.span, c.before) for c in changes] == [
        ("reduce", at(5), "%17 = reduce %10 {axis=1, combine=add} : vector<32 x i32>"),
        ("again", at(5), "%11 = arange {start=0, end=32} : vector<32 x i32>"),
        ("convert", at(6), "%29 = add %28, %13 : vector<64x32 x i32>"),
        ("barrier", at(5), ""),
    ]
    assert [c.after for c in changes][1:] == [
        "%33 = arange {start=0, end=32} : vector<32 x i32>",
        "%34 = convert %29 {through=shared} : vector<64x32 x i32>",
        "store %18, %17",
    ]
    assert [c.why for c in changes] == [
        "the elements along the axis are held by 4 registers x 16 lanes",
        "cheaper to make again than to convert to layout<32: register=[8, 16], lane=[0, 0, 0, 0, 1], warp=[2, 4]>, by "
        "`store %18, %17`",
        "wanted in layout<64x32: register=[1, 2, 512, 1024], lane=[4, 8, 16, 32, 64], warp=[128, 256]>, by "
        "`store %30, %29`",
        "a reduction or a barrier of the author's orders the accesses before and after it",
    ]


def test_rings_of_buffers_are_told_and_every_barrier() -> None:
    """What a listing says of shared memory holds of the CUDA C++ that is made of it."""
    example = pipelines.tiled_kernel.examples[5].build()  # float32, in three buffers
    prepared = pipelines.tiled_kernel.prepare(example.grid, **example.args, backend="interp")
    target = Target(chip="sm_80", num_warps=2, num_stages=3)
    laid_out = lay_out(optimized(prepared.compilation), target)
    texts = [line.text.strip() for line in layout_lines(laid_out)]
    rings = {op.ring.number: op.ring for op in laid_out.func.walk() if isinstance(op, AsyncCopy)}
    for number, ring in rings.items():
        at = texts.index(f"ring #{number} = 3 buffers of {ring.bytes} bytes for {ring.type}")
        starts = [ring.start + i * ring.bytes for i in range(3)]
        assert texts[at + 1].startswith(f"at bytes {', '.join(map(str, starts))} of shared memory, ")
        assert ("swizzled: pieces of 16 bytes" in texts[at + 1]) == any(e.bit_count() > 1 for e in ring.slot)
    assert len(rings) == 2
    told = sum(text == "barrier" for text in texts) + sum(text.endswith("barrier") for text in texts if "//" in text)
    told += sum(text.endswith("a barrier inside") for text in texts)
    cuda = "\n".join(line.text for line in emit(laid_out, target))
    assert told == cuda.count("__syncthreads();") > 0
