"""The colour themes offered. All keep their surfaces apart in 256 colours, which is what most get through ssh."""

from __future__ import annotations

#: Textual's names; the first is the default, for its neutral greys. The last two use the terminal's own 16 colours.
THEMES = (
    "flexoki",
    "gruvbox",
    "atom-one-dark",
    "atom-one-light",
    "catppuccin-latte",
    "textual-dark",
    "textual-light",
    "textual-ansi",
)
