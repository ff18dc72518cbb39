"""Which backend takes which operation: the README's table.

Each operation is compiled in a small kernel, and each backend asked, so the table says what is so. `python -m
tests.operations` prints it; `python -m tests.operations --update` puts it into the README.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from inspect import signature
from pathlib import Path

from mytriton import compile_kernel, parse_signature, read_module
from mytriton.compile import source_stage
from mytriton.frontend.not_yet import NOT_YET
from mytriton.language.extra import integers, libdevice
from mytriton.target import Target

README = Path(__file__).parents[1] / "README.md"
BACKENDS = ("interp", "cuda", "mlir", "cpu")
HEAD = f"| operations | {' | '.join(f'`{name}`' for name in BACKENDS)} |"

TYPES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
TYPES += ["int1", "float8e4nv", "float8e5", "float16", "bfloat16", "float32", "float64"]

#: A kernel around an expression of pointers x (f32) and y (i32), scalars n (i32) and u (u32), a constexpr B, and blocks
#: of 8: i (i32), f and g (f32), h (i32), t (bool), p (pointers); or around statements that leave `r`.
KERNEL = """
@triton.jit
def helper(a, b=1):
    if b == 2:
        return a
    return a + b


@triton.jit
def pairs(a, i, b, j):
    return a * b, i + j


@triton.jit
def k(x, y, out, n, u, B: tl.constexpr):
    i = tl.arange(0, 8)
    p = x + i
    f, g, h, t = tl.load(p), tl.load(p + 8), tl.load(y + i), i < n
{statements}
"""
_STORE = "tl.store(out + {} + tl.zeros(r.shape, tl.int32), r)"  # each elsewhere, or some would be dead


def _same(names: str, expression: str) -> dict[str, str]:
    """Samples that differ by a name only, `@` in the expression."""
    return {name: expression.replace("@", name) for name in names.split()}


_RUN_TIME = "acc = 0.0\n    for j in range(0, n, 2):\n        acc += tl.load(x + j)\n    r = acc"
_WHILE = "j = n\n    while j > 0:\n        j = j // 2\n    r = j"
_IF = "r = n\n    if n > 3:\n        r = n * 2\n    elif n > 1:\n        r = n + 1"
_RETURN = "r = n\n    if n > 3:\n        return"


def _libdevice(name: str) -> str:
    """A call of one of libdevice's functions."""
    wide = "h.to(tl.int64)"
    of = {"int": "h", "uint": "h.to(tl.uint32)", "longlong": wide, "ll": wide, "double": "f.to(tl.float64)"}
    of |= {"ull": "h.to(tl.uint64)", **dict.fromkeys(integers.__all__, "h")}
    argument = of.get(re.split("_as_|2(?=[a-z])", name)[0], "f")
    return f"libdevice.{name}({', '.join([argument] * len(signature(getattr(libdevice, name)).parameters))})"


_ASSEMBLY = 'tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,f", [f], dtype=tl.int32, is_pure=True, pack=1)'
_STORED = "f\n    d = tl.make_tensor_descriptor(x, [n], [1], [8])\n    tl.store_tensor_descriptor(d, [u], f)"

#: Rows of the table: what they are called, and the operations in them with a sample of each.
ROWS: dict[str, dict[str, str]] = {
    "arithmetic": {
        **_same("+ - *", "f @ g"),
        "/": "f / g",
        **_same("// %", "h @ 3"),
        "-x": "-f",
        **_same("< <= == != >= >", "(f @ g).to(tl.int32)"),
        **_same("& | ^", "h @ i"),
        "~": "~h",
        **_same("<< >>", "h @ 2"),
        **_same("and or", "((n > 0) @ (n < 9)).to(tl.int32)"),
        **_same("logical_and logical_or", "(n > 0).@(n < 9).to(tl.int32)"),
        "not": "(not n > 0).to(tl.int32)",
        **_same("add sub mul", "tl.@(f, g)"),
        "cdiv": "tl.cdiv(h, 3)",
        "umulhi": "tl.umulhi(h, i)",
        "pointer + n": "tl.load(x + 1 + i - n)",
    },
    "elementwise": {
        **_same("maximum minimum", "tl.@(f, g)"),
        "clamp": "tl.clamp(f, 0.0, 1.0, tl.PropagateNan.ALL)",
        "where": "tl.where(t, f, g)",
        **_same("abs", "tl.@(f)"),
        **_same("exp exp2 log log2 sqrt sqrt_rn rsqrt sin cos tanh erf sigmoid floor ceil", "tl.@(f)"),
        **_same("pow fdiv div_rn", "tl.@(f, g)"),
        "fma": "tl.fma(f, g, f)",
    },
    "`libdevice`": {name: _libdevice(name) for name in libdevice.__all__},
    "functions of elements": {
        "map_elementwise": "tl.map_elementwise(helper, f, n)",
    },
    "types": {
        "to": "f.to(tl.int8)",
        "cast": 'tl.cast(f, tl.float16, fp_downcast_rounding="rtz")',
        "to(bitcast=True)": "f.to(tl.int32, bitcast=True)",
        "to_tensor": "tl.to_tensor(B)",
        "pointer_type": "tl.load(x.to(tl.pointer_type(tl.int32)) + i)",
        "addresses": "tl.load((x.to(tl.int64) + 4).to(tl.pointer_type(tl.int32)) + i, mask=x.to(tl.int1))",
        **_same(" ".join(TYPES), "tl.load(x.to(tl.pointer_type(tl.@)) + i)"),
    },
    "values": {
        **_same("program_id num_programs", "tl.@(0)"),
        "arange": "tl.arange(0, 16)",
        "full": "tl.full((8,), n, tl.int32)",
        "zeros": "tl.zeros((8,), tl.int8)",
        "zeros_like": "tl.zeros_like(f)",
        "swizzle2d": "tl.swizzle2d(n, n, 8, 8, 2)[0]",
    },
    "memory": {
        "load": "tl.load(p, mask=t, other=0.0, eviction_policy='evict_last')",
        "store": "f\n    tl.store(p, g, mask=t)",
        "debug_barrier": "f\n    tl.debug_barrier()",
        "assume": "f\n    tl.assume(n > 0)",
        **_same("multiple_of max_contiguous max_constancy", "tl.load(tl.@(p, 8))"),
    },
    "shapes": {
        "x[:, None]": "f[:, None]",
        "broadcasting": "f[:, None] + g[None, :]",
        "three axes": "f[:, None, None] + g[:, None]",
        "broadcast": "tl.broadcast(f[:, None], g)[0]",
        "broadcast_to": "tl.broadcast_to(f[:, None], 8, 8)",
        "expand_dims": "tl.expand_dims(f, 0)",
        "squeeze": "tl.squeeze(f[None], 0)",
        "unsqueeze": "tl.unsqueeze(f, 1)",
        **_same("reshape view", "tl.@(f, (4, 2))"),
        "ravel": "tl.ravel(f[:, None] + g)",
        **_same("trans", "tl.@(f[:, None] + g)"),
        "permute": "tl.permute(f[:, None] + g, 1, 0)",
        ".T": "(f[:, None] + g).T",
        "item": "tl.sum(f, 0, keep_dims=True).item()",
    },
    "reductions": {
        **_same("sum max min xor_sum reduce_or argmax argmin", "tl.@(h, 0)"),
        "return_indices": "tl.max(f, 0, return_indices=True)[1]",
        "of two axes": "tl.sum(f[:, None] * g, 1)",
        "softmax": "tl.softmax(f)",
    },
    "block pointers": {
        "make_block_ptr": "tl.load(tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,)), boundary_check=(0,))",
        "advance": "tl.load(tl.advance(tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,)), (8,)))",
        "make_tensor_descriptor": "tl.make_tensor_descriptor(x, [n], [1], [8]).load([u])",
        "load_tensor_descriptor": "tl.load_tensor_descriptor(tl.make_tensor_descriptor(x, [n], [1], [8]), [u])",
        "store_tensor_descriptor": _STORED,
    },
    "atomics": {
        **_same(
            "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg", "tl.@(y + i, h, mask=t)"
        ),
        "atomic_cas": "tl.atomic_cas(y, 0, n)",
    },
    "scans": {
        **_same("cumsum cumprod", "tl.@(f, 0)"),
        "associative_scan": "tl.associative_scan((f, i), 0, pairs)[1] + tl.associative_scan(f, 0, tl.maximum)",
        "reduce": "tl.reduce(f, 0, tl.maximum) + tl.reduce((f, i), 0, pairs)[0]",
    },
    "orders": {
        **_same("sort flip bitonic_merge", "tl.@(f)"),
        "topk": "tl.topk(f, 4)",
        **_same("join interleave cat", "tl.@(f, g)"),
        "split": "tl.split(tl.reshape(f, (4, 2)))[1]",
    },
    "lookups": {
        "gather": "tl.gather(f, h, 0)",
        "histogram": "tl.histogram(h, 16, mask=t)",
    },
    "random numbers": {
        **_same("rand randint randn", "tl.@(u, i)"),
        **_same("rand4x randint4x randn4x", "tl.@(u, i)[3]"),
        "philox": "tl.philox(n, i, h, n, 0)[0]",
        "philox_impl": "tl.philox_impl(u, u, u, u, u, u)[0]",
        "uint_to_uniform_float": "tl.uint_to_uniform_float(h)",
        "pair_uniform_to_normal": "tl.pair_uniform_to_normal(f, g)[1]",
    },
    "matrix products": {
        "dot": "tl.dot(f[:, None], g[None, :])",
        "dot_scaled": 'tl.dot_scaled(tl.zeros((8, 32), tl.float8e5), None, "e5m2", tl.zeros((32, 8), tl.uint16), '
        'tl.full((8, 1), 127, tl.uint8), "bf16")',
    },
    "assembly": {"inline_asm_elementwise": _ASSEMBLY},
    "control": {
        "range": _RUN_TIME,
        "while": _WHILE,
        "if": _IF,
        "return": _RETURN,
        "x if c else y": "n if n > 3 else n + 1",
        "calls of @jit functions": "helper(f) + helper(f, b=2)",
        "device_assert": "n\n    tl.device_assert(n > 0, 'n')",
        "device_print": "n\n    tl.device_print('n', n)",
        "static_assert": "n\n    tl.static_assert(B == 8)",
        "static_print": "n\n    tl.static_print('')",
        "print": "n\n    print('n', n)",
        "static_range": "n\n    for j in tl.static_range(3):\n        r += j",
    },
    "Python's": {
        **_same("min max", "@(n, 3)"),
        "abs": "abs(n)",
        **_same("int float bool round", "n + @(1.5)"),
        "len": "n + len((n, n))",
        "isinstance": "n + isinstance(3, int)",
    },
}


def reason(samples: Sequence[str], backend: str) -> str:
    """Why a backend does not take operations; "" if it does."""
    own = (sample if "r = " in sample else f"r = {sample}" for sample in samples)
    statements = "".join(f"    {each}\n    {_STORE.format(n)}\n" for n, each in enumerate(own))
    text = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
    kernel = read_module(text + KERNEL.format(statements=statements), "kernel.py").kernel("k")
    assert kernel is not None
    types = parse_signature(kernel, "*fp32, *i32, *fp32, i32, u32, 8")
    compilation = compile_kernel(kernel, types, Target(backend=backend))
    last = source_stage(compilation.planned)
    compilation.find(last)
    if last == compilation.planned[-1]:  # the interpreter has no text of its own, but may refuse
        compilation.run()
    failed = next((stage for stage in compilation.stages if stage.status == "failed"), None)
    return failed.diagnostics[0].message if failed else ""


def reasons(samples: Sequence[str]) -> list[tuple[str, ...]]:
    """What each backend says to each of some operations: to all of them together first, which as a rule it takes."""
    if len(samples) == 1:
        return [tuple(reason(samples, backend) for backend in BACKENDS)]
    if any(reason(samples, backend) for backend in BACKENDS):
        half = len(samples) // 2
        return reasons(samples[:half]) + reasons(samples[half:])
    return [("",) * len(BACKENDS)] * len(samples)


@cache
def answers() -> dict[str, dict[str, tuple[str, ...]]]:
    """What each backend says to each operation, by row."""
    return {row: dict(zip(samples, reasons([*samples.values()]), strict=True)) for row, samples in ROWS.items()}


def table() -> str:
    """The Markdown table: operations of a row that fare alike share a line."""
    lines = [HEAD, "|---" * (1 + len(BACKENDS)) + "|"]
    for row, found in answers().items():
        for cells in dict.fromkeys(found.values()):
            names = " ".join(f"`{name}`" for name, own in found.items() if own == cells).replace("|", "\\|")
            lines.append(f"| {row}: {names} | {' | '.join(f'no: {c}' if c else 'yes' for c in cells)} |")
    missing = " ".join(f"`{name}`" for name in sorted(NOT_YET))
    lines.append(f"| {missing} | {' | '.join(['not yet'] * len(BACKENDS))} |")
    return "\n".join(lines)


def updated(text: str) -> str:
    """The README's text with the table in place of the one it has."""
    lines = text.split("\n")
    start = lines.index(HEAD)
    end = next(n for n in range(start, len(lines)) if not lines[n].startswith("|"))
    return "\n".join([*lines[:start], table(), *lines[end:]])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        README.write_text(updated(README.read_text()))
    else:
        print(table())
