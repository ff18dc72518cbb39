"""The names of the colour themes, for those who know no Textual; `explorer.themes` makes them."""

from __future__ import annotations

#: The theme of terminals with 16 colours or fewer, and of `NO_COLOR`: nothing but what the terminal itself has.
TERMINAL = "terminal"

#: All of them; the first is the default.
THEMES = (
    "dark",
    "light",
    "contrast-dark",
    "contrast-light",
    "colour-blind-dark",
    "colour-blind-light",
    TERMINAL,
)
