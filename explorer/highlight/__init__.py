"""Per-line syntax highlighting for the editor and every listing: `tokenizer(language)`, then `Highlighted(lines)`.

A line is tokenised when it is first shown, never the document: a 20,000-line listing opens at the cost of one page.
"""

from __future__ import annotations

from explorer.highlight.base import STYLES, Run, Tokenizer
from explorer.highlight.document import Highlighted
from explorer.highlight.registry import tokenizer

__all__ = ["STYLES", "Highlighted", "Run", "Tokenizer", "tokenizer"]
