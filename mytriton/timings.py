"""What autotuning measured, and how that is kept on the disk for later processes."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

from mytriton.configs import Config
from mytriton.frontend.kernel import MISSING, Kernel, is_kernel
from mytriton.language import constexpr
from mytriton.launch import JITFunction
from mytriton.target import GPU_BACKENDS, Target
from mytriton.types import ScalarType
from mytriton.versions import versions

Milliseconds = tuple[float, ...]


@dataclass(frozen=True)
class Trial:
    """A config's timings: median, 20th and 80th percentile in milliseconds; infinite if it does not compile, for the
    reason `error`."""

    config: Config
    milliseconds: Milliseconds = (inf, inf, inf)
    error: str = ""

    @property
    def outcome(self) -> str:
        """In words."""
        if self.error:
            return f"failed: {self.error}"
        return f"{self.milliseconds[0]:.4g} ms ({self.milliseconds[1]:.4g} to {self.milliseconds[-1]:.4g})"


@dataclass(frozen=True)
class Tuning:
    """All configs of a kernel measured for a `key`, in the order they have; `seconds` is what that took."""

    kernel: str
    key: tuple[Any, ...]
    trials: tuple[Trial, ...]
    seconds: float

    @property
    def best(self) -> Trial | None:
        """The fastest by its median; None if no config compiles."""
        fastest = min(self.trials, key=lambda trial: trial.milliseconds)
        return None if fastest.error else fastest


# --- on the disk ------------------------------------------------------------------------------------------------------


def read_timings(fn: JITFunction, key: tuple[Any, ...], configs: Sequence[Config], target: Target) -> Tuning | None:
    """What an earlier process measured for exactly this; None if nothing did."""
    path = _path(fn, key, configs, target)
    try:
        found = json.loads(path.read_text()) if path is not None else None
        rows = [(row["milliseconds"], row["error"]) for row in found["configs"]] if found is not None else []
        trials = [
            Trial(config, tuple(map(float, times)) if times else (inf, inf, inf), str(error))
            for config, (times, error) in zip(configs, rows, strict=True)
        ]
    except (OSError, ValueError, TypeError, KeyError):  # not there, or damaged: measured, and written anew
        return None
    return Tuning(fn.name, key, tuple(trials), float(found["seconds"])) if found is not None else None


def write_timings(fn: JITFunction, tuning: Tuning, target: Target) -> Path | None:
    """Keep a measurement; the file's path, None if it cannot be told apart from others."""
    path = _path(fn, tuning.key, [trial.config for trial in tuning.trials], target)
    if path is None:
        return None
    rows = [
        {
            "config": {name: _plain(value) for name, value in trial.config.all_kwargs().items()},
            "milliseconds": None if trial.error else list(trial.milliseconds),
            "error": trial.error,
        }
        for trial in tuning.trials
    ]
    best = tuning.best.config if tuning.best is not None else None
    found = {
        "kernel": fn.name,
        "key": [_plain(value) for value in tuning.key],
        "device": _device(target),
        "best": str(best),
        "seconds": tuning.seconds,
        "configs": rows,
    }
    try:
        _write(path, json.dumps(found, indent=1))
    except OSError as error:
        warnings.warn(f"autotuning's timings could not be kept in {path}: {error}", RuntimeWarning, stacklevel=2)
    return path


def cache_folder() -> Path:
    """Where timings are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("mytriton") / "autotune"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Whoever reads at the same time finds the old file or the new one, never a part of one.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _path(fn: JITFunction, key: tuple[Any, ...], configs: Sequence[Config], target: Target) -> Path | None:
    """The file for all that the timings depend on. None if that has no lasting name: a hook of a config, or a global
    that is an object of the author's."""
    if any(config.pre_hook is not None for config in configs):
        return None
    try:
        source = _durable(fn.kernel, set())
    except LookupError:
        return None
    parts = [source, [config.all_kwargs() for config in configs], key, target, _device(target)]
    digest = hashlib.sha256(repr([*parts, versions()]).encode()).hexdigest()
    return cache_folder() / f"{fn.name[:100]}-{digest[:32]}.json"


def _durable(kernel: Kernel, seen: set[Any]) -> Any:
    """The kernel's source with its helpers' and the values of its globals, the same in every process. Raises
    `LookupError` for a global that has no such name."""
    source = (kernel.unit.name, kernel.unit.text)
    if source in seen:
        return source
    seen.add(source)
    defaults = [_lasting(p.default, seen) for p in kernel.params]
    return source, defaults, [(name, _lasting(value, seen)) for name, value in kernel.names.items()]


def _lasting(value: Any, seen: set[Any]) -> Any:
    if value is None or value is MISSING or isinstance(value, (bool, int, float, str, ScalarType)):
        return type(value).__name__, repr(value)
    if isinstance(value, (tuple, list)):
        return [_lasting(v, seen) for v in value]
    if isinstance(value, constexpr):
        return _lasting(value.value, seen)
    if is_kernel(value):
        return _durable(value.kernel, seen)
    if isinstance(value, ModuleType):
        return value.__name__
    module = getattr(value, "__module__", None) or ""
    if callable(value) and module.split(".")[0] in ("mytriton", "builtins", "math"):
        return module, value.__qualname__
    raise LookupError(f"a {type(value).__name__}")


def _device(target: Target) -> str:
    """What is measured on."""
    if target.backend in GPU_BACKENDS:
        from mytriton.backends.nvidia.device import probe

        return ", ".join(device.name for device in probe().devices)
    return f"{platform.machine()} {_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
