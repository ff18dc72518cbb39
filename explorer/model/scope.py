"""What names mean at a place of a kernel file that need not be correct, or complete: it is being typed.

`code` gives a row with what is no code, strings and comments, blanked out by NULs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from explorer.model.editing import indentation
from explorer.model.language import Entry, canonical, first_sentence

#: Rows that a header or a call may go over.
_LONGEST = 60

Code = Callable[[int], str]

_NAME = r"[A-Za-z_]\w*"
_DEF = re.compile(rf"(\s*)(?:async\s+)?def\s+({_NAME})\s*\(")
_TARGETS = re.compile(rf"\s*((?:{_NAME}\s*,\s*)*{_NAME})\s*(?::[^=]*)?(?:[-+*/%&|^@]|//|<<|>>)?=(?!=)")
_LOOP = re.compile(rf"\s*for\s+((?:{_NAME}\s*,\s*)*{_NAME})\s+in\b")


def aliases(lines: Sequence[str], code: Code) -> dict[str, str]:
    """The modules that names of the file stand for, ours under our names: `tl` is `mytriton.language`."""
    found: dict[str, str] = {}
    for row in range(len(lines)):
        if "import" not in lines[row]:
            continue  # most of them: to tell code from text takes longer
        line = code(row).strip()
        if line.startswith("import "):
            for item in line[7:].split(","):
                path, _, name = (part.strip() for part in item.partition(" as "))
                found[name or path.split(".")[0]] = path if name else path.split(".")[0]
        elif match := re.match(r"from\s+([\w.]+)\s+import\s+(.+)", line):
            for item in match[2].strip("()").split(","):
                path, _, name = (part.strip() for part in item.partition(" as "))
                if path:
                    found[name or path] = f"{match[1]}.{path}"
    return {name: canonical(path) for name, path in found.items() if re.fullmatch(_NAME, name)}


def header(code: Code, row: int, rows: int) -> tuple[str, int]:
    """The text from the `def` in `row` to the end of its parameters, and the row after it."""
    text, depth = "", 0
    for at in range(row, min(rows, row + _LONGEST)):
        line = code(at).replace("\0", "0")
        depth += _depth(line)
        text += line + "\n"
        if depth <= 0:
            return text, at + 1
    return code(row), row + 1  # its end is not written yet


def _depth(line: str) -> int:
    return sum((c in "([{") - (c in ")]}") for c in line)


def parameters(text: str) -> list[tuple[str, str]]:
    """Names and annotations of the parameters in a header, as far as it can be read."""
    try:
        node = ast.parse(text.strip().rstrip(":") + ": pass").body[0]
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    except (SyntaxError, AssertionError, IndexError):
        inside = text.partition("(")[2]
        return [(name, "") for name in re.findall(rf"(?:^|,)\s*\**({_NAME})", inside)]
    arguments = node.args
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [(a.arg, ast.unparse(a.annotation) if a.annotation is not None else "") for a in found]


def enclosing(lines: Sequence[str], code: Code, row: int, column: int) -> int | None:
    """The row of the `def` that a place is in the body of."""
    level = len(indentation(lines[row])) if lines[row].strip() else column
    for at in range(row - 1, -1, -1):
        match = _DEF.match(code(at))
        if match is not None and len(match[1]) < level:
            return at
        if match is not None:
            level = min(level, len(match[1]))
        elif code(at).strip("\0 ") and not code(at)[0].isspace() and not code(at).startswith((")", "\0")):
            return None  # the text at the margin ended the function before
    return None


def local_names(lines: Sequence[str], code: Code, row: int, column: int) -> list[Entry]:
    """The parameters of the function around a place, and what is assigned in it above."""
    start = enclosing(lines, code, row, column)
    if start is None:
        return []
    text, body = header(code, start, len(lines))
    found = {name: Entry(name, "parameter", f"{name}: {note}" if note else name) for name, note in parameters(text)}
    depth = 0
    for at in range(body, row):
        line = code(at)
        if depth <= 0:
            match = _TARGETS.match(line) or _LOOP.match(line)
            for name in re.findall(_NAME, match[1]) if match is not None else ():
                found.setdefault(name, Entry(name, "local", lines[at].strip()))
        depth += _depth(line)
    return list(found.values())


def module_names(lines: Sequence[str], code: Code) -> list[Entry]:
    """The functions of the file that kernels may call, its constants, and what it imports of ours."""
    found: dict[str, Entry] = {}
    decorated = ""
    for row in range(len(lines)):
        if not lines[row] or lines[row][0].isspace():
            continue
        line = code(row)
        if line.startswith("@"):
            decorated += line
            continue
        if (match := _DEF.match(line)) is not None and not match[1]:
            if re.search(r"\bjit\b|\bconstexpr_function\b", decorated):
                text, body = header(code, row, len(lines))
                names = ", ".join(name for name, _ in parameters(text))
                found[match[2]] = Entry(match[2], "helper", f"{match[2]}({names})", _docstring(lines, body))
        elif (match := _TARGETS.match(line)) is not None:
            for name in re.findall(_NAME, match[1]):
                found[name] = Entry(name, "global", lines[row].strip())
        decorated = ""
    for name, path in aliases(lines, code).items():
        if path.startswith("mytriton"):
            found[name] = Entry(name, "module", f"{name} = {path}")
    return list(found.values())


def _docstring(lines: Sequence[str], row: int) -> str:
    match = re.match(r'\s*(?:"""|\'\'\'|"|\')(.*)', lines[row]) if row < len(lines) else None
    if match is None:
        return ""
    text = match[1]
    while not re.search(r'"""|\'\'\'|["\']\s*$', text) and row + 1 < len(lines) and len(text) < 400:
        row += 1
        text += " " + lines[row].strip()
    return first_sentence(re.split(r'"""|\'\'\'|["\']\s*$', text)[0])
