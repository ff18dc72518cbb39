"""The process that `isolated.run` gives its passes to: `python -m mytriton.mlir.child`.

Reads one pickled job from standard input, and writes the name of each stage before it begins and the stage after it, so
that the parent knows what it was at if it dies. Nothing else comes out of it: what native code prints goes to standard
error.
"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from typing import Any

from mytriton.mlir.module import Run


def main() -> None:
    """Do the job and end."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        unit, steps, given = pickle.load(sys.stdin.buffer)

        def tell(*message: Any) -> None:
            pickle.dump(message, out)
            out.flush()

        run = Run(unit, steps, given)
        for name in run.planned:
            tell("entering", name)
            run.run(name)
            stage = run.stages[-1]
            # A listing is made where it is read: from the bytecode, which goes along.
            tell("stage", replace(stage, make_lines=tuple, artifact=None), run.bytecode)
            if not stage.ok:
                break


if __name__ == "__main__":
    main()
