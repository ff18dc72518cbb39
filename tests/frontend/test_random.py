"""Random kernels and damaged text: whatever is typed, the frontend compiles it or says what is wrong with it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mytriton import CompileError, parse_signature, read_module
from mytriton.frontend.lower import lower
from mytriton.frontend.parse import parse
from mytriton.frontend.show import tree_lines
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from tests.frontend.test_read import EXAMPLES


def words(text: str) -> list[str]:
    return text.split()


ATOMS = words(
    "x out n a i flag BLOCK 0 1 -3 2.5 1e400 -0.0 True None 's' (1,2) tl.float32 tl.int64 tl.uint8 x.dtype a.dtype "
    "a.shape tl.arange(0,8) tl.arange(0,BLOCK) tl.program_id(0) undefined float('nan') 2**40 tl tl.load math range max"
)
OPERATORS = words("+ - * / // % & | ^ < <= == != is and or << >> ** in")
CALLS = words(
    "tl.load tl.store tl.exp tl.log tl.sqrt tl.abs tl.maximum tl.minimum tl.where tl.full tl.zeros tl.cdiv min max abs "
    "float int len round tl.arange tl.program_id tl.num_programs math.sqrt math.log tl.constexpr bool "
    "triton.next_power_of_2 h h"
)
SIGNATURES = [
    "*fp32, *fp32, i32, i1, 8",
    "*fp16, *i32, i64, i1, 8",
    "*i1, *bf16, fp32, i1, 8",
    "*fp64, *i64, fp16, i32, 4",
    "*u8, *u32, u64, i16, 8",
]
HEAD = """import math, triton
import triton.language as tl
@triton.jit
def h(a, b=1, C: tl.constexpr = 2):
    if a > b:
        return a
    for i in range(C):
        b += i
    return b, C
@triton.jit
def k(x, out, n, flag, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
"""


class Writer:
    """Writes random statements, most of them wrong in some way."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expr(self, depth: int) -> str:
        pick, chance = self.random.choice, self.random.random()
        if depth <= 0 or chance < 0.25:
            return pick(ATOMS)
        if chance < 0.55:
            return f"({self.expr(depth - 1)} {pick(OPERATORS)} {self.expr(depth - 1)})"
        if chance < 0.62:
            return f"({pick(['-', '+', '~', 'not '])}{self.expr(depth - 1)})"
        if chance < 0.85:
            args = [self.expr(depth - 1) for _ in range(pick([1, 1, 2, 2, 3]))]
            if pick([False, False, False, True]):
                args.append(f"{pick(['mask', 'other', 'value', 'end', 'shape'])}={self.expr(depth - 1)}")
            return f"{pick(CALLS)}({', '.join(args)})"
        if chance < 0.9:
            return f"({self.expr(depth - 1)} if {self.expr(depth - 1)} else {self.expr(depth - 1)})"
        if chance < 0.95:
            return f"{self.expr(depth - 1)}.to({pick(['tl.float16', 'tl.int1', 'tl.bfloat16', 'n', 'tl.float64'])})"
        return f"({self.expr(depth - 1)}, {self.expr(depth - 1)})[{self.expr(depth - 1)}]"

    def statement(self, depth: int, indent: int) -> str:
        pick, chance, margin = self.random.choice, self.random.random(), " " * indent
        if chance < 0.35:
            return f"{margin}{pick('abci')} = {self.expr(3)}\n"
        if chance < 0.45:
            return f"{margin}{pick('abci')} {pick(words('+ - * // & << >> | ^ %'))}= {self.expr(2)}\n"
        if chance < 0.55:
            return f"{margin}a, b = {self.expr(2)}, {self.expr(2)}\n"
        if chance < 0.7:
            return f"{margin}tl.store(out + i, {self.expr(3)}, mask={self.expr(2)})\n"
        if chance < 0.8 and depth:
            branches = self.statement(depth - 1, indent + 4), self.statement(depth - 1, indent + 4)
            return f"{margin}if {self.expr(2)}:\n{branches[0]}{margin}else:\n{branches[1]}"
        if chance < 0.9 and depth:
            loop = pick(["for i in range(%s)", "for b in tl.range(%s)", "for c in tl.static_range(%s)", "while %s"])
            return f"{margin}{loop % self.expr(1)}:\n{self.statement(depth - 1, indent + 4)}"
        if chance < 0.92:
            word = pick(["assert %s", "print('x', %s)", "tl.static_print(%s)", "a: tl.constexpr = %s", "return %s"])
            return f"{margin}{word % self.expr(2)}\n"
        return f"{margin}return\n" if chance < 0.93 else f"{margin}{self.expr(3)}\n"


def compile_all(text: str, signature: str) -> bool:
    """Whether the text compiles; its mistakes must be sentences, all inside the text."""
    try:
        for kernel in read_module(text, "file.py").kernels:
            if kernel.name == "h":
                continue
            tree = parse(kernel)
            tree_lines(tree)
            func, *_ = lower(tree, parse_signature(kernel, signature))
            verify(func)
            for step in PASSES:
                func, _ = step.run(func)
                verify(func)
            print_func(func)
    except CompileError as error:
        for found in error.diagnostics:
            assert found.message
            assert found.span is None or error.units[found.span.unit].line(found.span.line) or found.code == "MT100"
        return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_random_kernels(seed):
    writer = Writer(seed)
    outcomes = []
    for _ in range(100):
        body = "".join(writer.statement(2, 4) for _ in range(writer.random.randint(1, 3)))
        outcomes.append(compile_all(HEAD + body, writer.random.choice(SIGNATURES)))
    assert set(outcomes) == {True, False}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_damaged_text(path: Path):
    source, chance = path.read_text(), random.Random(path.stem)
    for _ in range(60):
        text = source
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(text))
            end = start + chance.choice([0, 1, 1, 2, 8])
            text = text[:start] + chance.choice(["", "", " ", "é", *OPERATORS, *ATOMS]) + text[end:]
        try:
            kernels = read_module(text, "file.py").kernels
        except CompileError as error:
            assert str(error)
            continue
        for kernel in kernels:
            try:
                tree_lines(parse(kernel))
            except CompileError as error:
                assert str(error)
