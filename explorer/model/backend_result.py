"""What the compilations of one backend gave: the newest beside the one it replaces and the last that was good."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.model.crashes import located
from explorer.model.result import LineView, StageView
from mytriton.target import MLIR_BACKENDS


@dataclass
class Result:
    """One backend's compilations: `stages` of the newest, `before` those of the one it replaces, `good` the last
    listing of each stage that was fine. `text` is what the newest is of, `texts` what each of `good` is."""

    planned: tuple[str, ...] = ()
    stages: dict[str, StageView] = field(default_factory=dict)
    before: dict[str, StageView] = field(default_factory=dict)
    good: dict[str, StageView] = field(default_factory=dict)
    text: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    wanted: tuple[str, ...] = ()
    finished: bool = False
    slow_finished: bool = False
    kernel: str = ""
    signature: str = ""
    num_warps: int = 4
    ms: float = 0.0
    passes: tuple[str, ...] = ()

    def take(self, stage: StageView) -> None:
        """There is news of a stage."""
        self.stages[stage.name] = stage
        if stage.ok and not stage.pending:
            self.good[stage.name], self.texts[stage.name] = stage, self.text
        for name, found in self.stages.items():
            if found.status == "crashed":  # its input may have come after it
                self.stages[name] = located(found, self._lines_before(name), self._emitted)
                break

    def listing(self, name: str) -> tuple[StageView | None, bool]:
        """The stage to show and whether it is stale: superseded by a compilation that did not get this far again.

        While a compilation is under way the stages it has not reached yet are not stale, only not there yet.
        """
        current, good = self.stages.get(name), self.good.get(name)
        if current is not None and current.pending and good is not None:
            return good, False  # the new listing is on its way
        if current is not None and (current.ok or good is None or self._shows_failure(current)):
            return current, False
        return good, good is not None and (not self.awaited(name) or current is not None)

    def given(self, name: str) -> StageView | None:
        """The stage whose listing `name` works on; None for those that read the source."""
        if name not in self.planned or name in ("source", "tree", "ssa", "mlir/parse"):  # which read the source
            return None
        before = self.planned[self.planned.index(name) - 1]
        found = self.stage(before)
        return self.good.get(before, found) if found is not None and found.pending else found

    def _lines_before(self, name: str) -> tuple[LineView, ...]:
        """The listing of MLIR that a stage works on, also if it is one of those after all passes."""
        passes = self.pass_stages
        last = passes[-1] if passes and name not in passes else ""
        given = self.stage(last) if last else self.given(name)
        return given.lines if given is not None else ()

    @property
    def _emitted(self) -> tuple[LineView, ...]:
        """The text that the passes begin with."""
        first = self.given(next(iter(self.pass_stages), ""))
        if first is None or not first.lines:  # MLIR could not even read it
            first = self.stages.get("source")
        return first.lines if first is not None else ()

    @property
    def pass_stages(self) -> tuple[str, ...]:
        """The planned stages that are passes of MLIR."""
        own = (name for name in self.planned if name.split("/")[0] in MLIR_BACKENDS)
        return tuple(name for name in own if not name.endswith(("/emit", "/parse")))

    def awaited(self, name: str) -> bool:
        """Whether a stage may still come from the compilation under way."""
        return not self._broken and ((name in self.wanted and not self.slow_finished) or not self.finished)

    def stage(self, name: str) -> StageView | None:
        """The newest news of a stage: until a compilation gets to it or ends, what it was before."""
        return self.stages.get(name) or (self.before.get(name) if self.awaited(name) else None)

    def _shows_failure(self, stage: StageView) -> bool:
        return stage.status in ("failed", "crashed") and self.given(stage.name) is not None

    @property
    def _broken(self) -> bool:
        return any(stage.status in ("failed", "crashed") for stage in self.stages.values())

    @property
    def known(self) -> tuple[StageView, ...]:
        """What is known of the planned stages, in order."""
        made = self.stages  # asked a dozen times for each frame
        news = [made[name] if name in made else self.stage(name) for name in self.planned]
        return tuple([stage for stage in news if stage is not None])

    @property
    def failed(self) -> StageView | None:
        """The stage that failed."""
        return next((s for s in self.known if s.status in ("failed", "crashed")), None)
