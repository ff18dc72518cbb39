"""Inline assembly: how it lowers, what the passes make of it, and mistakes."""

from __future__ import annotations

import pytest

from mytriton.ir.printer import print_func
from mytriton.passes.cse import cse
from mytriton.passes.dce import dce
from mytriton.passes.licm import licm
from tests.frontend.support import errors, hints, lowered

SIGNATURE = "*fp32, *i8, i32"
HEAD = """
def k(x, b, n):
    i = tl.arange(0, 8)
    f, h = tl.load(x + i), tl.load(b + i)
"""


def asm(text: str, constraints: str, args: str, dtype: str = "tl.int32", pack: str = "1", pure: str = "True") -> str:
    return f"tl.inline_asm_elementwise({text!r}, {constraints!r}, {args}, {dtype}, {pure}, {pack})"


def listing(statements: str) -> list[str]:
    func, _ = lowered(f"{HEAD}    {statements}", SIGNATURE)
    for pass_ in (cse, licm, dce):
        func, _ = pass_(func)
    return [line.text for line in print_func(func)]


def test_it_prints_on_one_line():
    call = asm("{\n    mov.b32 $0, $2;\n    mov.b32 $1, $2;\n}", "=r, =r, r", "[n]", "(tl.uint32, tl.int32)")
    func, _ = lowered(f"{HEAD}    p, q = {call}\n    tl.store(b, (p.to(tl.int32) + q).to(tl.int8))", SIGNATURE)
    (text,) = [line.text for line in print_func(func) if " asm " in line.text]
    assert text == (
        r'%5, %6 = asm "{\n    mov.b32 $0, $2;\n    mov.b32 $1, $2;\n}" "=r, =r, r"(n) : '
        "vector<1 x u32>, vector<1 x i32>"
    )


def test_what_is_pure_is_done_once_or_not_at_all():
    call = asm("mov.b32 $0, $1;", "=r,f", "[f]")
    body = f"for j in range(n):\n        tl.store(x + i, {call} + {call} + j)\n    {call}"
    lines = listing(body)
    places = [n for n, line in enumerate(lines) if " asm " in line]
    assert len(places) == 1
    assert places[0] < next(n for n, line in enumerate(lines) if "for" in line)


def test_what_is_not_pure_is_done_where_it_is_written():
    call = asm("mov.b32 $0, $1;", "=r,f", "[f]", pure="False")
    lines = listing(f"for j in range(n):\n        {call}\n        {call}")
    assert [line.strip().split()[2] for line in lines if "asm" in line] == ["asm_volatile", "asm_volatile"]
    assert all(line.startswith("  ") for line in lines if "asm" in line)


CONSTRAINTS = 'outputs come first, then inputs, one for each register: "=r,f" is an int32 of a float32'
MISTAKES = [
    (
        asm("mov.b32 $0, $1;", "=r,r,r", "[f]"),
        "MT229 f32 takes 1 input, but the constraints name 2",
        CONSTRAINTS,
    ),
    (
        asm("mov.b32 $0, $1;", "=r,r", "[h, h]", "tl.int8", pack="8"),
        "MT229 8 elements of each of i8 takes 2 outputs, but the constraints name 1",
        CONSTRAINTS,
    ),
    (
        asm("mov.b32 $0, $1;", "=r,h", "[f]"),
        "MT229 a register `h` holds 16 bits, but an element of f32 takes 32",
        CONSTRAINTS,
    ),
    (
        asm("mov.b32 $0, $1;", "=r,m", "[f]"),
        "MT229 `m` is no constraint of a register: h, c, r, l, f, d are, with = for outputs",
        CONSTRAINTS,
    ),
    (
        asm("mov.b32 $0, $2;", "=r,r", "[f]"),
        "MT229 the text names `$2`, but the constraints name 2 operands",
        "operands are numbered through, outputs first: $0 is the first output",
    ),
    (
        asm("{ mov.b32 $0, $1; // }", "=r,r", "[f]"),
        "MT229 the text opens 1 and closes 0 braces",
        "registers that are declared between { and } are its own",
    ),
    (
        asm("mov.b32 $0, $1;", "=r,r", "[f > 0]"),
        "MT203 assembly takes and gives no bools: `f > 0` (vector<8 x bool>)",
        "use int32, and compare what comes out: result != 0",
    ),
    (
        asm("mov.b32 $0, $1;", "=r,r", "f"),
        "MT203 `args` must be a list of blocks and scalars, got `f` (vector<8 x f32>)",
        "write args=[f]",
    ),
    (
        asm("mov.b32 $0, $1;", "=r,r", "[f]", pack="3"),
        "MT212 `pack` must be a power of two, at most 64, got 3",
        "pack=1 gives the assembly one element at a time",
    ),
]


@pytest.mark.parametrize(("call", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(call, message, hint):
    text = f"{HEAD}    r = {call}"
    (found,) = errors(text, SIGNATURE)
    assert found.split(" ", 1)[1] == message
    assert hints(text, SIGNATURE) == [hint]
