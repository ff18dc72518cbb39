"""Kernels that ask for too much: each is told so, where a compiler would run for hours or out of memory or stack."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import CompileError
from mytriton.frontend import limits
from tests.frontend.support import HEAD, errors, hints, lowered


def chain(length: int, body: str) -> str:
    """A kernel that calls `h<length>`, and helpers that each call the one before."""
    text = f"{HEAD}@triton.jit\ndef k(x, n):\n    tl.store(x, h{length}(n))\n"
    for i in range(length, 0, -1):
        text += f"@triton.jit\ndef h{i}(v):\n    {body.replace('CALL', f'h{i - 1}(v)')}\n"
    return text + "@triton.jit\ndef h0(v):\n    return v\n"


@pytest.mark.parametrize(
    "body",
    ["return CALL + 1", "if v > 3:\n        return CALL\n    return v", "while v > 7:\n        v = CALL\n    return v"],
)
def test_calls_that_nest_too_deep(body):
    lowered(chain(limits.MAX_CALL_DEPTH - 1, body), "*i32, i32")
    text = chain(300, body)
    (found,) = errors(text, "*i32, i32")
    assert found.endswith("MT147 calls nest more than 50 deep, from `k` to `h250`")
    assert hints(text, "*i32, i32") == ["put helpers that only call the next one together; a `for` loop repeats one"]


def test_a_message_about_calls_that_nest_too_deep_shows_where():
    with pytest.raises(CompileError, match=r"kernel\.py:156:12: error\[MT147\](.|\n)*called from kernel\.py:6:17"):
        lowered(chain(300, "return CALL + 1"), "*i32, i32")


def test_too_many_calls(monkeypatch):
    monkeypatch.setattr(limits, "MAX_CALLS", 1000)
    lowered(chain(8, "return CALL + CALL"), "*i32, i32")
    text = chain(40, "return CALL + CALL")
    found = errors(text, "*i32, i32")
    assert {line.split(" ", 1)[1] for line in found} == {"MT142 `k` calls helpers more than 1000 times"}
    assert len(found) <= 80
    assert set(hints(text, "*i32, i32")) == {
        "each call is compiled in its place: keep a result in a variable, or call in a `range` loop"
    }


LOOP = "for i in tl.static_range(5000):\n        "
ITEMS, DEEP = "the tuple has more than 4096 items", "the tuples nest more than 50 deep"
CHARACTERS, BITS = "the result has more than 100000 characters", "the result has more than 4096 bits"
TOO_LARGE = [
    (f"t = (1, n)\n    {LOOP}t = (t, t)", f"5:13 MT212 `(t, t)` cannot be computed: {ITEMS}"),
    (f"t = (1, n)\n    {LOOP}t = t + t", f"5:13 MT212 `t + t` cannot be computed: {ITEMS}"),
    (f"t = (1, n)\n    {LOOP}t = (t, n)", f"5:13 MT212 `(t, n)` cannot be computed: {DEEP}"),
    (f"t = tl.constexpr((1, 2))\n    {LOOP}t = tl.constexpr(t + t)", f"5:26 MT212 `t + t` cannot be computed: {ITEMS}"),
    (
        "t = tl.constexpr((1, 2)) * 10 ** 9",
        "3:9 MT212 `tl.constexpr((1, 2)) * 10 ** 9` cannot be computed: tuples can only be joined and compared",
    ),
    (f"s = 'a'\n    {LOOP}s = s + s", f"5:13 MT212 `s + s` cannot be computed: {CHARACTERS}"),
    (f"s = 'a'\n    {LOOP}s = f'{{s}}{{s}}'", f"5:13 MT212 `f'{{s}}{{s}}'` cannot be computed: {CHARACTERS}"),
    ("s = f'{1:90000}'\n    t = (s, s)", f"4:9 MT212 `(s, s)` cannot be computed: {CHARACTERS}"),
    ("s = f'{1:1000000000}'", f"3:9 MT212 `f'{{1:1000000000}}'` cannot be computed: {CHARACTERS}"),
    ("s = f'{1.5:.{10 ** 8}f}'", f"3:9 MT212 `f'{{1.5:.{{10 ** 8}}f}}'` cannot be computed: {CHARACTERS}"),
    (f"s: tl.constexpr = 2\n    {LOOP}s: tl.constexpr = s * s", f"5:27 MT212 `s * s` cannot be computed: {BITS}"),
    (f"s = 0x{'f' * 20000}", f"3:9 MT212 `0x{'f' * 35}...` cannot be computed: {BITS}"),
]


@pytest.mark.parametrize(("body", "expected"), TOO_LARGE, ids=[body[:40] for body, _ in TOO_LARGE])
def test_compile_time_values_that_are_too_large(body, expected):
    text = f"def k(x, n):\n    {body}\n"
    assert errors(text, "*i32, i32") == [expected]
    assert hints(text, "*i32, i32") != [""]


def test_compile_time_values_that_are_large_enough():
    lowered(
        """
        def k(x, n):
            t = (n,)
            for i in tl.static_range(12):
                t = t + t
            s = (n,)
            for i in tl.static_range(49):
                s = (s,)
            text = f"{'a':100000}"
            tl.static_assert(len(t) == 4096 and len(text) == 100000)
            tl.static_assert(round(15, -10 ** 9) == 0 and round(15, -1) == 20 and round(1.25, 1) == 1.2)
        """,
        "*i32, i32",
    )


@triton.constexpr_function
def nested(levels):
    result = ()
    for _ in range(levels):
        result = (result, result)
    return result


@triton.jit
def counts(x, N: tl.constexpr):
    tl.store(x, len(nested(N)))


def test_results_of_the_authors_own_python():
    x = np.zeros(1, np.int32)
    counts[1](x, N=5, backend="interp")
    assert x[0] == 2
    with pytest.raises(
        CompileError, match=r"MT212\]: `nested\(N\)` cannot be computed: the tuple has more than 4096 items"
    ):
        counts[1](x, N=100, backend="interp")
