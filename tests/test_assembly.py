"""Inline assembly: on the GPU, as it is printed and assembled, and what says that it cannot. (What threads compute is
emulated with that of other features.)"""

from __future__ import annotations

import pytest

from mytriton import (
    CompileError,
    JITFunction,
    Target,
    check_example,
    compile_kernel,
    parse_signature,
    read_module,
)
from mytriton.locate import locate
from tests import feature_kernels_assembly
from tests.feature_kernels_assembly import widths_kernel
from tests.running import GPU, runner

KERNELS = [k for k in vars(feature_kernels_assembly).values() if isinstance(k, JITFunction)]
CASES = [pytest.param(kernel, case, id=case.label) for kernel in KERNELS for case in kernel.examples]


@pytest.mark.execution
@pytest.mark.parametrize("backend", GPU)
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_on_the_gpu(kernel, case, backend):
    report = check_example(kernel, case, Target(backend=runner(backend).backend))
    assert report.ok, report


@pytest.mark.parametrize("backend", GPU)
@pytest.mark.parametrize(("kernel", "case"), [next(c for c in CASES if c.values[0] is k) for k in KERNELS])
def test_it_is_assembled(kernel, case, backend):
    example = case.build()
    compilation = kernel.prepare(example.grid, **example.args, backend=backend).compilation
    made = compilation.find("cubin")
    compilation.raise_if_failed()
    assert made is not None
    if made.status == "skipped":
        pytest.skip(made.reason)


def test_it_reads_as_the_author_wrote_it():
    kernel, signature = feature_kernels_assembly.packed_kernel, "*u8:16, *fp16:16, *u8:16, *fp16:16, 256"
    text = kernel.compile(signature, backend="cuda").stage("cuda").text
    assert (
        "    unsigned bytes_in0 = (unsigned)v2[0] | (unsigned)v2[1] << 8 | (unsigned)v2[0] << 16 | "
        "(unsigned)v2[1] << 24;\n"
        "    unsigned bytes_out0;\n"
        '    asm("xor.b32 %0, %1, 0x80808080;" : "=r"(bytes_out0) : "r"(bytes_in0));\n'
        "    bytes[0] = (unsigned char)bytes_out0;\n"
        "    bytes[1] = (unsigned char)(bytes_out0 >> 8);\n"
    ) in text
    several = feature_kernels_assembly.several_kernel.compile("*i32, *fp32, *i32, *i32, *fp32, 2, 64").stage("cuda")
    assert (
        '        asm("add.s32 %0, %2, %3;\\n"\n'
        '            "sub.s32 %1, %2, %3;"\n'
        '            : "=r"(plus), "=r"(minus)\n'
    ) in several.text


def test_what_the_assembler_refuses_is_at_the_kernels_line():
    text = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x):\n    v = tl.load(x)\n"
    text += "    v = tl.inline_asm_elementwise('nosuch.f32 $0, $1;', '=f,f', [v], tl.float32, True, 1)\n"
    text += "    tl.store(x, v)\n"
    kernel = read_module(text, "kernel.py").kernel("k")
    for backend in GPU:
        compilation = compile_kernel(kernel, parse_signature(kernel, "*fp32"), Target(backend=backend))
        made = compilation.find("cubin")
        if made.status == "skipped":
            pytest.skip(made.reason)
        (finding,) = made.diagnostics
        assert "Not a name of any known instruction: 'nosuch'" in finding.message
        assert (finding.span.line, finding.span.column) == (4, 9)


@pytest.mark.parametrize("backend", ["interp", "cpu"])
def test_other_backends_say_that_they_cannot(backend):
    kernel = feature_kernels_assembly.packed_kernel
    with pytest.raises(CompileError) as caught:
        check_example(kernel, kernel.examples[0], Target(backend=backend))
    found = caught.value.diagnostics
    assert [d.span.line for d in found] == [5, 9]
    assert found[0].message == (
        f"the {backend} backend runs no inline assembly, whose instructions are those of NVIDIA's GPUs"
    )
    assert found[0].hint == "compile for cuda or mlir, or write it with operators and functions of tl"


def test_no_stage_can_be_blamed():
    kernel = feature_kernels_assembly.packed_kernel
    with pytest.raises(CompileError, match="the interp backend runs no inline assembly"):
        locate(kernel, kernel.examples[0], Target(backend="cuda"))


def test_addresses_have_no_memref_form():
    kernel = feature_kernels_assembly.widths_kernel
    with pytest.raises(CompileError, match="this hands addresses to assembly, which the memref form cannot say"):
        kernel.compile("*fp32, *i16, *u8, *fp64, *i32, 64", backend="mlir", abi="memref").stage("ptx")


def test_threads_wait_where_several_run_the_assembly_of_an_element() -> None:
    """Of copies one stores, but all run the assembly: some might do it again after that store."""
    example = next(case for case in widths_kernel.examples if "block=8" in case.label).build()
    prepared = widths_kernel.prepare(example.grid, backend="mlir", **example.args, **example.options)
    waits = [change for change in prepared.compilation.stage("layout").changes if change.rule == "barrier"]
    found = [change.after for change in waits if change.why == "several threads run the assembly for each element"]
    assert ["ld.global" in found[0], found[1].startswith("store")] == [True, True]
