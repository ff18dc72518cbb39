"""What is made of several operations under libdevice's names, bit for bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mytriton.language.extra.cuda.libdevice as older
from mytriton.language.extra import libdevice
from tests.frontend.support import errors, hints, lowered, ssa, value_of

LISTED = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.49999997,
    -0.99,
    1e-45,
    8388609.0,
    -8388607.5,
    3e38,
    np.inf,
    -np.inf,
    np.nan,
]


def numbers(dtype):
    rng = np.random.default_rng(4)
    rest = rng.standard_normal(48) * 2.0 ** rng.integers(-4, 30, 48)
    with np.errstate(all="ignore"):
        return np.concatenate([LISTED, rest]).astype(dtype)


def round_away(x):
    below = np.floor(np.abs(x))
    return np.copysign(below + (np.abs(x) - below >= 0.5).astype(x.dtype), x)


def as_int64(x):
    wide = x.astype(np.longdouble)
    return np.where(np.isnan(x), 0, np.clip(np.nan_to_num(wide), -(2**63), 2**63 - 1)).astype(np.int64)


FUNCTIONS = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finitef": np.isfinite,
    "isfinited": np.isfinite,
    "signbit": lambda x: np.signbit(x).astype(np.int32),
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": round_away,
    "rcp_rn": lambda x: (1 / x.astype(np.float64 if x.dtype == np.float64 else np.float32)).astype(x.dtype),
    "saturatef": lambda x: np.fmin(np.fmax(x, x.dtype.type(0)), x.dtype.type(1)),
}


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_float(name, dtype):
    x = numbers(dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(FUNCTIONS[name](x))
        actual = value_of(f"libdevice.{name}(x)", expected, x=x)
    if expected.dtype == dtype:
        number = ~np.isnan(expected)
        assert (np.isnan(actual) == ~number).all()
        actual, expected = actual[number], expected[number]
        if name == "saturatef":  # either zero
            actual, expected = actual + dtype(0), expected + dtype(0)
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_two_floats_and_to_integers(dtype):
    x, y = numbers(dtype), np.random.default_rng(5).permutation(numbers(dtype))
    with np.errstate(all="ignore"):
        difference = np.where(x > y, x - y, dtype(0))
        for expression, expected in (
            ("libdevice.copysign(x, y)", np.copysign(x, y)),
            ("libdevice.fmod(x, y)", np.fmod(x, y)),
            ("libdevice.fdim(x, y)", np.where(np.isnan(x) | np.isnan(y), dtype(np.nan), difference)),
            ("libdevice.fast_dividef(x, y)", x / y),
            ("libdevice.fma_rn(x, 0.0, y)", x * dtype(0) + y),
            ("libdevice.llrint(x)", as_int64(np.rint(x))),
            ("libdevice.llround(x)", as_int64(round_away(x))),
        ):
            np.testing.assert_array_equal(value_of(expression, expected, x=x, y=y), expected, err_msg=expression)


def test_bits():
    i, f, d = np.arange(-4, 4, dtype=np.int32), numbers(np.float32), numbers(np.float64)
    for expression, expected in (
        ("libdevice.int_as_float(i)", i.view(np.float32)),
        ("libdevice.uint_as_float(i.to(tl.uint32))", i.view(np.float32)),
        ("libdevice.int_as_float(0x3F800000)[None]", np.ones(1, np.float32)),
        ("libdevice.float_as_int(f)", f.view(np.int32)),
        ("libdevice.float_as_uint(f)", f.view(np.uint32)),
        ("libdevice.longlong_as_double(i.to(tl.int64))", i.astype(np.int64).view(np.float64)),
        ("libdevice.double_as_longlong(d)", d.view(np.int64)),
    ):
        assert value_of(expression, expected, i=i, f=f, d=d).tobytes() == expected.tobytes(), expression


I32 = np.array([0, 1, -1, 2, 5, -8, 255, 256, 2**31 - 1, -(2**31), 123456, -123457, 1 << 30, 3, 7, -2], np.int32)


def of_bits(function, x):
    """A function of each element's bits, as text with the highest first."""
    width = 8 * x.dtype.itemsize
    return np.array([function(f"{int(v) & (1 << width) - 1:0{width}b}") for v in x])


def integer_cases():
    """Functions of the bits of integers, with what Python gives."""
    for name, x in (("i", I32), ("j", I32.astype(np.int64) * 77_777_777_777)):
        wide, pairs = [int(v) for v in x], list(zip(x.tolist(), x[::-1].tolist(), strict=True))
        width = 8 * x.dtype.itemsize
        for function, expected in (
            (f"popc({name})", of_bits(lambda b: b.count("1"), x).astype(np.int32)),
            (f"clz({name})", of_bits(lambda b: len(b) - len(b.lstrip("0")), x).astype(np.int32)),
            (f"ffs({name})", of_bits(lambda b: 0 if "1" not in b else len(b) - b.rindex("1"), x).astype(np.int32)),
            (f"brev({name})", np.array([int(v, 2) for v in of_bits(lambda b: b[::-1], x)], np.uint64).astype(x.dtype)),
            (f"mulhi({name}, {name})", np.array([v * v >> width for v in wide], x.dtype)),
            (f"mulhi({name}, {name}_)", np.array([a * b >> width for a, b in pairs], x.dtype)),
            (f"hadd({name}, {name}_)", np.array([a + b >> 1 for a, b in pairs], x.dtype)),
            (f"rhadd({name}, {name}_)", np.array([a + b + 1 >> 1 for a, b in pairs], x.dtype)),
        ):
            yield f"libdevice.{function}", expected
    yield (
        "libdevice.mulhi(i.to(tl.uint32), i_.to(tl.uint32))",
        np.array(
            [(a % 2**32) * (b % 2**32) >> 32 for a, b in zip(I32.tolist(), I32[::-1].tolist(), strict=True)], np.uint32
        ),
    )


INTEGERS = {"i": I32, "i_": I32[::-1].copy(), "j": I32.astype(np.int64) * 77_777_777_777}
INTEGERS["j_"] = INTEGERS["j"][::-1].copy()


def conversion_cases():
    """Conversions with a chosen rounding, with what NumPy gives."""
    x = numbers(np.float32)
    bounds = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
    ways = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    for source, wide in (("float", "x"), ("double", "x.to(tl.float64) * 1.5")):
        for target, dtype in bounds.items():
            for way, rounded in ways.items():
                value = rounded(x.astype(np.float64) * (1 if source == "float" else 1.5)).astype(np.longdouble)
                low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
                expected = [0 if np.isnan(v) else low if v < low else high if v > high else int(v) for v in value]
                yield f"libdevice.{source}2{target}_{way}({wide})", np.array(expected, dtype)
    yield "libdevice.double2float_rn(x.to(tl.float64) * 1.1)", (x.astype(np.float64) * 1.1).astype(np.float32)


def test_integers_and_conversions():
    for expression, expected in integer_cases():
        actual = value_of(expression, expected, **INTEGERS)
        np.testing.assert_array_equal(actual, expected, err_msg=expression)
    for name, dtype in (("int", np.int32), ("uint", np.uint32), ("ll", np.int64), ("ull", np.uint64)):
        i = np.array([0, 5, 2**24 + 1, 2**31 - 1], dtype)
        for to, out in (("float", np.float32), ("double", np.float64)):
            assert value_of(f"libdevice.{name}2{to}_rn(i)", i.astype(out), i=i).tolist() == i.astype(out).tolist()
    assert value_of("libdevice.float2int_rn(2.5)[None]", np.zeros(1, np.int32)) == [2]
    with np.errstate(all="ignore"):
        for expression, expected in conversion_cases():
            actual = value_of(expression, expected, x=numbers(np.float32))
            np.testing.assert_array_equal(actual, expected, err_msg=expression)


def test_unfused_arithmetic_is_an_operation_of_its_own():
    text = """
    from triton.language.extra import libdevice
    import triton
    import triton.language as tl

    @triton.jit
    def k(x, a, b):
        tl.store(x, libdevice.sub_rn(libdevice.mul_rn(a, b), 1.5))
    """
    listing = ssa(text, "*fp32, fp32, fp32").splitlines()
    assert listing[:3] == ["%0 = mul_rn a, b : f32", "%1 = neg 1.5 : f32", "%2 = add_rn %0, %1 : f32"]


def test_fast_functions_are_their_exact_namesakes():
    assert (libdevice.fast_expf, libdevice.fast_logf, libdevice.fast_powf) == (
        libdevice.exp,
        libdevice.log,
        libdevice.pow,
    )
    assert older.__all__ == libdevice.__all__ and older.exp is libdevice.exp
    lowered("def k(x):\n    tl.store(x, tl.extra.cuda.libdevice.fast_expf(tl.load(x)))", "*fp32")
    lowered("def k(x):\n    tl.store(x, tl.extra.libdevice.rint(tl.load(x)))", "*fp16")


def test_mistakes():
    def found(statement):
        text = f"import triton\nfrom triton.language.extra import libdevice\n\n@triton.jit\ndef k(n):\n    {statement}"
        return errors(text, "i32") + hints(text, "i32")

    assert found("libdevice.rint(n)") == [
        "3:20 MT203 libdevice.rint takes floats, got `n` (i32)",
        "convert it first: n.to(tl.float32)",
    ]
    assert found("libdevice.float_as_int(n)")[0] == "3:28 MT203 libdevice.float_as_int takes f32, got `n` (i32)"
    assert found("libdevice.rcbrt(n)") == ["3:5 MT135 `libdevice.rcbrt` is not supported yet", "write 1 / cbrt(x)"]
    assert found("libdevice.float2int_rn(n)")[0] == "3:28 MT203 libdevice.float2int_rn takes f32, got `n` (i32)"
    assert found("libdevice.popc(n.to(triton.language.int8))")[0] == (
        "3:20 MT203 libdevice.popc takes integers of 32 or 64 bits, got `n.to(triton.language.int8)` (i8)"
    )
    assert found("libdevice.clz(1.5)")[0].startswith("3:19 MT203 libdevice.clz takes integers of 32 or 64 bits")
    moved = "it is in libdevice: from mytriton.language.extra import libdevice"
    assert found("triton.language.math.rint(n)") == ["3:5 MT135 there is no `triton.language.math.rint`", moved]
    assert found("libdevice.rintt(n)")[1] == "did you mean `libdevice.rint`?"
