"""Lines that no line of the kernel asked for lead to one all the same."""

from __future__ import annotations

from mytriton.backends.mlir.inherited import inherited
from mytriton.source import Span
from mytriton.stage import Line


def placed(text: str) -> list[tuple[str, int | None]]:
    """The rows of a text, which name their lines as `row @ line`, and the lines that they get."""
    lines = []
    for row in text.splitlines():
        body, _, number = row.partition(" @ ")
        lines.append(Line(body, Span(int(number), 1, int(number), 2) if number else None))
    return [(line.text.strip(), line.span.line if line.span else None) for line in inherited(lines, Span(1, 1, 1, 2))]


def test_each_has_the_place_of_its_first_use() -> None:
    text = """\
gpu.module @kernels {
  func.func private @sum(%x: f32) -> f32 {
    %zero = arith.constant 0 : i32
    %a, %b:2 = scf.if %c {
    }
    %bb = arith.addi %b#1, %zero : i32 @ 7
    func.return %bb : i32
  }
  gpu.func @k(%y: f32) kernel {
    %lane = gpu.thread_id x
    %lane.low = arith.andi %lane, %31 : i32
    %0 = llvm.getelementptr %y[%lane.low] : f32 @ 4
    %1 = func.call @sum(%0) : f32 @ 5
    gpu.barrier
    scf.for %i {
    ^bb0:
      %unused = arith.constant 1 : i32
    } @ 6
    gpu.return
  }
}"""
    assert placed(text) == [
        ("gpu.module @kernels {", 1),
        ("func.func private @sum(%x: f32) -> f32 {", 5),
        ("%zero = arith.constant 0 : i32", 7),
        ("%a, %b:2 = scf.if %c {", 7),
        ("}", None),
        ("%bb = arith.addi %b#1, %zero : i32", 7),
        ("func.return %bb : i32", 1),
        ("}", None),
        ("gpu.func @k(%y: f32) kernel {", 1),
        ("%lane = gpu.thread_id x", 4),
        ("%lane.low = arith.andi %lane, %31 : i32", 4),
        ("%0 = llvm.getelementptr %y[%lane.low] : f32", 4),
        ("%1 = func.call @sum(%0) : f32", 5),
        ("gpu.barrier", 5),
        ("scf.for %i {", 5),
        ("^bb0:", None),
        ("%unused = arith.constant 1 : i32", 5),
        ("}", 6),
        ("gpu.return", 1),
        ("}", None),
        ("}", None),
    ]
