"""Which types and constexprs a kernel is compiled for: -D, the signature, the example, annotations and defaults."""

from __future__ import annotations

import pytest

from explorer.engine import plain
from explorer.engine.arguments import choose, guess, signature_text
from explorer.engine.reading import changed_outside, read
from explorer.model.result import ExampleInfo
from mytriton import types
from mytriton.diagnostics import LaunchError
from mytriton.frontend.kernel import MISSING
from mytriton.language import constexpr

TEXT = """\
import mytriton
import mytriton.language as tl

SIZE = 3

@mytriton.jit
def k(x, n, B: tl.constexpr, FLAG: tl.constexpr = True):
    tl.store(x + tl.arange(0, B), n)

def helper(n):
    return n
"""
KERNEL = read(TEXT, "k.py").kernels[0]
EXAMPLE = ExampleInfo("e", {"x": "*fp32:16", "n": "i32"}, {"B": 64, "FLAG": False})


@pytest.mark.parametrize(
    ("defines", "signature", "example", "chosen"),
    [
        ({}, "", EXAMPLE, "*fp32:16, i32, 64, False"),
        ({"B": 8}, "", EXAMPLE, "*fp32:16, i32, 8, False"),
        ({}, "*fp16, i64, 32", None, "*fp16, i64, 32, True"),
        ({}, "*fp16, i64, 32, False", EXAMPLE, "*fp16, i64, 32, False"),
        ({"B": 8}, "*fp16, i64, 32", EXAMPLE, "*fp16, i64, 8, True"),
        ({}, "*fp16, i64", EXAMPLE, "*fp16, i64, 64, False"),
        ({"n": 7}, "", EXAMPLE, "*fp32:16, 7, 64, False"),
    ],
)
def test_rank(defines: dict[str, object], signature: str, example: ExampleInfo | None, chosen: str) -> None:
    specialization = choose(KERNEL, defines, signature, example)
    assert signature_text(KERNEL, specialization) == chosen
    assert signature_text(KERNEL, choose(KERNEL, {}, chosen, None)) == chosen  # what is printed can be given


@pytest.mark.parametrize(
    ("types", "defines", "example", "chosen"),
    [
        ({"x": "*bf16"}, {}, EXAMPLE, "*bf16, i32, 64, False"),
        ({"n": "7", "B": "128", "FLAG": "fp32"}, {}, EXAMPLE, "*fp32:16, 7, 128, fp32"),
        ({"B": "128", "gone": "i32"}, {"B": {"tuple": [1, 2]}}, EXAMPLE, "*fp32:16, i32, (1, 2), False"),
        ({"B": "inf"}, {}, EXAMPLE, "*fp32:16, i32, inf, False"),
        ({"x": "*fp16", "n": "i64", "B": "8"}, {}, None, "*fp16, i64, 8, True"),
        ({"x": "*fp16", "n": "i64", "B": "8"}, {}, ExampleInfo("e", error="it broke"), "*fp16, i64, 8, True"),
    ],
)
def test_types_by_name(
    types: dict[str, str], defines: dict[str, object], example: ExampleInfo | None, chosen: str
) -> None:
    assert signature_text(KERNEL, choose(KERNEL, defines, "", example, types)) == chosen


def test_types_by_name_that_do_not_suffice_are_completed_by_a_guess() -> None:
    with pytest.raises(LaunchError, match="the parameter `x` of `k` is not given"):
        choose(KERNEL, {}, "", None, {"n": "i64"})
    assert signature_text(KERNEL, guess(KERNEL, {}, {"n": "i64"})) == "*fp32:16, i64, 16, True"


def test_nothing_known() -> None:
    with pytest.raises(LaunchError, match="the parameter `x` of `k` is not given; give its type, as in --signature"):
        choose(KERNEL, {}, "", None)
    with pytest.raises(LaunchError, match="the example e gives no types: it broke"):
        choose(KERNEL, {}, "", ExampleInfo("e", error="it broke"))


@pytest.mark.parametrize("value", [1, 2.5, "s", None, True, types.bf16, (1, (types.f32, None)), constexpr(3)])
def test_values_between_processes(value: object) -> None:
    back = plain.from_plain(plain.to_plain(value))
    if isinstance(value, constexpr):
        assert isinstance(back, constexpr) and back.value == value.value
    else:
        assert back == value and type(back) is type(value)


def test_values_that_stay() -> None:
    assert plain.to_plain([1]) is MISSING
    assert plain.to_plain((1, object())) is MISSING


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("SIZE = 3", "SIZE = 4", False),
        ("SIZE = 3", "\n# a comment\nSIZE = 3", False),
        ("SIZE = 3", "SIZE = tl.constexpr(4)", False),
        ("x + tl.arange", "x + 1 + tl.arange", False),
        ("SIZE = 3", "SIZE = int('3')", True),
        ("return n", "return n + 1", True),
        ("import mytriton\n", "import mytriton\nimport math\n", True),
    ],
)
def test_what_only_executing_can_tell(old: str, new: str, changed: bool) -> None:
    text = TEXT.replace(old, new, 1)
    assert changed_outside(TEXT, text, read(text, "k.py")) is changed


def test_a_kernel_made_by_a_function_changes_with_it() -> None:
    """It is made anew only by executing the function."""
    text = TEXT + "\n\ndef make():\n    @mytriton.jit\n    def inner(x):\n        tl.store(x, 1)\n\n    return inner\n"
    edited = text.replace("tl.store(x, 1)", "tl.store(x, 2)")
    assert changed_outside(text, edited, read(edited, "k.py"))
