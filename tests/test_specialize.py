"""Argument types, what is known of arguments, signatures, and every argument that is refused."""

from __future__ import annotations

import sys
import types as pytypes

import ml_dtypes
import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton import LaunchError, Specialization, parse_signature
from mytriton.ir.core import ParamInfo
from mytriton.specialize import bind, specialize, spelled
from mytriton.types import PointerType, bf16, f16, f32, f64, i1, i8, i16, i32, i64, u8, u16, u32, u64


@mytriton.jit
def kernel(x, n, BLOCK: tl.constexpr = 8):
    pass


@mytriton.jit
def annotated(x: "*fp16:16", n: tl.int64, s: "fp32", BLOCK: tl.constexpr = 8):  # noqa: F722, F821, UP037
    pass


def spec_of(x, n=1, **keywords) -> Specialization:
    return specialize(kernel.kernel, bind(kernel.kernel, (x, n), keywords))


SCALARS = [
    (5, i32, False),
    (32, i32, True),
    (-(2**31), i32, True),
    (2**31, i64, True),
    (-(2**31) - 1, i64, False),
    (2**63 - 1, i64, False),
    (2**63, u64, True),
    (2**64 - 1, u64, False),
    (1.5, f32, False),
    (True, i1, False),
    (np.int32(3), i32, False),
    (np.int64(16), i64, True),
    (np.int8(16), i8, True),
    (np.uint32(2**31), u32, True),
    (np.uint64(2**64 - 1), u64, False),
    (np.float16(1), f16, False),
    (ml_dtypes.bfloat16(1), bf16, False),
    (np.float32(1), f32, False),
    (np.float64(1), f64, False),
    (np.bool_(True), i1, False),
]


@pytest.mark.parametrize(("value", "type_", "divisible"), SCALARS, ids=repr)
def test_scalar_arguments(value, type_, divisible):
    assert spec_of(value).params[0] == ("x", type_, ParamInfo(divisible))


ARRAYS = [
    (np.bool_, i1),
    (np.int8, i8),
    (np.int16, i16),
    (np.int32, i32),
    (np.int64, i64),
    (np.uint8, u8),
    (np.uint16, u16),
    (np.uint32, u32),
    (np.uint64, u64),
    (np.float16, f16),
    (ml_dtypes.bfloat16, bf16),
    (np.float32, f32),
    (np.float64, f64),
]


@pytest.mark.parametrize(("dtype", "element"), ARRAYS)
def test_array_arguments(dtype, element):
    assert spec_of(np.zeros((2, 3), dtype)).params[0][1] == PointerType(element)


def test_divisibility_of_arrays_that_run_and_of_those_that_only_compile():
    memory = np.zeros(64, np.float32)
    start = (-memory.ctypes.data % 16) // 4
    aligned, shifted = memory[start:], memory[start + 1 :]
    args = [bind(kernel.kernel, (x, 1), {}) for x in (aligned, shifted)]
    assert [specialize(kernel.kernel, a).params[0][2].divisible_by_16 for a in args] == [True, False]
    assert [specialize(kernel.kernel, a, runs=False).params[0][2].divisible_by_16 for a in args] == [True, True]


def test_none_is_a_constexpr_and_constexprs_are_unwrapped():
    spec = spec_of(None, BLOCK=tl.constexpr(4))
    assert spec.params == (("n", i32, ParamInfo(is_one=True)),)
    assert spec.constexprs == (("x", None), ("BLOCK", 4))
    assert spec_of(1, BLOCK=np.int64(4)).constexprs == (("BLOCK", 4),)
    assert spec_of(1, BLOCK=(1, [2.0, tl.float16])).constexprs == (("BLOCK", (1, (2.0, tl.float16))),)


def test_keys_tell_equal_looking_constexprs_apart():
    values = [1, 1.0, True, 0.0, -0.0, 0, False, None, "1", (1,), (1.0,), float("nan")]
    keys = {spec_of(1, BLOCK=v).key for v in values}
    assert len(keys) == len(values)
    assert spec_of(1, BLOCK=float("nan")).key == spec_of(1, BLOCK=float("nan")).key
    assert spec_of(2).key == spec_of(3).key != spec_of(1).key, "an argument that is 1"


REFUSED = [
    (2**64, "argument `x` is 18446744073709551616, which does not fit in a 64-bit integer"),
    ("text", "argument `x` is a str, which no kernel takes; mark it `tl.constexpr`"),
    ([1, 2], "argument `x` is a list, which no kernel takes; make it an array: np.array(...)"),
    ({}, "argument `x` is a dict, which no kernel takes; pass a number or an array (NumPy, CuPy or torch)"),
    (np.complex64(1), "argument `x` is a NumPy complex64, which no kernel takes"),
    (
        np.zeros(4, np.complex64),
        "argument `x` is a NumPy array of complex64; kernels take arrays of bool, int8 to int64, uint8 to uint64, "
        "float16, bfloat16, float32, float64, float8_e4m3fn and float8_e5m2: convert it, as with .astype(np.float32)",
    ),
    (np.zeros(4, ">f4"), "argument `x` is a NumPy array of byte-swapped float32"),
    (
        np.zeros(4, "f4, i1")["f0"],
        "the elements of `x`, a NumPy array, do not lie a whole number of elements apart; pass a contiguous copy, as "
        "from np.ascontiguousarray(x)",
    ),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_arguments_that_no_kernel_takes(value, message):
    with pytest.raises(LaunchError) as caught:
        spec_of(value)
    assert str(caught.value).startswith(message)


def test_a_constexpr_must_be_plain_data():
    with pytest.raises(LaunchError, match="the constexpr parameter `BLOCK` got an array; a constexpr is a number"):
        spec_of(1, BLOCK=np.zeros(2))


BINDING = [
    ((1,), {}, "`kernel` needs the argument `n`; pass n=... at the launch"),
    ((), {}, "`kernel` needs the arguments `x`, `n`; pass x=... at the launch"),
    ((1, 2, 3, 4), {}, "`kernel` takes 3 arguments (x, n, BLOCK), got 4"),
    ((1, 2), {"x": 1}, "`kernel` got `x` twice, by position and by name"),
    ((1, 2), {"BLOK": 1}, "`kernel` has no parameter `BLOK`; did you mean `BLOCK`?"),
    ((1, 2), {"num_wraps": 8}, "`kernel` has no parameter `num_wraps`; did you mean `num_warps`?"),
    ((1, 2), {"num_stage": 8}, "`kernel` has no parameter `num_stage`; did you mean `num_stages`?"),
    ((1, 2), {"maxnreg": 3}, "`kernel` has no parameter `maxnreg`; the option is Triton's, leave it away"),
    ((1, 2), {"zzz": 1}, "`kernel` has no parameter `zzz`; its parameters are x, n, BLOCK"),
]


@pytest.mark.parametrize(("args", "keywords", "message"), BINDING)
def test_wrong_arguments(args, keywords, message):
    with pytest.raises(LaunchError) as caught:
        bind(kernel.kernel, args, keywords)
    assert str(caught.value) == message


def test_a_missing_constexpr_is_called_one():
    @mytriton.jit
    def strict(x, B: tl.constexpr):
        pass

    with pytest.raises(LaunchError, match="`strict` needs the constexpr parameter `B`; pass B="):
        bind(strict.kernel, (1,), {})


def test_keys_of_globals_look_inside_a_constexpr():
    values = [tl.constexpr(v) for v in (1, 1.0, True, 0.0, -0.0, (1, 2), (1, 2.0), [1, 3], None)]
    assert len({spelled(v) for v in [*values, 1, 1.0]}) == len(values) + 2
    assert spelled(tl.constexpr([1, 2])) == spelled(tl.constexpr((1, 2)))


# --- arrays of other libraries, which are not imported here -----------------------------------------------------------


class FakeDeviceArray:
    """What CuPy's arrays look like to the outside."""

    def __init__(self, dtype, shape=(4,), strides=None, address=0x7000):
        self.dtype = np.dtype(dtype)
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": self.dtype.str,
            "strides": strides,
            "data": (address, False),
            "version": 3,
        }


def test_device_arrays_by_their_interface():
    assert spec_of(FakeDeviceArray(np.float16)).params[0] == ("x", PointerType(f16), ParamInfo(True))
    assert spec_of(FakeDeviceArray(np.float16, address=0x7002)).params[0][2] == ParamInfo(False)
    assert spec_of(FakeDeviceArray(np.int32, (2, 3), (12, 4))).params[0][1] == PointerType(i32)
    assert spec_of(FakeDeviceArray(np.int32, (2, 3), (24, 8))).params[0][1] == PointerType(i32)
    with pytest.raises(LaunchError, match="`x`, a FakeDeviceArray on the GPU, do not lie a whole number of elements"):
        spec_of(FakeDeviceArray(np.int32, (2, 3), (24, 6)))


class FakeTensor:
    def __init__(self, dtype, device="cpu", address=64, contiguous=True):
        self.dtype = f"torch.{dtype}"
        self.device = pytypes.SimpleNamespace(type=device)
        self.is_cuda = device == "cuda"
        self.data_ptr = lambda: address
        self.is_contiguous = lambda: contiguous


def test_torch_tensors_without_importing_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", pytypes.SimpleNamespace(Tensor=FakeTensor))
    assert spec_of(FakeTensor("bfloat16")).params[0] == ("x", PointerType(bf16), ParamInfo(True))
    assert spec_of(FakeTensor("int64", "cuda", 8)).params[0] == ("x", PointerType(i64), ParamInfo(False))
    with pytest.raises(LaunchError, match="argument `x` is a torch CPU tensor of complex64"):
        spec_of(FakeTensor("complex64"))
    assert spec_of(FakeTensor("float32", "cuda", contiguous=False)).params[0][1] == PointerType(f32)


# --- signatures -------------------------------------------------------------------------------------------------------


def signature(text, owner=kernel, **constexprs):
    spec = parse_signature(owner.kernel, text, constexprs)
    runtime = [f"{name}: {type_}{':16' if known.divisible_by_16 else ''}" for name, type_, known in spec.params]
    return ", ".join([*runtime, *(f"{name} = {value!r}" for name, value in spec.constexprs)])


@pytest.mark.parametrize(
    ("text", "constexprs", "expected"),
    [
        ("*fp32:16, i32, 1024", {}, "x: ptr<f32>:16, n: i32, BLOCK = 1024"),
        (" *bf16 , i64:16 ,1024", {}, "x: ptr<bf16>, n: i64:16, BLOCK = 1024"),
        ("*u8:16, u32:16, 7", {}, "x: ptr<u8>:16, n: u32:16, BLOCK = 7"),
        ("*f64, i1", {}, "x: ptr<f64>, n: bool, BLOCK = 8"),
        ("*i1, fp16", {"BLOCK": 4}, "x: ptr<bool>, n: f16, BLOCK = 4"),
        ("*i1, fp16, 1024", {"BLOCK": 4}, "x: ptr<bool>, n: f16, BLOCK = 4"),
        ("None, 7, True", {}, "x = None, n = 7, BLOCK = True"),
        ("*fp32, i32, fp16", {}, "x: ptr<f32>, n: i32, BLOCK = ScalarType(name='f16', kind='float', bits=16)"),
        ("*fp32, i32, 'a, b'", {}, "x: ptr<f32>, n: i32, BLOCK = 'a, b'"),
        ("*fp32, i32, (1, 2)", {}, "x: ptr<f32>, n: i32, BLOCK = (1, 2)"),
        ("*fp32, -inf, 1.5", {}, "x: ptr<f32>, n = -inf, BLOCK = 1.5"),
        ("*fp32", {"n": 5}, "x: ptr<f32>, n = 5, BLOCK = 8"),
    ],
)
def test_signatures(text, constexprs, expected):
    assert signature(text, **constexprs) == expected


def test_annotations_serve_where_there_is_no_signature():
    assert signature("", annotated) == "x: ptr<f16>:16, n: i64, s: f32, BLOCK = 8"
    assert signature("*fp32, i32, fp64, 4", annotated) == "x: ptr<f32>, n: i32, s: f64, BLOCK = 4"


@pytest.mark.parametrize(
    ("text", "constexprs", "message"),
    [
        ("*fp33, i32", {}, "'*fp33' is not a type of a signature; did you mean '*fp32'?"),
        ("*fp32, u9", {}, "'u9' is not a type of a signature; use *fp32"),
        ("*fp32, i32, bogus", {"BLOCK": 8}, "'bogus' is not a value of the constexpr `BLOCK`; a string is \"bogus\""),
        ("*fp32, {[]: 1}", {}, "'{[]: 1}' is not a type of a signature; use *fp32"),
        (f"*fp32, {hex(1 << 5000)}", {}, "'0x1000"),
        ("*fp32:8, i32", {}, "'*fp32:8' is not a type of a signature; use *fp32"),
        ("*fp32, fp32:16", {}, "'fp32:16' is not a type of a signature; use *fp32"),
        ("*fp32, i32, 8, i32", {}, "the signature has entries left over for `kernel` (3 parameters): i32"),
        ("*fp32", {}, "the parameter `n` of `kernel` is not given; give its type, as in --signature"),
        ("", {}, "the parameter `x` of `kernel` is not given; give its type"),
        ("*fp32, i32", {"ZZ": 1}, "`kernel` has no parameter `ZZ`; its parameters are x, n, BLOCK"),
    ],
)
def test_wrong_signatures(text, constexprs, message):
    with pytest.raises(LaunchError) as caught:
        signature(text, **constexprs)
    assert str(caught.value).startswith(message)


def test_a_constexpr_without_a_value_is_named():
    @mytriton.jit
    def strict(x, B: tl.constexpr):
        pass

    with pytest.raises(LaunchError, match="the constexpr parameter `B` of `strict` is not given; give it as a literal"):
        parse_signature(strict.kernel, "*fp32")
