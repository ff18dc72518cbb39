"""Random statements on scalars, run by Python and by the compiled kernel: branches, loops, returns and helpers mean the
same in both."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mytriton import Target, compile_kernel, parse_signature, read_module
from mytriton.ir import interp
from mytriton.ir.core import walk
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from tests.frontend.support import HEAD

NAMES = ("a", "b", "c", "d")
#: Values stay small, so that Python's integers and the kernel's agree; `//` and `%` are left to other tests.
WRAP = "& 63"


class Writer:
    """Writes a kernel `k` over the arguments `n` and `m`, and the helpers it calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.helpers = 0
        self.in_loop = False
        self.fresh = 0
        self.function = "k"

    def expr(self, names: list[str], depth: int = 2) -> str:
        pick, chance = self.random.choice, self.random.random()
        if depth == 0 or chance < 0.3:
            return pick([*names, "n", "m", str(self.random.randint(0, 9))])
        if chance < 0.75:
            return f"({self.expr(names, depth - 1)} {pick('+-*&|^')} {self.expr(names, depth - 1)})"
        if chance < 0.85:
            return f"({self.expr(names, depth - 1)} if {self.test(names)} else {self.expr(names, depth - 1)})"
        if chance < 0.93 or self.helpers == 0:
            return f"(({self.expr(names, depth - 1)}, {self.expr(names, depth - 1)})[{pick('01')}])"
        return f"h{self.random.randrange(self.helpers)}({self.expr(names, 1)}, {self.expr(names, 1)})"

    def test(self, names: list[str]) -> str:
        pick, chance = self.random.choice, self.random.random()
        one = f"{self.expr(names, 1)} {pick(['<', '<=', '==', '!=', '>', '>='])} {self.expr(names, 1)}"
        if chance < 0.15:
            return f"({one} {pick(['and', 'or'])} {self.test(names)})"
        return f"not {one}" if chance < 0.25 else one

    def body(self, names: list[str], depth: int, indent: str, count: int) -> list[str]:
        """Statements; the names that are defined after them."""
        names = list(names)
        for _ in range(count):
            names = self.statement(names, depth, indent)
        return names

    def statement(self, names: list[str], depth: int, indent: str) -> list[str]:
        chance, write = self.random.random(), self.lines.append
        if chance < 0.4 or depth == 0:
            target = self.random.choice(names)
            write(f"{indent}{target} = {self.expr(names)} {WRAP}")
        elif chance < 0.5:
            first, second = self.random.sample(names, 2)
            write(f"{indent}{first}, {second} = {second}, {self.expr(names)} {WRAP}")
        elif chance < 0.68:
            write(f"{indent}if {self.test(names)}:")
            then = self.body(names, depth - 1, indent + "    ", self.random.randint(1, 3))
            if self.random.random() < 0.6:
                write(f"{indent}else:")
                self.body(names, depth - 1, indent + "    ", self.random.randint(1, 3))
            del then
        elif chance < 0.82:
            self.loop(names, depth, indent)
        elif chance < 0.88 and not self.in_loop:
            self.leave(names, indent)
        else:
            self.fresh += 1
            name = f"t{self.fresh}"
            write(f"{indent}{name} = {self.expr(names)} {WRAP}")
            return [*names, name]
        return names

    def leave(self, names: list[str], indent: str) -> None:
        self.lines.append(f"{indent}if {self.test(names)}:")
        if self.function == "k":
            self.lines.append(f"{indent}    tl.store(out, {self.expr(names)} {WRAP})")
            self.lines.append(f"{indent}    return")
        else:
            self.lines.append(f"{indent}    return {self.expr(names)} {WRAP}")

    def loop(self, names: list[str], depth: int, indent: str) -> None:
        self.fresh += 1
        variable, write, chance = f"i{self.fresh}", self.lines.append, self.random.random()
        outer, inner = self.in_loop, indent + "    "
        if chance < 0.3:
            write(f"{indent}for {variable} in tl.static_range({self.random.randint(0, 3)}):")
            self.body([*names, variable], depth - 1, inner, 2)
            # Python would let the names go on; the kernel does not, so the caller forgets them.
            self.lines.append(f"{inner}{names[0]} = ({names[0]} + {variable}) {WRAP}")
            return
        self.in_loop = True
        if chance < 0.75:
            bounds = self.random.choice(["n & 3", "1, m & 7, 2", "m & 3, -2, -1", "n & 3, m & 3, (m & 4) - 2", "3"])
            write(f"{indent}for {variable} in range({bounds}):")
            # The variable is assigned by Python's loop only; a kernel may not change it either way.
            readable = [*names]
            self.lines.append(f"{inner}{names[-1]} = ({names[-1]} + {variable}) {WRAP}")
            self.body(readable, depth - 1, inner, 2)
        else:
            write(f"{indent}{variable} = n & 3")
            write(f"{indent}while {variable} > 0 and {self.test(names)}:")
            self.body(names, depth - 1, inner, 2)
            write(f"{inner}{variable} -= 1")
        self.in_loop = outer

    def write(self) -> str:
        """The whole file."""
        texts = []
        for number in range(self.random.randint(0, 2)):
            self.lines, self.function = [], f"h{number}"
            self.lines += ["    a, b = n, m", "    c = 1"]
            self.body(["a", "b", "c"], 2, "    ", 4)
            self.lines.append(f"    return {self.expr(['a', 'b', 'c'])} {WRAP}")
            texts.append("\n".join(["@triton.jit", f"def h{number}(n, m):", *self.lines, ""]))
            self.helpers += 1
        self.lines, self.function = ["    a, b = n, 2", "    c, d = m, 0"], "k"
        self.body(list(NAMES), 3, "    ", 6)
        self.lines.append("    tl.store(out, a + 64 * b + 4096 * c + 262144 * d)")
        texts.append("\n".join(["@triton.jit", "def k(out, n, m):", *self.lines, ""]))
        return "\n".join(texts)


class Language:
    """What Python runs the text with."""

    static_range = range

    def __init__(self) -> None:
        self.stored = -1

    def store(self, out: Any, value: int) -> None:
        self.stored = int(value)


def by_python(text: str, n: int, m: int) -> int:
    """What the last store of the kernel leaves when Python runs its text."""
    language = Language()

    class Triton:
        @staticmethod
        def jit(function: Callable[..., Any]) -> Callable[..., Any]:
            return function

    names: dict[str, Any] = {"triton": Triton, "tl": language}
    exec(compile(text, "kernel", "exec"), names)
    names["k"](None, n, m)
    return language.stored


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_control_flow_means_what_it_means_in_python(first: int) -> None:
    nested = 0
    for seed in range(first, first + 20):
        text = Writer(seed).write()
        kernel = read_module(HEAD + text, "kernel.py").kernel("k")
        assert kernel is not None
        compilation = compile_kernel(kernel, parse_signature(kernel, "*i32, i32, i32"), Target("interp"))
        func = compilation.stage("ssa").artifact
        verify(func)
        optimized = func
        for step in PASSES:
            optimized, _ = step.run(optimized)
        nested += any(op.regions for op in walk(func.body))
        for n, m in ((0, 0), (1, 2), (5, 3), (-2, 7), (14, -1)):
            expected = by_python(text, n, m)
            for one in (func, optimized):
                out = np.full(1, -1, np.int32)
                interp.run(one, [out, n, m], (1,))
                assert out[0] == expected, f"seed {seed}, n = {n}, m = {m}\n{text}"
    assert nested > 10
