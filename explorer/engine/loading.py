"""A kernel file executed, in the runner child only: afresh each time, from a text that need not be saved."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Literal

from explorer.engine.plain import plain
from explorer.model.configs import ConfigView
from explorer.model.result import NOT_IMPORTED, DiagnosticView, ExampleInfo
from mytriton.decorated import Decorated
from mytriton.diagnostics import MytritonError
from mytriton.launch import JITFunction
from mytriton.records import dataclass


def _directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody removed it
        return os.sep


#: What the author's code may change and does not find changed when it is executed again.
_DIRECTORY, _PATH = _directory(), tuple(sys.path)


class LoadFailed(Exception):
    """Executing the file raised; `finding` says what, and at which line of it."""

    def __init__(self, finding: DiagnosticView) -> None:
        super().__init__(finding.message)
        self.finding = finding


def _reads(kernel: JITFunction) -> tuple[str, ...]:
    """The global names that a kernel's body reads."""
    return kernel.function.__code__.co_names


@dataclass(frozen=True)
class Loaded:
    """An executed file."""

    path: str
    text: str
    module: ModuleType

    def kernel(self, name: str | None) -> JITFunction | None:
        """The kernel of that name; for None the first of the file that no other calls, as `choose_kernel` has it."""
        found = [v for v in vars(self.module).values() if isinstance(v, JITFunction) and self._is_ours(v)]
        if name is None:
            return min(
                found, key=lambda k: any(k.name in _reads(other) for other in found if other is not k), default=None
            )
        return next((k for k in found if k.name == name), None)

    def _is_ours(self, kernel: JITFunction) -> bool:
        return kernel.function.__code__.co_filename == self.path

    def examples(self, kernel: str) -> tuple[ExampleInfo, ...]:
        """The labels of a kernel's examples; nothing is built."""
        found = self.kernel(kernel)
        return tuple(ExampleInfo(c.label, values=plain(c.values)) for c in found.examples) if found is not None else ()

    def tuned(self, kernel: str) -> tuple[str, ...]:
        """What a kernel's `autotune` chooses."""
        found = self.kernel(kernel)
        tuner = found.tuner if isinstance(found, Decorated) else None
        return tuple(tuner.chosen) if tuner is not None else ()

    def configs(self, kernel: str) -> tuple[ConfigView, ...]:
        """What it chooses from."""
        found = self.kernel(kernel)
        tuner = found.tuner if isinstance(found, Decorated) else None
        configs = tuner.configs if tuner is not None else ()
        return tuple(ConfigView(plain(c.kwargs), c.num_warps, c.num_stages) for c in configs)

    def names(self) -> dict[str, Any]:
        """The module's numbers, strings and constexprs, as JSON."""
        return plain({name: value for name, value in vars(self.module).items() if not name.startswith("__")})


def load(path: str, text: str) -> Loaded:
    """Execute a text as the module at `path`; raises `LoadFailed`.

    Everything the file imported from beside it is forgotten first, so that a changed helper module is read again;
    installed packages stay loaded. Working directory and module path are what they were at the start.
    """
    with suppress(OSError):  # it may be gone
        os.chdir(_DIRECTORY)
    folder = str(Path(path).resolve().parent)
    _forget(folder)
    sys.path[:] = [folder, *_PATH]
    sys.argv = [path]
    # `inspect` and tracebacks find the text that is executed here, not what is on the disk.
    linecache.cache[path] = (len(text), None, text.replace("\n", "\n\0").split("\0"), path)
    name = f"explored_{Path(path).stem}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = path
    try:
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    except SystemExit as error:
        what = f"the file ends the process while it is executed (sys.exit({error.code!r}))"
        raise LoadFailed(
            _finding(path, error.__traceback__, what, 'put that under `if __name__ == "__main__":`')
        ) from None
    except ImportError as error:
        # Files of kernels import much that is not installed where they are read: no error, the text still says a lot.
        what = f"read without being executed, since an import fails: {described(error)}"
        hint = "kernels, @jit helpers and constants are taken from the text; examples need the import"
        if error.name == "triton":
            hint += ": write `import mytriton as triton` and `import mytriton.language as tl`"
        raise LoadFailed(_finding(path, error.__traceback__, what, hint, NOT_IMPORTED, "warning")) from None
    except BaseException as error:  # noqa: BLE001 (whatever the author's code raises)
        hint = "mend that line, or open the file with --no-exec"
        raise LoadFailed(_finding(path, error.__traceback__, described(error), hint)) from None
    return Loaded(path, text, module)


def _forget(folder: str) -> None:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        near = file is not None and Path(file).is_absolute() and Path(file).is_relative_to(folder)
        ours = name.split(".")[0] in ("mytriton", "explorer", "__main__")
        if name.startswith("explored_") or (near and not ours and "site-packages" not in str(file)):
            del sys.modules[name]


def described(error: BaseException) -> str:
    """What an exception says: our own speak for themselves, others need the name of their type."""
    if isinstance(error, MytritonError):
        return str(error)
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def print_own_frames(error: BaseException, path: str) -> None:
    """The traceback, from the first frame of the author's file on: how the compiler got there tells them nothing."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == path), None)
    if first is None:
        return
    text = "".join(["Traceback (most recent call last):\n", *traceback.format_list(frames[first:])])
    with suppress(ValueError, OSError):  # the author's code may have closed it
        print(text + described(error))


def _finding(
    path: str,
    where: TracebackType | None,
    message: str,
    hint: str,
    code: str = "MT982",
    severity: Literal["error", "warning"] = "error",
) -> DiagnosticView:
    frames = [f for f in traceback.extract_tb(where) if f.filename == path]
    line = frames[-1].lineno if frames else None
    place = f"{path}:{line}" if line else path
    excerpt = f"\n{line} | {frames[-1].line}" if frames else ""
    rendered = f"{place}: {severity}[{code}]: {message}{excerpt}\nhelp: {hint}"
    return DiagnosticView(code, severity, message, path, line, 1 if line else None, hint=hint, rendered=rendered)
