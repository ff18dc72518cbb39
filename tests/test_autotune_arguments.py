"""Autotuning and heuristics: what happens to the arguments meanwhile, who sees them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import Config, LaunchError, Target
from mytriton.resetting import copy_of, restore, zero
from tests.autotuning import CONFIGS, Clock, arrays, body, example_of, grid, launch, tuned

# --- arrays and hooks -------------------------------------------------------------------------------------------------


def test_arrays_are_set_to_zero_before_each_launch_that_is_timed() -> None:
    kernel = tuned(Clock(3, 1, 2, runs=3), reset_to_zero=["out"])
    x, out = arrays()
    out += 1000
    kernel[grid](x, out, 100, backend="interp")
    assert out.tolist() == x.tolist()
    kernel[grid](x, out, 100, backend="interp")
    assert out.tolist() == (2 * x).tolist(), "only measuring sets it to zero, as in Triton"


def test_arrays_are_restored_after_each_launch_that_is_timed() -> None:
    kernel = tuned(Clock(3, 1, 2, runs=3), restore_value=["out"])
    x, out = arrays()
    out += 1000
    kernel[grid](x, out, 100, backend="interp")
    assert out.tolist() == (1000 + x).tolist()


def test_without_either_every_launch_leaves_its_traces() -> None:
    x, out = arrays()
    tuned(Clock(3, 1, 2, runs=3))[grid](x, out, 100, backend="interp")
    assert out.tolist() == (10 * x).tolist()


def test_arrays_are_restored_when_a_launch_fails() -> None:
    def clock(fn: Callable[[], None], quantiles: Sequence[float]) -> None:
        fn()
        out[...] += 1
        raise KeyboardInterrupt

    x, out = arrays()
    with pytest.raises(LaunchError, match="out"):  # reads beyond the array
        tuned(Clock(1, 1, 1), restore_value=["out"])[grid](x[:50], out, 100, backend="interp")
    assert out.tolist() == [0.0] * 100
    with pytest.raises(KeyboardInterrupt):
        tuned(clock, restore_value=["out"])[grid](x, out, 100, backend="interp")
    assert out.tolist() == [1.0] * 100


class Tensor:
    """What torch has for it instead."""

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def zero_(self) -> None:
        self.values = [0.0] * len(self.values)

    def clone(self) -> Tensor:
        return Tensor(list(self.values))

    def copy_(self, other: Tensor) -> None:
        self.values = list(other.values)


def test_tensors_are_reset_by_their_own_methods() -> None:
    tensor = Tensor([1.0, 2.0])
    copy = copy_of(tensor)
    zero(tensor)
    assert tensor.values == [0.0, 0.0]
    restore(tensor, copy)
    assert tensor.values == [1.0, 2.0]


def test_hooks_get_the_arguments_by_name() -> None:
    calls: list[Any] = []

    def before(arguments: dict[str, Any], reset_only: bool = False) -> None:
        calls.append(("before", arguments["BLOCK"], arguments["num_warps"], arguments["n"], reset_only))

    def after(arguments: dict[str, Any], exception: Exception | None) -> None:
        calls.append(("after", arguments["BLOCK"], exception))

    def own(arguments: dict[str, Any]) -> None:
        calls.append(("config", arguments["BLOCK"], arguments["num_stages"]))

    configs = [Config({"BLOCK": 32}, pre_hook=own), Config({"BLOCK": 64})]
    kernel = tuned(Clock(1, 2), configs, pre_hook=before, post_hook=after)
    launch(kernel)
    assert calls == [
        ("config", 32, 3), ("before", 32, 4, 100, False), ("after", 32, None),
        ("before", 64, 4, 100, False), ("after", 64, None),
        ("before", 32, 4, 100, True), ("config", 32, 3),
    ]  # fmt: skip
    calls.clear()
    launch(kernel)
    assert calls == [("config", 32, 3)]


# --- heuristics -------------------------------------------------------------------------------------------------------


def test_heuristics_see_the_arguments_and_the_config() -> None:
    seen: list[dict[str, Any]] = []

    def scale(arguments: dict[str, Any]) -> int:
        seen.append(dict(arguments))
        return 2 if arguments["n"] % arguments["BLOCK"] == 0 else 3

    kernel = triton.autotune(CONFIGS[:2], ["n"], do_bench=Clock(2, 1))(
        triton.heuristics({"SCALE": scale})(triton.jit(body))
    )
    x, out = arrays(96)
    result = kernel[grid](x, out, 96, backend="interp")
    assert dict(result.compilation.specialization.constexprs) == {"BLOCK": 64, "SCALE": 3}
    assert {call["BLOCK"] for call in seen} == {32, 64}
    assert sorted(seen[0]) == ["BLOCK", "backend", "n", "num_stages", "num_warps", "out", "x"]


def test_heuristics_alone() -> None:
    kernel = triton.heuristics(
        {"BLOCK": lambda a: triton.next_power_of_2(a["n"]), "SCALE": lambda a: a["BLOCK"] // 32}
    )(triton.jit(body))
    x, out = arrays()
    result = kernel[(1,)](x, out, 100, backend="interp")
    assert dict(result.compilation.specialization.constexprs) == {"BLOCK": 128, "SCALE": 4}
    assert out.tolist() == (4 * x).tolist()


# --- what is refused --------------------------------------------------------------------------------------------------


def test_mistakes() -> None:
    with pytest.raises(LaunchError, match="`body` got `BLOCK`, which autotune chooses; leave it away"):
        launch(tuned(Clock()), BLOCK=64)
    with pytest.raises(LaunchError, match="`body` got `BLOCK`, which autotune chooses; leave it away"):
        tuned(Clock())[(4,)](*arrays(), 100, 64, backend="interp")
    with pytest.raises(LaunchError, match="`body` got `num_warps`, which autotune chooses; leave it away"):
        launch(tuned(Clock()), num_warps=8)
    with pytest.raises(LaunchError, match="autotune's key `x` is an array; take numbers, such as its extents"):
        launch(tuned(Clock(), key=["x"]))
    for what in ("key", "reset_to_zero", "restore_value"):
        with pytest.raises(ValueError, match=f"{what} names `m`, which `body` has not; it has x, out, n, BLOCK, SCALE"):
            tuned(Clock(), **{what: ["m"]})
    with pytest.raises(ValueError, match="values names `Q`, which `body` has not"):
        triton.heuristics({"Q": len})(triton.jit(body))
    with pytest.raises(TypeError, match="`BLOCK` is computed by a function of the arguments: write lambda args: 64"):
        triton.heuristics({"BLOCK": 64})(triton.jit(body))  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"configs is a list of triton.Config, got \{.BLOCK.: 64\}"):
        triton.autotune([{"BLOCK": 64}], [])(triton.jit(body))  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a Config begins with a dict of the parameters' values"):
        Config(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"@autotune stands above @jit and decorates a kernel, got function"):
        triton.autotune(CONFIGS, [])(body)  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match="reset_to_zero names `n`, which is 100 and not an array"):
        launch(tuned(Clock(), reset_to_zero=["n"]))
    with pytest.raises(LaunchError, match="ir_override"):
        Config({}, ir_override="a.ttgir")


def test_configs() -> None:
    first = Config({"BLOCK": 32}, num_stages=5)
    assert (first.num_warps, first.num_stages, first.num_ctas, first.maxnreg) == (4, 5, 1, None)
    assert first == Config({"BLOCK": 32}, 4, 5) != Config({"BLOCK": 32})
    assert len({first, Config({"BLOCK": 32}, num_stages=5)}) == 1
    assert str(first) == "BLOCK: 32, num_warps: 4, num_stages: 5"
    assert first.all_kwargs() == {"BLOCK": 32, "num_warps": 4, "num_ctas": 1, "num_stages": 5}
    assert str(Config({}, num_ctas=2, maxnreg=64)) == "num_warps: 4, num_ctas: 2, num_stages: 3, maxnreg: 64"


def test_num_stages_is_an_argument_where_a_parameter_has_its_name() -> None:
    @triton.jit
    def staged(out, num_stages: tl.constexpr):
        tl.store(out, num_stages)

    out = np.zeros(1, np.int32)
    triton.autotune([Config({}, num_stages=7)], [])(staged)[(1,)](out, backend="interp")
    assert out[0] == 7
    staged[(1,)](out, num_stages=2, backend="interp")
    assert out[0] == 2
    jitted, (x, out) = triton.jit(body), arrays()
    jitted[grid](x, out, 100, BLOCK=32, num_stages=2, backend="interp")
    assert out.tolist() == x.tolist()


# --- compiling, examples ----------------------------------------------------------------------------------------------


def test_examples_run_in_the_first_config_as_far_as_they_say_nothing_else() -> None:
    kernel = tuned(Clock(), [CONFIGS[1], CONFIGS[0]])
    for more, block in (({}, 64), ({"BLOCK": 16, "SCALE": 2}, 16)):
        report = triton.check_example(kernel, example_of(kernel, **more), Target("interp"))
        assert report.ok, report
        assert dict(report.compilation.specialization.constexprs)["BLOCK"] == block
        assert report.compilation.target.num_warps == 2
    assert triton.bench_example(kernel, kernel.examples[0], Target("interp"), seconds=0.001).work.read == 800


def test_examples_get_what_heuristics_compute() -> None:
    kernel = triton.autotune(CONFIGS, [])(triton.heuristics({"SCALE": lambda a: a["BLOCK"] - 29})(triton.jit(body)))
    assert triton.check_example(kernel, example_of(kernel), Target("interp")).ok


def test_a_signature_may_leave_out_what_the_first_config_gives() -> None:
    kernel = tuned(Clock())
    found = [
        kernel.compile("*fp32, *fp32, i32"),
        kernel.compile("*fp32, *fp32, i32, 64"),
        kernel.compile("*fp32, *fp32, i32", BLOCK=8),
    ]
    assert [dict(c.specialization.constexprs)["BLOCK"] for c in found] == [32, 64, 8]


def test_an_autotuned_kernel_is_inlined_like_another() -> None:
    helper = triton.autotune([Config({"SCALE": 3})], [])(triton.jit(body))

    @triton.jit
    def caller(x, out, n, BLOCK: tl.constexpr):
        helper(x, out, n, BLOCK, 5)

    x, out = arrays()
    caller[(1,)](x, out, 100, BLOCK=128, backend="interp")
    assert out.tolist() == (5 * x).tolist()
