"""What is written to a terminal for a frame, checked on a terminal: pyte's."""

from __future__ import annotations

import io
import random
import re

import pyte
import pytest

from explorer.canvas import Canvas, look
from explorer.terminal import FRAME, Output

RED, BLUE, PLAIN = "38;2;200;0;0;48;2;16;15;15", "1;38;2;0;0;200;48;2;16;15;15", "38;2;255;252;240;48;2;16;15;15"


def at(row: int, column: int, *pieces: tuple[str, str], cursor: tuple[int, int] = (1, 1)) -> str:
    """A frame as Textual writes it: every piece with its colours and a reset."""
    text = "".join(f"\x1b[{style}m{piece}\x1b[0m" for style, piece in pieces)
    return f"\x1b[{row};{column}H{text}\x1b[{cursor[0]};{cursor[1]}H"


def written(canvas: Canvas, frame: str) -> str:
    assert canvas.draw(frame)
    return canvas.update()


def test_of_a_row_only_the_cells_that_changed_are_written() -> None:
    canvas = Canvas()
    canvas.draw(at(1, 1, (PLAIN, "x = "), (RED, "float"), (PLAIN, " y")))
    canvas.update()
    assert canvas.draw(at(1, 1, (PLAIN, "x = "), (RED, "short"), (PLAIN, " y")))
    assert canvas.update() == f"\x1b[1;5H\x1b[{RED}mshor\x1b[0m\x1b[1;1H"


def test_the_same_once_more_costs_nothing() -> None:
    canvas, frame = Canvas(), at(3, 1, (PLAIN, "text"), (RED, "more"))
    assert written(canvas, frame)
    assert written(canvas, frame) == ""


def test_what_looks_the_same_on_a_blank_is_the_same() -> None:
    canvas = Canvas()
    written(canvas, at(1, 1, (PLAIN, "a b")))
    assert written(canvas, at(1, 1, (PLAIN, "a"), (BLUE, " "), (PLAIN, "b"))) == ""
    underlined = "4;" + PLAIN
    assert written(canvas, at(1, 1, (PLAIN, "a"), (underlined, " "), (PLAIN, "b"))).count("\x1b[4;") == 1


def test_a_colour_stays_until_there_is_another() -> None:
    canvas = Canvas()
    text = written(canvas, at(1, 1, (PLAIN, "a"), (BLUE, "b"), (PLAIN, " "), (BLUE, "c"), (PLAIN, "d")))
    assert text == f"\x1b[1;1H\x1b[{PLAIN}ma\x1b[1;38;2;0;0;200mb c\x1b[22;38;2;255;252;240md\x1b[0m\x1b[1;1H"


def test_what_was_forgotten_is_written_again() -> None:
    canvas, frame = Canvas(), at(1, 1, (PLAIN, "text"))
    first = written(canvas, frame)
    canvas.forget()
    assert written(canvas, frame) == first


def test_a_row_with_a_wide_character_is_written_as_a_whole() -> None:
    canvas = Canvas()
    written(canvas, at(1, 1, (PLAIN, "a\u4e2dbc")))
    assert "a\u4e2d" in written(canvas, at(1, 1, (PLAIN, "a\u4e2dbd")))


def test_a_frame_that_is_not_text_is_drawn_as_one_that_is() -> None:
    runs = [("a = ", look(PLAIN)), ("float", look(RED)), (" b", look(BLUE))]
    text, cells = Canvas(), Canvas()
    shown = written(text, at(3, 5, (PLAIN, "= "), (RED, "float"), (BLUE, " "), cursor=(2, 1)))
    cells.paint([(2, 4, runs, 2, 10)], (1, 0))
    assert cells.update() == shown


@pytest.mark.parametrize(
    ("start", "end", "shown"), [(0, 4, "a\u4e2db"), (2, 4, " b"), (0, 2, "a "), (1, 3, "\u4e2d"), (3, 9, "b")]
)
def test_of_a_wide_character_that_is_cut_through_a_blank_is_left(start: int, end: int, shown: str) -> None:
    canvas = Canvas()
    canvas.paint([(0, 0, [("a\u4e2d", look(PLAIN)), ("b", look(RED))], start, end)], (0, 0))
    assert re.sub(r"\x1b\[[\d;]*[mHC]", "", canvas.update()) == shown


@pytest.mark.parametrize("data", ["\x1b[?1049h", "\x1b[?25l", "\x1b]52;c;dGV4dA==\x07", "\x07", "text", ""])
def test_what_is_no_frame_is_passed_on(data: str) -> None:
    assert not Canvas().draw(data)


def test_a_terminal_shows_the_same_with_and_without() -> None:
    """Random frames of a few looks and characters, in rows that overlap."""
    dice = random.Random(1)
    looks = [PLAIN, RED, BLUE, "4;31;40", "7;38;5;9;48;5;0", "2;3;97;104", "9;39;49", "1;2;53;33", ""]
    plain, ours = pyte.Screen(40, 6), pyte.Screen(40, 6)
    to_plain, to_ours = pyte.Stream(plain), pyte.Stream(ours)
    canvas = Canvas()
    for _ in range(300):
        frame = ""
        for _ in range(dice.randint(1, 4)):
            row, column = dice.randint(1, 6), dice.randint(1, 20)
            pieces = [(dice.choice(looks), dice.choice("ab \u2584") * dice.randint(1, 5)) for _ in range(4)]
            frame += at(row, column, *pieces)
        to_plain.feed(frame)
        canvas.draw(frame)
        if dice.random() < 0.6:  # else the frame is dropped
            to_ours.feed(canvas.update())
            assert ours.display == plain.display
            for y in range(6):
                for x in range(40):
                    a, b = plain.buffer[y][x], ours.buffer[y][x]
                    if a.data == " " and not (a.underscore or a.reverse or a.strikethrough):
                        a, b = (each._replace(fg="", bold=False, italics=False) for each in (a, b))
                    assert a == b, (y, x)


class Answering(io.StringIO):
    """A terminal that says how far it has come when it is told to."""

    def bytes(self) -> int:
        return len(self.getvalue())


def test_frames_wait_for_a_terminal_that_answers() -> None:
    file = Answering()
    output = Output(file)
    output.answered()  # it can

    def frame(letter: str) -> None:
        if output.offer("".join(at(row, 1, (PLAIN, letter * 150)) for row in range(1, 31))) is FRAME:
            output.write(FRAME)

    frame("a")
    first = file.bytes()
    assert first > 4096
    assert file.getvalue().endswith("\x1b[?2026$p"), "it is asked"
    output.answered()
    frame("b")
    assert file.bytes() > first + 4096, "written at once, since it answered"
    frame("c")  # after a second without an answer
    assert "c" * 150 in file.getvalue()


def test_of_frames_that_wait_the_last_is_written() -> None:
    file = Answering()
    output = Output(file)
    assert output.offer(at(1, 1, (PLAIN, "one"))) is FRAME
    assert output.offer(at(1, 1, (PLAIN, "two"))) == "", "the one that waits will show it"
    output.write(FRAME)
    assert "two" in file.getvalue()
    assert "one" not in file.getvalue()
