"""The same kernel source through Triton and through this compiler: bits of integers, floats within a tolerance.

Where the `triton` package is installed (see `tests/triton_reference.py`): its interpreter on any machine, Triton itself
where there is a GPU. What Triton does not take must be among `LACKS`, by its own words.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mytriton import JITFunction
from mytriton.comparison import compare
from mytriton.examples import ExampleCase
from tests import feature_kernels_assembly
from tests.dev_set.test_dev_set import MODULES as DEV_SET
from tests.running import GPU, runner
from tests.test_examples import MODULES as EXAMPLES
from tests.test_features import MODULES as FEATURES
from tests.triton_reference import Triton, TritonError, as_triton, triton_gpu, triton_interpreter

ASSEMBLY = feature_kernels_assembly
__all__ = ["triton_gpu", "triton_interpreter"]

#: What Triton 3.9 does not take, by its own words: what its language lacks, and the limits of its interpreter.
LACKS = (
    "module 'triton.language' has no attribute 'tanh'",
    "Block pointers have been removed",
    "inline_asm not supported in interpreter mode",
    "ValueError: Unsupported data type",  # the interpreter's atomic operations on floats
    "cannot convert None of type <class 'NoneType'> to tensor",  # the interpreter's sort
    "stride must be 16-byte aligned",  # of a tensor descriptor
    "bad operand type for abs()",  # of a block: tl.abs
    "but got fp8",  # functions of 8-bit floats
    "mask has unsupported dtype",  # the interpreter's `&` of a block and a scalar bool
    "'InterpreterBuilder' object has no attribute 'new_block'",  # for tl.map_elementwise
    "'float' object has no attribute 'type'",  # the same, of the interpreter's scalars
    "of type <class 'triton.language.core.tensor'> to tensor",  # the interpreter's `a if CONSTEXPR else b` of blocks
)
#: What Triton 3.6, which GPU machines still have, does not take either: strings and halves in constexpr conditions,
#: Python's `abs`, a carried value that becomes a literal; and PTX that its assembler refuses.
LACKS_ON_GPU = (
    *LACKS,
    "'str' object has no attribute 'type'",
    "CompileTimeAssertionFailure",
    "abs is not defined",
    "changed type, was <class 'triton.language.core.tensor'> but is now <class 'triton.language.core.constexpr'>",
    "PTXASError",
    "N >= 1 and K >= ",  # what tensor cores take
    "unexpected keyword argument 'dtype'",  # of cumprod
    "PassManager::run failed",  # block pointers
    "error encountered during parsing",  # the same
    "no allocator was set",  # what its descriptors need
    "has no attribute 'get_fp8e4nv'",  # constants of 8-bit floats
)
#: The most that products of float32 by tensor cores, in tf32, may differ from ours, as a part of the largest element.
TF32 = 2e-2
#: Examples that Triton 3.6 computes otherwise on a GPU: sums of products by tensor cores in tf32, and the lowest bit of
#: an integer that is cast to int1; and NaN, which its atomic maximum takes for the largest; and a
#: sum that is its own factor, and a function that combines by branches, which it refuses; and quotients, which it only
#: approximates, so that some are rounded to another float of 8 bits; and values outside the bins of a histogram, which
#: it leaves open; and ranges whose step turns out to be negative, which have no trips there; and assembly with effects
#: on a block of fewer elements than threads, which all of its warps do, at their own times.
GPU_DIFFERS = (
    "tiled_matmul(",
    "cast(source='i32', to='bool')",
    "floats(",
    "itself(n=2",
    "combined(",
    "quantize_rows(",
    "histogram(",
    "own_ranges(",
    "widths(block=8,",
)
#: Examples that use what Triton leaves undefined.
UNDEFINED = {
    "saturate()",  # floats out of an integer's range
    "masked_off(block=16)",  # what an atomic operation returns where it is not done
    "masked_off(block=256)",
    "beyond(block=32)",  # where there is nothing to gather
    "indices(m=8, n=8, nan=True)",  # the order in which a reduction compares NaN
}
#: Examples that Triton's interpreter gets wrong: it lacks arithmetic in bfloat16, and does not round to it; nor does it
#: to floats of 8 bits, of which it takes NaN for a number (tests/test_float8.py compares what it gets right). It has no
#: libdevice, whose functions give None there.
INTERPRETED_WRONG = {
    "bits()",
    "rare_functions()",
    "unfused()",
    "cast(source='f32', to='bf16')",
    "float8(source='float32', to='float8_e4m3fn')",
    "float8(source='float32', to='float8_e5m2')",
    "float8(source='float8_e4m3fn', to='float32')",
    "float8(source='float8_e5m2', to='float16')",
    "halves(dtype='float16', word='bfloat16')",
    "product(m=8, k=32, n=8, dtype='bfloat16', warps=8)",
    "quantize_rows(m=3, k=100)",
    "quantize_varlen(lengths=(20, 0, 33))",
    "rms_norm_backward(rows=7, columns=100, programs=3, mode=0, affine=True)",
    "saxpy(dtype='bf16', n=1000)",
}

CASES = [
    pytest.param(Path(module.__file__ or ""), kernel, case, id=f"{kernel.name}-{case.label}")
    for module in (*EXAMPLES.values(), *DEV_SET.values(), *FEATURES, ASSEMBLY)
    for kernel in vars(module).values()
    if isinstance(kernel, JITFunction)
    for case in kernel.examples
    if case.label not in UNDEFINED
]


def compared(
    triton: Triton, path: Path, kernel: JITFunction, case: ExampleCase, backend: str, lacks: tuple[str, ...] = LACKS
) -> None:
    """Runs a case on both and compares all arrays. Skips what Triton does not take."""
    rounds_factors = backend in GPU and "tl.dot(" in inspect.getsource(kernel.function)
    theirs, ours = kernel.completed(case.build()), kernel.completed(case.build())
    grid: Any = theirs.grid(theirs.args) if callable(theirs.grid) else theirs.grid
    try:
        triton.run(as_triton(path.read_text()), kernel.name, grid, theirs.args)
    except TritonError as error:
        assert any(lack in str(error) for lack in lacks), error
        pytest.skip(f"Triton: {str(error)[:80]}")
    names = [p.name for p in kernel.kernel.params if p.name in ours.args]
    runner(backend)(kernel.base, ours.grid, *(ours.args[name] for name in names), **ours.options)
    for name in names:
        if isinstance(ours.args[name], np.ndarray):
            wanted, atol = theirs.args[name], ours.atol
            if rounds_factors and wanted.dtype.kind not in "biu":
                atol = max(atol or 0.0, TF32 * np.abs(wanted.astype(np.float64)).max(initial=0))
            report = compare(name, ours.args[name], wanted, ours.rtol, atol)
            assert report.ok, report


@pytest.mark.parametrize(("path", "kernel", "case"), CASES)
def test_example_in_tritons_interpreter(triton_interpreter, path, kernel, case):
    if case.label in INTERPRETED_WRONG:
        pytest.skip("Triton's interpreter lacks it")
    compared(triton_interpreter, path, kernel, case, "interp")


@pytest.mark.execution
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
@pytest.mark.parametrize(("path", "kernel", "case"), CASES)
def test_example_in_triton_on_the_gpu(triton_gpu, path, kernel, case, backend):
    runner(backend)
    if case.label.startswith(GPU_DIFFERS):
        pytest.skip("Triton computes something else on a GPU")
    compared(triton_gpu, path, kernel, case, backend, LACKS_ON_GPU)
