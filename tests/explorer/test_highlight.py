"""Per-line tokenizers: what is marked as what, and what is carried over a line end."""

from __future__ import annotations

import pytest

from explorer.highlight import STYLES, Highlighted, tokenizer


def pieces(language: str, line: str, state: int = 0) -> list[tuple[str, str]]:
    at, out = 0, []
    for length, style in tokenizer(language).tokens(line, state):
        out.append((line[at : at + length], style))
        at += length
    assert at == len(line)
    return out


@pytest.mark.parametrize(
    ("language", "line", "text", "style"),
    [
        ("python", "    a = tl.load(x)  # why", "# why", "comment"),
        ("python", "def add_kernel(x):", "add_kernel", "function"),
        ("ssa", "%3 = add %1, %2 : vector<256 x i32>", "add", "keyword"),
        ("ssa", "%3 = add %1, %2 : vector<256 x i32>", "%3", "value"),
        ("ssa", "store %7, %6", "store", "keyword"),
        ("cuda", 'extern "C" __global__ void k(const float* x) {', "__global__", "directive"),
        ("mlir", "  %5 = arith.cmpi slt, %4, %arg3 : i32", "%arg3", "value"),
        ("llvm", "  %5 = load <4 x float>, ptr %4, align 16", "load", "keyword"),
        ("ptx", "\tld.global.nc.v4.b32 \t{%r9, %r10}, [%rd4];", "ld.global", "keyword"),
        ("sass", "/*0070*/ @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;", "LDG.E.128", "keyword"),
        ("sass", "/*0070*/ @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;", "@!P0", "builtin"),
        ("sass", "/*0070*/ [01---- r2 w- y s05] EXIT ;", "[01---- r2 w- y s05]", "comment"),
        ("unknown", "anything", "anything", ""),
    ],
)
def test_a_piece_of_a_line_has_its_style(language: str, line: str, text: str, style: str) -> None:
    assert (text, style) in pieces(language, line)


@pytest.mark.parametrize("language", ["python", "ssa", "tree", "cuda", "mlir", "llvm", "ptx", "sass", "asm"])
def test_every_character_is_covered_and_styles_are_known(language: str) -> None:
    for line in ("", "   ", 'x = "unclosed', "\tmov %r1, 0x10; // é ×", "@!$%^&*()[]{}<>"):
        assert {style for _, style in pieces(language, line)} <= {"", *STYLES}


def styles_by_line(language: str, text: str) -> list[list[str]]:
    lines = text.split("\n")
    document = Highlighted(tokenizer(language), lines.__getitem__)
    return [[style for _, style in document.tokens(row)] for row in range(len(lines))]


def test_block_constructs_carry_over_lines() -> None:
    assert styles_by_line("cuda", "/* a\nb\nc */ 1")[:2] == [["comment"], ["comment"]]
    assert styles_by_line("cuda", "/* a\nb */ 1;")[1][0] == "comment"
    assert styles_by_line("cuda", '"/*" // /*\n1;')[1][0] == "number"
    assert styles_by_line("python", '"""a\nb\n"""\n1') == [["string"], ["string"], ["string"], ["number"]]
    assert styles_by_line("python", 'x = \'"""\'  # """\n1')[1] == ["number"]


def test_an_edit_changes_what_follows_it() -> None:
    lines = ["x = 1", "y = 2"]
    document = Highlighted(tokenizer("python"), lines.__getitem__)
    assert ("number") in [style for _, style in document.tokens(1)]
    lines[0] = '"""x'
    document.forget(0)
    assert document.tokens(1) == [(5, "string")]
