"""The API of the introduction: what a launch returns, how a backend is chosen, and what is refused."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import mytriton
import mytriton as triton
import mytriton.language as tl
from mytriton import CompileError, LaunchError, Target, backends
from mytriton.examples import ExampleCase
from mytriton.running import DeviceArray
from tests.running import runner
from tests.test_specialize import FakeDeviceArray

BACKENDS = ["cuda", "mlir", "cpu", "interp"]


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)

    mask = offs < n

    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)

    tl.store(out + offs, a + b, mask=mask)


SSA = ["program_id", "mul", "arange", "add", "addptr", "cmp_lt", "load", "addptr", "load", "add", "addptr", "store"]


def arrays(n=1000):
    x = np.arange(n, dtype=np.float32)
    return x, x + 1, np.zeros(n, np.float32)


@pytest.fixture(params=BACKENDS)
def backend(request, monkeypatch):
    if request.param == "cpu":
        runner("cpu")  # host arrays run there, so skip where it cannot
    monkeypatch.setenv("MYTRITON_BACKEND", request.param)
    return request.param


def test_a_launch_unpacks_to_three(backend):
    x, y, out = arrays()
    result = add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
    expression_ops, ssa_ops, src = result
    assert [type(s).__name__ for s in expression_ops] == ["Assign"] * 5 + ["ExprStmt"]
    assert [op.opcode for op in ssa_ops] == SSA
    assert src == result.src
    expected = {
        "cuda": "__global__",
        "mlir": "gpu.func @add_kernel",
        "cpu": "func.func",
        "interp": "%0 = program_id {axis=0} : i32",
    }
    assert expected[backend] in src


def test_host_arrays_run_on_host_backends_and_only_compile_for_a_gpu(backend):
    x, y, out = arrays()
    add_kernel[4](x, y, out, 1000, BLOCK=256)
    assert out.tolist() == ((x + y).tolist() if backend in ("cpu", "interp") else [0] * 1000)


def test_a_launch_says_whether_it_ran(backend):
    x, y, out = arrays()
    ran = backend in ("cpu", "interp")
    result = add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
    assert result.ran is ran
    assert repr(result) == f"<add_kernel on {backend}: {'ran' if ran else 'compiled, not run'}>"
    assert not add_kernel[(0,)](x, y, out, 1000, BLOCK=256).ran


def test_the_ssa_does_not_change_with_the_backend():
    signature = "*fp32:16, *fp32:16, *fp32:16, i32, 256"
    texts = {add_kernel.compile(signature, backend=name).stage("ssa").text for name in BACKENDS}
    assert len(texts) == 1


def test_the_default_backend_is_cuda(monkeypatch):
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)
    assert add_kernel[4](*arrays(), 1000, BLOCK=256).compilation.target.backend == "cuda"


def test_an_unknown_backend_is_refused_before_anything_else(monkeypatch):
    monkeypatch.setenv("MYTRITON_BACKEND", "rocm")
    with pytest.raises(ValueError, match=r"^unsupported backend 'rocm'; expected 'cuda', 'mlir', 'cpu' or 'interp'$"):
        add_kernel["no grid"]("not", "arrays")


def test_compiling_for_a_gpu_needs_none_and_stops_at_the_source():
    compilation = add_kernel[4](*arrays(), 1000, BLOCK=256, backend="mlir").compilation
    assert [s.name for s in compilation.stages][-1] == "mlir/emit"
    assert "cubin" in compilation.planned
    assert compilation.target.chip == "sm_90"
    assert add_kernel[4](*arrays(), 1000, BLOCK=256, backend="cuda", chip="sm_80").compilation.target.chip == "sm_80"


def test_mixed_host_and_device_arrays_are_refused(backend):
    x, y, _ = arrays()
    with pytest.raises(LaunchError) as caught:
        add_kernel[4](x, y, FakeDeviceArray(np.float32), 1000, BLOCK=256)
    assert str(caught.value).startswith(
        "argument `x` is a NumPy array but `out` is a FakeDeviceArray on the GPU; pass all"
    )


@pytest.mark.parametrize("name", ["cpu", "interp"])
def test_device_arrays_are_refused_by_host_backends(name):
    device = FakeDeviceArray(np.float32)
    with pytest.raises(LaunchError, match=f"backend '{name}' runs on host arrays, but `x` is a FakeDeviceArray"):
        add_kernel[4](device, device, device, 1000, BLOCK=256, backend=name)


GRIDS = [4, (4,), [4], (4, 1, 1), np.int64(4), (np.int32(4), 1), lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)]


@pytest.mark.parametrize("grid", GRIDS, ids=[*map(repr, GRIDS[:-1]), "callable"])
def test_grids(grid):
    x, y, out = arrays()
    add_kernel[grid](x, y, out, 1000, BLOCK=256, backend="interp")
    assert out.tolist() == (x + y).tolist()


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (-1, "extent 0 of the grid must be an integer of at least 0, got -1"),
        ((1, 2.0), "extent 1 of the grid must be an integer of at least 0, got 2.0; use triton.cdiv(n, BLOCK)"),
        (True, "extent 0 of the grid must be an integer of at least 0, got True"),
        ("4", "extent 0 of the grid must be an integer of at least 0, got '4'"),
        ((1, 1, 1, 1), "a grid has one to three extents, got 4"),
        ((), "a grid has one to three extents, got 0"),
        ((1, 65536), "extent 1 of the grid is 65536; at most 65535 programs are possible there"),
        (2**31, "extent 0 of the grid is 2147483648; at most 2147483647 programs are possible there"),
    ],
)
def test_wrong_grids(grid, message):
    with pytest.raises(LaunchError) as caught:
        add_kernel[grid](*arrays(), 1000, BLOCK=256, backend="interp")
    assert str(caught.value).startswith(message)


def test_a_kernel_is_not_called_directly():
    with pytest.raises(LaunchError, match=r"a kernel is launched over a grid: write add_kernel\[grid\]\(...\)"):
        add_kernel(*arrays(), 1000, BLOCK=256)


def test_the_language_works_only_in_kernels():
    with pytest.raises(TypeError, match=r"tl\.load works only inside a kernel"):
        tl.load(0)
    for name in ("program_id", "exp", "zeros", "static_range"):
        function = getattr(tl, name)
        with pytest.raises(mytriton.MytritonError, match=f"tl.{name} works only inside a kernel"):
            function(*[1] * function.__code__.co_argcount)
    assert (triton.cdiv(1000, 256), tl.cdiv(0, 4), triton.next_power_of_2(1000), triton.next_power_of_2(0)) == (
        4,
        0,
        1024,
        1,
    )


def test_every_language_function_says_what_it_means():
    for name in tl.__all__:
        value = getattr(tl, name)
        if callable(value):
            assert len(value.__doc__) > 40, name


def test_compilations_are_cached_and_the_cache_can_be_cleared():
    x, y, out = arrays()

    def compilation(n=1000, block=256, **options):
        return add_kernel[4](x, y, out, n, BLOCK=block, backend="interp", **options).compilation

    first = compilation()
    assert compilation(999) is first
    assert compilation(992) is not first  # divisible by 16
    assert compilation(-(2**40)) is not first  # an i64
    assert compilation(block=128) is not first
    assert compilation(num_warps=8) is not first
    assert compilation() is first
    add_kernel.clear_cache()
    assert compilation() is not first


def test_threads_share_one_compilation():
    add_kernel.clear_cache()
    found = []

    def launch():
        x, y, out = arrays()
        found.append(add_kernel[4](x, y, out, 1000, BLOCK=256, backend="interp").compilation)
        assert out.tolist() == (x + y).tolist()

    threads = [threading.Thread(target=launch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(c) for c in found}) == 1


def test_compile_from_a_signature():
    add_kernel.clear_cache()
    compilation = add_kernel.compile("*fp32:16, *fp32:16, *fp32:16, i32, 256", backend="interp")
    assert compilation.stages == ()
    assert [op.opcode for op in compilation.stage("ssa").artifact.body.ops if not op.inline] == SSA
    same = add_kernel.compile("*fp32:16, *fp32:16, *fp32:16, i32", BLOCK=256, target=Target(backend="interp"))
    assert same is compilation


def test_errors_of_a_kernel_are_raised_at_the_launch_with_the_place_in_the_file():
    @triton.jit
    def broken(x):
        tl.store(x, y)  # noqa: F821

    with pytest.raises(CompileError) as caught:
        broken[1](np.zeros(1, np.float32))
    line = broken.function.__code__.co_firstlineno + 2
    assert str(caught.value).startswith(f"{__file__}:{line}:21: error[MT131]: `y` is not defined")
    assert "mytriton/frontend" not in str(caught.value)


def test_a_parameter_may_not_have_the_name_of_a_launch_option():
    @triton.jit
    def clash(x, chip):
        pass

    with pytest.raises(LaunchError, match="`clash` has a parameter `chip`, which is a launch option; rename it"):
        clash[1](np.zeros(1), 1)


def test_options_are_checked():
    with pytest.raises(LaunchError, match="num_warps must be 1, 2, 4, 8, 16 or 32, got 3"):
        add_kernel[4](*arrays(), 1000, BLOCK=256, num_warps=3)
    with pytest.raises(ValueError, match="unknown chip 'sm_1'"):
        add_kernel[4](*arrays(), 1000, BLOCK=256, chip="sm_1")


def test_cuda_is_available_or_not():
    available = mytriton.cuda_available()
    assert available == (backends.get("cuda").available() is None)
    if os.environ.get("MYTRITON_REQUIRE_CUDA") == "1":
        assert available


@pytest.mark.execution
@pytest.mark.parametrize("name", ["cuda", "mlir"])
def test_device_arrays_run(name):
    runner(name)  # skips where it cannot run
    x, y, out = arrays()
    device = [DeviceArray(a) for a in (x, y, out)]
    add_kernel[4](*device, 1000, BLOCK=256, backend=name)
    assert device[2].get().tolist() == (x + y).tolist()


def test_importing_the_package_imports_no_backend():
    program = (
        "import sys, mytriton, mytriton.language\n"
        "heavy = {'cupy', 'mlir', 'textual', 'torch', 'numpy', 'mytriton.backends.cuda', 'mytriton.backends.mlir'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "mytriton.jit, mytriton.Example, mytriton.Target\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]


def test_a_kernel_is_compiled_without_numpy():
    program = (
        "import sys, mytriton\n"
        "kernel = mytriton.read_module(open(sys.argv[1]).read(), sys.argv[1]).kernels[0]\n"
        "known = mytriton.parse_signature(kernel, '*fp32, *fp32, *fp32, i32', {'BLOCK': 256})\n"
        "print('__global__' in mytriton.compile_kernel(kernel, known, mytriton.Target('cuda')).stage('cuda').text)\n"
        "print('numpy' in sys.modules)\n"
    )
    path = Path(__file__).parents[1] / "examples" / "kernels" / "add.py"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_public_names():
    for name in mytriton.__all__:
        assert getattr(mytriton, name) is not None
    assert set(mytriton.__all__) <= set(dir(mytriton))
    with pytest.raises(AttributeError, match="module 'mytriton' has no attribute 'nonsense'"):
        _ = mytriton.nonsense
    # A submodule of a public name's name would replace it when imported.
    importlib.import_module("mytriton.launch")
    assert callable(mytriton.jit)


@mytriton.jit
def packed_kernel(arrays, n, numbers, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(arrays[0] + i, mask=i < n, other=0.0)
    scale, (plus, other) = numbers
    if other is not None:
        v += other
    tl.store(arrays[1] + i, v * scale + plus, mask=i < n)


@pytest.mark.parametrize("backend", ["interp", "cpu"])
@pytest.mark.parametrize(("other", "first"), [(None, 3.0), (tl.constexpr(4), 11.0), (0.5, 4.0)])
def test_a_tuple_of_arguments_is_a_tuple_in_the_kernel(backend, other, first):
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    packed_kernel[lambda meta: len(meta["arrays"]) - 1]((x, out), 6, numbers=(2, (3.0, other)), B=8, backend=backend)
    assert out.tolist() == [first + 2 * k for k in range(6)] + [0, 0]


def test_repeated_launches_find_the_items_of_tuples():
    x, out, other = (np.arange(8, dtype=np.float32) for _ in range(3))
    made = set()
    for scale, plus in ((2, 3.0), (5, 0.25), (2, 3.0)):
        for target in (out, other):
            launched = packed_kernel[1]((x, target), n=8, numbers=(scale, (plus, None)), B=8, backend="cpu")
            made.add(launched.compilation)
            assert target.tolist() == [scale * k + plus for k in range(8)]
    assert len(made) == 1
    for numbers, value in (((1, (2, None)), 9.0), ((1, (2.0, 1)), 10.0), ((1.0, (2, 0.5)), 9.5)):  # each of other types
        made.add(packed_kernel[1]((x, out), n=8, numbers=numbers, B=8, backend="cpu").compilation)
        assert out[7] == value
    assert len(made) == 4


def test_the_items_of_a_tuple_are_parameters_of_the_code():
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    source = packed_kernel[1]((x, out), 6, (2, (3.0, None)), B=8, backend="cuda").src
    assert "(float* arrays_0, float* arrays_1, int n, int numbers_0, float numbers_1_0) {" in source
    with pytest.raises(LaunchError, match="argument `arrays_1` is a str, which no kernel takes"):
        packed_kernel[1]((x, "out"), 6, (2, (3.0, None)), B=8, backend="interp")


@mytriton.jit
def leaking_kernel(pair, out):
    tl.store(out, pair_0)  # noqa: F821


def test_the_items_of_a_tuple_have_no_names_in_the_kernel():
    with pytest.raises(CompileError, match="`pair_0` is not defined"):
        leaking_kernel[1]((1, 2), np.zeros(1, np.int32), backend="interp")


def test_an_example_gives_its_arrays_one_by_one():
    x = np.zeros(8, np.float32)
    example = mytriton.Example(args={"arrays": (x, x), "n": 8, "numbers": (1, (2, None)), "B": 8}, grid=1)
    case = ExampleCase(lambda: example, {})
    with pytest.raises(LaunchError, match="argument `arrays` of the example is a tuple"):
        mytriton.check_example(packed_kernel, case, Target("cpu"))
