"""Every example of examples/kernels as CUDA C++, emulated on the CPU: what a GPU would compute, without one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from mytriton import Target
from mytriton.arrays import DTYPES
from mytriton.comparison import compare
from mytriton.running import prepared
from mytriton.types import ScalarType
from tests.backends.emulate import build
from tests.test_examples import CASES


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_every_example(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    launches = []
    for parameter in CASES:
        kernel, case = parameter.values
        example = kernel.completed(case.build())
        if example.expected is None:
            continue
        args = {name: np.array(v) if isinstance(v, np.ndarray) else v for name, v in example.args.items()}
        options = {**example.options, "backend": "cuda", "chip": "sm_80"}
        launch = prepared(kernel, example, args, Target(**options))
        if 0 not in launch.grid:
            launches.append((parameter.id, example, args, launch))
    texts = dict.fromkeys(
        (launch.compilation.stage("cuda").text, launch.compilation.target.threads) for *_, launch in launches
    )
    numbers = {text: number for number, text in enumerate(texts)}
    library = build(list(texts), tmp_path)
    wrong = []
    for name, example, args, launch in launches:
        text = launch.compilation.stage("cuda").text, launch.compilation.target.threads
        types = [
            DTYPES[t] if isinstance(t, ScalarType) else None for _, t, _ in launch.compilation.specialization.params
        ]
        library.run(numbers[text], launch.grid, launch.args, types)
        reports = [compare(n, args[n], wanted, example.rtol, example.atol) for n, wanted in example.expected.items()]
        wrong += [f"{name}: {report}" for report in reports if not report.ok]
    assert launches and not wrong, "\n".join(wrong)
    assert "runtime error" not in capfd.readouterr().err
