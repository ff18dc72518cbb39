"""What a compilation does once, although several need it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mytriton.compile import SHARED, compile_kernel
from mytriton.frontend import module, names, read, syntax
from mytriton.frontend.module import read_module
from mytriton.frontend.parse import parse
from mytriton.frontend.read import kernel_of
from mytriton.frontend.syntax import nodes, parse_text
from mytriton.source import SourceUnit
from mytriton.specialize import parse_signature
from mytriton.stage import Compilation
from mytriton.target import Target
from tests import feature_kernels

ADD = Path(__file__).parents[1] / "examples" / "kernels" / "add.py"
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32"


def _add(target: Target, like: Compilation | None = None) -> Compilation:
    (kernel,) = read_module(ADD.read_text(), str(ADD)).kernels
    return compile_kernel(kernel, parse_signature(kernel, SIGNATURE, {"BLOCK": 256}), target, like=like)


def test_another_backend_takes_the_stages_that_do_not_depend_on_it() -> None:
    cuda = _add(Target("cuda"))
    cpu = _add(Target("cpu"), like=cuda)
    alone = _add(Target("cpu"))
    for name in SHARED:
        assert cpu.stage(name) is cuda.stage(name)
    assert cpu.stage("cpu/emit").text == alone.stage("cpu/emit").text
    assert cpu.units == alone.units


def test_what_fails_in_the_frontend_fails_for_another_backend_too() -> None:
    text = ADD.read_text().replace("a + b", "a + missing")
    (kernel,) = read_module(text, "k.py").kernels
    specialization = parse_signature(kernel, SIGNATURE, {"BLOCK": 256})
    first = compile_kernel(kernel, specialization, Target("cuda")).run()
    second = compile_kernel(kernel, specialization, Target("mlir"), like=first).run()
    assert [s.name for s in second.stages] == ["source", "tree", "ssa"]
    assert second.failed is first.failed
    assert second.diagnostics == first.diagnostics


def test_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def counting(text: str, unit: SourceUnit) -> ast.Module:
        texts.append(text)
        return parse_text(text, unit)

    for user in (syntax, module, read):
        monkeypatch.setattr(user, "parse_text", counting)
    _add(Target("cuda")).stage("cuda")
    assert texts == [ADD.read_text()]


def test_a_live_kernel_is_parsed_with_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def counting(text: str, unit: SourceUnit) -> ast.Module:
        texts.append(text)
        return parse_text(text, unit)

    for user in (syntax, module, read):
        monkeypatch.setattr(user, "parse_text", counting)
    monkeypatch.setattr(read, "_files", {})
    for kernel in (feature_kernels.trips_kernel, feature_kernels.countdown_kernel):
        parse(kernel_of(kernel.function))
    assert len(texts) == 1


def test_a_file_is_hardly_walked_more_than_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for the names they use; each other statement once for what makes kernels, what it hands on and binds.
    Only what stands in a statement that may not run is walked with it and by itself."""
    seen = 0

    def counting(tree: ast.AST) -> list[ast.AST]:
        nonlocal seen
        found = nodes(tree)
        seen += len(found)
        return found

    for user in (module, names):
        monkeypatch.setattr(user, "nodes", counting)
    text = ADD.read_text()
    read_module(text, str(ADD))
    left_out = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)
    walked = [node for node in ast.walk(ast.parse(text)) if not isinstance(node, left_out)]
    assert [ast.dump(node) for node in nodes(ast.parse(text))] == [ast.dump(node) for node in walked]
    assert seen < 1.3 * len(nodes(ast.parse(text)))


def test_definitions_are_found_once() -> None:
    func = _add(Target("interp")).stage(SHARED[-1]).artifact
    assert func.definitions is func.definitions
    assert set(func.definitions) == {value for op in func.walk() for value in op.results}
