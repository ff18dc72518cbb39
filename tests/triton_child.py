"""Runs kernels in Triton: `triton_child.py interpret` in its NumPy interpreter, `triton_child.py gpu` on a GPU.

A script for a Python that has `triton` (and torch, for a GPU); it needs nothing of ours. Requests come as pickles on
standard input, one answer each goes to standard output: see `tests/triton_reference.py`. Memory travels as bytes,
since the two sides need not have the same NumPy, and Triton's has no bfloat16; an array is (dtype, shape, number of its
memory, offset).
"""

from __future__ import annotations

import importlib.util
import math
import os
import pickle
import sys
import warnings

import numpy as np

INTERPRET = sys.argv[1:] == ["interpret"]


class Dtype(str):
    """The name of a torch dtype, with what Triton asks of one."""

    @property
    def itemsize(self) -> int:
        return int(self.lstrip("abcdefghijklmnopqrstuvwxyz").partition("_")[0] or 8) // 8

    @property
    def is_floating_point(self) -> bool:
        return "float" in self


class HostTensor:
    """What Triton's interpreter wants of a torch tensor, on host memory."""

    def __init__(self, dtype: str, shape: tuple[int, ...], memory: np.ndarray, offset: int) -> None:
        self.dtype, self.shape, self.memory, self.offset = Dtype(dtype), shape, memory, offset

    def data_ptr(self) -> int:
        return self.memory.ctypes.data + self.offset

    def untyped_storage(self) -> HostTensor:
        return self

    def cpu(self) -> HostTensor:
        return self

    def new_empty(self, *_: object, **__: object) -> HostTensor:
        return HostTensor(self.dtype, self.shape, self.memory, self.offset)

    def set_(self, *_: object) -> None:
        """The interpreter works on the same memory."""

    copy_ = set_

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.shape

    stride = size


def memory_of(data: bytes) -> object:
    """Memory with these bytes, and some more: what is empty has no address."""
    host = np.frombuffer(bytearray(data + bytes(16)), np.uint8)
    if INTERPRET:
        return host
    import torch

    return torch.from_numpy(host).cuda()


def tensor(memories: list[object], dtype: str, shape: tuple[int, ...], number: int, offset: int) -> object:
    """An array as Triton takes it."""
    memory = memories[number]
    if INTERPRET:
        return HostTensor(dtype, shape, memory, offset)
    import torch

    type_ = getattr(torch, dtype)
    return memory[offset : offset + math.prod(shape) * type_.itemsize].view(type_).reshape(shape)


def kernels_of(path: str) -> object:
    """The module at `path`; each path is imported once."""
    name = "m" + str(abs(hash(path)))
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def answer(
    path: str, kernel: str, grid: tuple[int, ...], args: dict[str, object], contents: list[bytes]
) -> list[bytes]:
    """The contents of the memories after a launch."""
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor

    memories, passed = [memory_of(data) for data in contents], {}
    for name, value in args.items():
        match value:
            case ("array", *array):
                passed[name] = tensor(memories, *array)
            case ("descriptor", ("array", *array), *fields):
                passed[name] = TensorDescriptor(tensor(memories, *array), *fields)
            case ("dtype", str(type_)):
                passed[name] = getattr(tl, type_)
            case _:
                passed[name] = value
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        function = getattr(kernels_of(path), kernel)
        while type(function).__name__ in ("Autotuner", "Heuristics"):  # what they would choose is among the arguments
            function = function.fn
        function[grid](**passed)
    after = memories if INTERPRET else [memory.cpu().numpy() for memory in memories]
    return [memory.tobytes()[: len(data)] for memory, data in zip(after, contents, strict=True)]


def main() -> None:
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what kernels print must not mix with the answers
    try:
        os.environ["TRITON_INTERPRET"] = str(int(INTERPRET))  # which Triton reads when it is imported
        import triton

        hello = ("", triton.__version__)
    except ImportError as error:
        hello = (str(error), "")
    pickle.dump(hello, answers)
    answers.flush()
    while not hello[0]:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        try:
            result = ("", answer(*request))
        except Exception as error:  # noqa: BLE001 (the kernel's or Triton's own, of any class)
            # Triton wraps errors in InterpreterError, one for each call of a helper.
            while error.__cause__ is not None:
                error = error.__cause__
            result = (f"{type(error).__name__}: {error}", [])
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    main()
