"""Which stage broke the numbers: a wrong pass, a wrong kernel, a wrong backend are each named, with the place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import compile as driver
from mytriton.ir import ops
from mytriton.ir.core import Block, Func
from mytriton.layout import simulate
from mytriton.locate import Step, locate
from mytriton.passes import PASSES, Pass
from mytriton.stage import Change
from mytriton.target import Target


@triton.jit
def blend(x, y, out, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)
    if tl.program_id(0) == 2:
        tl.store(out + offs, a * 2.0 - b, mask=mask)
    else:
        tl.store(out + offs, a + b, mask=mask)


def arguments(n: int) -> dict[str, Any]:
    x, y = np.random.default_rng(n).standard_normal((2, n), dtype=np.float32)
    return {"x": x, "y": y, "out": np.zeros(n, np.float32), "n": n, "B": 32}


@blend.example(n=100)
def right(n: int) -> triton.Example:
    args = arguments(n)
    expected = args["x"] + args["y"]
    expected[64:96] = (args["x"] * 2 - args["y"])[64:96]
    return triton.Example(args=args, grid=(4,), expected={"out": expected})


@blend.example(n=100)
def wrong(n: int) -> triton.Example:
    args = arguments(n)
    return triton.Example(args=args, grid=(4,), expected={"out": args["x"] + args["y"]})


@blend.example(n=100)
def without(n: int) -> triton.Example:
    return triton.Example(args=arguments(n), grid=(4,))


RIGHT, WRONG, WITHOUT = blend.examples


def names(steps: Sequence[Step]) -> list[str]:
    return [step.stage for step in steps]


def test_every_stage_agrees() -> None:
    told: list[Step] = []
    found = locate(blend, RIGHT, Target("cpu"), told.append)
    assert found.culprit is None
    assert names(found.steps) == ["ssa", *(f"opt/{p.name}" for p in PASSES), "cpu run"]
    assert told == list(found.steps)
    assert all(step.outputs[0].name == "out" and step.outputs[0].ok for step in found.steps)
    on_gpu = locate(blend, RIGHT, Target("cuda"))
    assert "layout" in names(on_gpu.steps)


def test_a_kernel_that_is_wrong_itself_is_wrong_from_the_first_stage_on() -> None:
    found = locate(blend, WRONG, Target("cpu"))
    assert found.culprit is not None
    assert (found.culprit.stage, found.culprit.outputs[0].first) == ("ssa", (64,))
    assert found.origin is not None
    assert (found.origin.program, found.origin.lane) == ((2, 0, 0), 0)
    assert found.origin.span is not None
    assert found.origin.span.line == 8, "the store in the branch"


def spoiled(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """A pass that takes a sum for a difference, inside of branches."""

    def block(body: Block) -> Block:
        changed = []
        for op in body.ops:
            inner = op.with_regions(tuple(block(b) for b in op.regions)) if op.regions else op
            if isinstance(inner, ops.Add) and "f32" in str(inner.result.type):
                inner = ops.Sub(lhs=inner.lhs, rhs=inner.rhs, results=inner.results, span=inner.span)
            changed.append(inner)
        return Block(body.params, tuple(changed))

    return replace(func, body=block(func.body)), (Change("spoil", "spoil", "", "", None, "wrong on purpose"),)


@pytest.mark.parametrize("case", [RIGHT, WITHOUT], ids=["NumPy", "first stage"])
def test_a_wrong_pass_is_named(monkeypatch: pytest.MonkeyPatch, case: Any) -> None:
    monkeypatch.setattr(driver, "PASSES", (PASSES[0], Pass("spoil", spoiled), *PASSES[1:]))
    monkeypatch.setattr(driver, "SHARED", ("source", "tree", "ssa", f"opt/{PASSES[0].name}", "opt/spoil"))
    found = locate(blend, case, Target("cpu", num_warps=2))
    assert found.culprit is not None
    assert found.culprit.stage == "opt/spoil"
    assert [(o.name, o.first) for o in found.culprit.outputs if not o.ok] == [("out", (0,))]
    assert names(found.steps)[-1] == "opt/spoil", "what follows is not run"
    assert found.origin is not None
    assert found.origin.span is not None
    assert (found.origin.program, found.origin.lane, found.origin.span.line) == ((0, 0, 0), 0, 10)


def test_a_wrong_layout_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(laid_out: Any, args: Sequence[Any], grid: Any, progress: Any) -> None:
        args[2][70] = 5.0

    monkeypatch.setattr(simulate, "run", run)
    found = locate(blend, RIGHT, Target("cuda"))
    assert found.culprit is not None
    assert found.culprit.stage == "layout"
    assert found.culprit.outputs[0].mismatches == 100


def test_an_access_outside_is_the_stage_s_error() -> None:
    @triton.jit
    def outside(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)

    @outside.example(n=4)
    def case(n: int) -> triton.Example:
        return triton.Example(args={"x": np.zeros(n, np.float32), "B": 8}, grid=1)

    found = locate(outside, outside.examples[0], Target("cpu"))
    assert found.culprit is not None
    assert found.culprit.stage == "ssa"
    assert "store outside of `x`: element 4 of 4" in found.culprit.error
