"""Each part of the language, alone: on every backend, as every stage, against NumPy."""

from __future__ import annotations

import pytest

from mytriton import JITFunction, Target, check_example
from tests import (
    feature_kernels,
    feature_kernels_addresses,
    feature_kernels_atomics,
    feature_kernels_columns,
    feature_kernels_dots,
    feature_kernels_float8,
    feature_kernels_helpers,
    feature_kernels_libdevice,
    feature_kernels_lookups,
    feature_kernels_maps,
    feature_kernels_pipelines,
    feature_kernels_randoms,
    feature_kernels_scans,
    feature_kernels_shapes,
    feature_kernels_windows,
)
from tests.running import on_every_backend
from tests.stage_runs import wrong_stages

MODULES = (
    feature_kernels,
    feature_kernels_addresses,
    feature_kernels_atomics,
    feature_kernels_columns,
    feature_kernels_dots,
    feature_kernels_float8,
    feature_kernels_helpers,
    feature_kernels_libdevice,
    feature_kernels_lookups,
    feature_kernels_maps,
    feature_kernels_pipelines,
    feature_kernels_randoms,
    feature_kernels_scans,
    feature_kernels_shapes,
    feature_kernels_windows,
)
CASES = [
    pytest.param(kernel, case, id=case.label)
    for module in MODULES
    for kernel in vars(module).values()
    if isinstance(kernel, JITFunction)
    for case in kernel.examples
]


@on_every_backend
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_feature(run, kernel, case):
    report = check_example(kernel, case, Target(backend=run.backend))
    assert report.ok, report


@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_every_stage_of_a_feature(kernel, case):
    assert wrong_stages(kernel, case) == []
