"""Commands that compare: pin the present build as A, or choose another A; a table of what A and B take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from textual import on

from explorer.engine.messages import SLOW_STAGES
from explorer.model.compare import table
from explorer.model.paths import typed
from explorer.model.pin import Variant, as_it_is
from explorer.model.session import BACKENDS, Session
from explorer.screens.engine import EngineEvent
from explorer.screens.kernel_commands import KernelCommands


class Comparing(KernelCommands):
    """Mixed into the main screen."""

    _variant: Variant | None = None
    _compared_backends: tuple[str, ...] = ()
    _run_pinned_next = _bench_pinned = False

    def action_pin(self) -> None:
        """Pin the present build as A, or take the pin away."""
        if self.session.pinned is not None:
            self.unpin()
            return
        if not self.session.results:
            self.app.notify("Nothing is compiled yet.", severity="warning")
            return
        self._pin_present()

    def pin(self, variant: Variant, pinned: Session | None = None) -> None:
        """Compare with `variant` from now on."""
        self._variant, self._compared_backends = variant, ()
        self.session.pinned = pinned or variant.of(self.session)
        self._keep_up()
        self.compile()  # what is compared of B is made now, too
        self.app.notify(
            "d in a listing shows A against B in its turn, m (ctrl+o) compares figures, p (ctrl+l) takes the pin away.",
            title=f"A: {variant.label}",
        )

    def unpin(self) -> None:
        """Compare no more."""
        self.session.pinned = self._variant = None
        self._run_pinned_next = False
        self.modes = {pane: "text" if mode == "pin" else mode for pane, mode in self.modes.items()}
        self.engine.end_beside()
        self.app.notify("Nothing is pinned any more.")
        self.update()

    def _update(self) -> None:
        super()._update()
        screen = self.app.screen
        if screen is not self and hasattr(screen, "follow"):
            screen.follow()

    @on(EngineEvent)
    def _something_compiled(self) -> None:
        if self._variant is not None:
            self.call_later(self._keep_up)  # once the session knows of it
            self.call_later(self._run_pinned)

    def run_both(self, bench: bool = False) -> None:
        """Run the example of B, and then that of A; with `bench` both are timed."""
        if not self.session.running and self.can_run():
            self.session.ran(self.engine.run(self.session.run_request(bench=bench)))
            self._run_pinned_next, self._bench_pinned = True, bench
            self.update()

    def _run_pinned(self) -> None:
        pinned = self.session.pinned
        if self._run_pinned_next and not self.session.running and pinned is not None:
            self._run_pinned_next = False
            if self._variant is not None and self._variant.recorded:
                return
            pinned.ran(self.engine.run(pinned.run_request(bench=self._bench_pinned)))
            self.update()

    def _keep_up(self) -> None:
        """Compile A if it follows B, or if panes show backends that A was not compiled for."""
        pinned, variant = self.session.pinned, self._variant
        if pinned is None or variant is None or variant.recorded or (self.compiling and self._compared_backends):
            return
        # Another backend as A is there to be compared with what every pane shows.
        shown = () if variant.backend != self.session.backend and variant.text is None else self._requested[0]
        backends = tuple(dict.fromkeys([pinned.backend, *shown]))
        if not variant.followed(pinned, self.session) and set(backends) <= set(self._compared_backends):
            return
        self._compared_backends = backends
        pinned.compiling(self.engine.compile_beside(pinned.compile_request(backends, SLOW_STAGES)))

    # Choosing A

    def action_compare(self) -> None:
        """The table of A and B; without an A, choose one first."""
        if self.session.pinned is None:
            self.choose_pinned()
            return
        from explorer.screens.comparison import Comparison

        def closed(answer: str | None) -> None:
            if answer == "choose":
                self.choose_pinned()
            elif answer == "unpin":
                self.unpin()

        self.app.push_screen(Comparison(self._table, self.run_both), closed)

    def _table(self) -> list[str]:
        pinned = self.session.pinned
        return table(pinned, self.session) if pinned is not None else []

    def choose_pinned(self) -> None:
        """Choose what the present build is compared with."""
        choices = self.others()

        def chosen(index: int) -> None:
            choices[index][1]()
            self.update()

        self.choose("Compare the present build (B) with A", [label for label, _ in choices], 0, chosen)

    def others(self) -> list[tuple[str, Callable[[], object]]]:
        """What the present build can be compared with, and how to choose that."""
        return [
            ("this build as it is now", self._pin_present),
            ("the file's last commit", lambda: self.run_worker(self._pin_commit(), exclusive=True, group="commit")),
            ("another chip ...", self._choose_chip),
            (
                "another constexpr ...",
                lambda: self.ask(
                    "Compare with the constexpr (NAME=VALUE)", self._some_constexpr(), self._pin_constexpr
                ),
            ),
            *(
                (f"backend {name}", partial(self._pin_backend, name))
                for name in BACKENDS
                if name != self.session.backend
            ),
            ("a bundle ...", self.choose_bundle),
        ]

    def _pin_present(self) -> None:
        self.pin(*as_it_is(self.session, f"pinned {datetime.now():%H:%M:%S}"))

    def _pin_backend(self, name: str) -> None:
        self.pin(Variant(f"backend {name}", backend=name))

    def choose_bundle(self) -> None:
        """Ask for a bundle to compare with."""
        name = Path(self.session.settings.path).with_suffix(".mtx").name
        self.ask("Compare with the bundle", name, lambda path: self.run_worker(self._pin_bundle(path), group="commit"))

    async def _pin_bundle(self, path: str) -> None:
        from explorer.share.bundle import NoBundle, read
        from explorer.share.replay import restored

        file = typed(path)
        try:
            record = (await asyncio.to_thread(read, file)).b
        except NoBundle as error:
            self.app.notify(str(error), title="Not compared", severity="error")
        else:
            self.pin_recorded(restored(replace(record, label=file.name)))

    def pin_recorded(self, a: Session) -> None:
        """Have a session that was recorded as A."""
        self.pin(Variant(a.label, a.text, a.backend, recorded=True), a)

    async def _pin_commit(self) -> None:
        from explorer.engine.git import NotThere, last_commit

        path = self.session.settings.path
        try:
            text = await last_commit(path)
        except NotThere as reason:
            self.app.notify(str(reason), title="No last commit to compare with", severity="warning")
        else:
            self.pin(Variant("last commit", text))

    def _choose_chip(self) -> None:
        from mytriton.target import CHIPS

        chips = [chip for chip in CHIPS if chip != self.session.settings.chip]
        self.choose("Compare with chip", chips, 0, lambda index: self.pin(Variant(chips[index], chip=chips[index])))

    def _some_constexpr(self) -> str:
        """A constexpr of the kernel with the value that it has in B: something to edit."""
        info, entries = self.session.kernel_info, self.session.result.signature.split(", ")
        params = info.params if info is not None else ()
        values = entries if len(entries) == len(params) else [""] * len(params)
        found = (f"{param.name}={value}" for param, value in zip(params, values, strict=True) if param.constexpr)
        return next(found, "BLOCK=")

    def _pin_constexpr(self, answer: str) -> None:
        from explorer.given import defines
        from explorer.reading import BadInput

        try:
            values = defines([answer.strip()])
        except BadInput as error:
            self.app.notify(str(error), severity="error")
        else:
            self.pin(Variant(answer.strip(), defines=values))
