"""What screens ask of the application around them."""

from __future__ import annotations

from typing import Any, Protocol, cast

from textual.dom import DOMNode

from explorer.model.state import State


class Host(Protocol):
    """The application (`explorer.app.ExplorerApp`), as far as its screens know it."""

    state: State

    def show_theme(self, name: str) -> None:
        """Show a theme of ours."""

    def remember(self, name: str, value: Any) -> None:
        """Keep a choice for the next session."""


def host(node: DOMNode) -> Host:
    """The application that a screen or a widget is in."""
    return cast(Host, node.app)
