"""Random kernels over the whole language compute the same everywhere: in the interpreter, as every stage, on the cpu,
as the threads of a GPU, and in Triton's interpreter. Minutes of new ones: `python -m tests.fuzz`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mytriton import backends
from tests import emulated
from tests.fuzz import differences, fits, kernel_of, run, saved, together, trouble
from tests.random_programs import program, program_of
from tests.triton_reference import Triton, TritonError, triton_interpreter

__all__ = ["triton_interpreter"]

COUNTS: dict[str, int] = {}
#: Chance under hypothesis' control: what fails is made smaller by it.
CHANCE = st.randoms(use_true_random=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random_programs")


@pytest.fixture(scope="module", autouse=True)
def _said(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    manager = request.config.pluginmanager.getplugin("capturemanager")
    with manager.global_and_fixture_disabled():
        print("\nrandom kernels compared:", ", ".join(f"{n} {name}" for name, n in COUNTS.items()))


def check(source: random.Random, backend: str, folder: Path) -> None:
    """One random kernel, if it means something on the backend; a failing one is left in a file."""
    what = program_of(source)
    if backend != "stages" and not fits(what, backend):
        return
    COUNTS[backend] = number = COUNTS.get(backend, 0) + 1
    problem = trouble(what, folder, f"{backend.replace('-', '_')}{number}", backend)
    assert problem == "", f"{what.source()}\n{saved(what, problem, folder / 'failed')}"


@given(CHANCE)
@settings(max_examples=15)
def test_every_stage_does_what_the_interpreter_does(folder: Path, source: random.Random) -> None:
    check(source, "stages", folder)


@given(CHANCE)
@settings(max_examples=12)
def test_the_cpu_does_what_the_interpreter_does(folder: Path, source: random.Random) -> None:
    if reason := backends.get("cpu").available():
        pytest.skip(reason)
    check(source, "cpu", folder)


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_the_threads_of_a_gpu_do_what_the_interpreter_does(folder: Path, backend: str) -> None:
    if reason := emulated.unavailable(backend):
        pytest.skip(reason)
    cases = [what for what in map(program, range(12)) if fits(what, f"emulated-{backend}")]
    for what, problem in zip(cases, together(cases, folder, f"emulated-{backend}"), strict=True):
        assert problem == "", f"{what.source()}\n{saved(what, problem, folder / 'failed')}"
    COUNTS[f"emulated-{backend}"] = len(cases)


@pytest.mark.execution
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_a_gpu_does_what_the_interpreter_does(folder: Path, backend: str) -> None:
    if reason := backends.get(backend).available():
        pytest.skip(reason)
    for seed in range(200):
        check(random.Random(f"gpu {seed}"), backend, folder)


#: Triton's reasons not to take a kernel of ours; all are limits of its interpreter.
TRITON_LACKS = ("mask has unsupported dtype", "have different signedness", "not supported for the input types")


def test_the_interpreter_does_what_triton_does(triton_interpreter: Triton, folder: Path) -> None:
    compared = 0
    for seed in range(60):
        what = program(seed, portable=True)
        theirs = what.arguments()
        named = dict(zip((*what.arrays, *what.scalars), theirs, strict=True))
        try:
            triton_interpreter.run(what.source("triton"), "k", what.grid, {**named, **what.constants})
        except TritonError as error:
            assert any(lack in str(error) for lack in TRITON_LACKS), f"{error}\n{what.source()}"
            continue
        ours = run(kernel_of(what.source(), folder, f"portable{seed}"), what, "interp")
        assert differences(what, ours, theirs) == [], what.source()
        compared += 1
    COUNTS["triton"] = compared
    assert compared > 40
