"""Where the code in C comes from that launches again (`native`): compiled once, nobody waits, and nobody needs it."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mytriton.binding import native


class Launches:
    """Who would launch by C."""

    def __init__(self) -> None:
        self.module: ModuleType | None = None
        self.told = threading.Event()

    def quicken(self, module: ModuleType) -> None:
        self.module = module
        self.told.set()


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_c: ModuleType) -> list[str]:
    """The compilations from here on; the compiler is slow, and makes what it made before."""
    done: list[str] = []

    def compiled() -> bytes:
        done.append(threading.current_thread().name)
        return b"code"

    monkeypatch.delenv("MYTRITON_NATIVE")
    monkeypatch.setenv("MYTRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(native, "compiled", compiled)
    monkeypatch.setattr(native, "load", lambda code: in_c if code == b"code" else None)
    monkeypatch.setattr(native, "STATE", native.State())
    monkeypatch.setattr(native, "PATIENCE", 0.0)
    return done


def test_it_is_compiled_once_and_nobody_waits(compilations, monkeypatch):
    first, second = Launches(), Launches()
    native.use(first)
    native.use(second)
    assert first.told.wait(10) and second.told.wait(10) and first.module is second.module is not None
    assert compilations == ["mytriton_native"]
    monkeypatch.setattr(native, "STATE", native.State())  # as in another process
    third = Launches()
    native.use(third)
    assert third.told.wait(10)
    assert third.module is first.module and len(compilations) == 1


def test_without_a_cache_each_process_compiles(compilations, monkeypatch):
    monkeypatch.setenv("MYTRITON_CACHE_DIR", "")
    for count in (1, 2):
        monkeypatch.setattr(native, "STATE", native.State())
        native.use(Launches())
        assert native.wait() and len(compilations) == count


def test_a_compiler_that_fails_is_not_asked_again(compilations, monkeypatch):
    monkeypatch.setattr(native, "compiled", lambda: compilations.append("failed") or b"")
    for _ in range(2):
        monkeypatch.setattr(native, "STATE", native.State())
        launches = Launches()
        native.use(launches)
        assert not native.wait()
        assert launches.module is None
    assert compilations == ["failed"]


@pytest.mark.parametrize("why", ["refused", "no compiler", "no headers"])
def test_python_goes_on_where_there_is_none(compilations, monkeypatch, tmp_path, why):
    if why == "refused":
        monkeypatch.setenv("MYTRITON_NATIVE", "0")
    elif why == "no compiler":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        monkeypatch.setattr(native, "_headers", lambda: {"Python.h": str(tmp_path)})
    launches = Launches()
    native.use(launches)
    assert not native.wait()
    assert launches.module is None and compilations == []


def test_a_form_passes_on_what_it_has_not_learnt_and_keeps_nothing(in_c):
    seen: list[Any] = []

    def fallback(*args: Any, **keywords: Any) -> Any:
        seen.append((args, keywords))
        return "passed on"

    def made() -> Any:
        kinds = (int, int, str)
        meta = (0, 1, 2, ("default",))
        names = ("n", "m", "MODE", "EXTRA")
        return in_c.Form(
            fallback, fallback, 2, ("MODE",), kinds, b"iic", (), names, meta, "n", (), False, False, len, "ptr", 0, 0
        )

    form = made()
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1, 2, 3), {"MODE": "a"}), ((1, 2, 2**70), {"MODE": "a"}), ((1,), {}), ((1, 2, 3.0), {"MODE": "a"}),
        ((1, 2, 3), {"MODE": "a", "more": 1}), ((1, 2, 3, 4), {}), ((), {}),
    ]  # fmt: skip
    for args, keywords in calls:
        assert form(*args, **keywords) == "passed on" and seen[-1] == (args, keywords)
    before = sys.getrefcount(fallback)
    for _ in range(100):
        form = made()
        seen.append(form)  # which the fallback refers to
    del form
    seen.clear()
    gc.collect()
    assert sys.getrefcount(fallback) <= before
    with pytest.raises(TypeError):
        in_c.Form(fallback)
    with pytest.raises(LookupError):
        in_c.Form(
            fallback, fallback, 0, (), (int,) * 70, b"i" * 70, (), (), (), "n", (), False, False, len, "ptr", 0, 0
        )


@pytest.mark.parametrize(
    ("meta", "positional"), [((1,), 1), ((-1,), 1), (((),), 1), (("n",), 1), ((), 0), ((), 2), ((), -1)]
)
def test_a_form_that_does_not_fit_itself_is_refused(in_c, meta, positional):
    names = ("n",) * len(meta)
    with pytest.raises(LookupError):
        in_c.Form(len, len, positional, (), (int,), b"i", (), names, meta, "n", (), False, False, len, "ptr", 0, 0)


#: What a launch on an array and an int is learnt from: places, bytes of scratch memory, and packed parameters.
@pytest.mark.parametrize(
    ("places", "memory", "packed"),
    [
        ([(1, 0, 4, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 64, bytes(16)),
        ([(1, 0, 4, 1, 0, 1), (0, 13, 0, 1, 0, 0)], 64, bytes(16)),
        ([(1, 0, 4, 1, 0, 1), (2, 12, 0, 1, 0, 0)], 64, bytes(16)),
        ([(1, 9, 4, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 64, bytes(16)),
        ([(1, -8, 4, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 64, bytes(16)),
        ([(1, 0, 0, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 64, bytes(16)),
        ([(1, 0, 4, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 63, bytes(16)),
        ([(1, 0, 4, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 64, bytes(12)),
        ([(1, 0, 4, 1, 0, 1), (0, 8, 0, 1, 0, 0)], 64, bytes(4104)),
        ([(1, 0, 4, 1, 0, 1)], 64, bytes(16)),
    ],
)
def test_c_writes_nowhere_but_in_its_room(in_c, places, memory, packed):
    kinds, names = (np.ndarray, int), ("x", "n")
    form = in_c.Form(len, len, 2, (), kinds, b"ai", (), names, (0, 1), "n", (), False, False, len, "ptr", 0, 0)
    learnt = (np.dtype("f4"), 16), tuple(places), 0, 0, 0, 1, 1, memory, packed, "result", None
    if (memory, len(packed), *places[0][1:3], *places[-1][:2]) == (64, 16, 0, 4, 0, 8):
        form.learn(*learnt)
    else:
        with pytest.raises(ValueError, match=r"another form|outside|without a size"):
            form.learn(*learnt)
