"""Pointers as conditions and as numbers: what is known while compiling, and what is asked at run time."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.diagnostics import CompileError, LaunchError
from tests.frontend.support import hints, ssa


@triton.jit
def chosen(x, y, out):
    tl.store(out, 1)
    if x and y is not None:
        tl.store(out, tl.load(x) + (0 if not y else 10))
    elif y or x is None:
        tl.store(out, 3)


@pytest.mark.parametrize(
    ("x", "y", "result"), [(True, True, 17), (True, False, 1), (False, True, 3), (False, False, 3)]
)
def test_arguments_that_may_be_none(x, y, result):
    array, out = np.full(1, 7, np.int32), np.zeros(1, np.int32)
    chosen[1](array if x else None, array if y else None, out, backend="interp")
    assert out.tolist() == [result]


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        ("x != 0", ["%0 = bitcast x {to=i64} : i64", "%1 = if bool(%0) : f32 {"]),
        ("0 == x", ["%0 = bitcast x {to=i64} : i64", "%1 = not bool(%0) : bool", "%2 = if %1 : f32 {"]),
    ],
)
def test_addresses_compared_with_zero(condition, made):
    assert ssa(f"def k(x):\n    tl.store(x, 1.0 if {condition} else 2.0)", "*fp32").splitlines()[: len(made)] == made


def test_what_to_write_for_narrow_addresses():
    assert hints("def k(x, n):\n    n.to(tl.pointer_type(tl.int8))", "*fp32, i32") == [
        "an address is an int64 or uint64: n.to(tl.int64)"
    ]
    assert hints("def k(x, n):\n    x.to(tl.float32)", "*fp32, i32") == [
        "an address is an int64 or uint64: x.to(tl.int64)"
    ]


@triton.jit
def at_address(table, out, SIZE: tl.constexpr):
    first = tl.load(table).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, SIZE)
    tl.store(out + i, tl.load(first + i))


def test_an_address_from_memory():
    """cpu reads wherever an address leads; the interpreter, which checks, only arrays that it was given."""
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    table = np.array([x.ctypes.data])
    at_address[1](table, out, SIZE=4, backend="cpu")
    assert out.tolist() == x.tolist()
    with pytest.raises(LaunchError, match=rf"load at the address {x.ctypes.data:#x}, which lies in none of the kernel"):
        at_address[1](table, out, SIZE=4, backend="interp")


def test_an_address_in_the_text_of_the_gpu_backends():
    with pytest.raises(CompileError, match=r"MT610.*this makes an address of a number, which the memref form cannot"):
        at_address.compile("*i64, *fp32, 4", backend="mlir", abi="memref").stage("mlir/emit")
    text = chosen.compile("*i32, *i32, *i32", backend="cuda").stage("cuda").text
    assert "long long v0 = (long long)x;\n    if (v0 != 0) {" in text
    text = chosen.compile("*i32, *i32, *i32", backend="mlir", abi="memref").stage("mlir/emit").text
    assert "memref.extract_aligned_pointer_as_index %x : memref<?xi32> -> index" in text
