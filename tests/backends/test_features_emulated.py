"""Products, scans, atomic operations and the like as the GPU backends print them: emulated on the CPU, and compiled to
PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import CompileError, JITFunction
from mytriton.backends.mlir.names import GENERATED
from mytriton.check import compare
from mytriton.descriptors import opened
from tests import (
    emulated,
    feature_kernels_assembly,
    feature_kernels_atomics,
    feature_kernels_columns,
    feature_kernels_dots,
    feature_kernels_float8,
    feature_kernels_libdevice,
    feature_kernels_lookups,
    feature_kernels_maps,
    feature_kernels_pipelines,
    feature_kernels_randoms,
    feature_kernels_scans,
    feature_kernels_windows,
)
from tests.emulated import Job

MODULES = (
    feature_kernels_assembly,
    feature_kernels_atomics,
    feature_kernels_columns,
    feature_kernels_dots,
    feature_kernels_float8,
    feature_kernels_libdevice,
    feature_kernels_lookups,
    feature_kernels_maps,
    feature_kernels_pipelines,
    feature_kernels_randoms,
    feature_kernels_scans,
    feature_kernels_windows,
)
KERNELS = [k for module in MODULES for k in vars(module).values() if isinstance(k, JITFunction)]
CASES = [(kernel, case) for kernel in KERNELS for case in kernel.examples]
#: What the cpu backend does not compile.
ONLY_ON_GPUS = [k for k in KERNELS if k.function.__module__ == feature_kernels_assembly.__name__]


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_features_as_threads_compute_them(backend):
    if reason := emulated.unavailable(backend):
        pytest.skip(reason)
    examples = [(kernel, case.build()) for kernel, case in CASES]
    jobs = [Job(kernel, e.grid, [], dict(e.args), e.options) for kernel, e in examples]
    wrong = []
    for (_, case), (_, example), run in zip(CASES, examples, emulated.compiled(backend, jobs), strict=True):
        run()
        for name, expected in example.expected.items():
            report = compare(name, example.args[name], expected, example.rtol, example.atol)
            wrong += [] if report.ok else [f"{case.label}: {report}"]
    assert wrong == []


@pytest.mark.parametrize(("backend", "stage"), [("cuda", "ptx"), ("mlir", "ptx"), ("cpu", "asm")])
@pytest.mark.parametrize(("kernel", "case"), CASES, ids=lambda v: getattr(v, "label", ""))
def test_it_compiles(kernel, case, backend, stage):
    if backend == "cpu" and kernel in ONLY_ON_GPUS:
        return
    example = case.build()
    compilation = kernel.prepare(example.grid, **example.args, **example.options, backend=backend).compilation
    made = compilation.stage(stage)
    compilation.raise_if_failed()
    if made.status == "skipped":
        pytest.skip(made.reason)
    assert made.text
    if backend == "mlir":
        text = re.sub('"[^"]*"', "", compilation.stage("mlir/emit").text)
        names = set(re.findall(r"%(\w+)", text)) - set(opened(example.args))
        assert [n for n in names if not GENERATED.fullmatch(n)] == []  # or a parameter could have that name


def test_sums_stay_in_one_variable():
    """The text of a loop over tiles reads as its author would write it: nothing is copied from trip to trip."""
    kernel = feature_kernels_dots.chain_kernel
    text = kernel.compile("*fp32, *fp32, i32, 16", backend="cuda").stage("cuda").text
    inside = text[text.index("for (int j") :]
    assert "mt_mma_f32(&total[0], " in inside
    assert "total[r] = total" not in inside.replace("total[r] = fmaf", "")


@triton.jit
def outer_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + i * N + j, tl.dot(tl.load(x + i), tl.load(x + j)))


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_more_shared_memory_than_a_program_has_without_asking(backend):
    if reason := emulated.unavailable(backend):
        pytest.skip(reason)
    x, out = np.arange(8192.0), np.zeros(8192)
    x[0] = 3
    emulated.compiled(backend, [Job(outer_kernel, (1,), [x, out], {"M": 8192, "N": 1}, {"chip": "sm_80"})])[0]()
    np.testing.assert_array_equal(out, 3 * x)
    compilation = outer_kernel.compile("*fp64, *fp64, 8192, 1", backend=backend, chip="sm_80")
    assert ".extern .shared .align 16 .b8 mt_shared[];" in compilation.stage("ptx").text
    cubin = compilation.find("cubin")
    assert cubin is not None and (not cubin.ok or cubin.stats["shared"] == 8193 * 8)


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_factors_too_large_for_shared_memory(backend):
    outer_kernel.compile("*fp64, *fp64, 16384, 1", backend=backend, chip="sm_80").stage("layout")
    with pytest.raises(CompileError) as caught:
        outer_kernel.compile("*fp64, *fp64, 16384, 1", backend=backend, chip="sm_86").stage("layout")
    (error,) = caught.value.diagnostics
    assert error.message == (
        "a column of vector<16384x1 x f64> and a row of vector<1x1 x f64> take 131080 bytes of shared memory, but a "
        "program on sm_86 has 101376"
    )
    assert (error.span.line, error.span.column) == (4, 31)
    assert error.hint == "multiply blocks of fewer rows and columns, or of smaller elements"
