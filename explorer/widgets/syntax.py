"""Colours of the token styles, taken from the current theme."""

from __future__ import annotations

from rich.style import Style
from textual.color import Color
from textual.widget import Widget

#: Token style -> theme variable and text attribute. Meaning is never in the colour alone: a theme may do as it likes.
_COLOURS: dict[str, tuple[str, str]] = {
    "keyword": ("text-primary", "bold"),
    "type": ("text-secondary", ""),
    "function": ("text-accent", ""),
    "builtin": ("text-accent", ""),
    "number": ("text-warning", ""),
    "string": ("text-success", ""),
    "comment": ("foreground-muted", ""),
    "value": ("text-secondary", ""),
    "label": ("text-warning", ""),
    "directive": ("text-accent", ""),
    "good": ("text-success", "bold"),
    "bad": ("text-error", "bold"),
    "doubtful": ("text-warning", ""),
}


def syntax_styles(widget: Widget) -> dict[str, Style]:
    """Rich styles by token style name, for text on the background of `widget`."""
    variables = widget.app.theme_variables
    background = widget.background_colors[1]
    styles = {"": Style()}
    for name, (variable, attribute) in _COLOURS.items():
        try:
            colour = (background + Color.parse(variables[variable])).rich_color
        except (KeyError, ValueError):  # a theme of the user's need not define everything
            colour = None
        # The terminal's own colours have no weaker one that is sure to be seen.
        faint = name == "comment" and widget.app.native_ansi_color
        styles[name] = Style(color=colour, bold=True if attribute == "bold" else None, dim=True if faint else None)
    return styles
