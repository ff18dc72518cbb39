"""Asks which file to show: those that are open, those of the folder that have kernels, or a path, completed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from explorer.model.kernel_files import OpenedFile, completions, kernel_files
from explorer.model.paths import real, typed
from explorer.screens.asking import Modal
from explorer.screens.dialogs import BOX


class OpenFile(Modal[str]):
    """Dismissed with a path."""

    DEFAULT_CSS = BOX.format(name="OpenFile") + "OpenFile OptionList { width: 60; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('')", "cancel", priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("tab", "complete", show=False, priority=True),
    ]

    def __init__(self, opened: Sequence[OpenedFile], folder: Path) -> None:
        super().__init__()
        self._opened, self._folder = opened, folder
        self._there: list[tuple[Path, int]] = []
        self._shown: list[Path] = []

    def compose(self) -> ComposeResult:
        """A field, and what it may mean."""
        with Vertical() as box:
            box.border_subtitle = "enter: show   tab: complete   esc: back"
            yield Static(Content(f"Open a file of {self._folder.name or self._folder}, or a path"))
            yield Input()
            yield OptionList()

    def on_mount(self) -> None:
        """Look for kernels in the folder, while one may type already."""
        self.query_one(Input).cursor_blink = False
        self.query_one(Input).focus()
        self._list()
        self.run_worker(self._look())

    async def _look(self) -> None:
        self._there = await asyncio.to_thread(kernel_files, self._folder)
        self._list()

    @on(Input.Changed)
    def _list(self) -> None:
        name = self.query_one(Input).value
        entries = self._paths(name) if "/" in name or name.startswith("~") else self._known(name.lower())
        self._shown = [path for path, _ in entries]
        options = self.query_one(OptionList)
        options.clear_options().add_options(Option(Content(label)) for _, label in entries)
        options.highlighted = 0 if entries else None

    def _known(self, name: str) -> list[tuple[Path, str]]:
        entries = [(file.path, f"{file.path.name}  {file.words}") for file in self._opened]
        opened = {real(file.path) for file in self._opened}
        for path, count in self._there:
            if real(path) not in opened:
                entries.append((path, f"{path.name}  {count} kernel{'s' if count > 1 else ''}"))
        return [(path, label) for path, label in entries if name in path.name.lower()]

    def _paths(self, name: str) -> list[tuple[Path, str]]:
        return [(path, f"{path.name}{'/' if os.path.isdir(path) else ''}") for path in completions(name, self._folder)]

    @property
    def _chosen(self) -> Path | None:
        index = self.query_one(OptionList).highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    def action_move(self, step: int) -> None:
        """Move in the list, from the field."""
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_complete(self) -> None:
        """Put what the cursor of the list is on into the field."""
        if (path := self._chosen) is not None:
            field = self.query_one(Input)
            field.value = f"{path}/" if os.path.isdir(path) else str(path)
            field.cursor_position = len(field.value)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self) -> None:
        name = self.query_one(Input).value
        path = self._chosen or (self._folder / typed(name) if name else None)
        if path is None:
            return
        if os.path.isdir(path):
            self.action_complete()
        else:
            self.dismiss(str(path))
