"""Commands about how the explorer looks: its colours, kept for the next time, and what stands in the margin."""

from __future__ import annotations

from dataclasses import replace

from explorer.model.theme_names import THEMES
from explorer.screens.base import MainBase
from explorer.screens.host import host


class Appearance(MainBase):
    """Mixed into the main screen."""

    def action_theme(self) -> None:
        """Choose the colours; the one that the cursor is on is shown."""
        if self.app.no_color:
            self.app.notify("NO_COLOR is set: there are none to choose from.", severity="warning")
            return
        before = self.app.theme
        current = THEMES.index(before) if before in THEMES else 0
        self.choose(
            "Colours",
            THEMES,
            current,
            lambda index: self.choose_theme(THEMES[index]),
            lambda index: host(self).show_theme(THEMES[index]),
        )

    def choose_theme(self, name: str) -> None:
        """Show a theme, from now on."""
        host(self).show_theme(name)
        host(self).remember("theme", name)

    def action_counts(self) -> None:
        """Show beside the lines of the source how many they became, or do not."""
        config = host(self).config
        host(self).config = replace(config, counts=not config.counts)
        self.update()
