"""What screens ask of the application around them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from textual.dom import DOMNode

from explorer.model.config import Config
from explorer.model.kernel_files import OpenedFile
from explorer.model.state import State

if TYPE_CHECKING:
    from explorer.screens.main import MainScreen


class Host(Protocol):
    """The application (`explorer.app.ExplorerApp`), as far as its screens know it."""

    state: State
    config: Config
    main: MainScreen

    def show_theme(self, name: str) -> None:
        """Show a theme of ours."""

    def remember(self, name: str, value: Any) -> None:
        """Keep a choice for the next session."""

    def file_screens(self) -> Sequence[MainScreen]:
        """The screens of the files that were shown."""

    def opened_files(self) -> Sequence[OpenedFile]:
        """All open files."""

    def renamed(self, before: Path, path: Path) -> None:
        """What was edited as the one is the other from now on."""

    def open_file(self, name: str) -> None:
        """Show a file; open it if it is not yet."""


def host(node: DOMNode) -> Host:
    """The application that a screen or a widget is in."""
    return cast(Host, node.app)
