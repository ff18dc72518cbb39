"""A child that does what the text of its job says, for tests of the processes alone: one stage a line.

Run as `python fake_child.py ROLE`. A line `stage NAME` enters and finishes a stage; what a stage does besides is a
fault (see `explorer.engine.faults`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from explorer.engine import messages as m
from explorer.engine.child import Channel, serve
from explorer.model.result import LineView, ModuleInfo, StageView


class Worker:
    """Every job is answered by its stages, and at the end by what its kind asks for."""

    worn_out = False

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def warm_up(self) -> Iterator[None]:
        yield

    def handle(self, job: Any) -> None:
        send, generation = self.channel.send, job.generation
        stages = [line.split()[1] for line in job.text.splitlines() if line.startswith("stage ")]
        if isinstance(job, m.CompileJob):
            for backend in job.request.backends:
                send(m.CompileStarted(generation, backend, "kernel", tuple(stages)))
                for stage in stages:
                    self.channel.enter(stage, f"running stage '{stage}'")
                    send(m.StageFinished(generation, backend, StageView(stage, "text", "", lines=(LineView(stage),))))
                send(m.CompileFinished(generation, backend, True))
            return
        if isinstance(job, m.ReadJob):
            send(m.ModuleRead(generation, ModuleInfo(job.path)))
            return
        for stage in stages:
            self.channel.enter(stage, f"at {stage}")
        if isinstance(job, m.LoadJob):
            send(m.ModuleRead(generation, ModuleInfo(job.path, executed=True, text=job.text)))


if __name__ == "__main__":
    serve(sys.argv[-1], Worker, "--cold" not in sys.argv)
