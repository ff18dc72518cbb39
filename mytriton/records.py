"""The compiler's own dataclasses: frozen for the type checker, plain when they run.

A compilation makes thousands of small objects that nobody changes, and defines over a hundred classes before it begins.
What guards a frozen dataclass against assignment at run time triples the time an object takes to be made and doubles
that of its class. Mypy sees the standard decorator, and refuses such an assignment before anything runs; what authors
of kernels are handed (`Target`, `Diagnostic`, dtypes...) stays guarded, since nobody checks their files.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, eq: bool = True, **options: Any) -> Any:
        """`dataclasses.dataclass`; what is `frozen` and compares by its fields hashes by them too."""
        return dataclasses.dataclass(eq=eq, unsafe_hash=frozen and eq, **options)
