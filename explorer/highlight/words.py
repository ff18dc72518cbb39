"""Tokenizers of our own for the languages of which most is words: the kernel's Python, and CUDA C++.

Pygments knows both, but takes 60 ms to load its two lexers, and several times as long for a line.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping

from explorer.highlight.base import Run, join
from explorer.highlight.block import C_COMMENTS, PYTHON_STRINGS, Block

_STRING = r"""\"\"\"(?:\\.|(?!\"\"\").)*(?:\"\"\"|\\?$)|'''(?:\\.|(?!''').)*(?:'''|\\?$)
    |"(?:\\.|[^"\\])*(?:"|\\?$)|'(?:\\.|[^'\\])*(?:'|\\?$)"""

_PYTHON = rf"""(?P<comment>\#.*)|(?P<formatted>(?i:[ft]r?|r[ft])(?:{_STRING}))|(?P<string>(?i:[bu]r?|rb?)?(?:{_STRING}))
    |(?P<keyword>^\s*(?:match|case)\b(?=\s+[^\s=:,;.)\]^&|@~].*:\s*(?:\#.*)?$))
    |(?P<function>(?<=def\ )\s*\w+|(?<=class\ )\s*\w+)|(?P<directive>@[^\W\d]\w*)|(?P<plain>\.\s*[^\W\d]\w*)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?[jJ]?)"""
_PYTHON_WORDS = {
    **{name: "builtin" for name in dir(builtins) if name.islower() and not name.startswith("_")},
    **dict.fromkeys(keyword.kwlist, "keyword"),
    **dict.fromkeys(["True", "False", "None", "self", "cls", "Ellipsis", "NotImplemented"], "builtin"),
    **dict.fromkeys(["__doc__", "__file__", "__name__"], "value"),
}
#: An expression in braces, of a string that is formatted.
_FIELD = re.compile(r"\{\{|\{(?P<field>[^{}:!]+)")

_CUDA = r"""(?P<comment>//.*|/\*.*?(?:\*/|$))|(?P<directive>^\s*\#.*)
    |(?P<string>"(?:\\.|[^"\\])*(?:"|\\?$)|'(?:\\.|[^'\\])*(?:'|\\?$))
    |(?P<function>[^\W\d]\w*(?=\([^{}()]*\)\s*\{\s*$))|(?P<word>[^\W\d]\w*)
    |(?P<number>-?(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)[uUlLfF]*)"""
_CUDA_WORDS = {
    word: style
    for style, words in {
        "keyword": "alignas asm auto break case class const constexpr continue default do else enum extern for goto if"
        " namespace operator private public register return sizeof static struct switch template this typedef typename"
        " union using volatile while",
        "type": "bool char double float int long short signed unsigned void dim3"
        " __device__ __shared__ __constant__ __restrict__",
        "directive": "inline __forceinline__ __global__ __host__ __noinline__",
        "builtin": "blockIdx blockDim gridDim threadIdx warpSize true false nullptr",
        "function": "__syncthreads __syncthreads_and __syncthreads_or __threadfence __threadfence_block",
    }.items()
    for word in words.split()
}
_CUDA_WORDS |= {
    f"{sign}{name}{n}": "type"
    for name in ("char", "short", "int", "long", "longlong")
    for sign in ("", "u")
    for n in "1234"
}
_CUDA_WORDS |= {f"{name}{n}": "type" for name in ("float", "double") for n in "1234"}


class WordTokenizer:
    """Styles what the named groups of an expression match, words by a table, and what `block` says in between."""

    carries = True

    def __init__(self, pattern: str, words: Mapping[str, str], block: Block) -> None:
        self._pattern = re.compile(pattern, re.VERBOSE)
        self._words = words
        self._block = block

    def tokens(self, line: str, state: int = 0) -> list[Run]:
        """The runs of `line`."""
        if not state:
            return join([*self._runs(line, 0)])
        end = self._block.end(line, state)
        at = len(line) if end is None else end
        return join([(at, self._block.style), *self._runs(line, at)])

    def _runs(self, line: str, at: int) -> Iterator[Run]:
        for match in self._pattern.finditer(line, at):
            start, end = match.span()
            yield start - at, ""
            kind = match.lastgroup or ""
            if kind == "formatted":
                for field in _FIELD.finditer(line, start, end):
                    if field["field"]:
                        yield field.start("field") - start, "string"
                        yield from self._runs(line[: field.end()], field.start("field"))
                        start = field.end()
                kind = "string"
            elif kind in ("word", "function"):
                known = self._words.get(match[0], "")
                kind = known if kind == "word" or known == "keyword" else kind
            elif kind == "plain":
                kind = ""
            yield end - start, kind
            at = end
        yield len(line) - at, ""

    def carry(self, line: str, state: int) -> int:
        """The state after `line`."""
        return self._block.after(line, state)


def python() -> WordTokenizer:
    """For the source."""
    return WordTokenizer(_PYTHON, _PYTHON_WORDS, PYTHON_STRINGS)


def cuda() -> WordTokenizer:
    """For CUDA C++."""
    return WordTokenizer(_CUDA, _CUDA_WORDS, C_COMMENTS)
