"""The real children given other types, values and options than the file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.engine import messages as m
from explorer.engine.client import RunRequest
from explorer.engine.requests import ANY, CompileRequest
from tests.explorer.engine_harness import MakeEngine, Recorder
from tests.explorer.test_engine import TEXT, opened


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "k.py")


async def test_an_example_with_other_values_is_described_anew(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)

    async def signature(**options: object) -> tuple[str, int]:
        request = CompileRequest(path, TEXT, backends=("interp",), **options)  # type: ignore[arg-type]
        started = await recorder.wait(m.CompileStarted, generation=engine.compile(request))
        return started.signature, started.num_warps

    assert await signature() == ("*fp32:16, i32, 64", 2)
    assert await signature(values={"n": 160}) == ("*fp32:16, i32:16, 64", 2)
    assert await signature(values={"n": 160, "gone": 1}, types={"B": "128"}, num_warps=8) == (
        "*fp32:16, i32:16, 128",
        8,
    )
    described = recorder.of(m.Described)
    assert [(e.values, e.info.grid, e.info.num_warps) for e in described] == [({}, (2,), 2), ({"n": 160}, (2,), 2)]
    assert described[0].info.values == {"n": 100}, "what the file says"


async def test_without_an_example_the_one_that_stands_for_others_is_compiled(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    engine = await make_engine(once=True)
    text = TEXT.replace("@scale.example(n=100)", "@scale.example(n=1)\n@scale.example(n=160)")
    engine.open(path, text)
    found = []
    for example in (ANY, 0):  # the first is asked for before anybody knows what there is
        generation = engine.compile(CompileRequest(path, text, backends=("interp",), example=example))
        started = await recorder.wait(m.CompileStarted, generation=generation)
        found.append(started.signature)
        await recorder.wait(m.CompileFinished, generation=generation)
    assert found == ["*fp32:16, i32:16, 64", "*fp32:16, i32:1, 64"]


async def test_values_that_the_example_cannot_take_are_told(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    generation = engine.compile(CompileRequest(path, TEXT, backends=("interp",), values={"n": "x"}))
    finished = await recorder.wait(m.StageFinished, generation=generation)
    (finding,) = finished.stage.diagnostics
    assert finding.code == "MT970"
    assert finding.message.startswith("the example case(n='x') gives no types: ")


async def test_options_of_the_target(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)

    async def emitted(**options: object) -> str:
        request = CompileRequest(path, TEXT, backends=("mlir",), until="mlir/emit", options=dict(options))
        generation = engine.compile(request)
        await recorder.wait(m.CompileFinished, generation=generation)
        stages = {e.stage.name: e.stage for e in recorder.of(m.StageFinished, generation=generation)}
        return stages["mlir/emit"].text

    pointers, descriptors = await emitted(), await emitted(abi="memref")
    assert "memref<?xf32>" not in pointers
    assert "memref<?xf32>" in descriptors


async def test_a_build_for_profilers_follows_the_lines(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)

    async def first(text: str) -> int:
        request = CompileRequest(path, text, backends=("cuda",), until="ptx", options={"line_info": True})
        generation = engine.compile(request)
        await recorder.wait(m.CompileFinished, generation=generation)
        stages = {e.stage.name: e.stage for e in recorder.of(m.StageFinished, generation=generation)}
        assert f'.file\t1 "{path}"' in stages["ptx"].text
        return int(stages["ptx"].text.partition(".loc\t1 ")[2].split()[0])

    before = await first(TEXT)
    assert TEXT.split("\n")[before - 1].startswith("def ")
    assert await first("\n\n" + TEXT) == before + 2


async def test_a_run_of_other_types_converts_the_inputs_and_says_so(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)

    async def run(**options: object) -> tuple[bool, str, str, str, int]:
        request = RunRequest(path, TEXT, backend="interp", **options)  # type: ignore[arg-type]
        report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
        sizes = [output.size for output in report.outputs]
        return report.ok, report.example, report.reference, report.note or report.message, sum(sizes)

    assert await run(values={"n": 70}) == (True, "case(n=70)", "NumPy", "", 70)
    assert await run(types={"B": "128"}, options={"enable_fp_fusion": False}) == (
        True,
        "case(n=100)",
        "NumPy",
        "",
        100,
    )
    assert await run(types={"x": "*fp16", "n": "i64"}) == (
        True,
        "case(n=100)",
        "interpreter",
        "converted inputs: x as fp16, n as i64; compared with the interpreter",
        100,
    )
    assert (await run(signature="*fp16, i32, 64"))[3].startswith("converted inputs: x as fp16;")
    assert (await run(types={"x": "*fp99"}))[:1] == (False,)
