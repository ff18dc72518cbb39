"""Random kernels compute the same on the cpu backend, in the interpreter, and in Triton's interpreter where that is
installed. A minute or more of new ones: `python -m tests.fuzz`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mytriton import backends
from tests.float8 import E4, E5
from tests.fuzz import differences, kernel_of, run, trouble
from tests.random_expressions import FLOATS
from tests.random_kernels import DTYPES, case
from tests.triton_reference import Triton, TritonError, triton_interpreter

__all__ = ["triton_interpreter"]

#: Triton's reasons not to take a kernel of ours; all are limits of its interpreter.
TRITON_LACKS = (
    "mask has unsupported dtype",
    "not supported for the input types",
    "have different signedness",
    "exceeds dtype primitive_bitwidth",
)


@pytest.mark.parametrize("first", range(24, 48, 8))
def test_cpu_does_what_the_interpreter_does(first: int, tmp_path: Path) -> None:
    reason = backends.get("cpu").available()
    if reason:
        pytest.skip(reason)
    for seed in range(first, first + 8):
        assert trouble(case(seed), tmp_path, f"k{seed}") == "", case(seed).source()


def test_the_interpreter_does_what_triton_does(triton_interpreter: Triton, tmp_path: Path) -> None:
    compared = 0
    for seed in range(100):
        what = case(seed, portable=True)
        theirs = what.arguments()
        try:
            named = dict(zip((*what.arrays, *what.scalars), theirs, strict=True))
            triton_interpreter.run(what.source("triton"), "k", what.grid, {**named, **what.constants})
        except TritonError as error:
            assert any(lack in str(error) for lack in TRITON_LACKS), f"{error}\n{what.source()}"
            continue
        ours = run(kernel_of(what.source(), tmp_path, f"k{seed}"), what, "interp")
        assert differences(what, ours, theirs) == [], what.source()
        compared += 1
    assert compared > 70


PROMOTION = """import {package} as triton
import {package}.language as tl
@triton.jit
def k(a, b, s, out, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(a + i)
    y = tl.load(b + i)
    d = ({expression}).dtype
    if d == tl.int1:
        tl.store(out, 1)
"""
FLOAT8 = {"float8e4nv": E4, "float8e5": E5}
TYPES = DTYPES | FLOAT8
PROMOTION += "".join(f"    if d == tl.{t}:\n        tl.store(out, {i})\n" for i, t in enumerate(TYPES) if i)


def refused(left: str, right: str, operation: str) -> bool:
    """What Triton does not take: dividing by another signedness, and a negative number beside an unsigned block."""
    names = (left, "int32" if right == "s" else right)
    signs = [t.startswith("uint") for t in names if t.startswith(("int", "uint")) and t != "int1"]
    return (operation == "/" and len(set(signs)) == 2) or (left.startswith("uint") and right == "-3")


def differs_by_intent(left: str, right: str, operation: str) -> bool:
    """README, "Differs from Triton": bools count as int32, float16 with bfloat16 gives float32, and an 8-bit float by
    itself computes in float32, of which Triton's compiler makes nothing; nor does it add one to an integer."""
    eights = [t for t in (left, right) if t in FLOAT8]
    if eights:
        return left == right or (len(eights) == 1 and not {left, right} & set(FLOATS))
    return {left, right} == {"float16", "bfloat16"} or ({left, right} <= {"int1", "True"} and operation not in "&<")


def test_types_promote_as_in_triton(triton_interpreter: Triton, tmp_path: Path) -> None:
    def result(package: str, left: str, right: str, operation: str) -> str:
        array = TYPES.get(right, TYPES[left])
        expression = f"x {operation} {'y' if right in TYPES else right}"
        args: list[Any] = [np.ones(4, TYPES[left]), np.ones(4, array), 3, np.full(1, -1, np.int32)]
        text = PROMOTION.format(package=package, expression=expression)
        if package == "triton":
            named = dict(zip(("a", "b", "s", "out"), args, strict=True))
            triton_interpreter.run(text, "k", 1, {**named, "B": 4})
        else:
            name = f"p{abs(hash((left, right, operation)))}"
            kernel_of(text, tmp_path, name)[1](*args, B=4, backend="interp")
        return [*TYPES, "none"][int(args[-1][0])] if args[-1][0] != 1 else "bool or int32"

    compared = 0
    for left in TYPES:
        for right in (*TYPES, "1", "-3", "1.5", "True", "s"):
            for operation in "+*/&<":
                floats = any(t.startswith(("float", "bfloat", "1.5")) for t in (left, right))
                bools = operation == "/" and "int1" in (left, right)  # which Triton does not divide
                undefined = bools or refused(left, right, operation) or (operation == "&" and floats)
                if undefined or differs_by_intent(left, right, operation):
                    continue
                assert result("mytriton", left, right, operation) == result("triton", left, right, operation), (
                    f"{left} {operation} {right}"
                )
                compared += 1
    assert compared > 800
