"""What to offer when somebody is asked for the types to compile for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.model.result import ParamView

#: Names that authors give to sizes, strides and the like.
_INTEGER = re.compile(r"(?i)([nmkbhd]|(n|num|stride|seed|step)(_.*|s)?|.*_(size|stride|len|dim|elements|rows|cols))")


def suggested(params: Sequence[ParamView]) -> str:
    """A signature to begin with: what is annotated or has a default, else a guess by the name."""
    return ", ".join(map(_entry, params))


def _entry(param: ParamView) -> str:
    if param.constexpr:
        return param.default or "1024"
    return param.annotation or param.default or ("i32" if _INTEGER.fullmatch(param.name) else "*fp32:16")
