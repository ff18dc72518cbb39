"""`--tune`: measures all configs of the autotuned kernels on their examples."""

from __future__ import annotations

import json
import sys
from typing import Any

from explorer.cli import Options
from explorer.gathering import Gathering, finding_text
from explorer.model.result import KernelInfo
from explorer.model.tuning_page import tuning_page
from explorer.reading import BadInput
from explorer.share import document


async def tune(options: Options, gathering: Gathering) -> int:
    """Print a table for each example; the exit code is 1 if one cannot be tuned."""
    module, session = await gathering.open(), gathering.session
    if not module.executed:
        raise BadInput(f"{options.path} could not be executed")
    kernels = [gathering.kernel(module)] if options.kernel is not None else [k for k in module.kernels if k.tuned]
    if not any(kernel.tuned for kernel in kernels):
        what = f"{kernels[0].name} is not autotuned" if kernels else f"no kernel of {options.path} is autotuned"
        raise BadInput(f"{what}; put @autotune(configs, key) above @jit")
    _check_choices(options, kernels)
    cases = [(kernel, number) for kernel in kernels for number in gathering.examples(kernel)]
    if not cases:
        raise BadInput(
            f"no autotuned kernel of {options.path} has an example; declare one with @{kernels[0].name}.example"
        )
    ok, runs = True, []
    for kernel, number in cases:
        gathering.select(kernel, number)
        report = await gathering.run(session, fallback=False, tune=True)
        ok = ok and report.ok
        label = kernel.examples[number].label
        runs.append(_run(kernel.name, label, document.plain(report)))
        if not options.json:
            print("\n".join(tuning_page(kernel.name, label, report)))
            for finding in report.diagnostics:
                print(finding_text(finding), file=sys.stderr)
    if options.json:
        print(json.dumps({"schema": document.SCHEMA, "file": options.path, "ok": ok, "runs": runs}, indent=1))
    return 0 if ok else 1


def _run(kernel: str, label: str, report: dict[str, Any]) -> dict[str, Any]:
    names = ("ok", "backend", "device", "message", "diagnostics", "tuning")
    return {"kernel": kernel, "example": label, **{name: report[name] for name in names}}


def _check_choices(options: Options, kernels: list[KernelInfo]) -> None:
    """`BadInput` for a value of what is to be chosen."""
    chosen = {name for kernel in kernels for name in kernel.tuned}
    given = next((f"-D {name}" for name in options.defines if name in chosen), "")
    if options.num_warps is not None:
        given = "--num-warps"
    if given:
        raise BadInput(f"{given} says what --tune chooses; leave one of them away")
