"""How launches on a GPU are repeated (`mytriton/binding`), on CuPy and torch arrays and their library's stream."""

from __future__ import annotations

import sys
from typing import Any

from mytriton.array_keys import library_of
from mytriton.arrays import in_whole_elements
from mytriton.backends.nvidia import driver
from mytriton.backends.nvidia.device import probe
from mytriton.backends.nvidia.launch import MEMREF, ArrayAbi, driver_calls, retry
from mytriton.binding.rules import Native, Rule
from mytriton.records import dataclass

_CALL = """\
_function, _device, _threads, _shared, _pack, _local = _own
    {switch}
    _queue = {stream}
    _buffer, _extra = _local.both
    try:
        _pack(_buffer, 0, {{packed}})
    except _unpackable:
        return _long(_grid, {{args}}, {{keywords}})
    try:
        _call(_function, _x, _y, _z, _threads, 1, 1, _shared, _queue, 0, _extra)
    except _failure as _error:
        _retry(_error, _device, _function, _x, _y, _z, _threads, 1, 1, _shared, _queue, 0, _extra)"""

#: What gives a library's current stream on a device, and the code that asks it.
_STREAMS = {"cupy": "_stream(_device).ptr", "torch": "_stream(_device)"}


@dataclass(frozen=True)
class CubinWay:
    """The way of launchers that pass arrays like `arrays`."""

    arrays: ArrayAbi

    def rule(self, type_: type) -> Rule:
        """The rule of a CuPy array or a torch tensor. Raises `LookupError` for any other."""
        setup: tuple[str, ...]
        if library_of(type_) == "torch":
            address = "{a}.data_ptr() if {a}.is_cuda and not {a}.is_sparse and not {a}.is_neg() else None"
            setup, holds, size, gpu = (f"_p{{n}} = {address}",), "_p{n} is not None", "{a}.numel()", "{a}.get_device()"
        elif library_of(type_) == "cupy":
            contiguous = "_c_contiguous" if hasattr(type_, "_c_contiguous") else "flags.c_contiguous"
            setup, size, gpu = ("_d{n} = {a}.data", "_p{n} = _d{n}.ptr"), "{a}.size", "_d{n}.device_id"
            holds = f"({{a}}.{contiguous} or _whole({{a}}.strides, {{a}}.itemsize))"
        else:
            raise LookupError
        key = ("{a}.dtype", gpu) if _several() else ("{a}.dtype",)
        packed = self.arrays.packed.format(address="_p{n}", size=size)
        return Rule(setup, (holds,), key, packed, "_p{n}")

    def call(self, type_: type) -> tuple[str, dict[str, Any]]:
        """The code of a launch, which asks the driver."""
        call, current, failure = driver_calls()
        library = library_of(type_)
        # Where there is one GPU only, a thread without a context is what can be wrong: then the driver refuses.
        switch = "if _current() != _contexts(_device): _use_device(_device)" if _several() else ""
        return _CALL.format(switch=switch, stream=_STREAMS[library]), {
            "_whole": in_whole_elements, "_call": call, "_current": current, "_failure": failure, "_retry": retry,
            "_use_device": driver.use_device, "_contexts": driver.primary_context, "_stream": _stream(library),
        }  # fmt: skip

    def native(self, library: str) -> Native:
        """What C has to know of CuPy or torch."""
        if library not in _STREAMS:
            raise LookupError
        if library == "cupy" and not hasattr(sys.modules[library].ndarray, "_c_contiguous"):
            raise LookupError
        return Native("is_cuda", driver.addresses, _stream(library), self.arrays is MEMREF, _several())


def _several() -> bool:
    return len(probe().devices) != 1


def _stream(library: str) -> Any:
    """What gives a library's current stream on a device."""
    module: Any = sys.modules[library]
    return module._C._cuda_getCurrentRawStream if library == "torch" else module.cuda.get_current_stream
