"""What lowering one kernel finds, the words its messages are made of, and the compile-time values it asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mytriton.diagnostics import Diagnostic
from mytriton.frontend.kernel import MISSING, Kernel, Unresolved, is_kernel
from mytriton.frontend.tree import Attribute, Call, Literal, Name, Subscript
from mytriton.frontend.values import Known, Method, Mistake, Operand, Tuple, Window, is_number
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import BlockType, PointerType, ScalarType


def _kind(value: Any) -> str:
    if is_kernel(value):
        return "@jit function"
    return "function" if callable(value) and not isinstance(value, type) else type(value).__name__


class Findings:
    """The diagnostics of one kernel so far. `kernel` is the function that is lowered: the kernel, or a helper it calls;
    `units` are the sources of all of them."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.units = [kernel.unit]
        #: The names that the author gave to values.
        self.names: dict[Value, str] = {}
        #: What to do where certain values are not constexprs, although one might take them for such.
        self.hints_on: dict[Value, str] = {}
        #: Whether what is lowered is a function of constexprs.
        self.compile_time = False
        #: Values that are positive at every launch.
        self.positive: set[Value] = set()
        self.diagnostics: list[Diagnostic] = []
        self._reported: set[tuple[str, Span | None]] = set()
        self._lines: dict[int, list[str]] = {}

    # --- findings ---

    def report(self, diagnostic: Diagnostic) -> None:
        """Keep a finding; an unrolled loop, and a helper that is called often, report each one once."""
        span = diagnostic.span
        code = diagnostic.message if diagnostic.severity == "note" else diagnostic.code
        key = (code, span if span is None or span.call_site is None else replace(span, call_site=None))
        if key not in self._reported:
            self._reported.add(key)
            self.diagnostics.append(diagnostic)

    def warn(self, code: str, message: str, span: Span, hint: str) -> None:
        """Keep a warning."""
        self.report(Diagnostic(code, message, span, "warning", hint=hint, stage="ssa"))

    def assumed(self, name: str, value: Any, span: Span) -> Any:
        """The value of an outside name, also of one that depends on what is not known here, with a warning. Functions
        of constexprs may call ordinary ones."""
        if isinstance(value, Unresolved) and value.helper is not None and self.compile_time:
            return value.helper
        if not isinstance(value, Unresolved) or value.otherwise is MISSING:
            return value
        message = f"the value of `{name}` is not known: {value.reason}; here it is what it is if that does not hold"
        self.warn("MT293", message, span, value.hint)
        return value.otherwise

    # --- words for messages ---

    def text(self, span: Span) -> str:
        """The author's text of an expression, shortened to what fits a message."""
        # Kept: every attribute asks for its text, and splitting the kernel for each took longer than all the rest.
        lines = self._lines.get(span.unit)
        if lines is None:
            lines = self._lines[span.unit] = self.units[span.unit].text.split("\n")
        line = lines[span.line - 1]
        found = line[span.column - 1 : span.end_column - 1 if span.end_line == span.line else None]
        return found if len(found) <= 40 else found[:37] + "..."

    def receiver(self, operand: Operand) -> str:
        """The author's text as it stands before `.to(...)`."""
        text = self.text(operand.span)
        return text if isinstance(operand.expr, (Name, Call, Attribute, Subscript)) else f"({text})"

    def describe(self, operand: Operand) -> str:
        """`offs` (vector<256 x i32>): the author's name for a value and what it is."""
        text = self.text(operand.span)
        match operand.item:
            case Value(type=type_):
                return f"`{text}` ({type_})"
            case Known(value=value) if isinstance(operand.expr, Literal):
                return f"{value!r}"
            case Known(value=value) if is_number(value) or value is None or isinstance(value, str):
                return f"`{text}` ({value!r})"
            case Known(value=ScalarType() | PointerType() | BlockType()):
                return f"`{text}` (a dtype)"
            case Known(value=value):
                return f"`{text}` (a {_kind(value)})"
            case Tuple():
                return f"`{text}` (a tuple)"
            case Window():
                return f"`{text}` ({operand.item})"
        return f"`{text}`"

    # --- what to do ---

    def number_of(self, operand: Operand) -> str:
        """How to get a number from what is none."""
        text = self.text(operand.span)
        match operand.item:
            case Method():
                return "call it"
            case Tuple():
                return f"take one of its items, as `{text}[0]`, or unpack it"
            case Window():
                return f"load the block: {text}.load(offsets)" if operand.item.is_descriptor else f"tl.load({text})"
            case Known(value=None):
                if isinstance(operand.expr, Call):
                    return "a function without `return value` gives None"
                if isinstance(operand.expr, Literal):
                    return "whether something is None is asked with `is None`"
                return f"where it may be None, ask first: `if {text} is not None:`"
            case Known(value=ScalarType() | PointerType() | BlockType()):
                return f"convert a value to the dtype with x.to({text})"
            case Known(value=str()):
                return "strings are for names and messages: compare them with == and !="
            case Known(value=value) if callable(value) or is_kernel(value):
                return f"call it: {text}(...)"
        return ""

    def whole(self, operand: Operand) -> str:
        """How to get an integer from a float that bits are asked of."""
        return f"convert it with .to(tl.int32), or compare it, as in `{self.text(operand.span)} != 0`"

    # --- compile-time values ---

    def known(self, operand: Operand, what: str) -> Any:
        """The compile-time value of an operand; `what` says in the message which value had to be one."""
        item = operand.item
        if isinstance(item, Known):
            return item.value
        if isinstance(item, Tuple):
            return tuple(self.known(Operand(i, operand.expr), what) for i in item.items)
        name = self.text(operand.span)
        param = next((p for p in self.kernel.params if p.name == name), None)
        hint = "use constexpr parameters and numbers"
        if param is not None and param.is_constexpr:
            hint = f"`{self.kernel.name}` gets a run-time value for it: pass a constexpr"
        elif param is not None:
            hint = f"declare the parameter as `{name}: tl.constexpr`"
        hint = self.hints_on.get(item, hint) if isinstance(item, Value) else hint
        raise Mistake("MT210", f"{what} must be a constexpr, but {self.describe(operand)} is not", operand.span, hint)

    def says_constexpr(self, operand: Operand, what: str) -> bool:
        """Whether a value that is declared a constexpr is one. A run-time value is taken for what it is, as in Triton,
        with a warning."""
        try:
            self.known(operand, what)
        except Mistake:
            message = f"{what} is no constexpr: {self.describe(operand)} is computed at run time"
            self.warn("MT292", message, operand.span, "leave out `tl.constexpr` there, or give it a constexpr")
            return False
        return True

    def flag(self, operand: Operand | None, name: str) -> bool:
        """Whether a compile-time argument is given and true."""
        return operand is not None and bool(self.known(operand, f"`{name}`"))

    def known_int(self, operand: Operand, what: str) -> int:
        """A compile-time integer."""
        value = self.known(operand, what)
        if isinstance(value, bool) or not isinstance(value, int):
            whole = isinstance(value, float) and value.is_integer()
            hint = f"write {int(value)}" if whole else "give it an integer: a number or an integer constexpr"
            raise Mistake("MT211", f"{what} must be an integer, got {self.describe(operand)}", operand.span, hint)
        return value

    def dtype(self, operand: Operand) -> ScalarType:
        """A compile-time type of numbers."""
        value = self.element_type(operand)
        if not isinstance(value, ScalarType):
            hint = f"the type of what it points to is {self.text(operand.span)}.element_ty"
            raise Mistake(
                "MT211", f"a dtype of numbers is needed here, got {self.describe(operand)}", operand.span, hint
            )
        return value

    def element_type(self, operand: Operand) -> ScalarType | PointerType:
        """A compile-time type of numbers or pointers."""
        value = self.known(operand, "a dtype")
        if not isinstance(value, (ScalarType, PointerType)):
            hint = "use tl.float32, float16, bfloat16, float64, float8e5, int8 to int64, uint8 to uint64 or int1 of tl"
            raise Mistake("MT211", f"a dtype is needed here, got {self.describe(operand)}", operand.span, hint)
        return value
