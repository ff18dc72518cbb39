"""Runs emitted CUDA C++ on the CPU: compiled with g++ behind stand-ins for what CUDA adds to C++.

All kernels go into one library, each in a namespace of its own, with the undefined-behaviour sanitizer on: emitted code
must have none. Threads run one after the other, the last first, which shows an order that was only hoped for; a kernel
with a barrier gets one system thread for each of its threads.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_SHIM = r"""
#include <barrier>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
struct Index { unsigned x, y, z; };
static thread_local Index threadIdx, blockIdx;
static Index gridDim;
static std::unique_ptr<std::barrier<>> meeting;
static void __syncthreads() { meeting->arrive_and_wait(); }
template <class To, class From> static To bits(From x) { To y; std::memcpy(&y, &x, sizeof y); return y; }
static float __int_as_float(unsigned x) { return bits<float>(x); }
static float __uint_as_float(unsigned x) { return bits<float>(x); }
static unsigned __float_as_uint(float x) { return bits<unsigned>(x); }
static double __longlong_as_double(unsigned long long x) { return bits<double>(x); }
// Conversions saturate; NaN gives 0 only from f32 to 32 bits, else the least integer (PTX ISA, "cvt").
template <class To, class From> static To saturate(From x, To nan) {
    const From limit = std::ldexp(From(1), std::numeric_limits<To>::digits);
    const To low = std::numeric_limits<To>::min();
    return x != x ? nan : x >= limit ? std::numeric_limits<To>::max() : x < From(low) ? low : To(x);
}
static int __float2int_rz(float x) { return saturate<int>(x, 0); }
static int __double2int_rz(double x) { return saturate<int>(x, int(1u << 31)); }
static long long __float2ll_rz(float x) { return saturate<long long>(x, (long long)(1ull << 63)); }
static long long __double2ll_rz(double x) { return saturate<long long>(x, (long long)(1ull << 63)); }
static unsigned __float2uint_rz(float x) { return saturate<unsigned>(x, 0); }
static unsigned __double2uint_rz(double x) { return saturate<unsigned>(x, 1u << 31); }
static unsigned long long __float2ull_rz(float x) { return saturate<unsigned long long>(x, 1ull << 63); }
static unsigned long long __double2ull_rz(double x) { return saturate<unsigned long long>(x, 1ull << 63); }
template <class From> static float toward_zero(From x, float y) {
    const long double wide = x;  // holds every long long and double
    const bool away = std::fabs((long double)y) > std::fabs(wide);
    return away ? std::nextafterf(y, 0.0f) : y;
}
static long long __double_as_longlong(double x) { return bits<long long>(x); }
static float rsqrtf(float x) { return (float)(1 / std::sqrt((double)x)); }
static double rsqrt(double x) { return 1 / std::sqrt(x); }
static float __double2float_rz(double x) { return toward_zero(x, (float)x); }
static float __ll2float_rz(long long x) { return toward_zero(x, (float)x); }
static float __ull2float_rz(unsigned long long x) { return toward_zero(x, (float)x); }
#define EXTREMES(T) \
    static T max(T x, T y) { return x > y ? x : y; } \
    static T min(T x, T y) { return x < y ? x : y; }
EXTREMES(int) EXTREMES(unsigned) EXTREMES(long long) EXTREMES(unsigned long long)
static float mt_f16_to_f32(unsigned short h) { return (float)bits<_Float16>(h); }
static unsigned short mt_f32_to_f16(float x) { return bits<unsigned short>((_Float16)x); }
static void launch(const std::function<void()>& kernel, Index grid, int threads, bool together) {
    gridDim = grid;
    for (unsigned z = 0; z < grid.z; ++z) for (unsigned y = 0; y < grid.y; ++y) for (unsigned x = 0; x < grid.x; ++x) {
        auto one = [&](int t) { blockIdx = {x, y, z}; threadIdx = {unsigned(t), 0, 0}; kernel(); };
        if (!together) { for (int t = threads; t-- > 0;) one(t); continue; }
        meeting = std::make_unique<std::barrier<>>(threads);
        std::vector<std::thread> all;
        for (int t = threads; t-- > 0;) all.emplace_back(one, t);
        for (auto& thread : all) thread.join();
    }
}
"""

#: The helpers that hold PTX instructions, defined and declared; the shim has its own of the same names.
_ASSEMBLY = re.compile(r"__device__ [\w ]+ \w+\([\w ]+\) \{\n(?:(?!\}).*\n)*?\s*asm\((?:.*\n)*?\}(?:\n|$)")
_DECLARED = re.compile(r"^__device__ [\w ]+ (mt_f16_to_f32|mt_f32_to_f16)\(.*\);\n", re.MULTILINE)
_CHECKS = "signed-integer-overflow,integer-divide-by-zero,shift,float-cast-overflow,bool"
_SIGNATURE = re.compile(r"^(?:void )?(\w+)\((.*)\) \{$", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    """The compiled kernels, by their number in the list they were built from."""

    handle: ctypes.CDLL

    def run(self, number: int, grid: tuple[int, int, int], args: Sequence[Any], types: Sequence[Any]) -> None:
        """Launch a kernel on NumPy arrays (in place) and scalars; `types` are NumPy types, None for an array."""
        holders = [
            np.array(a.ctypes.data, np.uint64) if t is None else np.array(a, t)
            for a, t in zip(args, types, strict=True)
        ]
        pointers = (ctypes.c_void_p * len(holders))(*[h.ctypes.data for h in holders])
        self.handle[f"run_{number}"](pointers, *grid)


def build(kernels: Sequence[tuple[str, int]], folder: Path) -> Library:
    """Compile kernels, each given as its text and its number of threads."""
    parts = [_SHIM]
    for number, (text, threads) in enumerate(kernels):
        text = _DECLARED.sub("", _ASSEMBLY.sub("", text)).replace('extern "C" ', "")
        found = list(_SIGNATURE.finditer(text))[-1]
        types = [p.strip().rsplit(" ", 1)[0] for p in found[2].split(",") if p.strip()]
        arguments = ", ".join(f"*({t}*)args[{i}]" for i, t in enumerate(types))
        together = "true" if "__syncthreads" in text else "false"
        parts.append(f"namespace k{number} {{\n{text}\n}}")
        parts.append(
            f'extern "C" void run_{number}(void** args, unsigned x, unsigned y, unsigned z) {{\n'
            f"    launch([=] {{ k{number}::{found[1]}({arguments}); }}, {{x, y, z}}, {threads}, {together});\n}}"
        )
    source, target = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text("\n".join(parts))
    command = ["g++", "-std=c++20", "-O0", "-ffp-contract=off", f"-fsanitize={_CHECKS}", "-shared", "-fPIC", "-w"]
    done = subprocess.run([*command, "-o", target, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return Library(ctypes.CDLL(str(target)))
