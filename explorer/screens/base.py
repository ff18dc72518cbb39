"""The main screen without its commands: what is on it, and how it follows the session."""

from __future__ import annotations

import asyncio
import gc

from textual import events, on
from textual.app import ComposeResult
from textual.reactive import Reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

from explorer.engine.messages import (
    SLOW_STAGES,
    ChildFailed,
    CompileStarted,
    Event,
    ModuleRead,
    StageFinished,
)
from explorer.model import panes
from explorer.model.arrangement import PANES
from explorer.model.files import SourceFile, Swap
from explorer.model.presets import Layouts
from explorer.model.session import Session
from explorer.model.settings import Settings
from explorer.screens.engine import EngineEvent, EngineFactory
from explorer.screens.host import host
from explorer.screens.showing import Showing
from explorer.widgets.code_view import CodeView
from explorer.widgets.find_bar import FindBar
from explorer.widgets.pane import Pane
from explorer.widgets.source_editor import SourceEditor
from explorer.widgets.text_line import TextLine
from explorer.widgets.workspace import Workspace

#: Seconds that an edit may wait for the compilation under way before it replaces it, and for its swap file.
SUPERSEDE_AFTER, SWAP_AFTER = 0.04, 0.2

#: Seconds that a stage waits for those that come next, to be shown with them: screens show no more frames than that.
FRAME = 0.016


class MainBase(Showing):
    """Panes around a session. Events change the session; `update` then shows it, once for any number of events."""

    AUTO_FOCUS = ""
    # Textual paints the whole screen for a change of focus; here panes show it themselves, for 1 kB instead of 30.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    DEFAULT_CSS = """
    MainBase { layout: vertical; background: $surface; }
    MainBase #header { background: $surface; }
    MainBase #keys { background: $panel; }
    MainBase .-hidden { display: none; }
    """

    def __init__(
        self, settings: Settings, file: SourceFile, swap: Swap, engine: EngineFactory, layouts: Layouts
    ) -> None:
        super().__init__()
        self.file = file
        self.swap = swap
        self.session = Session(settings, file.saved)
        self.engine = engine(self.receive)
        self.chosen: dict[str, str] = {}
        self.editor = SourceEditor(file.saved, "editor", "mlir" if self.session.is_module else "python")
        self.panes = {
            name: Pane(name, number, self.editor if name == "source" else CodeView(id=f"view-{name}"))
            for number, name in enumerate(PANES, start=1)
        }
        self.workspace = Workspace(*self.panes.values(), layouts=layouts)
        self.find_bar = FindBar()
        self._requested: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._arrived: list[Event] = []
        self._taking_in = False
        self._edit_timer: Timer | None = None
        self._swap_timer: Timer | None = None
        #: Why the unsaved edits could not be kept aside, if they could not.
        self.swap_trouble = ""
        self.left = False
        self._styled = False

    def compose(self) -> ComposeResult:
        """Header, panes, search, the place of the cursor, resources, stage strip, run line, keys."""
        yield TextLine(id="header")
        yield self.workspace
        yield self.find_bar
        yield TextLine(id="place")
        yield TextLine(id="resources")
        yield TextLine(id="strip")
        yield TextLine(id="run")
        yield TextLine(id="keys")

    async def on_mount(self) -> None:
        """Start the children, and show what there is."""
        self.editor.focus()
        self.editor.indent_width = host(self).config.tab_width
        await self.engine.start()
        self.open_module()
        self.compile()
        self._update()
        self.call_after_refresh(self._loaded)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Shown for the first time: all on it has just got its styles, which take 25 ms."""
        event.refresh_styles = self._styled
        self._styled = True

    def _loaded(self) -> None:
        self.editor.show_colours()
        # What has been loaded stays: looking through all of it for garbage, again and again, takes 20 ms each time.
        gc.collect()
        gc.freeze()
        gc.enable()

    async def on_unmount(self) -> None:
        """Keep unsaved edits, whatever it is that ends the program."""
        if not self.left:
            self.write_swap()
        self.swap.close()

    def receive(self, event: Event) -> None:
        """The engine tells something."""
        # A message and a repaint for each of the hundred events of a compilation would take longer than compiling, and
        # keep the processor from what somebody waits for.
        self._arrived.append(event)
        if self._may_wait(event):
            if len(self._arrived) == 1:
                asyncio.get_running_loop().call_later(FRAME, self._take_in_next)
        else:
            self._take_in_next()

    def _may_wait(self, event: Event) -> bool:
        """Whether other stages follow at once, as they do up to the source text of the last backend. What comes before
        the layout is shown while that is made."""
        if isinstance(event, StageFinished):
            last = next(reversed(self._requested[0]), "")
            ends = event.stage.name == "layout" and event.backend in self._requested[0][:1]
            return event.stage.ok and not ends and event.stage.name not in (last, f"{last}/emit")
        return isinstance(event, CompileStarted)

    def _take_in_next(self) -> None:
        if self._arrived and not self._taking_in:
            self._taking_in = True
            self.call_later(self._take_in)

    # Asking the engine

    def open_module(self) -> None:
        """Tell the engine that the file was opened or saved."""
        if host(self).main is not self:
            return  # the engine is another file's now
        settings = self.session.settings
        self.session.opened(self.engine.open(settings.path, self.session.text, settings.execute))

    def compile(self) -> None:
        """Compile the text for what is looked at; supersedes a compilation under way."""
        if self._edit_timer is not None:
            self._edit_timer.stop()
            self._edit_timer = None
        if host(self).main is not self:
            return
        self._requested = self._wanted()
        self.session.compiling(self.engine.compile(self.session.compile_request(*self._requested)))
        self.update()

    def _wanted(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        visible = self.workspace.visible_panes
        return (
            tuple(dict.fromkeys([self.session.backend, *panes.wanted_backends(self.session, visible)])),
            panes.shown_stages(self.session, visible, self.chosen),
        )

    def ensure_compiled(self) -> None:
        """Compile if something is looked at that was not asked for."""
        backends, wanted = self._wanted()
        slow = set(wanted) & set(SLOW_STAGES)
        if not set(backends) <= set(self._requested[0]) or not slow <= set(self._requested[1]):
            self.compile()

    @property
    def compiling(self) -> bool:
        """Whether the engine is at what was last asked."""
        return not all(self.session.is_current(backend) for backend in self._requested[0])

    # What happens

    @on(TextArea.Changed)
    def _edited(self, event: TextArea.Changed) -> None:
        if event.text_area is not self.editor or self.editor.text == self.session.text:
            return
        self.session.text = self.editor.text
        if not self.compiling:
            self.compile()
        elif self._edit_timer is None:
            # The one under way may be about to finish, which costs less than replacing it.
            self._edit_timer = self.set_timer(SUPERSEDE_AFTER, self.compile)
        if self._swap_timer is None:
            self._swap_timer = self.set_timer(SWAP_AFTER, self.write_swap)
        self.update()

    @property
    def dirty(self) -> bool:
        """Whether there are edits that are not saved."""
        return self.editor.text != self.file.saved

    def write_swap(self) -> None:
        """Keep the unsaved edits where the next explorer finds them."""
        self._swap_timer = None
        try:
            if self.dirty:
                self.swap.write(self.editor.text)
            else:
                self.swap.clear()
        except OSError as error:
            if str(error) != self.swap_trouble:  # once, not at each key
                self.app.notify(f"Unsaved edits cannot be kept aside: {error}", severity="warning")
            self.swap_trouble = str(error)
        else:
            self.swap_trouble = ""

    def _take_in(self) -> None:
        """Have the session take in what has arrived, and show that."""
        events, self._arrived, self._taking_in = self._arrived, [], False
        for event in events:
            if self.session.handle(event):
                self._react(event)
                self.update()
            if not isinstance(event, StageFinished):
                self.post_message(EngineEvent(event))
        self._catch_up()

    def _react(self, event: Event) -> None:
        if isinstance(event, ModuleRead):
            self.compile()
        elif isinstance(event, ChildFailed) and not event.failure.cause.startswith("cancelled"):
            self.app.notify(event.failure.cause, title=f"{event.failure.child} child", severity="error")
        if self._edit_timer is not None and not self.compiling:
            self.compile()

    def on_resize(self, event: events.Resize) -> None:
        """Other panes may be in view now."""
        self.call_after_refresh(self.ensure_compiled)
        self.update()

    # Panes

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember which pane was in focus last."""
        pane = event.widget.parent
        if isinstance(pane, Pane) and pane.name:
            self.workspace.bring(pane.name, reveal=False)
            self.show_counts()
            self.arrived(pane)
        self.show_keys()

    def go_to_pane(self, name: str, leave: bool = True) -> None:
        """Bring a pane into view and focus it; `leave` keeps where one was, to jump back to."""
        self.leaving(name, leave)
        self.workspace.bring(name)
        self.update()
        self.set_focus(self.panes[name].body)  # at once: keys typed ahead are for this pane
        self.ensure_compiled()
