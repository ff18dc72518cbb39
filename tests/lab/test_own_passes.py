"""The passes of a kernel, changed: by name, as one text or as a list, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
from examples.kernels.add import add_kernel
from mytriton import CompileError, mlir
from mytriton.checked import ArgumentError
from mytriton.diagnostics import OptionError
from mytriton.pipelines import PipelineError

SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 256"


@pytest.mark.parametrize("backend", ["mlir", "cpu"])
def test_a_pass_more_is_a_stage_more(backend: str) -> None:
    own = mlir.passes_of_kernels(triton.Target(backend))
    usual = add_kernel.compile(SIGNATURE, backend=backend)
    ran = [s.pipeline for s in usual.run().stages if s.pipeline]
    # Without a product `cpu` has no need of its schedule for products, nor does a pass run whose stage does more.
    assert ran == [text for text in own if text in ran] and len(own) - len(ran) <= 2
    more = add_kernel.compile(SIGNATURE, backend=backend, mlir_passes=["sccp", *own])
    assert more.stage(f"{backend}/sccp").status in ("ok", "no change")
    last = "ptx" if backend == "mlir" else "asm"
    assert more.stage(last).ok
    assert [name for name in more.planned if name not in usual.planned] == [f"{backend}/sccp"]


def test_one_text_and_a_list_of_its_passes_are_the_same() -> None:
    x, y, out = np.arange(256, dtype=np.float32), np.ones(256, np.float32), np.zeros(256, np.float32)
    own = mlir.passes_of_kernels(triton.Target("cpu"))
    for given in (",".join(own), [*own], tuple(own), f"builtin.module({','.join(own)})"):
        out[...] = 0
        assert add_kernel[1](x, y, out, 256, BLOCK=256, backend="cpu", mlir_passes=given).ran
        assert np.array_equal(out, x + y)


@pytest.mark.parametrize(
    ("passes", "error", "message"),
    [
        (5, ArgumentError, "mlir_passes takes the text of a pipeline, or a list of such texts, got 5 (int)"),
        (["cse", 5], ArgumentError, "mlir_passes takes the text of a pipeline, or a list of such texts, got 5 (int)"),
        (["cse("], PipelineError, "`(` is never closed\ncse(\n   ^"),
        (["cse", " "], PipelineError, "a pass has no name\n \n^"),
    ],
)
def test_what_are_no_passes(passes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        add_kernel.compile(SIGNATURE, backend="cpu", mlir_passes=passes)
    assert str(raised.value) == message


def test_a_pass_that_does_not_exist_is_told_as_for_a_file() -> None:
    for mlir_passes in ("canonicalise", ["canonicalise"]):
        with pytest.raises(CompileError) as raised:
            add_kernel.compile(SIGNATURE, backend="cpu", mlir_passes=mlir_passes).stage("llvm")
        assert "'canonicalise' does not refer to a registered pass" in str(raised.value)
        assert "did you mean canonicalize" in str(raised.value)
        assert "Textual PassPipeline" not in str(raised.value)


def test_backends_without_passes() -> None:
    with pytest.raises(OptionError, match="mlir_passes is an option of the backends mlir and cpu, not of cuda"):
        add_kernel.compile(SIGNATURE, backend="cuda", mlir_passes=["cse"])
    with pytest.raises(OptionError, match="the backends mlir and cpu have MLIR passes, not interp"):
        mlir.passes_of_kernels(triton.Target("interp"))
