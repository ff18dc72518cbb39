"""Tokenizers of our own, one expression each, for the listings that Pygments has no lexer for."""

from __future__ import annotations

import re

from explorer.highlight.base import Run, join

_NUMBER = r"(?P<number>(?<![\w%.])-?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|inf\b|nan\b))"

TREE = rf"""(?P<comment>\#.*)|(?P<string>"[^"]*")|{_NUMBER}
    |(?P<keyword>^\s*\w+(?=\s)|\b(?:if|else|for|while|return|in)\b)|(?P<type>\b(?:[iuf]\d+|f8e\w+|bool|bf16|f\d+)\b|\*(?=[a-z]))
    |(?P<function>\b[A-Za-z_]\w*(?=\())"""

SSA = rf"""(?P<comment>(?://|\#).*)|(?P<value>%[\w.]+)|(?P<string>"[^"]*")|{_NUMBER}
    |(?P<type>\b(?:vector|tile|ptr)\b(?=<)|\b(?:[iu](?:1|8|16|32|64)|bool|bf16|f(?:8e4nv|8e5|16|32|64))\b)
    |(?P<keyword>(?:(?<==\s)|(?<=^)|(?<=^\s\s)|(?<=^\s\s\s\s))[a-z_]\w*(?:\.\w+)*)
    |(?P<builtin>\b(?:true|false)\b)|(?P<label>\b[a-z_]\w*(?==))"""

SASS = r"""(?P<comment>//.*|/\*.*?\*/|\#.*|\[[-0-9]{6}\ [^\]]*\])
    |(?P<label>^\s*\.?[A-Za-z_.][\w.$]*:)|(?P<directive>^\s*\.\w[\w.]*)
    |(?P<builtin>@!?U?P[T0-9]\b)|(?P<value>\b(?:U?R(?:Z|\d+)|U?P(?:T|\d)|SR_[\w.]+|B\d+)\b|\bc\[)
    |(?P<keyword>\b[A-Z][A-Z0-9]+(?:\.[A-Z0-9_.]+)*\b)|(?P<number>-?0x[0-9a-fA-F]+|\b-?\d+(?:\.\d+)?\b)"""

#: Stage lists, findings and run reports.
REPORT = r"""(?P<bad>\b(?:FAILED|CRASHED|FAIL)\b|\berror(?:\[\w+\])?(?=:)|\^+)
    |(?P<good>\bPASS\b|(?:(?<=\s)|^)ok(?=\s))
    |(?P<doubtful>\b(?:skipped|stale|warning(?:\[\w+\])?|NOT\sRUN|CRASHED)(?=[\s:]|$))
    |(?P<comment>(?:(?<=\s)|^)(?:no\schange|cached|-|=)(?=\s))|(?P<keyword>^(?:help|reference|note)(?=:))
    |(?P<number>(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]))"""


class RegexTokenizer:
    """Styles what one expression's named groups match; no construct spans lines."""

    carries = False

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern, re.VERBOSE)

    def tokens(self, line: str, state: int = 0) -> list[Run]:
        """The runs of `line`."""
        pieces: list[Run] = []
        at = 0
        for match in self._pattern.finditer(line):
            pieces += [(match.start() - at, ""), (match.end() - match.start(), match.lastgroup or "")]
            at = match.end()
        return join([*pieces, (len(line) - at, "")])

    def carry(self, line: str, state: int) -> int:
        """Always 0."""
        return 0


class PlainTokenizer(RegexTokenizer):
    """No styles at all."""

    def __init__(self) -> None:
        super().__init__(r"(?!)")
