"""Which tokenizer a language gets; made on first use, since importing a lexer takes milliseconds."""

from __future__ import annotations

from functools import cache

from explorer.highlight import words
from explorer.highlight.base import Tokenizer
from explorer.highlight.listing import REPORT, SASS, SSA, TREE, PlainTokenizer, RegexTokenizer


@cache
def tokenizer(language: str) -> Tokenizer:
    """The tokenizer for a stage's `language`; unknown languages are shown plain."""
    own = {"ssa": SSA, "layout": SSA, "tree": TREE, "sass": SASS, "report": REPORT}
    if language in own:
        return RegexTokenizer(own[language])
    if language in ("python", "cuda"):
        return words.python() if language == "python" else words.cuda()
    return _pygments(language) or PlainTokenizer()


def _pygments(language: str) -> Tokenizer | None:
    from explorer.highlight.lexers import PygmentsTokenizer

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
