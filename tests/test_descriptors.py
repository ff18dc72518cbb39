"""Tensor descriptors that the host makes: launches, signatures, guesses, and the explorer's form of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from explorer.engine.arguments import signature_text
from explorer.engine.redefining import info
from explorer.model.form import Field
from mytriton import Example, Target, check_example
from mytriton.diagnostics import LaunchError
from mytriton.frontend.guess import guessed_signature
from mytriton.specialize import parse_signature
from mytriton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def scaled_kernel(a, out, factor, M: tl.constexpr, N: tl.constexpr):
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    out.store(at, a.load(at) * factor)


@scaled_kernel.example(padded=True)
@scaled_kernel.example(wrong=True)
def scaled(padded=False, wrong=False):
    a = np.arange(48, dtype=np.float32).reshape(3, 16)
    given = TensorDescriptor(a, [3, 12 if padded else 16], [16, 1], [4, 8], "nan")
    expected = a * 2 + wrong
    expected[:, 12:] = np.nan if padded else expected[:, 12:]
    out = TensorDescriptor.from_tensor(np.zeros((3, 16), np.float32), [4, 8])
    return Example({"a": given, "out": out, "factor": 2, "M": 4, "N": 8}, (1, 2), {"out": expected})


@pytest.mark.parametrize("backend", ["interp", "cpu"])
def test_an_example_of_descriptors(backend):
    right, wrong = (check_example(scaled_kernel, case, Target(backend=backend)) for case in scaled_kernel.examples)
    assert right.ok
    assert "48 of 48 differ" in str(wrong)
    assert wrong.origin.span.line == 4, "the store"


@dataclass
class Foreign:
    """Triton's class has the fields of ours, and the name."""

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False


Foreign.__name__ = "TensorDescriptor"


@pytest.mark.parametrize("kind", [TensorDescriptor, Foreign])
def test_repeated_launches_take_the_parts_of_their_own_descriptors(kind):
    scaled_kernel.clear_cache()
    a, out = np.arange(96, dtype=np.float32).reshape(6, 16), np.zeros((6, 16), np.float32)
    made = set()

    def launch(rows: int, columns: int, **fields: Any) -> Any:
        out[:] = -1
        given = kind(a[rows:], [3, columns], [16, 1], **{"block_shape": [4, 8], **fields})
        target = kind(out[rows:], [3, 16], [16, 1], [4, 8])
        launched = scaled_kernel[1, 2](given, target, 2, M=4, N=8, backend="cpu")
        made.add(launched.compilation)
        assert (out[rows : rows + 3, :columns] == 2 * a[rows : rows + 3, :columns]).all()
        return out[rows : rows + 3, columns:]

    for rows, columns in ((0, 12), (3, 12), (0, 8), (3, 4), (0, 12)):
        assert (launch(rows, columns) == 0).all()
    assert len(made) == 1
    assert np.isnan(launch(0, 12, padding="nan")).all() and len(made) == 2
    with pytest.raises(LaunchError, match="consists of powers of 2"):
        launch(0, 12, block_shape=[4, 7])
    with pytest.raises(LaunchError, match="has 1 to 5 axes"):
        launch(0, 12, block_shape=[4, 8, 1])
    with pytest.raises(LaunchError, match='is "zero" or "nan"'):
        launch(0, 12, padding="one")


def test_tritons_own_descriptors():
    a, out = np.arange(16, dtype=np.int16).reshape(2, 8), np.zeros((2, 8), np.int16)
    args = Foreign(a, [2, 8], [8, 1], [2, 8]), Foreign(out, [2, 8], [8, 1], [2, 8])
    scaled_kernel[1](*args, 3, M=2, N=8, backend="interp")
    assert out.tolist() == (a * 3).tolist()
    args[0].round_f32_to_tf32 = True
    with pytest.raises(LaunchError, match="round_f32_to_tf32 of a TensorDescriptor is not taken"):
        scaled_kernel[1](*args, 3, M=2, N=8, backend="interp")


SIGNATURES = [
    "tensordesc<fp16[128,64]>:16, tensordesc<bf16[32]>, i32, 128, 64",
    "*fp32:16, tensordesc<fp32[4,8],nan>, i32, 4, 8",
]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_what_is_read_is_written(signature):
    kernel = scaled_kernel.kernel
    assert signature_text(kernel, parse_signature(kernel, signature)) == signature


def test_what_an_example_and_a_guess_say():
    case = scaled_kernel.examples[0]
    assert info(scaled_kernel, case, case.build()).types == {
        "a": "tensordesc<fp32[4,8],nan>", "out": "tensordesc<fp32[4,8]>", "factor": "i32",
    }  # fmt: skip
    assert guessed_signature(scaled_kernel.kernel)["a"] == "tensordesc<fp32[64,64]>:16"


def test_a_field_of_the_form():
    field = Field("type", "a", "tensordesc<fp32[4,8]>", "")
    assert (field.problem, field.divisible, field.divided()) == ("", False, "tensordesc<fp32[4,8]>:16")
    assert field.say("tensordesc<fp32[4,7]>") == "the extents of a block are powers of 2"
    assert field.say("tensordesc<float[4]>").startswith("a descriptor is written tensordesc<fp16[128,64]>")


X = np.zeros((4, 8), np.int32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TensorDescriptor(X, [4, 8], [1], [4, 8]), r"as many in its shape \(2\) as in its strides \(1\)"),
        (lambda: TensorDescriptor.from_tensor(X, [3, 8]), r"consists of powers of 2, got \[3, 8\]"),
        (lambda: TensorDescriptor.from_tensor(X.T, [4, 4]), "the last stride of a TensorDescriptor must be 1, got 8"),
        (lambda: TensorDescriptor.from_tensor(X, [4, 8], "one"), "is \"zero\" or \"nan\", got 'one'"),
        (lambda: parse_signature(scaled_kernel.kernel, "tensordesc<fp16>, *fp32, i32, 4, 8"),
         "'tensordesc<fp16>' is not a type of a signature; a descriptor is written"),
        (lambda: scaled_kernel[1](TensorDescriptor.from_tensor(X, [4, 8], "nan"), X, 1, M=4, N=8, backend="interp"),
         "`a` is padded with NaN, which i32 has not"),
        (lambda: scaled_kernel[1](TensorDescriptor.from_tensor([[1]], [1]), X, 1, M=4, N=8, backend="interp"),
         "a TensorDescriptor is made of an array, not of a list"),
    ],
)  # fmt: skip
def test_misuse(make, message):
    with pytest.raises(LaunchError, match=message):
        make()
