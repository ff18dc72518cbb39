"""A picture of the screen, as SVG."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli import Options
from explorer.model.theme_names import THEMES

if TYPE_CHECKING:
    from textual.app import App

#: Fonts that Textual's pictures name to be fetched; a picture shows the same without a network.
_FETCHED = re.compile(r',\s*url\("https?://[^"]*"\)\s*format\("[^"]*"\)')
#: Seconds between two looks at whether all is there.
_LOOK_EVERY = 0.05


def svg(app: App[Any]) -> str:
    """The screen as it is now."""
    return _FETCHED.sub("", app.export_screenshot())


async def picture(options: Options) -> str:
    """The screen that the UI shows, once all is compiled and the example was run."""
    from explorer.app import ExplorerApp, of_bundle
    from explorer.model.files import Swap

    settings = options.settings()
    config = replace(options.config, theme=options.config.theme or THEMES[0])  # not what was chosen last
    with tempfile.TemporaryDirectory() as folder:
        swap = Swap(settings.path, Path(folder))  # nor edits that somebody left
        if options.bundle is not None:
            app = of_bundle(settings, options.bundle, options.bundle_path, swap, config=config)
        else:
            app = ExplorerApp(settings, swap=swap, config=config)
        async with app.run_test(size=options.size) as pilot:
            while not app.main.at_rest:
                await pilot.pause(_LOOK_EVERY)
            info = app.main.session.kernel_info
            if info is not None and info.examples and settings.execute and options.bundle is None:
                app.main.action_run()
            while app.main.session.running:
                await pilot.pause(_LOOK_EVERY)
            app.clear_notifications()
            await pilot.pause(_LOOK_EVERY)
            return svg(app)
