"""What a killed child costs: from `kill -9` in the middle of a native stage to the first fresh stage, and to all.

    python -m tests.benchmarks.processes [RUNS]

Three ways to lose the compiler child: killed from outside while native code runs (it keeps the interpreter's lock, so
the child hears nothing), superseded by an edit while it is stuck there (given 100 ms, then killed by the engine), and
killed with no spare ready. Then an edit that only supersedes, without a kill.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from explorer.engine import messages as m
from explorer.engine.client import CompileRequest, Engine, Event
from tests.benchmarks import stats

ADD = Path(__file__).parents[2] / "examples/kernels/add.py"
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 256"


class Bench:
    """An engine, and the moments at which events came."""

    def __init__(self) -> None:
        os.environ["MYTRITON_EXPLORER_TEST_FAULT"] = "1"
        self.engine = Engine(self._event)
        self.text = ADD.read_text()
        self._times: list[tuple[float, Event]] = []
        self._changed = asyncio.Event()
        self._edits = 0

    def _event(self, event: Event) -> None:
        self._times.append((time.perf_counter(), event))
        self._changed.set()

    def compile(self, text: str) -> int:
        """Compile for mlir, never from a cache."""
        self._edits += 1
        text = text.replace("a + b", f"a + b + {self._edits}.0")
        return self.engine.compile(
            CompileRequest(str(ADD), text, backends=("mlir",), signature=SIGNATURE, shown=("ptx",))
        )

    async def until(self, kind: type, generation: int) -> float:
        """When the first event of a kind for that generation came."""
        while True:
            for at, event in self._times:
                if isinstance(event, kind) and getattr(event, "generation", 0) == generation:
                    return at
            self._changed.clear()
            await self._changed.wait()

    async def stuck(self) -> None:
        """A compilation that is in the middle of a native call that does not end."""
        generation = self.compile("# fault: stuck at mlir/gpu-module-to-binary\n" + self.text)
        await self.until(m.StillRunning, generation)

    async def spare(self, wanted: bool) -> None:
        """Wait until a spare is warm, or do away with it."""
        compiler = self.engine._compiler
        while wanted and not (compiler.spare and compiler.spare.ready):
            await asyncio.sleep(0.05)
        while not wanted and compiler.spare is not None:
            os.kill(compiler.spare.pid, signal.SIGKILL)
            await asyncio.sleep(0.05)

    async def edit(self, start: float) -> tuple[float, float]:
        """Seconds from `start` to the first and to the last stage of a fresh compilation."""
        generation = self.compile(self.text)
        first = await self.until(m.StageFinished, generation)
        last = await self.until(m.CompileFinished, generation)
        return first - start, last - start


async def measure(runs: int) -> None:
    bench = Bench()
    await bench.engine.start()
    rows: dict[str, list[tuple[float, float]]] = {}
    for _ in range(runs):
        for name, kill, spare in (
            ("kill -9 in a native stage, spare ready", True, True),
            ("stuck in a native stage, superseded", False, True),
            ("kill -9 in a native stage, no spare", True, False),
        ):
            await bench.spare(True)
            await bench.stuck()
            await bench.spare(spare)
            start = time.perf_counter()
            if kill:
                os.kill(bench.engine.pids["compiler"], signal.SIGKILL)
            rows.setdefault(name, []).append(await bench.edit(start))
        await bench.spare(True)
        rows.setdefault("an edit, nothing to kill", []).append(await bench.edit(time.perf_counter()))
    await bench.engine.close()
    for name, times in rows.items():
        print(name)
        print(stats.row("  to the first stage", [first for first, _ in times]))
        print(stats.row("  to PTX through MLIR", [last for _, last in times]))


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
