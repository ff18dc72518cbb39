"""What the passes made of a module, kept on disk between processes: then MLIR is not even loaded, unless somebody looks
at a listing, which is printed from the very bytecode that ran."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from mytriton.backends.mlir import debug_locations, listing, run
from mytriton.backends.mlir.listing import Listings, link_lines
from mytriton.cache import Entry
from mytriton.records import dataclass
from mytriton.stage import Line, Stage

_PTX = "ptx"
#: Of which the bytecode and PTX depend.
_FILES = (__file__, run.__file__, listing.__file__, debug_locations.__file__)


@lru_cache(maxsize=1)
def _libraries() -> tuple[Path, ...]:
    """The shared libraries of the MLIR bindings, and the libLLVM they load."""
    found: list[Path] = []
    for package, folder in (("mlir", "_mlir_libs"), ("llvm", "lib")):
        spec = importlib.util.find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            found += sorted(Path(root, folder).glob("*.so*"))
    return tuple(found)


@dataclass()
class Made:
    """A module after all passes: their stages, the bytecode that the last was given, the PTX it made, and what prints
    bytecode."""

    stages: list[Stage]
    lowered: bytes
    ptx: str
    listings: Listings


class KeptRun:
    """The place on disk of one run: of `lines` through `passes`, by what the file `source` makes of them."""

    def __init__(self, lines: Sequence[Line], passes: Sequence[tuple[str, str]], source: str) -> None:
        self._lines, self._passes = lines, passes
        text = "\n".join(line.text for line in lines)
        inputs = (text, *(part for pass_ in passes for part in pass_))
        self._entry = Entry("mlir", inputs, _libraries(), (source, *_FILES))

    def read(self) -> Made | None:
        """The run, if it was kept. Its stages say "cached" where they would say "ok"."""
        parts = self._entry.read()
        if parts is None:
            return None
        made = Made([], b"", parts[_PTX].decode(), Listings())
        before = parts["emit"]
        for number, (name, _) in enumerate(self._passes):
            code, made.lowered = parts[str(number)], before
            made.stages.append(self._stage(name, code, before, made.listings))
            before = code
        made.stages[-1].artifact = made.ptx
        return made

    def _stage(self, name: str, code: bytes, before: bytes, listings: Listings) -> Stage:
        stage = Stage(f"mlir/{name}", "text", "mlir", "no change" if code == before else "cached", artifact=code)
        stage.make_lines = lambda: link_lines(listings.text(code), self._lines)
        return stage

    def write(self, made: Made, codes: Sequence[bytes]) -> None:
        """Keep a run that went through all passes, of which the last made the PTX. `codes` are the module as emitted
        and after each pass. Findings are not kept, hence no run that has any."""
        if not any(stage.diagnostics for stage in made.stages):
            numbered = {str(number): code for number, code in enumerate(codes[1:])}
            self._entry.write({"emit": codes[0], **numbered, _PTX: made.ptx.encode()})
