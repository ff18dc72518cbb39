"""Real listings for the explorer's tests: a kernel compiled in this process, as the children would send it."""

from __future__ import annotations

from pathlib import Path

from explorer.engine import arguments, reading
from explorer.engine.messages import CompileFinished, CompileStarted, StageFinished
from explorer.engine.views import stage_view
from explorer.model.backend_result import Result
from mytriton.compile import compile_kernel
from mytriton.target import Target
from tests.explorer.explorer_support import Explorer

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def compiled(path: Path, kernel: str, backend: str = "cuda", until: str = "ptx", size: int = 256) -> Result:
    """The stages of a kernel of a file through `until`, with every constexpr `size`."""
    chosen = reading.choose_kernel(reading.read(path.read_text(), str(path)), kernel)
    sizes = {param.name: size for param in chosen.params if param.is_constexpr}
    compilation = compile_kernel(chosen, arguments.guess(chosen, sizes), Target(backend))
    compilation.run(until)
    units = (chosen.unit, *compilation.units[1:])
    stages = {stage.name: stage_view(stage, units, str(path)) for stage in compilation.stages}
    return Result(compilation.planned, stages, finished=True, slow_finished=True, kernel=kernel)


async def play(e: Explorer, result: Result, backend: str = "cuda") -> None:
    """The engine of `e` answers with a result."""
    generation = e.engine.generation
    e.engine.emit(CompileStarted(generation, backend, result.kernel, result.planned, ""))
    for stage in result.stages.values():
        e.engine.emit(StageFinished(generation, backend, stage))
    e.engine.emit(CompileFinished(generation, backend, True, 1.0))
    await e.pilot.pause()
