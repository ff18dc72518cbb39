"""Fixtures for the tests of the explorer."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.client import Engine
from explorer.engine.limits import Limits
from explorer.share.bundle import write
from tests.explorer.bundles import record, shared
from tests.explorer.engine_harness import MakeEngine, Recorder


@pytest.fixture
def recorder() -> Recorder:
    """Records what an engine made by `make_engine` tells."""
    return Recorder()


@pytest.fixture
async def make_engine(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeEngine]:
    """Makes an engine that is closed after the test; faults on purpose are enabled in its children."""
    monkeypatch.setenv("MYTRITON_EXPLORER_TEST_FAULT", "1")
    made: list[Engine] = []

    async def make(**options: Any) -> Engine:
        options.setdefault("limits", Limits(memory_gb=4.0))
        engine = Engine(recorder, **options)
        made.append(engine)
        await engine.start()
        return engine

    yield make
    for engine in made:
        await engine.close()


@pytest.fixture(scope="module", autouse=True)
def nothing_kept() -> Iterator[None]:
    """The explorer keeps what it has loaded out of the search for garbage. Here one after the other does, and none of
    them would ever be freed."""
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the user are in a temporary folder; colours and the clipboard are not those of the terminal around."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "TMUX", "STY", "SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bundle_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of B, compared with A, in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)
    file = tmp_path / "add.mtx"
    file.write_bytes(write(shared("in B", replace(record("in A"), label="pinned 10:00"))))
    return file
