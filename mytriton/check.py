"""Runs an example and compares what the kernel stored with the reference, element by element."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np

from mytriton import backends
from mytriton.diagnostics import BackendUnavailable
from mytriton.examples import Example, ExampleCase
from mytriton.launch import JITFunction, Launch
from mytriton.target import Target

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class OutputReport:
    """One array compared with its reference.

    `max_abs`, `max_rel` (of the expected value) and `max_ulp` (steps between neighbouring numbers of the array's
    dtype) are over the elements where both are finite; `first` is the index of the first mismatch, `actual` and
    `expected` its values. `is_output` is False for an array that should not have changed.
    """

    name: str
    size: int
    mismatches: int
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: float = 0.0
    first: tuple[int, ...] | None = None
    actual: Any = None
    expected: Any = None
    is_output: bool = True

    @property
    def ok(self) -> bool:
        """Whether every element matches."""
        return self.mismatches == 0


@dataclass(frozen=True, slots=True)
class Report:
    """An example's result. `device` says what ran it, `reference` what it was compared with ("NumPy", or "interpreter"
    if the example has no `expected`); `seconds` is one launch, compiled before."""

    label: str
    backend: str
    device: str
    reference: str
    outputs: tuple[OutputReport, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every output matches, and nothing else changed."""
        return all(output.ok for output in self.outputs)


#: Significand bits of each float dtype, the hidden one included.
_PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def tolerance(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The default (rtol, atol) for arrays of `dtype`: 8 ULP of a number near 1, and 0 for integers and bools.

    A chain of a few elementwise operations is off by a few ULP: exp and log may be by 2, a multiplication fused with
    an addition rounds once instead of twice, and the reference has roundings of its own. The absolute part serves
    results that cancel, whose error is that of operands of order one.
    """
    bits = _PRECISION.get(dtype.name)
    return (0.0, 0.0) if bits is None else (8 * 2.0 ** (1 - bits), 8 * 2.0 ** (1 - bits))


def ulp_distance(a: Array, b: Array) -> Array:
    """How many representable numbers apart two float arrays of one dtype are, elementwise (float64)."""
    integers = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]

    def ordered(x: Array) -> Array:
        # Sign and magnitude to two's complement: neighbours get neighbouring integers, and both zeros get 0.
        bits = x.view(integers).astype(np.int64)
        lowest = np.int64(np.iinfo(integers).min)
        return np.where(bits < 0, lowest - bits, bits)

    return _distance(ordered(a), ordered(b))


def _distance(a: Array, b: Array) -> Array:
    """|a - b| of arrays of one 64-bit integer type, without overflow."""
    return np.where(a > b, a.view(np.uint64) - b.view(np.uint64), b.view(np.uint64) - a.view(np.uint64)).astype(
        np.float64
    )


def compare(
    name: str,
    actual: Array,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    is_output: bool = True,
) -> OutputReport:
    """Compare an array with its reference. Raises ValueError if their shapes differ."""
    expected = np.asarray(expected)
    if actual.shape != expected.shape:
        raise ValueError(f"the reference for `{name}` has shape {expected.shape}, the array has {actual.shape}")
    default = tolerance(actual.dtype)
    rtol, atol = default[0] if rtol is None else rtol, default[1] if atol is None else atol
    if actual.size == 0:
        return OutputReport(name, 0, 0, is_output=is_output)
    with np.errstate(all="ignore"):
        if actual.dtype.name in _PRECISION:
            wide, reference = actual.astype(np.float64), expected.astype(np.float64)
            finite = np.isfinite(wide) & np.isfinite(reference)
            error = np.where(finite, np.abs(wide - reference), 0.0)
            magnitude = np.where(finite, np.abs(reference), 0.0)
            same = (wide == reference) | (np.isnan(wide) & np.isnan(reference))
            matches = same | (finite & (error <= atol + rtol * magnitude))
            rounded = expected.astype(actual.dtype)
            steps = np.where(finite & np.isfinite(rounded), ulp_distance(np.ascontiguousarray(actual), rounded), 0.0)
        else:
            widest = np.uint64 if actual.dtype == np.uint64 else np.int64
            whole, wanted = actual.astype(widest), expected.astype(widest)
            error = steps = _distance(whole, wanted)
            magnitude = np.abs(wanted.astype(np.float64))
            matches = error <= atol + rtol * magnitude
        relative = np.where(error > 0, error / magnitude, 0.0)
    wrong = np.flatnonzero(~matches.reshape(-1))
    first = tuple(int(i) for i in np.unravel_index(wrong[0], actual.shape)) if wrong.size else None
    return OutputReport(
        name,
        actual.size,
        wrong.size,
        float(error.max()),
        float(relative.max()),
        float(steps.max()),
        first,
        None if first is None else actual[first].item(),
        None if first is None else expected[first].item(),
        is_output,
    )


def check_example(kernel: JITFunction, case: ExampleCase, target: Target) -> Report:
    """Build the example, run it on `target` and compare. NumPy arrays travel to the GPU and back where needed.

    Raises `BackendUnavailable` if the backend cannot run here (no other is tried), `CompileError`, `LaunchError`, and
    whatever the example's own function raises.
    """
    reason = backends.get(target.backend).available()
    if reason is not None:
        raise BackendUnavailable(reason)
    example = case.build()
    target = dataclasses.replace(target, **example.options)
    before = {name: np.array(v) for name, v in example.args.items() if isinstance(v, np.ndarray)}
    expected = example.expected
    reference = "NumPy"
    if expected is None:
        reference = "interpreter"
        expected = _interpreted(kernel, example, target)
    unknown = [name for name in expected if name not in before]
    if unknown:
        raise ValueError(f"the example {case.label} expects `{unknown[0]}`, which is not an array among its args")
    device, after, seconds = run_on(kernel, example, target)
    outputs = [compare(n, after[n], wanted, example.rtol, example.atol) for n, wanted in expected.items()]
    for name, original in before.items():
        if name not in expected:
            unchanged = compare(name, after[name], original, 0.0, 0.0, is_output=False)
            outputs += [] if unchanged.ok else [unchanged]
    return Report(case.label, target.backend, device, reference, tuple(outputs), seconds)


def prepared(kernel: JITFunction, example: Example, args: Mapping[str, Any], target: Target) -> Launch:
    """The example's launch on `args`, in the example's order and grid, for `target`."""
    options = {f.name: getattr(target, f.name) for f in dataclasses.fields(target)}
    return kernel.prepare(example.grid, **args, **options)


def _interpreted(kernel: JITFunction, example: Example, target: Target) -> dict[str, Array]:
    args = {name: np.array(v) if isinstance(v, np.ndarray) else v for name, v in example.args.items()}
    prepared(kernel, example, args, dataclasses.replace(target, backend="interp")).run()
    return {name: v for name, v in args.items() if isinstance(v, np.ndarray)}


def run_on(kernel: JITFunction, example: Example, target: Target) -> tuple[str, dict[str, Array], float]:
    """Run an example on a backend that is available: what ran it, the arrays afterwards, the seconds of one launch."""
    on_gpu = target.backend in ("cuda", "mlir")
    wrap: Callable[[Array], Any] = DeviceArray if on_gpu else lambda array: array
    args = {name: wrap(v) if isinstance(v, np.ndarray) else v for name, v in example.args.items()}
    launch = prepared(kernel, example, args, target)
    launch.load()
    start = time.perf_counter()
    launch.run()
    if on_gpu:
        DeviceArray.synchronize()
    seconds = time.perf_counter() - start
    after = {
        name: args[name].get() if on_gpu else args[name]
        for name, v in example.args.items()
        if isinstance(v, np.ndarray)
    }
    device = {"cpu": "CPU", "interp": "interpreter"}.get(target.backend) or _gpu_name()
    return device, after, seconds


def _gpu_name() -> str:
    from mytriton.backends.nvidia.device import probe

    return probe().devices[0].name


class DeviceArray:
    """A host array copied to the GPU as bytes, through CuPy or torch: neither has all of our dtypes."""

    def __init__(self, host: Array) -> None:
        self.dtype = host.dtype
        self.shape = host.shape
        # One byte more, since an empty array has no address.
        data = np.append(np.ascontiguousarray(host).reshape(-1).view(np.uint8), np.uint8(0))
        library = _gpu_library()
        self._bytes = library.asarray(data) if library.__name__ == "cupy" else library.from_numpy(data).cuda()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        typestr = f"<V{self.dtype.itemsize}" if self.dtype == ml_dtypes.bfloat16 else self.dtype.str
        address = self._bytes.__cuda_array_interface__["data"][0]
        return {"shape": self.shape, "typestr": typestr, "data": (address, False), "strides": None, "version": 3}

    def get(self) -> Array:
        """A host array with the present values."""
        data: Array = self._bytes.get() if hasattr(self._bytes, "get") else self._bytes.cpu().numpy()
        values: Array = data[:-1].view(self.dtype).reshape(self.shape)
        return values

    @staticmethod
    def synchronize() -> None:
        """Wait for the GPU."""
        library = _gpu_library()
        if library.__name__ == "cupy":
            library.cuda.get_current_stream().synchronize()
        else:
            library.cuda.synchronize()


def _gpu_library() -> Any:
    for name in ("cupy", "torch"):
        if name in sys.modules or find_spec(name) is not None:
            return __import__(name)
    raise BackendUnavailable("running on the GPU needs CuPy or torch: pip install 'mytriton[cuda13]'")
