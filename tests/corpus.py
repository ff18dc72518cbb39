"""How much of the Triton kernels in some folders compiles: `python -m tests.corpus FOLDER...`.

Every `@jit` function that is launched, not called (it returns nothing, and no other one of its file names it), is read
from the text, with a guessed signature, and taken through the passes; `--backends` goes on to each backend's own text.
What stands in the way is counted by its first error. Nothing is imported or executed. Prints what it saw; the corpus is
not part of this repository.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mytriton import read_module
from mytriton.backends import get
from mytriton.compile import compile_kernel, source_stage
from mytriton.diagnostics import CompileError, LaunchError
from mytriton.frontend.guess import guessed_signature
from mytriton.frontend.kernel import Kernel
from mytriton.specialize import parse_signature
from mytriton.target import Target


def outcome(kernel: Kernel, backends: tuple[str, ...]) -> str:
    """'' if the kernel compiles through every backend's source text, else the first error in general words."""
    try:
        specialization = parse_signature(kernel, ", ".join(guessed_signature(kernel).values()))
    except CompileError as error:
        return general(error.diagnostics[0].code, error.diagnostics[0].message)
    except LaunchError as error:
        return general("signature", str(error))
    for backend in backends:
        target = Target(backend)
        compilation = compile_kernel(kernel, specialization, target)
        compilation.run(source_stage(compilation.planned))
        if compilation.failed is not None:
            finding = next(d for d in compilation.failed.diagnostics if d.severity == "error")
            where = f"{backend}: " if compilation.failed.name not in ("tree", "ssa") else ""
            return where + general(finding.code, finding.message)
    return ""


def entries(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The kernels that are launched, not called."""
    called = {name for kernel in kernels for name in kernel.names if name != kernel.name}
    return [k for k in kernels if k.name not in called and not _returns(k)]


def _returns(kernel: Kernel) -> bool:
    assert kernel.node is not None
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(kernel.node))


def general(code: str, message: str) -> str:
    """A message without what is particular to one kernel: names in backticks that are not the language's, numbers."""
    message = message.splitlines()[0]
    message = re.sub(r"`(?!tl\.|\.)[^`]*`", "`…`", message)
    return f"{code} {re.sub(r'[0-9]+', 'N', message)}"


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--backends", default="interp", help="comma-separated: interp, cuda, mlir, cpu")
    parser.add_argument("--top", type=int, default=40, help="how many reasons to print")
    parser.add_argument("--show", default="", help="print where reasons that contain this text occur")
    options = parser.parse_args()
    backends = tuple(options.backends.split(","))
    for name in backends:
        get(name)
    start, reasons, total, good = time.perf_counter(), Counter[str](), 0, 0
    for folder in options.folders:
        kernels = fine = 0
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(errors="replace")
            if "jit" not in text:
                continue
            try:
                found = read_module(text, str(path)).kernels
            except CompileError as error:
                print(f"{path}: {error.diagnostics[0].message}", file=sys.stderr)
                continue
            for kernel in entries(found):
                reason = outcome(kernel, backends)
                kernels, fine = kernels + 1, fine + (not reason)
                reasons[reason] += bool(reason)
                if options.show and options.show in reason:
                    print(f"{path}:{kernel.unit.first_line}: {kernel.name}: {reason}")
        print(f"{folder}: {fine} of {kernels} compile")
        total, good = total + kernels, good + fine
    print(
        f"{good} of {total} ({good / max(total, 1):.1%}) on {', '.join(backends)}, {time.perf_counter() - start:.0f} s"
    )
    for reason, count in reasons.most_common(options.top):
        if count:
            print(f"{count:6} {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
