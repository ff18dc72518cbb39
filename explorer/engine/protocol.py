"""Messages as bytes: four bytes of length (big endian), then `[type name, fields]` in JSON.

Bytes over two pipes are all there is between the explorer and a child, so a child may as well stand at the other end
of `ssh host python -m explorer.engine.child ROLE`.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from typing import Any

from explorer.engine import messages
from explorer.model.codec import from_json, to_json

#: Both ends must agree; a child says its version in `Hello`.
VERSION = 2

_HEADER = struct.Struct(">I")
#: No message comes near this; a longer one means that somebody else wrote into the pipe.
_LONGEST = 1 << 29


class ProtocolError(Exception):
    """What was received is not a message of this protocol."""


def encode(message: Any) -> bytes:
    """One message as a frame."""
    data = json.dumps([type(message).__name__, to_json(message)], separators=(",", ":")).encode()
    return _HEADER.pack(len(data)) + data


def decode(data: bytes) -> Any:
    """The message of one frame's content."""
    try:
        name, fields = json.loads(data)
        return from_json(messages.TYPES[name], fields)
    except (ValueError, TypeError, KeyError) as error:
        raise ProtocolError(f"not a message: {data[:80]!r} ({error})") from error


class FrameReader:
    """Cuts a stream of bytes into messages, however the bytes come in."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages that `data` completes."""
        self._buffer += data
        start = 0
        try:
            while len(self._buffer) - start >= _HEADER.size:
                (length,) = _HEADER.unpack_from(self._buffer, start)
                if length > _LONGEST:
                    raise ProtocolError(f"a message of {length} bytes: something else wrote into the pipe")
                end = start + _HEADER.size + length
                if end > len(self._buffer):
                    break
                data = bytes(self._buffer[start + _HEADER.size : end])
                start = end
                yield decode(data)
        finally:
            del self._buffer[:start]


def write_all(descriptor: int, data: bytes) -> None:
    """Write to a blocking descriptor; BrokenPipeError if nobody reads any more."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
