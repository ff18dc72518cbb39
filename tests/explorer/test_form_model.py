"""The form without a screen: what its fields say, what is wrong with it, and what it makes of the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.engine.messages import CompileStarted, Described, ModuleRead
from explorer.model.configs import ConfigView
from explorer.model.form import Field, Form, plain_text
from explorer.model.result import ExampleInfo, KernelInfo, ModuleInfo, ParamView
from explorer.model.session import Session
from explorer.model.settings import Settings
from mytriton.frontend.names import split_signature

EXAMPLE = ExampleInfo(
    "case(n=100, dtype='a')",
    {"x": "*fp32:16", "n": "i32"},
    {"B": 64, "T": {"tuple": [1, {"dtype": "fp16"}]}},
    (2,),
    2,
    values={"n": 100, "dtype": "a"},
    options={"enable_fp_fusion": False},
)
PARAMS = (ParamView("x"), ParamView("n"), ParamView("B", True), ParamView("T", True, "None"))


def session(example: ExampleInfo | None = EXAMPLE, compiled: str = "", **settings: Any) -> Session:
    made = Session(Settings("k.py", **settings), "text")
    kernel = KernelInfo("k", 1, PARAMS, (example,) if example is not None else ())
    made.handle(ModuleRead(0, ModuleInfo("k.py", (kernel,), executed=True)))
    if compiled:
        made.handle(CompileStarted(0, "cuda", "k", ("source", "tree"), compiled))
    return made


def says(form: Form) -> dict[str, tuple[str, str]]:
    return {f"{field.kind} {field.name}": (field.text, field.base) for field in form.fields}


def test_it_says_what_the_example_says() -> None:
    form = Form(session())
    assert says(form) == {
        "type x": ("*fp32:16", "*fp32:16"),
        "type n": ("i32", "i32"),
        "constexpr B": ("64", "64"),
        "constexpr T": ("(1, fp16)", "(1, fp16)"),
        "value n": ("100", "100"),
        "value dtype": ("'a'", "'a'"),
        "choice backend": ("cuda", "cuda"),
        "choice chip": ("sm_90", "sm_90"),
        "choice num_warps": ("2", "2"),
        "choice enable_fp_fusion": ("False", "False"),
        "choice form": ("tuned", "tuned"),
        "choice abi": ("pointer", "pointer"),
        "choice num_stages": ("3", "3"),
        "choice line_info": ("False", "False"),
    }
    assert form.made() == (Settings("k.py"), "cuda"), "nothing of its own"


def field(form: Form, name: str, kind: str = "") -> Field:
    return next(f for f in form.fields if f.name == name and kind in ("", f.kind))


def test_what_differs_goes_into_the_settings() -> None:
    form = Form(session())
    for name, kind, text in (
        ("x", "type", "*bf16"),
        ("n", "type", "7"),
        ("B", "", "128"),
        ("n", "value", "4096"),
        ("chip", "", "sm_80"),
        ("num_warps", "", "8"),
        ("enable_fp_fusion", "", "True"),
        ("abi", "", "memref"),
        ("backend", "", "mlir"),
    ):
        assert field(form, name, kind).say(text) == ""
    settings, backend = form.made()
    assert backend == "mlir"
    assert settings == Settings(
        "k.py",
        chip="sm_80",
        num_warps=8,
        types={"x": "*bf16", "n": "7", "B": "128"},
        values={"n": 4096},
        options={"enable_fp_fusion": True, "abi": "memref"},
    )
    again = Form(session(**{f: getattr(settings, f) for f in ("chip", "num_warps", "types", "values", "options")}))
    assert {name: text for name, (text, base) in says(again).items() if text != base} == {
        "type x": "*bf16",
        "type n": "7",
        "constexpr B": "128",
        "value n": "4096",
        "choice num_warps": "8",
        "choice enable_fp_fusion": "True",
        "choice abi": "memref",
    }
    again.reset()
    assert again.made()[0] == Settings("k.py", chip="sm_80")


def test_the_command_line_fills_it() -> None:
    form = Form(session(num_warps=8, chip="sm_86", defines={"B": 256}, signature="*fp16, i64, 1, 2"))
    assert [f.text for f in form.fields[:4]] == ["*fp16", "i64", "256", "2"]
    settings, _ = form.made()
    assert (settings.num_warps, settings.chip, settings.signature, settings.defines) == (8, "sm_86", "", {})
    assert settings.types == {"x": "*fp16", "n": "i64", "B": "256", "T": "2"}


def test_without_an_example_it_says_what_is_compiled_for() -> None:
    form = Form(session(None, compiled="*fp32:16, i32, 16, (1, 2)"))
    says = [("*fp32:16", "*fp32:16"), ("i32", "i32"), ("16", "16"), ("None", "None")]
    assert [(f.text, f.base) for f in form.fields[:4]] == says
    assert form.made()[0].types == {}, "still a guess, with its warning"
    field(form, "n").say("i64")
    assert form.made()[0].types == {"x": "*fp32:16", "n": "i64", "B": "16", "T": "None"}, "no part of it is guessed now"


CONFIGS = (ConfigView({"B": 32}, 4, 3), ConfigView({"B": 128}, 8, 5))


def test_a_config_says_what_others_are_compared_with() -> None:
    made = session()
    assert made.module is not None
    kernels = tuple(replace(kernel, configs=CONFIGS) for kernel in made.module.kernels)
    made.module = replace(made.module, kernels=kernels)
    form = Form(made)
    config = field(form, "config")
    assert (config.text, config.choices) == ("as it is", ("as it is", "0", "1"))
    assert config.notes["1"] == "B: 128, num_warps: 8, num_stages: 5"
    assert not form.settle(), "nothing was chosen"
    field(form, "T").say("None")
    config.say("1")
    assert form.settle()
    now = {
        name: texts for name, texts in says(form).items() if name in ("constexpr B", "constexpr T", "choice num_warps")
    }
    assert now == {"constexpr B": ("128", "128"), "constexpr T": ("None", "(1, fp16)"), "choice num_warps": ("8", "8")}
    settings, _ = form.made()
    assert settings == Settings("k.py", types={"T": "None"}, config=1), "B and warps are the config's"
    made.settings = settings
    made.handle(Described(0, "k", 0, replace(EXAMPLE, constexprs={"B": 128, "T": 7}, num_warps=8), config=1))
    made.results[made.backend] = replace(made.result, kernel="k")
    assert form.follow(made), "what the example computes in that config"
    assert says(form)["constexpr T"] == ("None", "7")
    again = Form(made)
    assert says(again)["constexpr B"] == ("128", "128")
    assert again.made()[0] == settings
    again.reset()
    assert again.settle()
    assert again.made()[0] == Settings("k.py")
    assert says(again)["constexpr B"] == ("64", "64")


def test_an_empty_field_is_as_the_example_says() -> None:
    form = Form(session(types={"B": "128"}))
    assert field(form, "B").say("  ") == ""
    assert (field(form, "B").text, form.made()[0].types) == ("64", {})


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("type", "*fp32", ""),
        ("type", "* bf16 : 16", ""),
        ("type", "None", ""),
        ("type", "3.5", ""),
        ("type", "fp33", "no type; did you mean fp32?"),
        ("type", "*", "no type, such as *fp32, i32 or *bf16"),
        ("type", "fp32:16", "only integers and pointers take :16"),
        ("type", "*fp32:8", "only :16 can follow"),
        ("constexpr", "64", ""),
        ("constexpr", "fp16", ""),
        ("constexpr", "(1, 'a')", ""),
        ("constexpr", "-inf", ""),
        ("constexpr", "fast", 'no value; a string is "fast"'),
        ("constexpr", "1 +", "no Python number, string, True, False, None or type"),
        ("value", "1e3", ""),
        ("value", "inf", "no Python literal"),
        ("choice", "sm_90", "one of a, b"),
    ],
)
def test_what_is_wrong(kind: Any, text: str, problem: str) -> None:
    made = Field(kind, "name", "1", "1", choices=("a", "b"))
    assert made.say(text) == problem
    assert made.good == ("1" if problem else text), "what can be used is kept"


def test_what_cannot_be_used_is_not() -> None:
    form = Form(session(types={"B": "128"}))
    field(form, "B").say("12x")
    assert [f.name for f in form.problems] == ["B"]
    assert form.made()[0].types == {"B": "128"}


def test_the_hint_of_divisibility() -> None:
    made = Field("type", "x", "*fp32:16", "*fp32:16")
    assert (made.divisible, made.divided()) == (True, "*fp32")
    made.say("i64")
    assert (made.divisible, made.divided()) == (False, "i64:16")
    for text in ("fp32", "7", "fp33"):
        made.say(text)
        assert made.divisible is None


def test_texts_of_values_and_entries_of_signatures() -> None:
    values = [1.5, "a", None, {"dtype": "fp32"}, {"constexpr": 3}, {"tuple": [1]}, {"tuple": []}]
    assert [plain_text(value) for value in values] == ["1.5", "'a'", "None", "fp32", "3", "(1,)", "()"]
    assert split_signature("*fp32:16, (1, 2), 'a, b', i32") == ["*fp32:16", "(1, 2)", "'a, b'", "i32"]


def test_a_run_before_a_change_is_stale() -> None:
    made = session()
    made.ran(1)
    from explorer.engine.messages import RunFinished
    from explorer.model.result import RunReport

    made.handle(RunFinished(1, RunReport(True, "cpu")))
    assert not made.report_is_stale
    made.settings = replace(made.settings, types={"B": "128"})
    assert made.report_is_stale
    made.settings = replace(made.settings, types={}, values={"n": 7})
    assert made.example_label == "case(n=7, dtype='a')"
