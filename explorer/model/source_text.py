"""A Python file's bytes as the text that is edited, and back: encoding, byte order mark and line ends are kept."""

from __future__ import annotations

import io
import re
import tokenize

from mytriton.records import dataclass

#: What ends a line of Python. Not a form feed or U+2028, at which `str.splitlines` cuts too.
_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Form:
    """How a text stands in its file. `encoding` is Python's name of it ("utf-8-sig" with a byte order mark)."""

    encoding: str = "utf-8"
    newline: str = "\n"


def split_lines(text: str) -> list[str]:
    """The lines of a text; one more than it has line ends."""
    return _LINE_END.split(text)


def decode(data: bytes) -> tuple[str, Form]:
    """The text, with newlines for line ends, and its form; UnicodeError says why there is none."""
    encoding = _declared(data)
    text = data.decode(encoding)
    ends = _LINE_END.findall(text)
    newline = max(("\n", "\r\n", "\r"), key=ends.count)  # a file that mixes them gets one of them when it is saved
    return _LINE_END.sub("\n", text), Form(encoding, newline)


def encode(text: str, form: Form) -> bytes:
    """The bytes of an edited text, which may declare another encoding than it was read in; UnicodeError if one of its
    characters is not in that."""
    encoding = form.encoding if form.encoding == "utf-8-sig" else _declared(text.encode("utf-8", "replace"))
    return text.replace("\n", form.newline).encode(encoding)


def _declared(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "unknown encoding" in error.msg:
            raise UnicodeError(f"{error.msg}; correct the encoding its first line declares") from None
        return "utf-8"  # which the first lines are not: decoding says where
