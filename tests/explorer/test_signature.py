"""What is offered when the types are asked for."""

from __future__ import annotations

import pytest

from explorer.model.result import ParamView
from explorer.model.signature import suggested


@pytest.mark.parametrize(
    ("param", "entry"),
    [
        (ParamView("x_ptr"), "*fp32:16"),
        (ParamView("out"), "*fp32:16"),
        (ParamView("n"), "i32"),
        (ParamView("M"), "i32"),
        (ParamView("n_elements"), "i32"),
        (ParamView("stride_xm"), "i32"),
        (ParamView("input_row_stride"), "i32"),
        (ParamView("BLOCK", constexpr=True), "1024"),
        (ParamView("ACTIVATION", constexpr=True, default="'relu'"), "'relu'"),
        (ParamView("p", annotation="fp32"), "fp32"),
        (ParamView("eps", default="1e-05"), "1e-05"),
    ],
    ids=lambda value: value.name if isinstance(value, ParamView) else "",
)
def test_suggested(param: ParamView, entry: str) -> None:
    assert suggested([param]) == entry
    assert suggested([param, param]) == f"{entry}, {entry}"
