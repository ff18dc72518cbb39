"""What a build takes of the GPU, and how that differs from the build before: the resource strip."""

from __future__ import annotations

import re
from dataclasses import fields, replace

from explorer.model.result import StageView
from mytriton.records import dataclass

_LIMITS = re.compile(r"limited by (.+)")


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one kernel: `registers` a thread, `shared` memory in bytes a block, `spills` (stores and loads) and `stack`
    (local memory) in bytes a thread, `constant` memory in bytes with the parameters, `occupancy` in percent with what
    `limits` it, SASS `instructions`. None is not known."""

    registers: int | None = None
    shared: int | None = None
    spills: int | None = None
    stack: int | None = None
    constant: int | None = None
    occupancy: int | None = None
    instructions: int | None = None
    limits: str = ""


#: The figures that are numbers, in the order in which they are shown.
NUMBERS = tuple(f.name for f in fields(Figures) if f.name != "limits")
#: What they are called where there is room for it.
WORDS = {
    "registers": "registers a thread",
    "shared": "shared memory, bytes",
    "spills": "spills, bytes",
    "stack": "stack, bytes",
    "constant": "constants, bytes",
    "occupancy": "occupancy, %",
    "instructions": "SASS instructions",
}


def figures(cubin: StageView | None, sass: StageView | None) -> Figures:
    """The figures that these two stages tell."""
    stats = cubin.stats if cubin is not None and cubin.ok else {}
    spills = [stats[name] for name in ("spill_stores", "spill_loads") if name in stats]
    limits = [m[1] for line in (cubin.lines if cubin is not None else ()) if (m := _LIMITS.search(line.text))]
    return Figures(
        registers=stats.get("registers"),
        shared=stats.get("shared"),
        spills=sum(spills) if spills else None,
        stack=stats.get("stack"),
        constant=stats.get("constant"),
        occupancy=stats.get("occupancy"),
        instructions=instructions(sass) if sass is not None and sass.ok else None,
        limits=limits[0] if limits else "",
    )


def instructions(sass: StageView) -> int:
    """How many instructions a SASS listing has, without labels."""
    return sum(line.text.endswith(";") for line in sass.lines)


@dataclass(frozen=True, slots=True)
class Meter:
    """The figures of the newest build that has any, `now`, and those of the one `before` it. Builds of the same PTX are
    one: an edit of a comment takes no arrow away."""

    kernel: str
    ptx: str
    now: Figures
    before: Figures | None = None

    def reads(self, kernel: str, ptx: str, new: Figures) -> Meter:
        """The meter after a build."""
        if kernel != self.kernel:
            return Meter(kernel, ptx, new)
        if ptx != self.ptx:
            return Meter(kernel, ptx, new, self.now)
        # The stages come one by one, and not all of them at each build.
        known = {f.name: v for f in fields(new) if (v := getattr(new, f.name)) not in (None, "")}
        return replace(self, now=replace(self.now, **known))


def delta(new: int | None, old: int | None) -> str:
    """`↑8` or `↓8`; nothing if they are equal or one is not known."""
    if new is None or old is None or new == old:
        return ""
    return f"{'↑' if new > old else '↓'}{abs(new - old)}"


def worse(name: str, new: int, old: int) -> bool:
    """Whether a figure moved the wrong way: of all of them only occupancy should be high."""
    return new < old if name == "occupancy" else new > old


@dataclass(frozen=True, slots=True)
class Reading:
    """One figure of the strip as text, its arrow, and whether that points the wrong way."""

    text: str
    arrow: str = ""
    bad: bool = False

    @property
    def width(self) -> int:
        """Columns, with the space before the arrow."""
        return len(self.text) + (len(self.arrow) + 1 if self.arrow else 0)


_LONG = {
    "registers": "{} registers",
    "shared": "shared {} B",
    "spills": "spills {} B",
    "stack": "stack {} B",
    "constant": "constants {} B",
    "occupancy": "occupancy {}%",
    "instructions": "{} SASS",
}
_SHORT = {
    "registers": "reg {}",
    "shared": "shared {}",
    "spills": "spills {}",
    "stack": "stack {}",
    "constant": "const {}",
    "occupancy": "occ {}%",
    "instructions": "sass {}",
}


def strip(meter: Meter, width: int) -> list[Reading]:
    """The figures in `width` columns: in short words and, if it must be, without those that are 0 and did not move."""
    for words in (_LONG, _SHORT):
        readings = _readings(meter, words)
        if sum(r.width + 2 for _, r in readings) <= width:
            return [r for _, r in readings]
    return [r for value, r in readings if value or r.arrow]


def _readings(meter: Meter, words: dict[str, str]) -> list[tuple[int, Reading]]:
    readings = []
    for name in NUMBERS:
        new: int | None = getattr(meter.now, name)
        old: int | None = getattr(meter.before, name) if meter.before is not None else None
        if new is None:
            continue
        text, arrow = words[name].format(new), delta(new, old)
        readings.append((new, Reading(text, arrow, bool(arrow) and old is not None and worse(name, new, old))))
        if name == "occupancy" and meter.now.limits:
            limits = (
                meter.now.limits if words is _LONG else meter.now.limits.replace(" memory", "").replace(" and ", ",")
            )
            readings.append((1, Reading(f"({limits})")))
    return readings
