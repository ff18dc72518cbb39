"""The values that a line of a listing names, and which of them it defines: one scanner a language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from mytriton.records import dataclass

#: `declares`: the value begins here; `writes`: a variable is set; `binds`: it begins inside the braces that the line
#: opens (a loop's variable, a function's parameters); `reads`: a use.
Role = Literal["declares", "writes", "binds", "reads"]


@dataclass(frozen=True, slots=True)
class Name:
    """A value in a line: its name there, the columns it stands in (from 0), and what the line does with it. `covers`
    are the registers that a wide operand stands for, if there are several."""

    text: str
    start: int
    end: int
    role: Role = "reads"
    covers: tuple[str, ...] = ()

    @property
    def defines(self) -> bool:
        """Whether the value is made or set here."""
        return self.role != "reads"


Scanner = Callable[[str], Iterator[Name]]

_PERCENT = re.compile(r"%[A-Za-z_0-9$][\w$.-]*(?:#\d+)?")
_SSA = re.compile(r"%\w+|(?<![\w%.\"{=])[A-Za-z_]\w*(?![\w(=<])")


def _ssa(line: str) -> Iterator[Name]:
    """Our own listings: `%3 = add %1, n : ...`; the words after ` : ` are types."""
    end = line.find(" : ")
    end = len(line) if end < 0 else end
    body = line.find(" = ")
    opens = line.rstrip().endswith("{")
    if not line.lstrip().startswith("%"):
        body = -1  # no results: `store %1, %2`, or `} do with %3 {`, which declares
    carried = line.find(" with ", max(body, 0), end) if opens else -1
    for match in _SSA.finditer(line, 0, end):
        text, at = match.group(), match.start()
        operation = body + 3 if body >= 0 else len(line) - len(line.lstrip())
        if at < body:
            role: Role = "declares"
        elif at == operation and text[0] != "%":
            continue  # the operation's name
        elif text in _WORDS or (text[0] != "%" and "{" in line[operation:at] and not opens):
            continue
        elif opens and text[0] == "%" and (_INDUCTION.match(line, at) or (at > carried >= 0 and body < 0)):
            role = "binds"
        else:
            role = "reads"
        yield Name(text, at, match.end(), role)


_WORDS = frozenset(("for", "to", "step", "with", "else", "do", "while", "if", "true", "false", "yield", "inf", "nan"))
#: `%13 = 0` within the line of a loop.
_INDUCTION = re.compile(r"%\w+ = ")


def _mlir(line: str) -> Iterator[Name]:
    """`%a, %b = op ...`, `%a:2 = op`; arguments of blocks, functions and loops are `%a: type` or `%a = %b`."""
    head = _RESULTS.match(line)
    results = head.end() if head else 0
    opens, label = line.rstrip().endswith("{"), line.lstrip().startswith("^")
    for match in _PERCENT.finditer(line):
        text, start, end = match.group(), match.start(), match.end()
        after = line[end : end + 3]
        if start < results:
            role: Role = "declares"
        elif label and after.startswith(": "):
            role = "declares"
        elif opens and (after == " = " or (after.startswith(": ") and "func" in line[:start])):
            role = "binds"
        else:
            role = "reads"
        yield Name(text.split("#")[0], start, end, role)


_RESULTS = re.compile(r"\s*%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)* = ")


def _llvm(line: str) -> Iterator[Name]:
    """`%3 = add i32 %1, %2`; a function's parameters are named where it begins."""
    head, function = _LLVM_RESULT.match(line), line.startswith("define ")
    comment = line.find(";")
    for match in _LLVM_VALUE.finditer(line, 0, comment if comment >= 0 else len(line)):
        role: Role = "declares" if (head and match.start() < head.end()) or function else "reads"
        yield Name(match.group(), match.start(), match.end(), role)


_LLVM_RESULT = re.compile(r"\s*%[\w.$-]+ = ")
#: Not the labels of blocks: `label %5`, and the second of each pair of a phi.
_LLVM_VALUE = re.compile(r"(?<!label )%[\w.$-]+(?![\w.$-]| \](?:,|$| ))")


#: Instructions of PTX whose first operand is no destination.
_NO_RESULT = re.compile(r"(?:st|red|bar|barrier|bra|brx|ret|exit|trap|membar|fence|prefetch|call|cp|discard)\b")
_PTX = re.compile(r"\s*(?:@!?(?P<guard>%\w+)\s+)?(?P<opcode>[a-z]\w*(?:[.:]\w+)*)\s+(?P<operands>.*)")


def _ptx(line: str) -> Iterator[Name]:
    """`add.s32 %r3, %r1, %r2;`: the first operand is set, which may be several in braces or two beside a bar."""
    match = _PTX.match(line)
    if match is None:
        return
    start = match.start("operands")
    first = start
    if not _NO_RESULT.match(match["opcode"]):
        first += len(_first(match["operands"]))
    for name in re.finditer(r"%[a-z]+\d+\b(?!>)", line):
        role: Role = "writes" if start <= name.start() < first else "reads"
        yield Name(name.group(), name.start(), name.end(), role)


def _first(operands: str) -> str:
    """The first operand: up to the first comma outside of brackets."""
    depth = 0
    for at, character in enumerate(operands):
        depth += (character in "[{(") - (character in "]})")
        if depth == 0 and character in ",;":
            return operands[:at]
    return operands


_WORD = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*")
_C_KEYWORDS = re.compile(
    r"(?:return|else|if|for|while|do|switch|case|break|continue|goto|sizeof|new|delete|typename|class|struct|"
    r"template|extern|const|constexpr|volatile|static|inline|unsigned|signed|int|float|double|bool|char|"
    r"short|long|void|auto|true|false|__global__|__device__|__shared__|__forceinline__|__launch_bounds__|"
    r"__restrict__|pragma|unroll|asm|alignas|threadIdx|blockIdx|blockDim|gridDim)\Z"
)
#: What stands before a name that is declared: another word or a closing bracket, stars, and a blank.
_TYPE_BEFORE = re.compile(r"(?P<word>[A-Za-z_]\w*)(?:<[^;()]*>)?[*&]* +$")
#: A call, a template, or a type: a name, or stars right after it.
_NO_VALUE_AFTER = re.compile(r"[(*]|<(?![ <=])|&(?!&)| [A-Za-z_]")
_SET = re.compile(r"(?:\[[^=;]*\])?(?:\.\w+)* *(?:[-+*/%&|^]|<<|>>)?=(?!=)")


def _cuda(line: str) -> Iterator[Name]:
    """Variables of C++: `float a[2];` declares, `a[r] = ...` and `++r` set."""
    if line.lstrip().startswith(("#", "template", "//")):
        return
    inside = line.rstrip().endswith("{") or line.rstrip().endswith(");")
    for match in _WORD.finditer(line):
        text, start, end = match.group(), match.start(), match.end()
        if _C_KEYWORDS.match(text) or _NO_VALUE_AFTER.match(line, end):
            continue
        before = _TYPE_BEFORE.search(line, 0, start)
        if before is not None and before["word"] not in ("return", "else", "case", "goto", "new"):
            brackets = line.count("(", 0, start) - line.count(")", 0, start)
            yield Name(text, start, end, "binds" if brackets and inside else "declares")
        elif _SET.match(line, end) or line[start - 2 : start] in ("++", "--") or line[end : end + 2] in ("++", "--"):
            yield Name(text, start, end, "writes")
        else:
            yield Name(text, start, end)


_NODES = ("tuple", "then", "else", "if", "while", "for", "body")
_LEAF = re.compile(r"(?:[├└]─ )(?:\w+: )?(?P<name>[A-Za-z_]\w*)$")
_ASSIGNED = re.compile(r"[├└]─ \(?(?P<names>[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)\)? [-+*/%&|^<>]*=$")


def _tree(line: str) -> Iterator[Name]:
    """Variables of the kernel: `offs =` sets, a leaf reads."""
    if (match := _ASSIGNED.search(line)) is not None:
        for name in re.finditer(r"\w+", match["names"]):
            start = match.start("names") + name.start()
            yield Name(name.group(), start, start + len(name.group()), "writes")
    elif (match := _LEAF.search(line)) is not None and match["name"] not in _NODES:
        yield Name(match["name"], match.start("name"), match.end("name"))


def _nothing(line: str) -> Iterator[Name]:
    yield from ()


def scanner(language: str) -> Scanner:
    """The scanner of a listing's language; one that finds nothing for languages without values."""
    if language == "sass":
        from explorer.model.sass import scan

        return scan
    return _SCANNERS.get(language, _nothing)


_SCANNERS: Mapping[str, Scanner] = {
    "ssa": _ssa, "layout": _ssa, "mlir": _mlir, "llvm": _llvm, "ptx": _ptx, "cuda": _cuda, "tree": _tree,
}  # fmt: skip
