"""Errors as part of the interface: what is wrong, where, and what to do.

A `Diagnostic` is plain data (it crosses process boundaries); `CompileError` carries one or more of them together with
the source units they point into, and prints them with carets. Compiler frames never appear in a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mytriton.source import SourceUnit, Span

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains the first, such as where a name was bound."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` is stable (`MT…`), `hint` says what to do, `stage` is the stage that found it."""

    code: str
    message: str
    span: Span | None = None
    severity: Severity = "error"
    labels: tuple[Label, ...] = ()
    hint: str = ""
    stage: str = ""


def location(span: Span | None, units: Sequence[SourceUnit]) -> str:
    """`file:line:column` of a span, or '' if it is unknown."""
    if span is None or span.unit >= len(units):
        return ""
    unit = units[span.unit]
    return f"{unit.path}:{unit.file_line(span)}:{span.column}"


def _excerpt(span: Span, units: Sequence[SourceUnit], text: str = "") -> list[str]:
    unit = units[span.unit]
    line = unit.line(span.line)
    end = span.end_column if span.end_line == span.line else len(line) + 1
    number = str(unit.file_line(span))
    # A tab before the caret must stay a tab, or the caret lands elsewhere than under its character.
    pad = "".join(c if c == "\t" else " " for c in line[: span.column - 1])
    caret = "^" * max(1, end - span.column)
    return [f"{number} | {line}", f"{' ' * len(number)} | {pad}{caret}{' ' + text if text else ''}"]


def render(diagnostic: Diagnostic, units: Sequence[SourceUnit]) -> str:
    """The diagnostic as text: position, message, source line with carets, labels, call sites and hint."""
    where = location(diagnostic.span, units)
    head = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"
    out = [f"{where}: {head}" if where else head]
    if diagnostic.span is not None and where:
        out += _excerpt(diagnostic.span, units)
        site = diagnostic.span.call_site
        while site is not None:
            out += [f"called from {location(site, units)}", *_excerpt(site, units)]
            site = site.call_site
    for label in diagnostic.labels:
        out += [f"{location(label.span, units)}: {label.text}", *_excerpt(label.span, units)]
    if diagnostic.hint:
        out.append(f"help: {diagnostic.hint}")
    return "\n".join(out)


class MytritonError(Exception):
    """Base of every error this package raises on purpose."""


class CompileError(MytritonError):
    """A kernel cannot be compiled; `diagnostics` says why (all that were found, not only the first)."""

    def __init__(self, diagnostics: Sequence[Diagnostic], units: Sequence[SourceUnit] = ()) -> None:
        self.diagnostics = tuple(diagnostics)
        self.units = tuple(units)
        super().__init__("\n".join(render(d, self.units) for d in self.diagnostics))

    def __reduce__(self) -> tuple[type[CompileError], tuple[object, ...]]:
        return type(self), (self.diagnostics, self.units)


class LaunchError(MytritonError):
    """A compiled kernel cannot be launched with these arguments, this grid or this device."""


class Stopped(LaunchError):
    """A launch that was ended by its kernel: an access outside of its array, or an assertion that does not hold, at
    `span` of the sources `units`."""

    def __init__(self, message: str, span: Span | None, units: Sequence[SourceUnit]) -> None:
        self.span, self.units = span, tuple(units)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Stopped], tuple[object, ...]]:
        return type(self), (str(self), self.span, self.units)


class OutOfResources(LaunchError):
    """The device has too few registers or too little shared memory for one program of the kernel."""


class OptionError(LaunchError, ValueError):
    """An option of a launch or `Target` has a value that there is not; the message says which there are."""


class BackendUnavailable(MytritonError):
    """The backend cannot run on this machine; the message is the reason and what to install."""


class InternalError(MytritonError):
    """A fault of ours: a broken invariant inside the compiler. The kernel may be fine; please report it."""
