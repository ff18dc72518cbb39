"""Benches in words and drawings, the list of runs with deltas, and the keys that make both."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine.messages import RunFinished, StillRunning
from explorer.model.bench_page import bench_figures, bench_page
from explorer.model.codec import from_json, to_json
from explorer.model.measured import BenchView, TrialView, TuningView
from explorer.model.past_runs import Entry, PastRuns, outcome, size_lines, table
from explorer.model.result import OutputReport, RunReport
from explorer.model.roofline import HEIGHT, WIDTH, bench_lines, drawing, fine_print, verdict
from explorer.model.runs import report_lines, run_summary
from explorer.model.tuning_page import tuning_lines
from explorer.model.units import amount, change, number, percent, seconds_text
from tests.explorer.explorer_support import Explorer, explorer, settled

BENCH = BenchView(
    median=12.0e-6,
    p10=11e-6,
    q1=11.5e-6,
    q3=13e-6,
    p90=15e-6,
    runs=1000,
    clock="wall clock, caches as the run before left them",
    read=8000,
    written=4000,
    flops={"f32": 1000},
    programs=4,
    counted=4,
    peak_bandwidth=10e9,
    peak_flops=100e9,
    peak="measured: a NumPy copy and a matrix product, 2 cores",
)
GOOD = OutputReport("out", True, size=1000)
REPORT = RunReport(True, "cpu", "CPU", "add_kernel", "add(n=1000)", (GOOD,), 1e-3, bench=BENCH, num_warps=4)


def test_amounts_are_written_with_three_digits() -> None:
    assert [number(v) for v in (0, 0.01, 0.0853, 0.5, 2.5, 2.504, 12.04, 99.96, 1234)] == [
        *("0", "0.01", "0.0853", "0.5", "2.5", "2.50", "12.0", "100", "1234")
    ]
    assert [amount(v, "B/s") for v in (12, 12e3, 4.9e12, 3.2e15)] == ["12 B/s", "12 kB/s", "4.9 TB/s", "3200 TB/s"]
    assert [percent(v) for v in (0, 0.0004, 0.05, 0.5, 1.2)] == ["0 %", "0.04 %", "5 %", "50 %", "120 %"]
    assert [change(*v) for v in ((95, 100), (100, 100), (101, 100), (150, 100), (1200, 100))] == [
        *("-5.0%", "same", "+1.0%", "+50%", "x12")
    ]
    assert [seconds_text(v) for v in (5e-6, 2e-3, 3.0)] == ["5.0 us", "2.00 ms", "3.00 s"]


def test_figures_follow_from_what_was_counted() -> None:
    assert (BENCH.bytes, BENCH.total_flops) == (12000, 1000)
    assert BENCH.bandwidth == pytest.approx(1e9)
    assert BENCH.intensity == pytest.approx(1 / 12)
    assert BENCH.ridge == pytest.approx(10)
    assert (BENCH.limit, BENCH.share) == ("memory", pytest.approx(0.1))
    much = replace(BENCH, flops={"f32": 600_000})
    assert (much.limit, much.share) == ("computing", pytest.approx(0.5))
    assert replace(BENCH, flops={}).limit == "memory"
    assert replace(BENCH, read=0, written=0, flops={}).limit == ""
    assert from_json(RunReport, to_json(REPORT)) == REPORT


def test_a_bench_in_words() -> None:
    assert bench_lines(BENCH) == [
        "median 12.0 us  quartiles 11.5 us to 13.0 us  p10 to p90 11.0 us to 15.0 us",
        "moved    1 GB/s        10 % of 10 GB/s         [##..................]",
        "computed 83.3 MFLOP/s  0.083 % of 100 GFLOP/s  [....................]",
        "limited by memory: 10 % of the roofline (0.0833 operations a byte, ridge 10)",
    ]
    assert fine_print(BENCH) == [
        "1000 runs by wall clock, caches as the run before left them",
        "a launch: 8 kB in, 4 kB out (each element once), 1 kFLOP of f32",
        "limits measured: a NumPy copy and a matrix product, 2 cores",
    ]
    assert max(map(len, bench_lines(BENCH))) < 80
    moves = replace(BENCH, flops={}, median=1e-6)
    assert verdict(moves) == (
        "limited by memory: 120 % of the roofline (it only moves data), more than memory gives: out of caches in part"
    )
    unknown = replace(BENCH, peak_flops=0.0, peak_bandwidth=0.0)
    assert bench_lines(unknown)[1:] == [
        "moved    1 GB/s, the device's limit is not known",
        "computed 83.3 MFLOP/s, the device's limit is not known",
        "roofline: nothing is known to limit it",
    ]
    heavy = BenchView(1.0, 1.0, 1.0, 1.0, 1.0, 1, "clock", programs=9, reason="too much")
    assert bench_lines(heavy) == ["median 1.00 s  quartiles 1.00 s to 1.00 s  p10 to p90 1.00 s to 1.00 s"]
    assert fine_print(heavy) == ["1 run by clock", "bytes and operations are not countable: too much"]
    few = replace(BENCH, counted=2)
    assert fine_print(few)[1].endswith("1 kFLOP of f32, estimated from 2 of 4 programs")


def test_what_a_cache_holds_is_not_limited_by_memory() -> None:
    cached = replace(BENCH, cache="L2 cache of 2 MB")
    assert (cached.limit, cached.share, drawing(cached)) == ("", 0.0, [])
    assert bench_lines(cached)[1:] == [
        "moved    1 GB/s out of the L2 cache of 2 MB",
        "computed 83.3 MFLOP/s  0.083 % of 100 GFLOP/s  [....................]",
        "roofline: not limited by memory, which gives 10 GB/s; all that it moves fits the L2 cache of 2 MB",
    ]
    assert replace(cached, flops={"f32": 600_000}).limit == "computing", "of which there is enough to be the limit"
    assert size_lines(history(replace(REPORT, bench=cached))[1])[-1].split()[-2:] == ["L2", "cache"]


def test_the_roofline_is_drawn() -> None:
    rows = drawing(BENCH, [replace(BENCH, median=120e-6)])
    assert rows == [
        "   100 GFLOP/s |                                       //////---------------",
        "               |                             //////////",
        "               |                  ///////////",
        "               |       ///////////",
        "  83.3 MFLOP/s |///////       *",
        "               |",
        "               |              o                            operations a byte",
        "               ++--------------+--------------+-------------+--------------+",
        "* now o before  0.01           0.1            1             10           100",
    ]
    assert len(rows) == HEIGHT + 2
    assert max(map(len, rows)) == WIDTH + 16
    assert drawing(replace(BENCH, flops={})) == [], "without operations there is no place on it"
    above = drawing(replace(BENCH, median=1e-9))
    assert above[0].startswith("     1 TFLOP/s |"), "out of caches: above the roof"


def history(*reports: RunReport) -> tuple[PastRuns, list[Entry]]:
    made = PastRuns()
    for n, report in enumerate(reports):
        made.add(report, time=f"10:00:0{n}", backend="cuda", text=f"text {n // 2}", edited=n == 1)
    return made, made.entries


def timed(median: float, **changes: object) -> RunReport:
    return replace(REPORT, bench=replace(BENCH, median=median), **changes)  # type: ignore[arg-type]


def test_deltas_against_the_bench_before_and_the_best() -> None:
    other = timed(1e-6, example="add(n=1)")
    made, entries = history(timed(10e-6), timed(20e-6), replace(REPORT, bench=None), other, timed(15e-6))
    assert [made.deltas(e) for e in entries] == [("", ""), ("+100%", "+100%"), ("", ""), ("", ""), ("-25%", "+50%")]
    assert made.compared(entries[4]) == "-25% against run 2 (20.0 us), +50% against the best, run 1 (10.0 us)"
    assert made.compared(entries[1]) == "+100% against run 1 (10.0 us)"
    assert made.compared(entries[0]) == ""
    assert made.of(entries[3].report) is entries[3]


def test_the_list_of_runs() -> None:
    on_gpu = replace(REPORT, backend="cuda", device="NVIDIA H200", chip="sm_90", constexprs={"BLOCK": 256}, bench=None)
    failed = RunReport(False, "cuda", message="no", unavailable=True)
    made, _ = history(timed(10e-6), timed(9e-6), on_gpu, failed)
    first, second = made.entries[0].version, made.entries[2].version
    assert first != second
    assert [text for text, _ in table(made)] == [
        "run  time      result   median     before  best  ran on         example                 text            "
        "compiled for",
        f"1    10:00:00  PASS     10.0 us                  cpu, not cuda  add_kernel add(n=1000)  {first}",
        f"2    10:00:01  PASS     9.0 us     -10%    -10%  cpu, not cuda  add_kernel add(n=1000)  {first} edited",
        f"3    10:00:02  PASS     (1.00 ms)                cuda           add_kernel add(n=1000)  {second}         "
        "sm_90 4 warps BLOCK=256",
        f"4    10:00:03  NOT RUN                           cuda                                   {second}         no",
    ]
    assert outcome(replace(REPORT, ok=False)) == "FAIL"
    narrow = table(made, 60)
    assert narrow[:3] == [
        ("run  time      result   median     before  best", 0),
        ("     ran on  example  text  compiled for", 0),
        ("1    10:00:00  PASS     10.0 us", 1),
    ]
    assert narrow[-1] == (f"     cuda  {second}  no", 4)
    assert max(len(text) for text, _ in narrow) <= 60


def test_a_table_over_sizes_has_the_newest_of_each_example() -> None:
    made = PastRuns()
    for example, median in (("add(n=1)", 5e-6), ("add(n=1000)", 12e-6), ("add(n=1)", 6e-6)):
        made.add(timed(median, example=example), time="", backend="cpu", text="", edited=False)
    made.add(timed(1e-6, kernel="other"), time="", backend="cpu", text="", edited=False)
    assert size_lines(made.sizes(made.entries[2])) == [
        "example       median      p10      p90  GB/s  GFLOP/s  of the limit",
        "add(n=1)      6.0 us  11.0 us  15.0 us     2    0.167          20 %",
        "add(n=1000)  12.0 us  11.0 us  15.0 us     1   0.0833          10 %",
    ]
    assert len(made.sizes(made.entries[3])) == 1
    small = replace(BENCH, read=8, written=4)
    made.add(replace(REPORT, example="add(n=3)", bench=small), time="", backend="cpu", text="", edited=False)
    assert [e.report.example for e in made.sizes(made.entries[4])] == ["add(n=3)", "add(n=1)", "add(n=1000)"]


def test_a_failing_run_says_where_it_is_wrong() -> None:
    picture = ("legend", "a cell is one element", "  0", "0 .#")
    bad = OutputReport("out", False, 2.0, 0.5, 1e6, 3, 1000, (7,), "1.0", "3.0", 1, 0, "the last 3 elements", picture)
    report = RunReport(False, "cpu", "CPU", "k", "e()", (bad,), origin="program (1, 0, 0), lane 7", origin_line=9)
    lines = report_lines(report, PastRuns())
    assert [line.text for line in lines] == [
        "FAIL  k  e()  on cpu",
        "out: 3 of 1000 differ (0.3 %)  max abs 2  rel 0.5  ulp 1e+06  first at [7]: 1.0, expected 3.0",
        "  written by program (1, 0, 0), lane 7, line 9",
        "  which: the last 3 elements",
        "  1 by NaN, which the largest errors leave out",
        *(f"  {row}" for row in picture),
    ]
    assert lines[2].line == 9


async def finish(e: Explorer, report: RunReport) -> None:
    e.engine.emit(RunFinished(e.engine.generation, report))
    await e.pilot.pause()


async def test_benching_shows_figures_and_how_they_changed(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "B")
        request = e.engine.runs[-1]
        assert (request.bench, request.backend, request.example) == (True, "cuda", 0)
        assert e.main.focused_pane.name == "run"
        e.engine.emit(StillRunning(e.engine.generation, "runner", "run", 3.0, "40 of 100 runs"))
        await e.pilot.pause()
        assert e.line("#run") == " run: running ... 40 of 100 runs  3 s"
        before = await settled(e.pilot)
        e.engine.emit(StillRunning(e.engine.generation, "runner", "run", 3.5, "47 of 100 runs"))
        await e.pilot.pause()
        assert await settled(e.pilot) - before < 1000, "bytes, twice a second"
        await finish(e, replace(REPORT, note="ran on the cpu backend, not on cuda: no NVIDIA driver"))
        assert e.line("#run").startswith(" run: PASS on cpu, not cuda  12.0 us of 1000 runs  1 GB/s, 10 % of the limit")
        lines = e.lines("run")
        assert lines[:4] == [
            "PASS  add_kernel  add(n=1000)  on cpu",
            "ran on the cpu backend, not on cuda: no NVIDIA driver",
            bench_lines(BENCH)[0],
            bench_lines(BENCH)[1],
        ]
        assert drawing(BENCH)[0] in lines
        await e.press("B")
        await finish(e, timed(6e-6))
        assert e.lines("run")[2] == "-50% against run 1 (12.0 us)"
        assert len([row for row in e.lines("run") if "* now o before" in row]) == 1
        assert max(map(len, e.lines("run"))) <= 77


async def test_all_sizes_are_benched_one_after_the_other(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape")
        e.main.session.settings = replace(e.main.session.settings, values={"n": 7})
        await e.press("B")
        assert e.engine.runs.pop().values == {"n": 7}
        await finish(e, timed(1e-6, example="add(n=1)"))
        await e.main.run_action("bench(True)")
        for number, label in enumerate(("add(n=1)", "add(n=1000)")):
            assert [r.example for r in e.engine.runs] == list(range(number + 1))
            assert e.engine.runs[-1].values == {}, "sizes are those of the examples"
            await finish(e, timed(1e-6 * (number + 1), example=label))
            await settled(e.pilot)
        assert len(e.engine.runs) == 2
        assert [row.split()[0] for row in e.lines("run") if row.startswith(("add(", "example"))] == [
            *("example", "add(n=1)", "add(n=1000)")
        ]
        await e.main.run_action("bench(True)")
        await e.press("x")
        assert e.engine.cancelled == 1
        await finish(e, RunReport(False, "cuda", message="cancelled while benching"))
        await settled(e.pilot)
        assert len(e.engine.runs) == 3, "the others are not benched any more"


async def test_tuning_shows_the_table_in_the_run_pane(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (100, 30)) as e:
        module = e.main.session.module
        assert module is not None
        e.main.session.module = replace(module, kernels=tuple(replace(k, tuned=("BLOCK",)) for k in module.kernels))
        await e.main.run_action("tune")
        await settled(e.pilot)
        assert (e.engine.runs[-1].tune, e.main.focused_pane.name) == (True, "run")
        trials = (
            TrialView({"BLOCK": 64, "num_warps": 4}, 3e-6, 2e-6, 4e-6),
            TrialView({"BLOCK": 128, "num_warps": 2}, 2e-6, 1e-6, 2.5e-6),
            TrialView({"BLOCK": 100, "num_warps": 2}, error="it is no power of 2\nhelp: take 128"),
        )
        tuning = TuningView((1000, "float32"), trials, 1, 5, 1.5)
        report = RunReport(True, "cpu", "CPU", "add_kernel", "add(n=1000)", tuning=tuning)
        assert from_json(RunReport, json.loads(json.dumps(to_json(report)))) == report
        await finish(e, report)
        assert [line.rstrip() for line in e.lines("run")][:8] == [
            "TUNED  add_kernel  add(n=1000)  on cpu",
            "3 of 5 after pruning configs in 1.50 s, for 1000, float32",
            "   BLOCK  num_warps  median  of the best",
            "   64     4          3.0 us  x1.50",
            "*  128    2          2.0 us",
            "   100    2          failed",
            "failed: BLOCK: 100, num_warps: 2",
            "  it is no power of 2",
        ]
        assert run_summary(e.main.session) == "TUNED on cpu  BLOCK: 128, num_warps: 2: 2.0 us"
        failed = replace(report, ok=False, tuning=replace(tuning, best=None))
        assert (outcome(report), outcome(failed)) == ("TUNED", "FAIL")


def test_a_table_of_configs_fits() -> None:
    values = {"BLOCK_M": 128, "BLOCK_N": 256, "GROUP": 8, "num_warps": 8}
    trials = (TrialView(values, 2e-3, 1e-3, 4e-3), TrialView({**values, "GROUP": 4}, 1e-3, 1e-3, 1e-3))
    found = TuningView((4096,), trials, 1, 2, 0.5)
    assert [len(tuning_lines(found, width)) for width in (80, 70, 40)] == [4, 4, 7]
    assert tuning_lines(found, 70)[1:] == [
        "   BLOCK_M  BLOCK_N  GROUP  num_warps  median   of the best",
        "   128      256      8      8          2.00 ms  x2.00",
        "*  128      256      4      8          1.00 ms",
    ]
    assert "20% to 80%" in tuning_lines(found, 80)[1]
    assert tuning_lines(found, 40)[1:] == [
        "   2.00 ms  x2.00",
        "     BLOCK_M: 128, BLOCK_N: 256, GROUP:",
        "     8, num_warps: 8",
        "*  1.00 ms",
        "     BLOCK_M: 128, BLOCK_N: 256, GROUP:",
        "     4, num_warps: 8",
    ]


async def test_the_list_of_runs_survives_edits_and_shows_reports(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "H")
        assert "Nothing was run yet" in str(e.app.screen.query_one("CodeView").lines[0])  # type: ignore[attr-defined]
        await e.press("escape", "B")
        await finish(e, REPORT)
        await e.press("1", "enter", "#", "escape", "B")
        await finish(e, timed(24e-6))
        await e.press("H")
        first, second = e.main.session.past_runs.entries
        assert (first.edited, second.edited) == (False, True)
        assert first.version != second.version
        await e.press("k", "enter")
        assert e.app.screen.query_one(".title").text == " Run 1"  # type: ignore[attr-defined]
        await e.press("escape", "B")
        assert e.engine.runs[-1].example == 0, "all examples, from the first"
        await finish(e, timed(1e-6))
        assert len(e.main.session.past_runs.entries) == 3
        await e.press("escape")
        assert e.app.screen is e.main


def test_the_page_of_a_command() -> None:
    past = PastRuns()
    for example, median in (("add(n=1)", 5e-6), ("add(n=1000)", 12e-6)):
        past.add(timed(median, example=example), time="", backend="cpu", text="", edited=False)
    past.add(timed(12e-6, kernel="other"), time="", backend="cpu", text="", edited=False)
    past.add(replace(REPORT, bench=None), time="", backend="cpu", text="", edited=False)
    assert bench_page(past) == [
        "add_kernel on cpu (CPU)",
        "example       median      p10      p90  GB/s  GFLOP/s  of the limit",
        "add(n=1)      5.0 us  11.0 us  15.0 us   2.4      0.2          24 %",
        "add(n=1000)  12.0 us  11.0 us  15.0 us     1   0.0833          10 %",
        "by wall clock, caches as the run before left them",
        "limits measured: a NumPy copy and a matrix product, 2 cores",
        "",
        "other on cpu (CPU)",
        *bench_lines(BENCH),
        *drawing(BENCH),
        *fine_print(BENCH),
    ]
    assert bench_page(PastRuns()) == []
    figures = bench_figures(BENCH)
    assert (figures["bytes"], figures["total_flops"], figures["limit"]) == (12000, 1000, "memory")
    assert figures["share"] == pytest.approx(0.1)
