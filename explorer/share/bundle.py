"""A bundle: one file with all that a session showed, to be opened where there is no GPU, no MLIR and no compiler.

It is data, never code: gzip around one JSON object, `{"format": "mytriton-explorer bundle", "version": 1, "listings":
[...], "b": Record, "a": Record or null, "made": Made}`, with the fields of `explorer.share.record`; fields that have
their default value are left out. Stages whose listings are equal share an entry of `listings`, by its number. A version
stays as long as older explorers can read what newer ones write: they leave out the fields that they do not know.
"""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any, NoReturn

from explorer.model import past_runs, runs
from explorer.model.codec import to_json
from explorer.model.result import LineView, StageView
from explorer.model.session import BACKENDS
from explorer.model.stages import stage_list
from explorer.share.record import Build, Record, Shared
from explorer.share.replay import restored
from explorer.share.strict import Wrong, decoder

FORMAT, VERSION = "mytriton-explorer bundle", 1
#: What a bundle begins with, whatever its name is.
MAGIC = b"\x1f\x8b"
#: The name's end by which a bundle is known.
SUFFIX = ".mtx"
#: Bytes that a file may have, and that it may unpack to: two megabytes can unpack to two gigabytes.
LARGEST, LARGEST_UNPACKED = 64_000_000, 256_000_000
#: Lines that a source may have.
LONGEST = 1_000_000


class NoBundle(Exception):
    """A file that is no bundle, or one that cannot be read; a sentence that says why."""


def write(what: Shared) -> bytes:
    """The bytes of a bundle."""
    data = to_json(what)
    listings: dict[str, int] = {}
    for record in (data["b"], data.get("a")):
        for build in (record or {}).get("builds", ()):
            for stage in (*build.get("stages", ()), *build.get("good", ())):
                if "lines" in stage:
                    key = json.dumps(stage["lines"], separators=(",", ":"), ensure_ascii=False)
                    stage["lines"] = listings.setdefault(key, len(listings))
    head = json.dumps({"format": FORMAT, "version": VERSION}, separators=(",", ":"))[:-1]
    rest = json.dumps(data, separators=(",", ":"), ensure_ascii=False)[1:]
    whole = f'{head},"listings":[{",".join(listings)}],{rest}'
    # What is not Unicode cannot be text of a file, but may be in what a child printed.
    return gzip.compress(whole.encode(errors="replace"), 6, mtime=0)


def read(path: str | Path) -> Shared:
    """What a bundle holds; raises `NoBundle`. Nothing in it is executed."""
    try:
        return _shared(_document(_unpacked(Path(path))))
    except NoBundle as error:
        raise NoBundle(f"{path} {error}") from None
    except (Wrong, RecursionError) as error:
        raise NoBundle(f"{path} is damaged: {error}") from None


def _unpacked(path: Path) -> bytes:
    if path.is_fifo():
        raise NoBundle("is not a regular file")  # a pipe may keep a reader for ever
    try:
        with open(path, "rb") as file:
            packed = file.read(LARGEST + 1)
    except OSError as error:
        raise NoBundle(f"cannot be read ({error.strerror})") from None
    if not packed.startswith(MAGIC):
        raise NoBundle("is no bundle of mytriton-explore, which begin with a gzip header")
    if len(packed) > LARGEST:
        raise NoBundle(f"is larger than a bundle may be ({LARGEST:,} bytes)")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            data = stream.read(LARGEST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NoBundle(f"is damaged: it does not unpack ({error})") from None
    if len(data) > LARGEST_UNPACKED:
        raise NoBundle(f"unpacks to more than a bundle may hold ({LARGEST_UNPACKED:,} bytes)")
    return data


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _document(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise NoBundle(f"is damaged, or no bundle of mytriton-explore: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise NoBundle("is no bundle of mytriton-explore, but some other JSON in gzip")
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise NoBundle("is damaged: it does not say which version it has")
    if version > VERSION:
        raise NoBundle(
            f"has version {version} of the format, and this program reads {VERSION}; install a newer mytriton"
        )
    return found


def _shared(found: dict[str, Any]) -> Shared:
    listings: tuple[tuple[LineView, ...], ...] = decoder(tuple[tuple[LineView, ...], ...])(found.pop("listings", None))
    # A stage's number of a listing stands where its lines belong.
    numbers: list[int | None] = []
    for record in (found.get("b"), found.get("a")):
        builds = record.get("builds") if isinstance(record, dict) else None
        for build in builds if isinstance(builds, list) else ():
            for name in ("stages", "good"):
                stages = build.get(name) if isinstance(build, dict) else None
                for stage in stages if isinstance(stages, list) else ():
                    number = stage.pop("lines", None) if isinstance(stage, dict) else None
                    if number is not None and (type(number) is not int or not 0 <= number < len(listings)):
                        raise Wrong(f"a stage has the listing {number!r:.20}, and there are {len(listings)}")
                    numbers.append(number)
    shared: Shared = decoder(Shared)(found)
    following = iter(numbers)

    def filled(stage: StageView, rows: int) -> StageView:
        number = next(following)
        lines = listings[number] if number is not None else ()
        places = (place for line in lines for place in (line.line, line.end_line) if place is not None)
        if not all(0 < place <= rows for place in places):
            raise Wrong(f"stage {stage.name} has a line that came from none of the {rows} of the source")
        return dataclasses.replace(stage, lines=lines)

    def whole(record: Record) -> Record:
        rows = record.text.count("\n") + 1
        builds = []
        for build in record.builds:
            _check(build)
            stages = tuple(filled(stage, rows) for stage in build.stages)
            good = tuple(filled(stage, LONGEST) for stage in build.good)  # of an earlier text
            builds.append(dataclasses.replace(build, stages=stages, good=good))
        if record.backend not in BACKENDS:
            raise Wrong(f"there is no backend {record.backend!r:.40}")
        if record.example < 0 or not Path(record.path).name:
            raise Wrong(f"its file is {record.path!r:.40} and its example number {record.example}")
        found = dataclasses.replace(record, builds=tuple(builds))
        _told(found)
        return found

    return dataclasses.replace(shared, b=whole(shared.b), a=whole(shared.a) if shared.a is not None else None)


def _told(record: Record) -> None:
    """Say in words what a screen will say of the numbers: those that are none of a run divide by zero here and now."""
    session = restored(record)
    try:
        runs.run_summary(session)
        past_runs.table(session.past_runs)
        for entry in session.past_runs.entries:
            runs.report_lines(entry.report, session.past_runs)
        runs.run_lines(session)
        stage_list(session)
    except (ArithmeticError, ValueError, LookupError, TypeError) as error:
        raise Wrong(f"its numbers make no sense ({error})") from None


def _check(build: Build) -> None:
    if build.backend not in BACKENDS:
        raise Wrong(f"there is no backend {build.backend!r:.40}")
    if len(set(build.planned)) != len(build.planned):
        raise Wrong(f"backend {build.backend} has a stage twice")
    for stage in (*build.stages, *build.good):
        if stage.name not in build.planned:
            raise Wrong(f"stage {stage.name!r:.40} is not one of those of backend {build.backend}")
