"""The resource strip: what a build takes, and what the last edit did to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine.messages import CompileFinished, CompileRequest, StageFinished
from explorer.model.resources import Figures, Meter, delta, figures, strip, worse
from explorer.model.result import LineView, StageView
from tests.explorer.engine_harness import MakeEngine, Recorder
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, settled

SUMMARY = (
    LineView("cubin: 4096 bytes"),
    LineView("occupancy 75%  48 of 64 warps, limited by shared memory and registers"),
)
STATS = {
    "registers": 40,
    "shared": 4096,
    "spill_stores": 16,
    "spill_loads": 8,
    "stack": 24,
    "constant": 548,
    "occupancy": 75,
}
CUBIN = StageView("cubin", "binary", "text", lines=SUMMARY, stats=STATS)
SASS = StageView("sass", "text", "sass", lines=(LineView("k:"), LineView("/*0000*/ EXIT;"), LineView("/*0010*/ NOP;")))
NOW = Figures(40, 4096, 24, 24, 548, 75, 2, "shared memory and registers")


def text(meter: Meter, width: int) -> str:
    return "  ".join(f"{r.text} {r.arrow}".strip() for r in strip(meter, width))


def test_figures_are_those_of_the_stages() -> None:
    assert figures(CUBIN, SASS) == NOW
    assert figures(CUBIN, None).instructions is None
    assert figures(replace(CUBIN, status="failed"), None).registers is None


def test_arrows_say_how_the_last_edit_moved_each_figure() -> None:
    assert [delta(*pair) for pair in ((5, 3), (3, 5), (4, 4), (4, None), (None, 4))] == ["↑2", "↓2", "", "", ""]
    assert worse("registers", 5, 3)
    assert worse("occupancy", 3, 5)
    assert not worse("occupancy", 5, 3)
    meter = Meter("add", "ptx a", Figures(32, 0, 0, 0, 540, 100, 90, "warps")).reads("add", "ptx b", NOW)
    assert text(meter, 200) == (
        "40 registers ↑8  shared 4096 B ↑4096  spills 24 B ↑24  stack 24 B ↑24  constants 548 B ↑8  "
        "occupancy 75% ↓25  (shared memory and registers)  2 SASS ↓88"
    )
    assert [r.bad for r in strip(meter, 200)] == [True, True, True, True, True, True, False, False]


def test_the_same_code_is_no_new_build_and_another_kernel_has_no_before() -> None:
    meter = Meter("add", "ptx a", Figures(32, 0, 0, 0, 540, 100)).reads("add", "ptx b", replace(NOW, instructions=None))
    assert meter.reads("add", "ptx b", Figures(instructions=7)) == replace(meter, now=replace(NOW, instructions=7))
    assert meter.reads("mul", "ptx b", NOW) == Meter("mul", "ptx b", NOW)


def test_a_narrow_strip_has_shorter_words_and_leaves_out_what_is_nothing() -> None:
    meter = Meter("add", "", Figures(32, 0, 0, 0, 540, 100, 90, "warps"))
    assert text(meter, 80) == "reg 32  shared 0  spills 0  stack 0  const 540  occ 100%  (warps)  sass 90"
    assert text(meter, 50) == "reg 32  const 540  occ 100%  (warps)  sass 90"


async def measured(e: Explorer, ptx: str, **stats: int) -> None:
    """Play a compilation that a cubin follows."""
    await e.answer()
    e.engine.emit(StageFinished(e.engine.generation, "cuda", StageView("ptx", "text", "ptx", lines=(LineView(ptx),))))
    e.engine.emit(StageFinished(e.engine.generation, "cuda", replace(CUBIN, stats={**STATS, **stats})))
    e.engine.emit(CompileFinished(e.engine.generation, "cuda", True, 90.0, slow=True))
    await e.pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_strip_follows_the_edits(tmp_path: Path, size: tuple[int, int]) -> None:
    async with explorer(tmp_path / "add.py", size) as e:
        assert e.engine.compiled[-1].background == {"cuda": ("cubin",)}
        assert e.line("#resources") == " resources: cubin skipped: nvJitLink is not installed"
        await measured(e, "a", spill_stores=0, spill_loads=0, shared=0)
        assert "↑" not in e.line("#resources")
        await e.press("x")
        await measured(e, "b", spill_stores=0, spill_loads=0, shared=0, registers=48)
        assert ("reg 48 ↑8" if size[0] == 80 else "48 registers ↑8") in e.line("#resources")
        await settled(e.pilot)
        written = e.written
        e.engine.emit(CompileFinished(e.engine.generation, "cuda", True, 90.0, slow=True))
        await settled(e.pilot)
        assert e.written == written, "what did not change is not painted"


async def test_backends_without_gpu_code_say_so(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("f2", "f2")
        await e.answer()
        assert e.line("#resources") == " cpu: host code, no GPU resources"
        assert e.engine.compiled[-1].background == {}
        await e.press("f2")
        assert e.line("#resources") == " interp: no code is made, no GPU resources"


async def test_the_background_comes_after_everything_else(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(once=True)
    text = SOURCE.replace(
        "x, y, out, n, BLOCK: tl.constexpr", 'x: "*fp32", y: "*fp32", out: "*fp32", n: "i32", BLOCK=64'
    )
    text = text.replace("BLOCK=64", "BLOCK: tl.constexpr = 64")
    request = CompileRequest("add.py", text, background={"cuda": ("cubin",)})
    first = engine.compile(request)
    superseding = engine.compile(replace(request, text=text.replace("a + b", "a * b")))
    await recorder.wait(CompileFinished, slow=True)
    slow = [e for e in recorder.of(StageFinished) if e.stage.name in ("cubin", "sass")]
    assert [(e.generation, e.stage.name) for e in slow] == [(superseding, "cubin")]
    assert not recorder.of(CompileFinished, generation=first)
    finished = recorder.of(CompileFinished)
    assert [f.slow for f in finished] == [False, True]
    stage = slow[0].stage
    assert stage.status in ("ok", "skipped")
    if stage.ok:
        assert figures(stage, None).limits


async def test_a_build_that_was_cached_is_neither_failed_nor_under_way(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        e.engine.emit(CompileFinished(e.engine.generation, "cuda", True, 0.0))
        await settled(e.pilot)
        assert e.lines("stages")[0].startswith("cuda: 0.0 ms")
