"""The arrangements of panes that are there from the start, by the size of the terminal, and those that users made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.model.arrangement import Arrangement

#: Widths (columns) of the terminal from which two and four columns of panes fit, and the height (rows) from which a
#: bottom row does.
MEDIUM, WIDE, TALL = 100, 160, 32

_NARROW_DEFAULT = "source / ssa tree cuda mlir asm stages problems run"

#: By name, then by the class of the terminal's size. The source's column is a little wider: its lines are typed.
PRESETS: dict[str, dict[str, str]] = {
    # Something of every level.
    "default": {
        "narrow": _NARROW_DEFAULT,
        "narrow-tall": _NARROW_DEFAULT,
        "medium": "10* source / ssa tree | 9* cuda asm / mlir stages problems run",
        "medium-tall": "10* source / ssa tree | 9* cuda asm / mlir stages _ 7* problems | run",
        "wide": "10* source:3 / tree:2 | 9* ssa | 9* cuda / asm | 9* mlir stages problems run",
        "wide-tall": "10* source:3 / tree:2 | 9* ssa | 9* cuda / asm | 9* mlir _ 11* stages | problems | run",
    },
    # What a kernel means: source, expression trees, typed SSA.
    "learn": {
        "narrow": "source / tree ssa cuda mlir asm stages problems run",
        "narrow-tall": "source / tree problems run stages / ssa cuda mlir asm",
        "medium": "10* source | 9* tree problems run stages / ssa cuda mlir asm",
        "medium-tall": "10* source | 9* tree stages / ssa cuda mlir asm _ 7* problems | run",
        "wide": "source | tree problems run stages | ssa cuda mlir asm",
        "wide-tall": "source | tree | ssa cuda mlir asm _ 11* stages | problems | run",
    },
    # What becomes of it: CUDA, MLIR, PTX and SASS.
    "lower": {
        "narrow": "source / mlir asm cuda ssa tree stages problems run",
        "narrow-tall": "source / mlir cuda ssa tree / asm stages problems run",
        "medium": "9* source / cuda ssa tree problems run | 10* mlir stages / asm",
        "medium-tall": "9* source / cuda ssa tree | 10* mlir stages / asm _ 7* problems | run",
        "wide": "source / ssa tree problems run | cuda | mlir stages | asm",
        "wide-tall": "source / ssa tree | cuda | mlir | asm _ 9* stages | problems | run",
    },
    # What passes make of an MLIR file: its text, the module after each, the list of them, and the code at the end.
    "passes": {
        "narrow": "source / mlir stages asm problems run ssa tree cuda",
        "narrow-tall": "source / mlir asm / stages problems run ssa tree cuda",
        "medium": "source | mlir asm / stages problems run ssa tree cuda",
        "medium-tall": "source / stages ssa tree cuda | mlir asm _ 7* problems | run",
        "wide": "source | mlir | asm / stages problems run ssa tree cuda",
        "wide-tall": "source | mlir | asm / stages ssa tree cuda _ 9* problems | run",
    },
    # Whether it is right: source, run, problems, stages.
    "check": {
        "narrow": "source / run problems stages ssa tree cuda mlir asm",
        "narrow-tall": "source / run problems / stages ssa tree cuda mlir asm",
        "medium": "10* source | 9* run / problems / stages ssa tree cuda mlir asm",
        "medium-tall": "10* source | 9* run / problems / stages ssa tree cuda mlir asm",
        "wide": "source | run / problems | stages ssa tree cuda mlir asm",
        "wide-tall": "source | run / problems | stages / ssa tree cuda mlir asm",
    },
}


def size_class(width: int, tall: bool) -> str:
    """The class of a terminal's size; each has an arrangement of its own."""
    name = "narrow" if width < MEDIUM else "medium" if width < WIDE else "wide"
    return f"{name}-tall" if tall else name


class Layouts:
    """The preset chosen, and the arrangements made by the user, by the class of the terminal's size."""

    def __init__(
        self, remembered: object = None, preset: str = "", first: str = "default", name: str = "layout"
    ) -> None:
        """`first` is the preset where none was chosen; `name` is what it is remembered by."""
        self.name = name
        kept: Mapping[Any, Any] = remembered if isinstance(remembered, Mapping) and not preset else {}
        self.preset = preset or (kept["preset"] if kept.get("preset") in PRESETS else first)
        self._own: dict[str, Arrangement] = {}
        self.notice = ""
        made = kept.get("own")
        for name, text in (made if isinstance(made, Mapping) else {}).items():
            try:
                self._own[name] = Arrangement.read(str(text))
            except ValueError as error:
                self.notice = f"The layout for {name} terminals is the first one: {error}."

    def original(self, size: str) -> Arrangement:
        """What the preset has for a class of sizes."""
        return Arrangement.read(PRESETS[self.preset][size])

    def at(self, size: str) -> Arrangement:
        """The arrangement for a class of sizes."""
        if size not in self._own:
            self._own[size] = self.original(size)
        return self._own[size]

    def put(self, size: str, arrangement: Arrangement) -> None:
        """Arrange the panes so from now on."""
        self._own[size] = arrangement

    def choose(self, preset: str) -> None:
        """Take a preset, for all sizes, as it is."""
        self.preset = preset
        self._own.clear()

    def sizes_reset(self, size: str) -> Arrangement:
        """The arrangement with the sizes of the preset, or alike where panes stand differently from that."""
        first, now = self.original(size), self.at(size)
        same = str(first.even()) == str(now.even().showing(now.hidden))
        back = first if same else now.even()
        height = first.bottom_height or now.bottom_height
        return Arrangement(back.columns, back.bottom, height if back.bottom else 0, now.hidden)

    def remembered(self) -> dict[str, Any]:
        """What to keep for the next session: only what differs from the preset."""
        own = {size: str(a) for size, a in self._own.items() if a != self.original(size)}
        return {"preset": self.preset, "own": own}
