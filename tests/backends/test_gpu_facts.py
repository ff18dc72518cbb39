"""What the machine code of memory-bound kernels must look like: facts of the cubin and of SASS, which need no GPU."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import Compilation, Target
from mytriton.layout.live import held, programs_together
from tests.benchmarks.gpu_kernels import add_kernel, row_sum_kernel, softmax_kernel


@triton.jit
def copy_columns_kernel(x, out, lead, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] + tl.arange(0, N)[None, :] * lead
    tl.store(out + place, tl.load(x + place))


CHIPS = ("sm_80", "sm_90", "sm_100")
BACKENDS = ("cuda", "mlir")
ROWS = "*fp32:16, *fp32:16, i32:16, i32:16, 4096"
KERNELS = {
    "add": (add_kernel, "*fp32:16, *fp32:16, *fp32:16, i32:16, 4096"),
    "softmax": (softmax_kernel, ROWS),
    "row sum": (row_sum_kernel, ROWS),
    "columns": (copy_columns_kernel, "*fp32:16, *fp32:16, i32:16, 64, 64"),
}
INSTRUCTION = re.compile(r"\*/ \[([\d-]{6}) r[\d-] w([\d-]) \S+ s\d\d\] (?:@!?U?P\d+ )?([A-Z][\w.]*)")


@lru_cache
def compiled(name: str, backend: str, chip: str) -> Compilation:
    """A kernel of blocks of 4096 elements, 4 warps: 32 elements a thread."""
    kernel, signature = KERNELS[name]
    return kernel.compile(signature, backend=backend, chip=chip)


def instructions(compilation: Compilation) -> list[tuple[set[str], str, str]]:
    """Of each instruction of the kernel: the barriers it waits for, the one that its result sets, and its name."""
    text = compilation.stage("sass").text.split("\n__")[0]
    return [({*waits} - {"-"}, sets, name) for waits, sets, name in INSTRUCTION.findall(text)]


def count(compilation: Compilation, start: str) -> int:
    return sum(name.startswith(start) for _, _, name in instructions(compilation))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "loads", "stores"), [("add", 16, 8), ("softmax", 8, 8), ("row sum", 8, 0), ("columns", 8, 8)]
)
def test_memory_is_accessed_by_16_bytes(name: str, loads: int, stores: int, backend: str, chip: str) -> None:
    made = compiled(name, backend, chip)
    assert (count(made, "LDG"), count(made, "LDG.E.128")) == (loads, loads)
    assert count(made, "STG.E.128") == stores
    assert count(made, "STG") == max(stores, 1)  # the sum of a row is one element


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", KERNELS)
def test_registers_hold_everything(name: str, backend: str, chip: str) -> None:
    made = compiled(name, backend, chip)
    figures = made.stage("cubin").stats
    assert (figures["spill_stores"], figures["spill_loads"], figures["stack"]) == (0, 0, 0)
    assert count(made, "LDL") == count(made, "STL") == 0
    assert figures["registers"] <= 96


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", KERNELS)
def test_loads_do_not_wait_for_each_other(name: str, backend: str) -> None:
    """Half of them are on their way before something waits for the first: for the barrier that it sets."""
    loaded: list[str] = []
    for waits, sets, opcode in instructions(compiled(name, backend, "sm_90")):
        if waits & {*loaded}:
            break
        loaded += [sets] if opcode.startswith("LDG") else []
    assert len(loaded) >= (8 if name == "add" else 4), opcode


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_reduction_takes_shuffles_and_one_pass_through_shared_memory(backend: str) -> None:
    made = compiled("row sum", backend, "sm_90")
    assert (count(made, "SHFL"), count(made, "STS"), count(made, "BAR")) == (5, 1, 1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("num_warps", "registers"), [(8, 128), (16, 64)])
def test_two_programs_of_many_warps_share_a_multiprocessor(num_warps: int, registers: int, backend: str) -> None:
    signature = ROWS.replace("4096", "16384")
    figures = softmax_kernel.compile(signature, backend=backend, num_warps=num_warps).stage("cubin").stats
    assert figures["registers"] <= registers
    assert figures["spill_stores"] <= 4, "one word at most, for room for twice as many threads"


def test_programs_that_hold_too_much_ask_for_no_room() -> None:
    wide = compiled("add", "cuda", "sm_90").stage("layout").artifact
    assert held(wide) == 2 * 32, "x and y; their sum is made where it is stored"
    assert programs_together(wide, Target(num_warps=8)) == 2
    assert programs_together(wide, Target(num_warps=16)) == programs_together(wide, Target(num_warps=4)) == 1
