"""Which tokenizer a language gets; made on first use, since importing a lexer takes milliseconds."""

from __future__ import annotations

from functools import cache

from explorer.highlight.base import Tokenizer
from explorer.highlight.listing import REPORT, SASS, SSA, TREE, PlainTokenizer, RegexTokenizer


@cache
def tokenizer(language: str) -> Tokenizer:
    """The tokenizer for a stage's `language`; unknown languages are shown plain."""
    own = {"ssa": SSA, "layout": SSA, "tree": TREE, "sass": SASS, "report": REPORT}
    if language in own:
        return RegexTokenizer(own[language])
    return _pygments(language) or PlainTokenizer()


def _pygments(language: str) -> Tokenizer | None:
    from explorer.highlight.lexers import C_COMMENTS, PYTHON_STRINGS, PygmentsTokenizer

    if language == "python":
        from pygments.lexers.python import PythonLexer

        return PygmentsTokenizer(PythonLexer, PYTHON_STRINGS)
    if language == "cuda":
        from pygments.lexers.c_like import CudaLexer

        return PygmentsTokenizer(CudaLexer, C_COMMENTS)
    if language == "mlir":
        from mlir_pygments import MLIRLexer

        return PygmentsTokenizer(MLIRLexer)
    if language == "llvm":
        from pygments.lexers.asm import LlvmLexer

        return PygmentsTokenizer(LlvmLexer)
    if language == "ptx":
        from pygments.lexers.ptx import PtxLexer

        return PygmentsTokenizer(PtxLexer)
    if language == "asm":
        from pygments.lexers.asm import GasLexer

        return PygmentsTokenizer(GasLexer)
    return None
