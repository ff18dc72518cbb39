"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from tests.running import Runner, runner

# Tests compile; what an earlier run left on this machine's disk is not what they test.
os.environ["MYTRITON_CACHE_DIR"] = ""
# Tests of what launches say which they test; no other has to compile it.
os.environ["MYTRITON_NATIVE"] = "0"

# The same random kernels every time, on machines of any speed; `--hypothesis-profile=explore` looks for new ones.
hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("explore", deadline=None, derandomize=False)
hypothesis.settings.load_profile("repeatable")

GOLDEN = Path(__file__).parent / "golden"


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: tests of the explorer wait for terminals and children half of their time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the texts in tests/golden instead of comparing"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("add.ssa", text)` compares with tests/golden/add.ssa; `pytest --update-golden` rewrites it."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        assert path.exists(), f"no golden text {name}; make it with: pytest --update-golden"
        assert text + "\n" == path.read_text()

    return check


@pytest.fixture
def run(request: pytest.FixtureRequest) -> Runner:
    """Launches kernels on the backend of the test; parametrised by `@on_every_backend`."""
    return runner(request.param)


@pytest.fixture(scope="session")
def in_c() -> ModuleType:
    """The code in C that launches again, if it can be compiled here."""
    from mytriton.binding import native

    module = native.load(native.compiled()) if native.possible() else None
    return module or pytest.skip("no C compiler, or no headers of Python")
