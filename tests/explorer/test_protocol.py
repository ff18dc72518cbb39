"""Messages as bytes, and what they carry."""

from __future__ import annotations

import json
import math

import pytest

from explorer.engine import messages as m
from explorer.engine.protocol import FrameReader, ProtocolError, encode
from explorer.model.codec import from_json, to_json
from explorer.model.result import ChangeView, DiagnosticView, ExampleInfo, LineView, OutputReport, RunReport, StageView

STAGE = StageView(
    "opt/fold",
    "ir",
    "ssa",
    "no change",
    1.25,
    (LineView("%0 = add x, 1", 3, 5, 3, 10, ("%0", "x")), LineView("")),
    (ChangeView("fold", "x + 0 = x", "a", "b", "why", 3),),
    {"ops": 4},
    (DiagnosticView("MT1", "error", "é — 中", "k.py", 1, 2),),
)


def test_messages_survive_in_whatever_pieces_they_come() -> None:
    sent = [
        m.StageFinished(3, "cuda", STAGE),
        m.Described(1, "k", 0, ExampleInfo("n=1", {"x": "*fp32:16"}, {"T": {"dtype": "fp16"}, "N": None}, (4, 1))),
        m.CompileJob(2, m.CompileRequest("k.py", "text", defines={"B": 2.5}, shown=()), names={"S": {"constexpr": 1}}),
        m.Idle(7),
    ]
    data = b"".join(map(encode, sent))
    for size in (1, 3, 1000, len(data)):
        reader = FrameReader()
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        assert [message for piece in pieces for message in reader.feed(piece)] == sent


def test_defaults_are_left_out() -> None:
    assert to_json(LineView("ret")) == {"text": "ret"}
    assert from_json(LineView, {"text": "ret", "values": ["%1"]}) == LineView("ret", values=("%1",))


def test_numbers_that_json_has_not() -> None:
    report = RunReport(False, "cpu", outputs=(OutputReport("o", False, math.inf, math.nan, 0.5, first_index=(0, 3)),))
    text = json.dumps(to_json(report), allow_nan=False)
    back = from_json(RunReport, json.loads(text)).outputs[0]
    assert back.max_abs == math.inf and math.isnan(back.max_rel) and back.max_ulp == 0.5
    assert back.first_index == (0, 3)


@pytest.mark.parametrize(
    "data",
    [
        b"Traceback (most recent call last):",
        b"\0\0\0\2{}",
        b'\0\0\0\x08["No",1]',
        b'\0\0\0\x12["Idle",{"no": 1}]',
    ],
)
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(FrameReader().feed(data))


def test_what_cannot_be_sent() -> None:
    with pytest.raises(TypeError, match="a set cannot be sent"):
        to_json(m.CompileRequest("k.py", "", defines={"x": {1, 2}}))
