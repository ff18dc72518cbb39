"""`mytriton-explore`, also as `python -m explorer`."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.cli import Options
    from explorer.model.config import Config


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and do it; the exit code is 0, 1 (a kernel or check failed), 2 (bad input), 3 (the backend
    cannot run here) or 130 (interrupted)."""
    _fill_standard_streams()
    from explorer.cli import BadInput, Misused, parse

    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        options = parse(arguments)
        if options.mode == "config":
            code = print_config(options.config)
        elif options.mode == "ui":
            code = explore(options)
        else:
            from explorer import headless

            code = headless.run(options)
        sys.stdout.flush()
        return code
    except BadInput as error:
        print(f"mytriton-explore: {error}", file=sys.stderr)
        if "--json" in arguments and not isinstance(error, Misused):
            print(json.dumps({"ok": False, "error": str(error)}, indent=1))
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # such as `| head`: nobody reads the rest
        _drop_output()
        return 1
    except OSError as error:  # a full disk, no process to be had: nothing that is wrong with us
        _drop_output()
        print(f"mytriton-explore: {error}", file=sys.stderr)
        return 1


def explore(options: Options) -> int:
    """Run the terminal program; returns the exit code."""
    config = options.config
    if config.keys:
        from explorer import actions
        from explorer.model.config import config_path

        problems = actions.rebind(config.keys)
        config = replace(config, problems=(*config.problems, *(f"{config_path()}: {p}" for p in problems)))
    from explorer import launch

    return launch.run(replace(options, config=config))


def print_config(config: Config) -> int:
    """Print the settings as a config file, and what is wrong with those that there are."""
    from explorer.actions import ACTIONS, shown_key
    from explorer.model.config import config_path, printed

    actions = {a.id: ([shown_key(key) for key in (*a.letters, *a.keys)], a.help) for a in ACTIONS}
    print(printed(config, config_path(), actions), end="")
    for problem in config.problems:
        print(f"mytriton-explore: {problem}", file=sys.stderr)
    return 2 if config.problems else 0


def _fill_standard_streams() -> None:
    """Of the descriptors 0 to 2 those that are closed become the null device: else the next pipe that is made would be
    one of them, and be written to."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout, sys.stderr = sys.stdout or open(os.devnull, "w"), sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
