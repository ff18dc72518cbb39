"""MLIR from Python: modules as values, passes one by one, schedules, functions on NumPy arrays.

    module = mlir.read("saxpy.mlir")
    run = module.run("canonicalize,func.func(cse)")         # or mlir.isolated.run(module, ...), in another process
    for stage in run.run().stages: print(stage.name, stage.status, stage.seconds, stage.stats)
    mlir.jit(run.result)["saxpy"](2.0, x, y)

Needs the MLIR bindings, which are imported when something is first done with a module.
"""

from __future__ import annotations

from mytriton.mlir import isolated
from mytriton.mlir.bounds import OutOfBounds
from mytriton.mlir.jit import LOWERING, Function, Library, jit
from mytriton.mlir.kernels import passes_of_kernels
from mytriton.mlir.module import READ, Module, Run, parse, read
from mytriton.mlir.objects import Object, objects
from mytriton.mlir.operations import QUERIES, Operation, query, walk
from mytriton.mlir.passes import Option, Pass, registered
from mytriton.mlir.reproducing import reproducer
from mytriton.mlir.schedule import apply
from mytriton.pipelines import PipelineError, Step, command, joined, steps

__all__ = [
    "LOWERING",
    "QUERIES",
    "READ",
    "Function",
    "Library",
    "Module",
    "Object",
    "Operation",
    "Option",
    "OutOfBounds",
    "Pass",
    "PipelineError",
    "Run",
    "Step",
    "apply",
    "command",
    "isolated",
    "jit",
    "joined",
    "objects",
    "parse",
    "passes_of_kernels",
    "query",
    "read",
    "registered",
    "reproducer",
    "steps",
    "walk",
]
