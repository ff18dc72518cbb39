"""The form of what a kernel is compiled for: fields, what is wrong with what they say, and the settings they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from explorer.model.literals import literal
from explorer.model.result import ExampleInfo, ParamView
from explorer.model.session import BACKENDS, Session
from explorer.model.settings import CHOICES, WARPS, Settings
from mytriton.frontend.names import SIGNATURE_TYPES, split_signature
from mytriton.target import CHIPS

#: What a field is about: a runtime parameter's type, a constexpr, a value of the example, or one of `choices`.
Kind = Literal["type", "constexpr", "value", "choice"]
_DIVISIBLE = ":16"
_NO_LITERALS = ("inf", "-inf", "nan")


@dataclass
class Field:
    """One line of the form. `text` is what it says, `base` what it would be if nobody had said anything ("as the
    example says"; '' if that is not known), `good` the last text that can be used."""

    kind: Kind
    name: str
    text: str
    base: str
    good: str = ""
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.good = self.good or self.text

    def say(self, text: str) -> str:
        """Have another text; returns what is wrong with it. An empty one is the base's."""
        self.text = text.strip() or self.base
        problem = self.problem
        if not problem:
            self.good = self.text
        return problem

    @property
    def problem(self) -> str:
        """What is wrong with the text."""
        if self.kind == "choice":
            return "" if self.text in self.choices else f"one of {', '.join(self.choices)}"
        if not self.text:
            return "is not given"
        if self.text == self.base:
            return ""  # also where it is nothing that can be written here, as a tuple of types
        if self.kind == "value" and self.text in _NO_LITERALS:
            return "no Python literal"
        if is_value(self.text) or (self.kind != "type" and self.text in SIGNATURE_TYPES):
            return ""
        if self.kind == "type":
            return _type_problem(self.text)
        if self.text.isidentifier():
            return f'no value; a string is "{self.text}"'
        return "no Python number, string, True, False, None or type"

    @property
    def differs(self) -> bool:
        """Whether it says something else than the example."""
        return self.text != self.base

    @property
    def divisible(self) -> bool | None:
        """Whether the type is known to be divisible by 16; None where that cannot be."""
        if self.kind != "type" or self.problem or is_value(self.text):
            return None
        text = self.text.removesuffix(_DIVISIBLE)
        whole = text.startswith("*") or SIGNATURE_TYPES[text].kind == "int"
        return self.text.endswith(_DIVISIBLE) if whole else None

    def divided(self) -> str:
        """The text with the other hint."""
        text = self.text.removesuffix(_DIVISIBLE)
        return text if text != self.text else text + _DIVISIBLE


def is_value(text: str) -> bool:
    """Whether a text is a Python value as a signature can have it."""
    try:
        literal(text)
    except ValueError:
        return text in _NO_LITERALS
    return True


def _type_problem(text: str) -> str:
    name, _, known = (part.strip() for part in text.removeprefix("*").partition(":"))
    element = SIGNATURE_TYPES.get(name)
    if element is None:
        near = get_close_matches(name, SIGNATURE_TYPES, 1)
        return f"no type; did you mean {near[0]}?" if near else "no type, such as *fp32, i32 or *bf16"
    if known not in ("", "16"):
        return "only :16 can follow"
    return "only integers and pointers take :16" if known and element.kind != "int" and text[0] != "*" else ""


def plain_text(value: Any) -> str:
    """A plain value (see `ExampleInfo`) as it is written."""
    if isinstance(value, dict):
        ((kind, inner),) = value.items()
        if kind == "tuple":
            items = [plain_text(item) for item in inner]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        return str(inner) if kind == "dtype" else plain_text(inner)
    return repr(value)


def _plain(text: str) -> Any:
    """The plain value of a text that `is_value`, or names a type."""
    if text in SIGNATURE_TYPES:
        return {"dtype": text}
    return _told(literal(text))


def _told(value: Any) -> Any:
    return {"tuple": [_told(item) for item in value]} if isinstance(value, tuple) else value


class Form:
    """The fields of the selected kernel and example."""

    def __init__(self, session: Session) -> None:
        info, example = session.kernel_info, session.example_info
        self.settings, self.backend = session.settings, session.backend
        known = example if example is not None and example.described and not example.error else None
        self._known = known
        self.fields = [
            *_parameters(session, info.params if info is not None else (), known),
            *_values(self.settings, example),
            *_target(self.settings, self.backend, known or ExampleInfo("")),
        ]

    def follow(self, session: Session) -> bool:
        """Take up what the example says with the values that the form gives it; whether that changes anything."""
        tried, changed = session.tried, False
        own = tried is None or (tried.kernel, tried.example) != (session.result.kernel, session.example)
        if self._known is None or tried is None or own or tried.values != session.settings.values or tried.info.error:
            info = self._known
        else:
            info = tried.info
        for field in (f for f in self.fields if f.kind in ("type", "constexpr")):
            base = _said(info, field.name) if info is not None else ""
            if base and base != field.base:
                if not field.differs:
                    field.text = field.good = base
                field.base, changed = base, True
        return changed

    def of(self, kind: Kind) -> Iterator[Field]:
        """The fields of a kind."""
        return (field for field in self.fields if field.kind == kind)

    @property
    def problems(self) -> list[Field]:
        """Those that cannot be used."""
        return [field for field in self.fields if field.problem]

    def reset(self) -> None:
        """Everything as the example says."""
        for field in self.fields:
            field.say(field.base)

    def made(self) -> tuple[Settings, str]:
        """The settings and the backend that the fields say; where one cannot be used, what it said before."""
        says = {field.name: field.good for field in self.of("choice")}
        bases = {field.name: field.base for field in self.of("choice")}
        parameters = [field for field in self.fields if field.kind in ("type", "constexpr")]
        said = {field.name: field.good for field in parameters if field.good and field.good != field.base}
        if self._known is None and (said or self.settings.signature or self.settings.types):
            said = {field.name: field.good for field in parameters if field.good}  # or the rest would be guessed
        settings = replace(
            self.settings,
            chip=says["chip"],
            num_warps=int(says["num_warps"]) if says["num_warps"] != bases["num_warps"] else None,
            options={
                name: next(v for v in values if str(v) == says[name])
                for name, values in CHOICES.items()
                if says[name] != bases[name]
            },
            types=said,
            values={f.name: _plain(f.good) for f in self.of("value") if f.good != f.base},
            signature="",
            defines={},
        )
        return settings, says["backend"]


def _said(example: ExampleInfo, name: str) -> str:
    """What an example says of a parameter."""
    return plain_text(example.constexprs[name]) if name in example.constexprs else example.types.get(name, "")


def _parameters(session: Session, params: Sequence[ParamView], known: ExampleInfo | None) -> Iterator[Field]:
    settings, result, info = session.settings, session.result, session.kernel_info
    compiled = split_signature(result.signature) if info is not None and result.kernel == info.name else []
    given = split_signature(settings.signature) if settings.signature.strip() else []
    for at, param in enumerate(params):
        now = compiled[at] if len(compiled) == len(params) else ""
        if known is None:
            base = param.annotation if param.annotation and not param.constexpr else param.default or now
        else:
            base = _said(known, param.name) or param.annotation or param.default
        if param.name in settings.defines:
            text = plain_text(settings.defines[param.name])
        elif given:
            text = given[at] if len(given) == len(params) else now
        else:
            text = settings.types.get(param.name, base or now)
        yield Field("constexpr" if param.constexpr else "type", param.name, text, base)


def _values(settings: Settings, example: ExampleInfo | None) -> Iterator[Field]:
    for name, value in (example.values if example is not None else {}).items():
        yield Field("value", name, plain_text(settings.values.get(name, value)), plain_text(value))


def _target(settings: Settings, backend: str, known: ExampleInfo) -> Iterator[Field]:
    yield Field("choice", "backend", backend, backend, choices=BACKENDS)
    yield Field("choice", "chip", settings.chip, settings.chip, choices=tuple(CHIPS))
    base = known.num_warps or 4
    warps = tuple(map(str, WARPS))
    yield Field("choice", "num_warps", str(settings.num_warps or base), str(base), choices=warps)
    for name, values in CHOICES.items():
        usual = known.options.get(name, values[0])
        texts = tuple(map(str, values))
        yield Field("choice", name, str(settings.options.get(name, usual)), str(usual), choices=texts)
