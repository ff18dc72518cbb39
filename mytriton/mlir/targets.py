"""Chips and PTX versions that a module asks for: where LLVM does not know one, it makes code of another, and says so on
standard error only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from mytriton.backends.cpu.listing import tool

_TARGET = re.compile(r"#nvvm\.target<([^<>]*)>")
_FIELD = re.compile(r'(chip|features) = "([^"]*)"')
_KNOWN = re.compile(r"^  (\S+) +- ", re.MULTILINE)


def unknown(native: Any) -> tuple[str, str] | None:
    """What the first target of a native module that LLVM does not know asks for, as a sentence, and the location of the
    operation that has it, as MLIR prints it."""
    for view in native.body.operations:
        op = view.operation
        targets = str(op.attributes["targets"]) if op.name == "gpu.module" and "targets" in op.attributes else ""
        for found in _TARGET.finditer(targets):
            fields = dict(_FIELD.findall(found[1]))
            if problem := _problem("chip", [fields["chip"]] if "chip" in fields else []):
                return problem, str(op.location)
            features = [name.lstrip("+-") for name in fields.get("features", "").split(",") if name.strip()]
            if problem := _problem("feature", features):
                return problem, str(op.location)
    return None


def _problem(what: str, names: list[str]) -> str:
    known = _known()[what]
    wrong = next((name for name in names if known and name not in known), None)
    if wrong is None:
        return ""
    near = sorted(get_close_matches(wrong, known, 3, 0.6)) or sorted(known)[-3:]
    return f"LLVM knows no {what} '{wrong}' of NVIDIA's processors; the nearest are {', '.join(near)}"


@cache
def _known() -> Mapping[str, tuple[str, ...]]:
    """What LLVM's compiler for NVIDIA's processors takes; nothing where its program is not there to be asked."""
    path = tool("llc")
    options = ["-mtriple=nvptx64-nvidia-cuda", "-mcpu=help"]
    done = subprocess.run([path, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True) if path else None
    chips, _, features = (done.stderr + done.stdout if done is not None else "").partition("Available features")
    return {"chip": tuple(_KNOWN.findall(chips)), "feature": tuple(_KNOWN.findall(features))}
