"""Comparing arrays with references, and running the examples of a kernel file."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton import BackendUnavailable, Example, Target, backends, check_example
from mytriton.comparison import compare, tolerance, ulp_distance
from mytriton.origin import find_origin

f32 = np.float32


def test_equal_arrays_and_special_values_match():
    values = np.array([1, np.nan, np.inf, -np.inf, -0.0], f32)
    report = compare("out", values, np.array([1, np.nan, np.inf, -np.inf, 0.0]))
    assert (report.ok, report.size, report.max_abs, report.max_rel, report.max_ulp) == (True, 5, 0, 0, 0)


def test_errors_and_the_first_mismatch():
    actual = np.array([[1, 2, 3], [4, 5.5, 7]], f32)
    report = compare("out", actual, np.array([[1, 2, 3], [4, 5, 6]]))
    assert (report.ok, report.mismatches, report.first) == (False, 2, (1, 1))
    assert (report.actual, report.expected) == (5.5, 5)
    assert (report.max_abs, report.max_rel) == (1.0, pytest.approx(1 / 6))
    assert report.max_ulp == 2**21  # from 4 to 8 there are 2**23 numbers
    report = compare("out", actual, actual + 0.4, rtol=0, atol=0.5)
    assert report.ok


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (1.0, np.inf), (np.inf, -np.inf), (np.nan, np.inf)],
)
def test_special_values_match_only_themselves(actual, expected):
    report = compare("out", np.array([actual], f32), np.array([expected], f32), rtol=1e9, atol=1e9)
    assert (report.ok, report.mismatches, report.max_abs) == (False, 1, 0)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_ulp_distance_counts_representable_numbers(dtype):
    one = np.array([1], dtype)
    above = one + np.array([ml_dtypes.finfo(dtype).eps], dtype)
    tiny = np.array([ml_dtypes.finfo(dtype).smallest_subnormal], dtype)
    assert ulp_distance(one, above) == 1
    assert ulp_distance(-tiny, tiny) == 2
    assert ulp_distance(np.array([-0.0], dtype), np.array([0.0], dtype)) == 0


def test_default_tolerances():
    assert tolerance(np.dtype(np.int32)) == (0, 0)
    assert tolerance(np.dtype(f32)) == (2.0**-20, 2.0**-20)
    assert tolerance(np.dtype(np.float16))[0] == 2.0**-7
    assert tolerance(np.dtype(ml_dtypes.float8_e4m3fn))[0] == 2.0**-3, "eight of its steps would be the number itself"
    one = np.ones(1, f32)
    assert compare("x", one + f32(2**-21), one).ok
    assert not compare("x", one + f32(2**-18), one).ok


def test_integers_and_bools_are_exact():
    big = np.array([2**63 - 1, -(2**63)], np.int64)
    report = compare("out", big, np.array([2**63 - 2, 2**63 - 1], np.int64))
    assert (report.mismatches, report.max_abs) == (2, 2.0**64)
    assert compare("out", np.array([True]), np.array([False])).mismatches == 1
    assert compare("out", np.zeros(0, f32), np.zeros(0)).ok


def test_a_reference_of_another_shape_is_an_error():
    with pytest.raises(ValueError, match=r"the reference for `out` has shape \(3,\), the array has \(2,\)"):
        compare("out", np.zeros(2, f32), np.zeros(3))


@mytriton.jit
def double(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0) * 2, mask=i < n)


def example(n=10, expected=None, **more):
    x = np.arange(n, dtype=f32)
    return Example({"x": x, "out": np.zeros(n, f32), "n": n, "B": 8}, mytriton.cdiv(n, 8), expected, **more)


@double.example(n=10)
@double.example(n=100)
def right(n):
    return example(n, {"out": 2 * np.arange(n, dtype=f32)})


@double.example()
def wrong():
    return example(10, {"out": 3 * np.arange(10, dtype=f32)})


@double.example()
def without_reference():
    return example(options={"num_warps": 1})


@double.example()
def forgets_an_output():
    return example(10, {"x": np.arange(10, dtype=f32)})


@double.example()
def no_example():
    return None


@double.example()
def unknown_output():
    return example(10, {"result": np.arange(10)})


def case(label):
    return next(c for c in double.examples if c.label.startswith(label))


INTERP = Target(backend="interp")


def test_examples_keep_their_written_order_and_are_built_anew():
    labels = [c.label for c in double.examples]
    assert labels[:3] == ["right(n=10)", "right(n=100)", "wrong()"]
    assert case("right").build().args["out"] is not case("right").build().args["out"]


def test_a_passing_example():
    report = check_example(double, case("right(n=10)"), INTERP)
    assert report.ok
    assert (report.label, report.backend, report.device, report.reference) == (
        "right(n=10)",
        "interp",
        "interpreter",
        "NumPy",
    )
    assert [(o.name, o.size) for o in report.outputs] == [("out", 10)]
    assert report.seconds > 0
    assert str(report) == "PASS  right(n=10) on interp (interpreter), against NumPy\n  out: 0 of 10 differ, max abs 0"


def test_a_failing_example():
    report = check_example(double, case("wrong"), INTERP)
    (output,) = report.outputs
    assert (report.ok, output.mismatches, output.first, output.actual, output.expected) == (False, 9, (1,), 2, 3)
    head, row = str(report).splitlines()
    assert head.startswith("FAIL  wrong")
    assert row.startswith("  out: 9 of 10 differ, the first at [1]: 2.0, expected 3.0"), row


def test_an_array_that_should_not_change_is_reported():
    report = check_example(double, case("forgets"), INTERP)
    assert not report.ok
    assert [(o.name, o.is_output, o.mismatches) for o in report.outputs] == [("x", True, 0), ("out", False, 9)]


def test_the_interpreter_is_the_reference_where_none_is_given():
    report = check_example(double, case("without"), INTERP)
    assert (report.ok, report.reference) == (True, "interpreter")
    assert {o.name for o in report.outputs} == {"x", "out"}


def test_faults_of_the_example_itself():
    with pytest.raises(TypeError, match=r"the example no_example\(\) must return a mytriton.Example, got NoneType"):
        check_example(double, case("no_example"), INTERP)
    with pytest.raises(ValueError, match="expects `result`, which is not an array among its args"):
        check_example(double, case("unknown"), INTERP)


def test_no_other_backend_is_tried():
    if backends.get("cuda").available() is None:
        pytest.skip("there is a GPU")
    with pytest.raises(BackendUnavailable):
        check_example(double, case("right"), Target(backend="cuda"))


@double.example()
def wrong_at_the_end():
    expected = 2 * np.arange(20, dtype=f32)
    expected[16:] = 0
    return example(20, {"out": expected})


@pytest.mark.parametrize("backend", ["interp", "cpu"])
def test_a_mismatch_comes_with_its_map_and_what_wrote_it(backend):
    if (reason := backends.get(backend).available()) is not None:
        pytest.skip(reason)
    report = check_example(double, case("wrong_at"), Target(backend=backend))
    (output,) = report.outputs
    assert output.pattern == "the last, partial block: the last 4 elements"
    assert output.picture[1:] == (
        "a cell is one element; a row is a block of 8",
        "   0      7",
        " 0 ........",
        " 8 ........",
        "16 ####",
    )
    assert report.origin is not None
    assert (report.origin.program, report.origin.lane, report.origin.holder) == ((2, 0, 0), 0, None)
    assert "tl.store(out + i" in report.compilation.units[0].text.splitlines()[report.origin.span.line - 1]
    assert check_example(double, case("right(n=10)"), Target(backend=backend)).origin is None


def test_the_thread_that_holds_an_element():
    launch = double.prepare(3, *(np.zeros(1024, f32) for _ in "xo"), 1024, B=512, num_warps=2, backend="cuda")
    compilation = launch.compilation
    func, laid_out = (compilation.stage(name).artifact for name in ("ssa", "layout"))
    args = {"x": np.zeros(1024, f32), "out": np.zeros(1024, f32), "n": 1024}
    origin = find_origin(func, args, (2, 1, 1), "out", (512 + 293,), laid_out)
    # 64 threads hold chunks of 4 elements; the second half of the block is in their registers 4 to 7.
    assert str(origin) == "program (1, 0, 0), lane 293 of its block: thread 9 (warp 0, lane 9), register 5"
    assert find_origin(func, args, (1, 1, 1), "out", (600,), laid_out) is None, "nothing writes it"
    assert find_origin(func, args, (2, 1, 1), "x", (600,), laid_out) is None
    told: list[int] = []
    quick = find_origin(func, args, (2, 1, 1), "out", (600,), seconds=0, progress=lambda done, total: told.append(done))
    assert (quick.program, quick.lane, told) == ((1, 0, 0), 88, []), "the likely program first, and no other in time"
