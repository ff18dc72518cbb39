"""Kernels that call helpers: each line of a listing leads to the helper's line, also after the file has changed."""

from __future__ import annotations

from typing import Any

from explorer.engine import messages as m
from explorer.engine.compiling import Worker
from explorer.model.links import Links

TEXT = """\
import triton
import triton.language as tl

@triton.jit
def twice(v):
    return v + v

@triton.jit
def k(x: "*fp32"):
    tl.store(x, twice(tl.load(x)))
"""


class Sent:
    """A channel that keeps what is sent."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, message: Any, *, hold: bool = False) -> None:
        self.messages.append(message)

    def enter(self, *args: Any) -> None:
        pass


def compiled(worker: Worker, channel: Sent, text: str) -> dict[str, Any]:
    """The stages of `k`, by name."""
    channel.messages.clear()
    request = m.CompileRequest("file.py", text, "k", ("interp",))
    worker.handle(m.CompileJob(1, request))
    return {s.stage.name: s.stage for s in channel.messages if isinstance(s, m.StageFinished)}


def test_lines_lead_to_the_helper_where_it_stands_now() -> None:
    channel = Sent()
    worker = Worker(channel)  # type: ignore[arg-type]
    for shift, text in ((0, TEXT), (2, "\n\n" + TEXT), (1, "\n" + TEXT)):
        stages = compiled(worker, channel, text)
        assert stages["ssa"].status == ("cached" if shift else "ok")
        places = {line.text.split(" = ")[-1].split()[0]: line.line for line in stages["ssa"].lines}
        assert places == {"load": 10 + shift, "add": 6 + shift, "store": 10 + shift}
        links = Links(stages["ssa"].lines)
        assert links.rows(6 + shift) == [1]


def test_a_changed_helper_is_compiled_anew() -> None:
    channel = Sent()
    worker = Worker(channel)  # type: ignore[arg-type]
    compiled(worker, channel, TEXT)
    stages = compiled(worker, channel, TEXT.replace("v + v", "v * v"))
    assert stages["ssa"].status == "ok"
    assert [line.line for line in stages["ssa"].lines if "mul" in line.text] == [6]


def test_a_mistake_in_a_helper_stands_at_the_line_of_the_helper() -> None:
    channel = Sent()
    stages = compiled(Worker(channel), channel, TEXT.replace("v + v", "v + w"))  # type: ignore[arg-type]
    (finding,) = stages["ssa"].diagnostics
    assert (finding.path, finding.line, finding.column) == ("file.py", 6, 16)
    assert "called from file.py:10:17" in finding.rendered


def test_a_backend_without_stages_says_at_once_what_it_does_not_run() -> None:
    channel = Sent()
    worker = Worker(channel)  # type: ignore[arg-type]
    text = TEXT.replace(
        "twice(tl.load(x))", 'tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [3], tl.int32, True, 1)'
    )
    for _ in range(2):  # the second time from what is kept
        stages = compiled(worker, channel, text)
        last = stages["opt/dce"]
        assert last.ok and [line.text for line in last.lines]
        (finding,) = last.diagnostics
        assert finding.message.startswith("the interp backend runs no inline assembly")
        assert finding.line == text[: text.index("tl.inline_asm")].count("\n") + 1
        assert [m_.ok for m_ in channel.messages if isinstance(m_, m.CompileFinished)] == [False]
