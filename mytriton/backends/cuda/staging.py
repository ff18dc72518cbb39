"""What is about asynchronous copies under way: where they are waited for, and where what they brought stands."""

from __future__ import annotations

from mytriton.backends.cuda.facts import Facts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.positions import plus
from mytriton.backends.cuda.section import Section
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.writer import Writer
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged


class Staging(Section):
    """Prints it for one kernel, whose rings are in the buffer named `shared`."""

    def __init__(self, facts: Facts, values: Values, writer: Writer, shared: str) -> None:
        super().__init__(facts, values, writer)
        self._shared = shared

    def __call__(self, op: AsyncCommit | AsyncWait | Staged) -> None:
        """Write one operation."""
        call, line = self._values.prelude.call, self._writer.line
        match op:
            case AsyncCommit():
                line(f"{call('mt_async_commit')};")
            case AsyncWait():
                line(f"{call(f'mt_async_wait_{op.pending}')};")
                line("__syncthreads();")
            case Staged():  # a pointer to where the block begins
                type_, ring = c_type(op.result.type), op.ring
                place = plus(self._shared, f"{self._values(op.stage)} * {ring.bytes}", str(ring.start))
                line(f"{type_}* {self._values.name(op.result)} = ({type_}*)({place});")
