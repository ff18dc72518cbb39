"""`mytriton-explore`, also as `python -m explorer`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and do it; the exit code is 0, 1 (a kernel or check failed), 2 (bad input), 3 (the backend
    cannot run here) or 130 (interrupted)."""
    from explorer.cli import BadInput, parse

    try:
        options = parse(sys.argv[1:] if argv is None else argv)
        if options.mode == "ui":
            from explorer import app

            return app.run(options.settings())
        from explorer import headless

        code = headless.run(options)
        sys.stdout.flush()
        return code
    except BadInput as error:
        print(f"mytriton-explore: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # such as `| head`: nobody reads the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
