"""The main screen: its bindings, made from the table of actions, and the commands about the explorer itself."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from explorer.actions import ACTIONS, Action
from explorer.model import panes
from explorer.screens.appearance import Appearance
from explorer.screens.arranging import Arranging
from explorer.screens.benching import Benching
from explorer.screens.comparing import Comparing
from explorer.screens.editing import Editing
from explorer.screens.everywhere import Everywhere
from explorer.screens.failing import Failing
from explorer.screens.many_files import ManyFiles
from explorer.screens.passing import Passing
from explorer.screens.replacing import Replacing
from explorer.screens.sharing import Sharing
from explorer.screens.watching import Watching
from explorer.widgets.code_view import CodeView


def bindings(actions: Iterable[Action]) -> list[BindingType]:
    """Textual bindings: letters where they are not typed, the other keys before anybody else sees them."""
    made: list[BindingType] = []
    for action in actions:
        if action.scope == "editor":
            continue  # which has to take them in the order in which they are typed
        made += [Binding(key, action.name, action.help, show=False) for key in action.letters]
        made += [Binding(key, action.name, action.help, show=False, priority=True) for key in action.keys]
    return made


class MainScreen(
    Sharing,
    ManyFiles,
    Replacing,
    Editing,
    Failing,
    Watching,
    Comparing,
    Benching,
    Appearance,
    Arranging,
    Everywhere,
    Passing,
):
    """Everything on one screen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    async def on_mount(self) -> None:
        """Offer what a lost session left, and watch the file."""
        self.call_after_refresh(self.offer_recovery)
        self.watch_file()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Listing commands only work in listings; the search field keeps tab and the like to itself."""
        scope = next((a.scope for a in ACTIONS if a.name.split("(")[0] == action), None)
        if scope == "listing":
            return isinstance(self.focused, CodeView)
        if action == "cycle" and self.focused is self.editor:
            return self.editor.passing or self.editor.read_only
        if action == "cycle" and self.replace_bar is not None and self.replace_bar.has_focus_within:
            return False
        return super().check_action(action, parameters)

    def action_help(self) -> None:
        """Show the keys."""
        from explorer.screens.help import help_lines

        pane = self.focused_pane
        name, stage, line = pane.name or "source", "", ""
        if isinstance(pane.body, CodeView) and name in panes.FAMILIES:
            stage = (panes.chosen_stage(self.session, name, self.chosen) or "").split("/")[0]
            line = pane.body.lines[pane.body.cursor] if pane.body.lines else ""
        self.show_text("Help", partial(help_lines, name, stage=stage, line=line))

    def action_info(self) -> None:
        """Show versions, device, skipped stages and the children's output."""
        from explorer.screens.info import info_lines

        self.show_text("Information", info_lines(self.session, str(self.app.console.color_system or "no")))
