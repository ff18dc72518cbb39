"""The form of what a kernel is compiled for: fields, what is wrong with what they say, and the settings they make."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from explorer.model.configs import ConfigView
from explorer.model.literals import literal, plain_text
from explorer.model.result import ExampleInfo, ParamView
from explorer.model.session import BACKENDS, Session
from explorer.model.settings import CHOICES, WARPS, Settings
from mytriton.descriptors import DESCRIPTOR, parsed
from mytriton.diagnostics import LaunchError
from mytriton.frontend.names import SIGNATURE_TYPES, split_signature
from mytriton.target import CHIPS

#: What a field is about: a runtime parameter's type, a constexpr, a value of the example, the number of a config of
#: `autotune`, or one of `choices`.
Kind = Literal["type", "constexpr", "value", "config", "choice"]
#: The kinds that are one of `choices`.
CHOSEN = ("config", "choice")
_DIVISIBLE = ":16"
_NO_LITERALS = ("inf", "-inf", "nan")
#: In no config, but as the example, or the first of them where that says nothing.
NO_CONFIG = "as it is"


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
    notes: dict[str, str] = dataclasses.field(default_factory=dict)

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
        if self.kind in CHOSEN:
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
        whole = text.startswith(("*", DESCRIPTOR)) or SIGNATURE_TYPES[text].kind == "int"
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
    if text.startswith(DESCRIPTOR):
        try:
            parsed("", text, ())
        except LaunchError as error:
            return str(error).partition("; ")[2]
        return ""
    name, _, known = (part.strip() for part in text.removeprefix("*").partition(":"))
    element = SIGNATURE_TYPES.get(name)
    if element is None:
        near = get_close_matches(name, SIGNATURE_TYPES, 1)
        return f"no type; did you mean {near[0]}?" if near else "no type, such as *fp32, i32 or *bf16"
    if known == "1":
        return "" if element.kind == "int" and text[0] != "*" else "only integers take :1"
    if known not in ("", "16"):
        return "only :16 can follow"
    return "only integers and pointers take :16" if known and element.kind != "int" and text[0] != "*" else ""


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
        self.fields = (
            [*_values(self.settings, example)]
            if session.is_module
            else [
                *_parameters(session, info.params if info is not None else (), known),
                *_values(self.settings, example),
                *_config(self.settings, info.configs if info is not None else ()),
                *_target(self.settings, self.backend, known or ExampleInfo("")),
            ]
        )
        self._configs = info.configs if info is not None else ()
        self._own = {(field.kind, field.name): field.base for field in self.fields}
        self._config = NO_CONFIG
        self._module = session.is_module
        self.settle()

    def settle(self) -> bool:
        """Have the other fields say what the config that was chosen does; whether another one was."""
        chosen = next((f.good for f in self.of("config")), NO_CONFIG)
        if chosen == self._config:
            return False
        self._config = chosen
        said: dict[tuple[str, str], str] = {}
        if chosen != NO_CONFIG:
            config = self._configs[int(chosen)]
            said = {("constexpr", name): plain_text(value) for name, value in config.values.items()}
            said["choice", "num_warps"] = str(config.num_warps)
        for field in self.fields:
            _rebase(field, said.get((field.kind, field.name), self._own[field.kind, field.name]))
        return True

    def follow(self, session: Session) -> bool:
        """Take up what the example says with the values that the form gives it; whether that changes anything."""
        tried, changed, settings = session.tried, False, session.settings
        info = self._known if settings.config is None else None
        asked = session.result.kernel, session.example, settings.values, settings.config
        if self._known is not None and tried is not None and not tried.info.error:
            told = tried.kernel, tried.example, tried.values, tried.config
            info = tried.info if told == asked else info
        for field in (f for f in self.fields if f.kind in ("type", "constexpr")):
            changed |= _rebase(field, _said(info, field.name) if info is not None else "")
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
        if self._module:
            values = {f.name: _plain(f.good) for f in self.of("value") if f.good != f.base}
            return replace(self.settings, values=values), self.backend
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
            config=None if self._config == NO_CONFIG else int(self._config),
            signature="",
            defines={},
        )
        return settings, says["backend"]


def _rebase(field: Field, base: str) -> bool:
    """Have another text as the usual one, if it is known; whether that changes anything."""
    if not base or base == field.base:
        return False
    if not field.differs:
        field.text = field.good = base
    field.base = base
    return True


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


def _config(settings: Settings, configs: Sequence[ConfigView]) -> Iterator[Field]:
    if configs:
        text = NO_CONFIG if settings.config is None else str(settings.config)
        numbers = tuple(map(str, range(len(configs))))
        notes = {number: config.text for number, config in zip(numbers, configs, strict=True)}
        yield Field("config", "config", text, NO_CONFIG, choices=(NO_CONFIG, *numbers), notes=notes)


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
