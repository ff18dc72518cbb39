"""Runs every example under NVIDIA's compute-sanitizer, and prints what its tools found.

    python -m tests.sanitize [--tools memcheck racecheck ...] [--backends cuda mlir] [--only PART_OF_A_LABEL]

Needs a GPU and `compute-sanitizer` (of the CUDA toolkit). The programs run at the same time, some for each tool and
backend, and take their cubins from one cache, which a first run without a tool fills. Exits with 1 if something was
found.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mytriton import ExampleCase, JITFunction, MytritonError, Target, check_example

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "examples" / "kernels", ROOT / "tests")
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
BACKENDS = ("cuda", "mlir")
#: Stands before the label of an example in what a child prints, and behind it at its end.
BEGIN, END = "@@ begin ", "@@ end "
#: What a tool prints of each thing it finds: a line with more than its prefix that no space indents.
FOUND = re.compile(
    r"^========= (?!ERROR SUMMARY|COMPUTE-SANITIZER|RACECHECK SUMMARY|Target|Error: No|LEAK)(\S.*)", re.MULTILINE
)


def examples(only: str) -> Iterator[tuple[str, JITFunction, ExampleCase]]:
    """Those of the kernels that come with the project and of the small ones that the tests have."""
    for path in sorted([*FOLDERS[0].glob("*.py"), *FOLDERS[1].glob("feature_kernels*.py")]):
        name = f"tests.{path.stem}" if path.parent == FOLDERS[1] else path.stem
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for kernel in vars(module).values():
            if isinstance(kernel, JITFunction) and kernel.function.__module__ == name:
                for case in kernel.examples:
                    label = f"{path.stem}.{kernel.name} {case.label}"
                    if only in label:
                        yield label, kernel, case


def child(backend: str, only: str, first: int, step: int) -> int:
    """Run every `step`-th of the examples, each between two marks; how many were wrong."""
    wrong = 0
    for label, kernel, case in itertools.islice(examples(only), first, None, step):
        print(f"{BEGIN}{label}", flush=True)
        try:
            report = check_example(kernel, case, Target(backend))
            said = "" if report.ok else str(report)
        except MytritonError as error:
            said = str(error)
        wrong += bool(said)
        print(f"{END}{' '.join(said.split())[:300]}", flush=True)
    return min(wrong, 100)


def findings(output: str) -> dict[str, str]:
    """What was found, or went wrong, by example; after the last one by ""."""
    found: dict[str, str] = {}
    for part in output.split(BEGIN)[1:]:
        label, _, rest = part.partition("\n")
        inside, end, after = rest.partition(END)
        said = after.partition("\n")[0] if end else "the process ended"
        lines = [*FOUND.findall(inside), *([said] if said else [])]
        if lines:
            found[label] = f"{lines[0]}{f' (and {len(lines) - 1} more)' if len(lines) > 1 else ''}"
    return found


def run(tool: str, backend: str, part: tuple[int, int], only: str, cache: str) -> tuple[int, dict[str, str], str]:
    """One tool on a part of the examples: how many ran, what was found, and the tool's own summary."""
    prefix = ["compute-sanitizer", "--tool", tool, "--target-processes", "application-only"] if tool else []
    command = [*prefix, sys.executable, "-m", "tests.sanitize", "--child", backend, "--only", only]
    command += ["--part", *map(str, part)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "MYTRITON_CACHE_DIR": cache}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    summary = re.findall(r"^========= ((?:ERROR|RACECHECK) SUMMARY: .*)", done.stdout, re.MULTILINE)
    count = done.stdout.count(BEGIN)
    if not count:
        return 0, {"": done.stdout[-500:]}, "nothing ran"
    return count, findings(done.stdout), summary[-1] if summary else "" if not tool else "no summary"


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=BACKENDS)
    parser.add_argument("--only", default="")
    parser.add_argument("--child", choices=BACKENDS)
    parser.add_argument("--part", nargs=2, type=int, default=(0, 1))
    given = parser.parse_args(arguments)
    if given.child:
        return child(given.child, given.only, *given.part)
    if shutil.which("compute-sanitizer") is None:
        parser.error("there is no compute-sanitizer here: it comes with the CUDA toolkit")
    bad, workers = 0, os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(workers) as pool:
        for tools in ([""], given.tools):
            runs = [(tool, backend) for tool in tools for backend in given.backends]
            parts = max(1, workers // len(runs))
            started = {
                (*which, part): pool.submit(run, *which, (part, parts), given.only, cache)
                for which, part in itertools.product(runs, range(parts))
            }
            for tool, backend in runs:
                done = [started[tool, backend, part].result() for part in range(parts)]
                found = {label: what for _, some, _ in done for label, what in some.items()}
                summary = "; ".join(dict.fromkeys(said for _, _, said in done if said))
                count = sum(count for count, _, _ in done)
                print(f"{tool or 'no tool':10} {backend:5} {count:4} examples  {len(found):3} with findings  {summary}")
                print(*(f"    {label}: {what}" for label, what in found.items()), sep="\n", end="\n" if found else "")
                bad += len(found)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
