"""Bundles: what is in one comes back, and a file that is none does no harm."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.__main__ import main
from explorer.share import bundle
from explorer.share.bundle import NoBundle, read, write
from explorer.share.document import document
from explorer.share.export import exported
from explorer.share.record import Shared, recorded
from explorer.share.replay import restored
from explorer.widgets.status import header
from tests.explorer.bundles import BENCH, GOOD, REPORT, record, shared
from tests.explorer.explorer_support import SOURCE

#: Values that are none.
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), st.text(max_size=9),
    st.just([]), st.just({}), st.sampled_from(["\x1b[2J", "../..", "nan", 0, -1]),
)  # fmt: skip


def unpacked(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


# The file


def test_what_is_written_is_read(bundle_path: Path) -> None:
    found = read(bundle_path)
    assert repr(found) == repr(shared("in B", replace(record("in A"), label="pinned 10:00"))), (
        "NaN is not equal to itself"
    )
    data = unpacked(bundle_path)
    assert list(data)[:3] == ["format", "version", "listings"]
    assert (data["format"], data["version"]) == ("mytriton-explorer bundle", 1)
    stages = data["b"]["builds"][0]["stages"]
    assert stages[2]["lines"] == stages[3]["lines"], "listings that are equal are there once"
    assert write(found) == bundle_path.read_bytes()


def test_all_that_a_run_and_a_bench_measured_comes_back(tmp_path: Path) -> None:
    report = replace(REPORT, bench=BENCH, constexprs={"BLOCK": 256, "DTYPE": {"dtype": "fp32"}})
    (tmp_path / "x.mtx").write_bytes(write(Shared(replace(record(), run=report))))
    assert repr(read(tmp_path / "x.mtx").b.run) == repr(report)


def test_a_session_comes_back(bundle_path: Path) -> None:
    again = recorded(restored(read(bundle_path).b))
    assert repr(again) == repr(read(bundle_path).b)


def damaged(path: Path, change: Any) -> str:
    """What is said of the bundle after a change of its JSON."""
    data = unpacked(path)
    change(data)
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    with pytest.raises(NoBundle) as error:
        read(path)
    return str(error.value).removeprefix(f"{path} ")


def test_damaged_bundles(bundle_path: Path) -> None:
    good = bundle_path.read_bytes()

    def said(change: Any) -> str:
        bundle_path.write_bytes(good)
        return damaged(bundle_path, change)

    stage = ("b", "builds", 0, "stages", 2)

    def put(*where: Any) -> Any:
        *keys, last, value = where

        def change(data: Any) -> None:
            for key in keys:
                data = data[key]
            data[last] = value

        return change

    newer = "has version 2 of the format, and this program reads 1; install a newer mytriton"
    assert said(put("version", 2)) == newer
    assert said(put("version", "1")) == "is damaged: it does not say which version it has"
    assert said(put("format", "x")) == "is no bundle of mytriton-explore, but some other JSON in gzip"
    assert said(put("b", None)) == "is damaged: Shared.b: null where there should be a Record"
    assert said(put("b", "text", 5)) == "is damaged: Shared.b: Record.text: a number where there should be text"
    assert said(lambda data: data["b"].pop("path")) == "is damaged: Shared.b: a Record without path"
    assert said(put("b", "builds", {})) == "is damaged: Shared.b: Record.builds: an object where there should be a list"
    assert said(put(*stage, "lines", 99)) == "is damaged: a stage has the listing 99, and there are 9"
    assert said(put(*stage, "lines", [])).startswith("is damaged: a stage has the listing [], and there are ")
    assert said(put(*stage, "status", "x")).endswith(
        "StageView.status: 'x' where there should be one of ok, no change, failed, crashed, skipped, cached"
    )
    assert said(put(*stage, "ms", True)).endswith("StageView.ms: a truth value where there should be a number")
    assert said(put(*stage, "name", "evil")) == "is damaged: stage 'evil' is not one of those of backend cuda"
    assert said(put("b", "builds", 0, "backend", "rm -rf")) == "is damaged: there is no backend 'rm -rf'"
    assert said(put("listings", 0, 0, "line", 10**9)) == (
        "is damaged: stage tree has a line that came from none of the 12 of the source"
    )
    assert said(put("listings", 0, 0, "end_line", 10**9)).startswith("is damaged: stage tree has a line that came from")
    assert said(put("b", "example", -1)) == "is damaged: its file is 'add.py' and its example number -1"
    assert said(put("b", "path", "/")) == "is damaged: its file is '/' and its example number 0"
    assert said(put("b", "run", "outputs", 0, "size", 0)).startswith("is damaged: its numbers make no sense (")
    assert said(put("listings", 0, 0, "line", 1.5)).endswith(
        "LineView.line: a number where there should be a whole number"
    )


def test_files_that_are_no_bundles(bundle_path: Path) -> None:
    def said(data: bytes) -> str:
        bundle_path.write_bytes(data)
        with pytest.raises(NoBundle) as error:
            read(bundle_path)
        return str(error.value).removeprefix(f"{bundle_path} ")

    good = bundle_path.read_bytes()
    assert said(b"") == "is no bundle of mytriton-explore, which begin with a gzip header"
    assert said(b"\x1f\x8b\x08nonsense").startswith("is damaged: it does not unpack (")
    assert said(good[:200]).startswith("is damaged: it does not unpack (")
    assert said(good[:400] + b"\0" + good[401:]).startswith("is damaged: it does not unpack (")
    assert said(gzip.compress(b"[1")).startswith("is damaged, or no bundle of mytriton-explore: Expecting")
    assert said(gzip.compress(b"[" * 100_000)).startswith("is damaged, or no bundle of mytriton-explore: ")
    assert said(gzip.compress(b"NaN")).startswith("is damaged, or no bundle of mytriton-explore: NaN is no JSON")
    assert said(gzip.compress(b"\xff")).startswith("is damaged, or no bundle")
    deep = json.dumps({"format": bundle.FORMAT, "version": 1, "listings": []})[:-1] + ',"b":' + '{"defines":{"x":' * 400
    assert said(gzip.compress((deep + "0" + "}}" * 400 + "}").encode())).startswith("is damaged: ")
    bundle_path.unlink()
    with pytest.raises(NoBundle, match=r"cannot be read \(No such file or directory\)"):
        read(bundle_path)


def test_a_bomb_is_not_unpacked(bundle_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST_UNPACKED", 1_000_000)
    bundle_path.write_bytes(gzip.compress(b" " * 50_000_000))
    assert bundle_path.stat().st_size < 60_000
    with pytest.raises(NoBundle, match="unpacks to more than a bundle may hold"):
        read(bundle_path)
    monkeypatch.setattr(bundle, "LARGEST", 1000)
    with pytest.raises(NoBundle, match="is larger than a bundle may be"):
        read(bundle_path)


def test_text_of_a_bundle_cannot_steer_a_terminal(bundle_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = unpacked(bundle_path)
    data["listings"][1][0]["text"] = "\x1b]52;c;ZXZpbA==\x07 \x9b2J\ttab"
    bundle_path.write_bytes(gzip.compress(json.dumps(data).encode()))
    assert main([str(bundle_path), "--print", "ssa"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "\ufffd]52;c;ZXZpbA==\ufffd \ufffd2J\ttab"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_changed_it_is_refused_or_can_be_shown(bundle_path: Path, data: st.DataObject) -> None:
    changed = json.loads(gzip.decompress(GOOD))
    for _ in range(data.draw(st.integers(1, 3))):
        at, key, places = changed, "", [changed]
        while places:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(at[key], (dict, list)) or data.draw(st.integers(0, 9)) == 0:
                at[key] = data.draw(ODD)
                break
            at = at[key]
    bundle_path.write_bytes(gzip.compress(json.dumps(changed).encode()))
    try:
        found = read(bundle_path)
    except NoBundle:
        return
    session = restored(found.b)
    session.pinned = restored(found.a) if found.a is not None else None
    for suffix in (".html", ".md", ".mtx"):
        assert exported(session, suffix, True, found.made)
    json.dumps(document(session, made=found.made), allow_nan=False)
    header(session, False, ())


def test_fields_of_newer_explorers_are_left_out(bundle_path: Path) -> None:
    data = unpacked(bundle_path)
    data["b"]["weather"] = data["b"]["builds"][0]["stages"][0]["mood"] = {"x": [1]}
    bundle_path.write_bytes(gzip.compress(json.dumps(data).encode()))
    assert read(bundle_path).b.text == SOURCE
