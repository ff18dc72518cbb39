"""What a launch asks for besides its arguments: backend and other options, where the arrays are, and the grid."""

from __future__ import annotations

import operator
import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from mytriton.backends.nvidia.device import probe
from mytriton.diagnostics import LaunchError
from mytriton.target import GPU_BACKENDS, MAX_GRID_YZ, Target, check_backend

if TYPE_CHECKING:
    from mytriton.arrays import ArrayInfo

#: Launch keywords; no kernel parameter may have these names, whatever the backend, so that kernels are portable.
OPTIONS = (
    "backend",
    "chip",
    "num_warps",
    "enable_fp_fusion",
    "form",
    "abi",
    "mlir_passes",
    "check_bounds",
    "line_info",
)

#: All launch keywords that say how to compile. A parameter may have this last name too, and is then given it as well.
SETTINGS = (*OPTIONS, "num_stages")

#: Environment variables that stand in for options which a launch does not give. One that is not empty and not 0 counts
#: as True; each holds for the backends that have such an option.
VARIABLES = {"backend": "MYTRITON_BACKEND", "check_bounds": "MYTRITON_CHECK_BOUNDS", "line_info": "MYTRITON_LINE_INFO"}


def split_options(keywords: Mapping[str, Any], names: Collection[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Launch options and arguments, apart; `names` are those of the kernel's parameters."""
    options = {k: v for k, v in keywords.items() if k in SETTINGS}
    return options, {k: v for k, v in keywords.items() if k not in SETTINGS or k in names}


def backend_of(options: Mapping[str, Any]) -> str:
    """The backend of a launch: the option, else MYTRITON_BACKEND, else cuda. Raises `OptionError`."""
    name: str = options.get("backend") or default_backend()
    check_backend(name)
    return name


def default_backend() -> str:
    """The backend of launches that name none."""
    return os.environ.get(VARIABLES["backend"]) or "cuda"


def _is_set(option: str) -> bool:
    return os.environ.get(VARIABLES[option]) not in (None, "", "0")


def with_environment(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, or keywords, of a launch with those that the environment gives behind them."""
    given = dict(options)
    given.setdefault("backend", default_backend())
    if given["backend"] == "cpu" and _is_set("check_bounds"):
        given.setdefault("check_bounds", True)
    if given["backend"] in GPU_BACKENDS and _is_set("line_info"):
        given.setdefault("line_info", True)
    return given


def target_of(options: Mapping[str, Any], place: str | None) -> Target:
    """The target of the options; a kernel that will run on a GPU is compiled for the GPU there is."""
    backend_of(options)
    chosen = with_environment(options)
    if place == "device" and "chip" not in options:
        found = probe()
        if found.devices:
            chip = found.devices[0].chip
            if chip is None:
                raise LaunchError(f"kernels cannot be compiled for {found.devices[0].name}; it is too old or too new")
            chosen["chip"] = chip
    if chosen.get("mlir_passes") is not None:
        from mytriton.pipelines import passes  # which nearly all launches do without

        chosen["mlir_passes"] = passes(chosen["mlir_passes"])
    return Target(**chosen)


def place_of(arrays: Mapping[str, ArrayInfo]) -> str | None:
    """Where the arrays are; None if there are none. Raises `LaunchError` if they are in both places."""
    places: dict[str, str] = {}
    for name, array in arrays.items():
        if array.place != "nowhere":
            places.setdefault(array.place, name)
    if len(places) > 1:
        host, device = places["host"], places["device"]
        raise LaunchError(
            f"argument `{host}` is a {arrays[host].library} but `{device}` is a {arrays[device].library}; "
            f"pass all arrays in host memory, or all on the GPU (cupy.asarray({host}), {host}.cuda())"
        )
    return next(iter(places), None)


def will_run(backend: str, place: str | None, arrays: Mapping[str, ArrayInfo]) -> bool:
    """Whether the launch runs: the host backends on host arrays, the GPU backends on device arrays. Host arrays on a
    GPU backend only compile. Raises `LaunchError` for device arrays on a host backend."""
    on_host = backend not in GPU_BACKENDS
    if on_host and place == "device":
        name = next(iter(arrays))
        raise LaunchError(
            f"backend {backend!r} runs on host arrays, but `{name}` is a {arrays[name].library}; "
            f"use backend 'cuda' or 'mlir', or pass host arrays"
        )
    return on_host or place == "device"


def grid_of(grid: Any, bound: Mapping[str, Any], target: Target) -> tuple[int, int, int]:
    """The three extents of a launch grid. Raises `LaunchError`."""
    given = grid(dict(bound)) if callable(grid) else grid
    items = given if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(items) <= 3:
        raise LaunchError(f"a grid has one to three extents, got {len(items)}")
    x, y, z = (*items, 1, 1)[:3]
    plain = type(x) is type(y) is type(z) is int  # as nearly always; the rest of the function takes or refuses others
    if plain and 0 <= x <= target.max_programs and 0 <= y <= MAX_GRID_YZ and 0 <= z <= MAX_GRID_YZ:
        return x, y, z
    extents = []
    for axis, (item, limit) in enumerate(zip(items, (target.max_programs, MAX_GRID_YZ, MAX_GRID_YZ), strict=False)):
        try:
            extent = operator.index(item)
        except TypeError:
            extent = -1
        if isinstance(item, bool) or extent < 0:
            hint = "; use triton.cdiv(n, BLOCK) for a number of blocks" if isinstance(item, float) else ""
            raise LaunchError(f"extent {axis} of the grid must be an integer of at least 0, got {item!r}{hint}")
        if extent > limit:
            raise LaunchError(f"extent {axis} of the grid is {extent}; at most {limit} programs are possible there")
        extents.append(extent)
    first, second, third = [*extents, 1, 1][:3]
    return first, second, third
