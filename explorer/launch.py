"""From the command line to the first thing on the screen: what is refused, and what is loaded in which order."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from explorer.cli import Options
from explorer.engine.process import spawn_early
from explorer.model.files import SourceFile

if TYPE_CHECKING:
    from explorer.screens.main import MainScreen


def run(options: Options) -> int:
    """Show the explorer until the user leaves; returns the exit code."""
    settings, config, bundle = options.settings(), options.config, options.bundle
    refused = _not_a_terminal()
    if refused:
        hint = "for output to a file or a pipe use --stages, --print, --check or --json"
        print(f"mytriton-explore: {refused}; {hint}", file=sys.stderr)
        return 2
    try:
        file = SourceFile(settings.path) if bundle is None else None
    except (OSError, UnicodeError) as error:
        print(f"mytriton-explore: {settings.path} cannot be read: {error}", file=sys.stderr)
        return 2
    if bundle is None:
        # Loading Textual keeps one processor busy. The compiler, which loads longest, goes first on the others.
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        spawn_early(("compiler", "runner")[: processors - 1])
    # Threads read the keys and write the frames: neither waits 5 ms, Python's default, for a turn.
    sys.setswitchinterval(0.0005)
    gc.disable()  # nothing that is loaded becomes garbage; the main screen enables it again
    from explorer.app import ExplorerApp, of_bundle
    from explorer.at_rest import leave_to_us

    leave_to_us()
    if bundle is not None:
        app = of_bundle(settings, bundle, options.bundle_path, config=config)
    else:
        app = ExplorerApp(settings, file=file, config=config, others=options.others)
    app.run(mouse=config.mouse)
    with suppress(OSError):  # nobody may be there to read it
        for sentence in unsaved(app.file_screens()):
            print(f"mytriton-explore: {sentence}", file=sys.stderr)
    return app.return_code or 0


def unsaved(screens: Sequence[MainScreen]) -> Iterator[str]:
    """What became of the edits that are not saved."""
    edited = [screen for screen in screens if screen.dirty and not screen.left]
    kept = [screen.file.path for screen in edited if not screen.swap_trouble]
    if kept:
        of = "" if len(kept) == 1 else f" of {', '.join(path.name for path in kept)}"
        yield f"your unsaved edits{of} are kept; open the file{'s'[: len(kept) - 1]} again to get them back"
    for screen in edited:
        if screen.swap_trouble:
            yield f"your last edits of {screen.file.path.name} could not be kept: {screen.swap_trouble}"


def _not_a_terminal() -> str:
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):  # it is drawn on the last one
        return "without one of the options for output this is a program for a terminal"
    if os.environ.get("TERM", "") in ("dumb", "unknown"):
        return f"TERM={os.environ['TERM']} says that this terminal can only print line after line"
    return ""
