"""Triton compiling a kernel as far as TTIR, for a figure beside ours in the same run. Needs no GPU.

    python tests/benchmarks/ttir.py FILE KERNEL RUNS

FILE imports Triton and defines KERNEL, whose parameters are annotated as `tests/benchmarks/middle.py` writes them.
Imports nothing of this project, so that Triton may be in another environment.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time

import stats


def run(path: str, name: str, signature: dict[str, str], constants: dict[str, int], runs: int) -> None:
    """Compile once, and then print the times of `runs` more: syntax tree to TTIR, and the passes on TTIR."""
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # as before 3.10; it warns if nothing is said
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend

    spec = importlib.util.spec_from_file_location("peer_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["peer_kernels"] = module
    spec.loader.exec_module(module)
    kernel = getattr(module, name)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    aligned = {(i,): [["tt.divisibility", 16]] for i, type_ in enumerate(signature.values()) if type_.startswith("*")}
    built, optimized, cpu = [], [], []
    for _ in range(runs + 1):
        start, started = time.perf_counter(), time.process_time()
        source = ASTSource(kernel, signature, constants, aligned)
        options = backend.parse_options(source.parse_options())
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        functions = backend.get_codegen_implementation(options)
        tree = source.make_ir(target, options, functions, backend.get_module_map(), context)
        middle = time.perf_counter()
        backend.make_ttir(tree, {}, options, 90)
        end = time.perf_counter()
        built.append(middle - start)
        optimized.append(end - middle)
        cpu.append(time.process_time() - started)
    print(f"\nTriton {triton.__version__}: {name}")
    print(" ", stats.row("source to TTIR", built[1:]))
    print(" ", stats.row("passes on TTIR", optimized[1:]))
    print(" ", stats.row("source to optimized TTIR", [a + b for a, b in zip(built[1:], optimized[1:], strict=True)]))
    print(" ", stats.cpu_row("source to optimized TTIR, CPU", cpu[1:]))


if __name__ == "__main__":
    types = dict(word.split("=") for word in sys.argv[4:])
    constexprs = {name: int(text) for name, text in types.items() if text.isdecimal()}
    run(
        sys.argv[1],
        sys.argv[2],
        {name: "constexpr" if name in constexprs else text for name, text in types.items()},
        constexprs,
        int(sys.argv[3]),
    )
