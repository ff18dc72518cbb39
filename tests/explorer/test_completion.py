"""What completion offers and what it says of calls, without a screen: exact lists."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mytriton.frontend.lower  # noqa: F401 - fills the tables of functions
from explorer.highlight import Highlighted, tokenizer
from explorer.model import language
from explorer.model.completion import Call, call_at, complete
from explorer.model.editing import Place
from explorer.model.language import LANGUAGE, Entry, first_sentence, members, python_builtins, value_members
from explorer.model.popup import LONGEST, Popup, call_parts
from explorer.model.scope import Code
from mytriton.frontend.not_yet import NOT_YET
from mytriton.frontend.registry import FUNCTIONS, METHODS

TEXT = '''\
import mytriton as triton
import mytriton.language as tl
from mytriton.language import load as ld
from mytriton.language.extra import libdevice
import numpy as np

SIZE = tl.constexpr(4)

@triton.jit
def helper(a, b=2):
    """Adds them. And so on."""
    return a + b

def ordinary(n):
    return n

@triton.jit
def kernel(
    x,
    n: "i32",
    B: tl.constexpr = 8,
):
    offs, i = tl.arange(0, B), 0
    for step in range(3):
        i += step
    y = tl.load(
        x + offs,
        mask=offs < n,
    )
    |
    later = 1
'''
BUILTINS = ["abs", "bool", "float", "int", "isinstance", "len", "max", "min", "print", "range", "round"]
GLOBALS = ["helper", "kernel", "ld", "libdevice", "SIZE", "tl", "triton"]
LOCALS = ["B", "i", "n", "offs", "step", "x", "y"]


def at(body: str, text: str = TEXT) -> tuple[list[str], Code, Place]:
    """A file with `body` in it, and the place of the `|` in that."""
    text = text.replace("|", body)
    before, _, after = text.partition("|")
    lines = (before + after).split("\n")
    row = before.count("\n")
    return lines, Highlighted(tokenizer("python"), lambda r: lines[r]).code, (row, len(before.split("\n")[-1]))


def names(body: str, asked: bool = True, text: str = TEXT) -> list[str] | None:
    lines, code, place = at(body, text)
    found = complete(lines, code, place, asked)
    return None if found is None else [e.name for e in found.narrowed(lines[place[0]][found.start : place[1]])]


@pytest.mark.parametrize(
    ("body", "offered"),
    [
        ("tl.log|", ["log", "log2"]),
        ("a = tl . math . e|", ["erf", "exp", "exp2"]),
        ("tl.LOG|", ["log", "log2"]),
        ("tl.arange(0, tl.static_r|", ["static_range"]),
        ("libdevice.fast_expf|", ["fast_expf"]),
        ("tl.extra.|", ["libdevice"]),
        ("triton.next|", ["next_power_of_2"]),
        ("y.ty|", ["type"]),
        ("(y + 1).su|", ["sum"]),
        ("y[:, None].su|", ["sum"]),
        ("np.z|", None),
        ("1.|", None),
        ('"tl.lo|', None),
        ('f("tl.lo|")', None),
        ("# tl.lo|", None),
        ("o|", ["offs"]),
        ("ste|", ["step"]),
        ("later|", []),
        ("hel|", ["helper"]),
        ("ordin|", []),
        ("|", sorted([*BUILTINS, *GLOBALS, *LOCALS], key=str.lower)),
    ],
)
def test_what_is_offered_when_asked(body: str, offered: list[str] | None) -> None:
    assert names(body) == offered


@pytest.mark.parametrize(
    ("body", "offered"),
    [("tl.xor|", ["xor_sum"]), ("libdevice.cop|", ["copysign"]), ("y.|", None), ("np.|", None), ("o|", None)],
)
def test_only_modules_of_ours_are_offered_unasked(body: str, offered: list[str] | None) -> None:
    found = names(body, asked=False)
    assert (found if found is None else found[:1]) == offered


@pytest.mark.parametrize(
    ("line", "body", "offered"),
    [
        ("import mytriton.language as lang", "lang.xor|", "xor_sum"),
        ("from mytriton import language as lang", "lang.xor|", "xor_sum"),
        ("import triton.language as tl", "tl.xor|", "xor_sum"),
        ("import triton", "triton.language.xor|", "xor_sum"),
        ("from triton.language.extra.cuda import libdevice as lib", "lib.cop|", "copysign"),
        ("from triton.language import math as m, where", "m.er|", "erf"),
        ("import numpy as tl", "tl.xor|", None),
    ],
)
def test_whatever_the_alias_is(line: str, body: str, offered: str | None) -> None:
    assert (names(body, text=f"{line}\n|") or [None])[0] == offered


def test_names_in_a_place_that_does_not_parse_yet() -> None:
    broken = "@jit\ndef k(p, q: tl.constexpr = (1, 2), *, r=3\n    a = tl.load(p\n\n    if a >\n        |\n"
    assert names("|", text=broken) == sorted([*BUILTINS, "a", "k", "p", "q", "r"], key=str.lower)
    assert names("|", text="@jit\ndef k(p):\n    a = 1\n\nd = 2\n|") == sorted([*BUILTINS, "d", "k"], key=str.lower)


def test_arguments_are_offered_by_name_as_long_as_they_are_free() -> None:
    assert names("tl.sum(y, k|") == ["keep_dims=", "kernel"]
    assert (names("tl.sum(y, |") or [])[:3] == ["axis=", "keep_dims=", "dtype="]
    assert (names("tl.sum(y, 0, dtype=tl.int32, |") or [])[:2] == ["keep_dims=", "abs"]
    assert (names("tl.sum(y, axis=|") or [])[0] == "abs", "not within one"
    assert (names("tl.sum(y, [a, |") or [])[0] == "axis="


def call(body: str) -> Call | None:
    return call_at(*at(body))


def test_the_call_and_its_argument() -> None:
    assert call("tl.sum(y, |") == Call(
        "tl.sum",
        ("input", "axis=None", "keep_dims=False", "dtype=None"),
        1,
        first_sentence(language.import_module(f"{LANGUAGE}.reductions").sum.__doc__),
        ("axis", "keep_dims", "dtype"),
    )
    assert call("helper(|") == Call("helper", ("a", "b"), 0, "Adds them.")
    found = {
        body: (c.name, c.active) if (c := call(body)) is not None else None
        for body in (
            "tl.store(x, tl.load(y, |), mask=m)",
            "tl.store(x, tl.load(y, m), |",
            "tl.store(x, tl.load(y, m), mask=m |",
            "tl.store(x, (1, 2), nothing=|",
            "ld(x, |",
            "y.sum(|",
            "max(1, 2, 3, |",
            "tl.reshape(y, 2, 4, |",
            "tl.zeros([2, |",
            "ordinary(|",
            "np.sum(y, |",
            "tl.sum(y)|",
            'tl.sum("(|',
            "(|",
            "|",
        )
    }
    assert found == {
        "tl.store(x, tl.load(y, |), mask=m)": ("tl.load", 1),
        "tl.store(x, tl.load(y, m), |": ("tl.store", 2),
        "tl.store(x, tl.load(y, m), mask=m |": ("tl.store", 2),
        "tl.store(x, (1, 2), nothing=|": ("tl.store", None),
        "ld(x, |": ("ld", 1),
        "y.sum(|": ("y.sum", 0),
        "max(1, 2, 3, |": ("max", 2),
        "tl.reshape(y, 2, 4, |": ("tl.reshape", 1),
        "tl.zeros([2, |": ("tl.zeros", 0),
        "ordinary(|": None,
        "np.sum(y, |": None,
        "tl.sum(y)|": None,
        'tl.sum("(|': None,
        "(|": None,
        "|": None,
    }


def test_a_call_over_several_lines() -> None:
    lines, code, _ = at("")
    row = next(i for i, line in enumerate(lines) if "mask=offs" in line)
    found = call_at(lines, code, (row, 12))
    assert found is not None
    assert (found.name, found.active) == ("tl.load", 1)


def test_every_name_of_the_language_is_there_with_what_it_is() -> None:
    entries = {entry.name: entry for entry in members(LANGUAGE)}
    module = language.import_module(LANGUAGE)
    assert set(entries) == {*module.__all__, *NOT_YET}
    assert all(entry.not_yet == NOT_YET.get(name, "") for name, entry in entries.items())
    assert all(e.doc for e in entries.values() if e.kind in ("function", "type", "module", "class"))
    assert entries["where"].signature == "where(condition, x, y)"
    assert entries["float32"] == Entry("float32", "type", "float32", "The element type float32, 32 bits wide.")
    assert entries["arange"].doc == "The int32 block start, start + 1, ..., end - 1."


def test_builtins_and_methods_are_those_that_the_compiler_knows() -> None:
    known = {b.name for b in FUNCTIONS.values() if "." not in b.name and b.name != "next_power_of_2"} | {"range"}
    assert {entry.name for entry in python_builtins()} == known
    missing = set(METHODS) - {entry.name for entry in value_members()}
    assert not missing, "add them to explorer/model/language.py: importing this table takes a quarter of a second"


def test_the_rows_of_the_list() -> None:
    lines, code, place = at("tl.f|")
    found = complete(lines, code, place)
    assert found is not None
    popup = Popup(found, found.narrowed("f"))
    rows = popup.rows(20, 40)
    assert len(rows) == LONGEST + 2
    assert rows[0] == ("|> fdiv                   function     |", "chosen")
    assert rows[-2][0].startswith("|  fdiv(x, y") and rows[-2][0].endswith(f" 1/{len(popup.entries)} |")
    assert {len(text) for text, _ in rows} == {40}
    popup.move(-1)
    assert popup.chosen == popup.entries[-1], "around the end"
    assert popup.rows(3, 40)[-1][1] == "about"
    assert [kind for _, kind in popup.rows(1, 40)] == ["chosen"]
    popup.move(-99)
    assert popup.index == 0
    popup.narrow("flo")
    names = [entry.name for entry in popup.entries if not entry.name.startswith("float8")]
    assert names[:4] == ["float16", "float32", "float64", "floor"]
    assert not popup.narrow("flox")


def test_what_is_not_yet_says_what_to_write_instead() -> None:
    entry = next(e for e in members(LANGUAGE) if e.not_yet)
    lines, code, place = at(f"tl.{entry.name}|")
    found = complete(lines, code, place)
    assert found is not None
    rows = Popup(found, (entry,)).rows(10, 64)
    assert rows[0][0].split() == ["|>", entry.name, "not", "yet", "|"]
    assert rows[2][0].startswith(f"|  not yet: {entry.not_yet}"[:60])


def test_a_long_call_shows_the_argument_one_is_at() -> None:
    assert call_parts(Call("f", ("a", "b=1"), 1, "Does."), 40) == ("f(a, ", "b=1", ")  Does.")
    assert call_parts(Call("f", ("a", "b"), None), 40) == ("f(a, b, ", "", ")")
    before, active, _ = call_parts(Call("f", tuple(f"parameter{n}" for n in range(9)), 7), 40)
    assert (before, active) == ("f(.. parameter6, ", "parameter7")


def test_what_completion_needs_is_light() -> None:
    code = (
        "import sys; from explorer.model import completion, language\n"
        "assert 'mytriton.language' not in sys.modules\n"
        "language.members('mytriton.language')\n"
        "bad = [m for m in ('numpy', 'textual', 'mytriton.launch', 'mytriton.ir') if m in sys.modules]\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
