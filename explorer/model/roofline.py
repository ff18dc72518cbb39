"""A bench in words and bars, and the roofline: what the memory and the arithmetic of a device allow, in characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.model.measured import BenchView
from explorer.model.units import amount, number, percent, seconds_text

#: Columns and rows of the drawing without its axes: with them it fits a pane of 80 columns, and of 10 rows.
WIDTH, HEIGHT = 60, 7
_BAR = 20
_X_LABEL = " operations a byte"

#: Operations a byte, and operations a second.
Point = tuple[float, float]


def bench_lines(bench: BenchView) -> list[str]:
    """What was measured, and how that compares with the device's limits."""
    median = f"median {seconds_text(bench.median)}"
    quartiles = f"quartiles {seconds_text(bench.q1)} to {seconds_text(bench.q3)}"
    tenths = f"p10 to p90 {seconds_text(bench.p10)} to {seconds_text(bench.p90)}"
    rows = [f"{median}  {quartiles}  {tenths}"]
    if bench.reason:
        return rows
    if bench.cache:
        rows.append(f"{'moved':<9}{amount(bench.bandwidth, 'B/s')} out of the {bench.cache}")
    else:
        rows.append(_against("moved", bench.bandwidth, "B/s", bench.peak_bandwidth))
    if bench.total_flops:
        rows.append(_against("computed", bench.flop_rate, "FLOP/s", bench.peak_flops))
    return [*rows, verdict(bench)]


def _against(what: str, rate: float, unit: str, peak: float) -> str:
    if not peak:
        return f"{what:<9}{amount(rate, unit)}, the device's limit is not known"
    share = rate / peak
    full = min(_BAR, round(share * _BAR))
    of = f"{percent(share)} of {amount(peak, unit)}"
    return f"{what:<9}{amount(rate, unit):<13} {of:<23} [{'#' * full:.<{_BAR}}]"


def verdict(bench: BenchView) -> str:
    """What limits the kernel and how close to that it is, in words."""
    if bench.cache and not bench.limit:
        of = f", which gives {amount(bench.peak_bandwidth, 'B/s')}" if bench.peak_bandwidth else ""
        return f"roofline: not limited by memory{of}; all that it moves fits the {bench.cache}"
    if not bench.limit:
        return "roofline: nothing is known to limit it"
    more = ", more than memory gives: out of caches in part" if bench.limit == "memory" and bench.share > 1 else ""
    ridge = f", ridge {number(bench.ridge)}" if bench.ridge else ""
    ratio = f"{number(bench.intensity)} operations a byte{ridge}" if bench.total_flops else "it only moves data"
    return f"limited by {bench.limit}: {percent(bench.share)} of the roofline ({ratio}){more}"


def fine_print(bench: BenchView) -> list[str]:
    """How it was measured and counted."""
    rows = [f"{bench.runs} run{'s' if bench.runs > 1 else ''} by {bench.clock}"]
    if bench.reason:
        return [*rows, f"bytes and operations are not countable: {bench.reason}"]
    some = "" if bench.counted == bench.programs else f", estimated from {bench.counted} of {bench.programs} programs"
    types = ", ".join(f"{amount(count, 'FLOP')} of {name}" for name, count in bench.flops.items())
    moved = f"{amount(bench.read, 'B')} in, {amount(bench.written, 'B')} out (each element once)"
    rows.append(f"a launch: {moved}, {types or 'no floating-point operations'}{some}")
    return [*rows, *([f"limits {bench.peak}"] if bench.peak else [])]


def drawing(bench: BenchView, earlier: Sequence[BenchView] = ()) -> list[str]:
    """Where a bench stands below the roofline, with `earlier` ones on the same device; nothing if that is not known,
    or is another: that of a cache."""
    if bench.cache or not (bench.intensity and bench.peak_bandwidth and bench.peak_flops):
        return []
    points = [(b.intensity, b.flop_rate) for b in earlier if b.intensity and not b.cache]
    return plot((bench.intensity, bench.flop_rate), points, bench.peak_bandwidth, bench.peak_flops)


def plot(point: Point, earlier: Sequence[Point], bandwidth: float, peak: float) -> list[str]:
    """The roofline, both axes logarithmic: operations a second over operations a byte. `*` is the point, `o` are
    earlier ones, `/` is the limit by memory and `-` that by arithmetic."""
    ridge, points = peak / bandwidth, [*earlier, point]
    left, right = _decades([x for x, _ in points] + [ridge / 10, ridge * 10])
    top = math.log10(max(peak, *(y for _, y in points)))
    bottom = min(math.log10(min(y for _, y in points)), top - 1)
    bottom -= (top - bottom) / (2 * HEIGHT)

    def column(intensity: float) -> int:
        return min(WIDTH - 1, max(0, round((math.log10(intensity) - left) / (right - left) * (WIDTH - 1))))

    def row(rate: float) -> int:
        return round((top - math.log10(rate)) / (top - bottom) * (HEIGHT - 1))

    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for x in range(WIDTH):
        intensity = 10 ** (left + (right - left) * x / (WIDTH - 1))
        y = row(min(peak, bandwidth * intensity))
        if y < HEIGHT:
            grid[y][x] = "-" if intensity >= ridge else "/"
    for at in earlier:
        grid[min(HEIGHT - 1, row(at[1]))][column(at[0])] = "o"
    here = min(HEIGHT - 1, row(point[1]))
    grid[here][column(point[0])] = "*"
    if set(grid[-1][-len(_X_LABEL) :]) == {" "}:
        grid[-1][-len(_X_LABEL) :] = _X_LABEL
    labels = {row(peak): amount(peak, "FLOP/s"), here: amount(point[1], "FLOP/s")}
    rows = [f"{labels.get(y, ''):>14} |{''.join(cells)}".rstrip() for y, cells in enumerate(grid)]
    axis, ticks = ["-"] * WIDTH, ""
    for decade in range(left, right + 1):
        place, text = column(10.0**decade), number(10.0**decade)
        axis[place] = "+"
        start = min(place, WIDTH - len(text))
        ticks = f"{ticks:<{start}}{text}" if len(ticks) < start or not ticks else ticks
    legend = "* now o before" if earlier else "* now"
    return [*rows, f"{'':>14} +{''.join(axis)}", f"{legend:>14}  {ticks}"]


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around all values."""
    logs = [math.log10(v) for v in values]
    return math.floor(min(logs)), math.ceil(max(logs))
