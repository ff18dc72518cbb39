"""The notation of inline assembly, LLVM's and Triton's: registers by constraints, operands as `$0`, `$1`, `$$` for a
dollar sign (LLVM language reference, "Inline Assembler Expressions"; NVPTX's constraints)."""

from __future__ import annotations

import re
from functools import lru_cache

from mytriton.records import dataclass

#: The bits of a register by its letter, and whether it holds just that many: floats.
WIDTHS = {"h": 16, "c": 16, "r": 32, "l": 64, "f": 32, "d": 64}
EXACT = ("f", "d")

_PLACE = re.compile(r"\$(?:(\$)|(\d+)|\{(\d+)\})?")


class NotationError(ValueError):
    """A sentence about what is wrong with the constraints, or `in_text`."""

    def __init__(self, message: str, in_text: bool = False) -> None:
        super().__init__(message)
        self.in_text = in_text


@dataclass(frozen=True, slots=True)
class Register:
    """An operand: the letter of its constraint. An input that is `tied` shares the register of that output."""

    letter: str
    tied: int | None = None


@dataclass(frozen=True, slots=True)
class Constraints:
    """The operands in order, outputs first, and whether the text changes memory otherwise than it says."""

    outputs: tuple[Register, ...]
    inputs: tuple[Register, ...]
    memory: bool = False


@lru_cache(maxsize=256)
def constraints(text: str) -> Constraints:
    """The constraints of a text such as `=r,=&r,f,0,~{memory}`. Raises `NotationError`."""
    outputs: list[Register] = []
    inputs: list[Register] = []
    memory = False
    for constraint in filter(None, (part.strip() for part in text.split(","))):
        if constraint.startswith("~"):
            if constraint != "~{memory}":
                raise NotationError(f"`{constraint}` is not among what assembly of PTX can change: ~{{memory}}")
            memory = True
        elif constraint.startswith("="):
            if inputs:
                raise NotationError(f"the output `{constraint}` stands after an input")
            outputs.append(Register(_letter(constraint.lstrip("=&"), constraint)))
        elif constraint.isdecimal():
            if int(constraint) >= len(outputs):
                raise NotationError(f"`{constraint}` ties an input to an output that is not there")
            inputs.append(Register(outputs[int(constraint)].letter, int(constraint)))
        else:
            inputs.append(Register(_letter(constraint, constraint)))
    return Constraints(tuple(outputs), tuple(inputs), memory)


def _letter(text: str, constraint: str) -> str:
    if text not in WIDTHS:
        raise NotationError(
            f"`{constraint}` is no constraint of a register: {', '.join(WIDTHS)} are, with = for outputs"
        )
    return text


def pieces(text: str) -> list[str | int]:
    """A text taken apart into what stands between operands, and their numbers. Raises `NotationError`."""
    found: list[str | int] = []
    end = 0
    for place in _PLACE.finditer(text):
        found.append(text[end : place.start()])
        end = place.end()
        dollar, *numbers = place.groups()
        number = numbers[0] or numbers[1]
        if not dollar and number is None:
            message = "a `$` stands before the number of an operand; `$$` is a dollar sign"
            raise NotationError(message, in_text=True)
        found.append("$" if dollar else int(number or 0))
    return [piece for piece in (*found, text[end:]) if piece != ""]


def per_register(bits: int, pack: int) -> int:
    """How many elements of a type one register holds: narrow ones share 32 bits, as far as there are any."""
    return min(max(1, 32 // bits), pack)
