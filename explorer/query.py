"""`--query`: the operations of MLIR that a question is about, in a module or in kernels."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from explorer.cli import Options
from explorer.engine.messages import QueryRequest
from explorer.gathering import Gathering
from explorer.model.answers import by_place
from explorer.model.paths import is_mlir
from explorer.model.result import OperationView
from explorer.reading import BadInput
from explorer.share import document


async def query(options: Options, gathering: Gathering) -> int:
    """Print what passes leave of a module, or the kernel of `--kernel`, or all of a file; the exit code is 1 if one of
    several kernels cannot be compiled."""
    await gathering.engine.start(("compiler",))
    module, of_module = await gathering.open(), is_mlir(options.path)
    one = of_module or options.kernel is not None
    kernels = [gathering.kernel(module)] if one else [k for k in module.kernels if not k.helper]
    found: list[dict[str, Any]] = []
    failed, among, stages = False, 0, set[str]()
    for kernel in kernels:
        gathering.select(kernel, gathering.example(kernel))
        if not of_module:
            await gathering.compile((), (), "ssa")  # when it is, the types of its example are known
        request = gathering.request(gathering.session, (), ())
        answer = await gathering.query(QueryRequest(request, options.question, options.stage))
        if answer.error and len(kernels) == 1:
            raise BadInput(f"--query {options.question}: {answer.error}")
        if answer.error:
            failed = True
            print(f"--query {options.question}: {kernel.name}: {answer.error}", file=sys.stderr)
        among += answer.among
        stages.add(answer.stage or "all stages that are MLIR")
        found += [{"kernel": kernel.name, **document.plain(operation)} for operation in answer.operations]
        if not options.json:
            rows = _lines if of_module or options.stage else _summary
            for row in rows(answer.operations, options.path):
                print(row)
    if options.json:
        shown = {"schema": document.SCHEMA, "file": options.path, "query": options.question, "found": found}
        print(json.dumps(shown, indent=1))
    elif not found and not failed:
        print(f"none of {among} operations in {', '.join(stages)}", file=sys.stderr)
    return int(failed)


def _lines(operations: Sequence[OperationView], path: str) -> Iterator[str]:
    """A line an operation, as a compiler names a place: `x.mlir:14:10: linalg.generic in @summed: ...`."""
    for operation in operations:
        types = f"({', '.join(operation.operands)}) -> ({', '.join(operation.results)})"
        maps = f"  maps: {', '.join(operation.maps)}" if operation.maps else ""
        yield f"{_head(operation, path)}: {types}{maps}"


def _summary(operations: Sequence[OperationView], path: str) -> Iterator[str]:
    """A line a place: `k.py:17:9: gpu.shuffle in @k: mlir/emit 5, mlir/cleanup 5`."""
    for operation, stages in by_place(operations):
        yield f"{_head(operation, path)}: {stages}"


def _head(operation: OperationView, path: str) -> str:
    file = operation.path or path
    place = f"{file}:{operation.line}:{operation.column}: " if operation.line is not None else f"{file}: "
    return place + operation.name + (f" in @{operation.within[-1]}" if operation.within else "")
