"""Runs emitted CUDA C++ on the CPU: compiled with g++ behind stand-ins for what CUDA adds to C++.

All kernels go into one library, each in a namespace of its own, with the undefined-behaviour sanitizer on: emitted code
must have none. Threads run one after the other, the last or the first one first, which shows an order that was only
hoped for. In a kernel with barriers or shuffles they are coroutines: a warp runs until all its lanes are at a shuffle,
which it does, or at a barrier, where it waits for the other warps. So warps are as far apart as the barriers allow, and
threads that do not come to the same place are an error.
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

from tests.backends.tensor_cores import TENSOR_CORES
from tests.backends.warpgroups import WARPGROUPS, stand_ins
from tests.backends.x86_assembly import in_cpp

_SHIM = r"""
#include <cmath>
#include <cstdio>
#include <cstring>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>
#include <sys/mman.h>
#include <ucontext.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
struct Index { unsigned x, y, z; };
static Index threadIdx, blockIdx, gridDim;
// --- threads that wait for each other
enum Place { RUNNING, SHUFFLE, BARRIER, DONE };
struct Copy { void* to; char bytes[16]; int size; };
struct Thread { ucontext_t context; Place at; unsigned long long handed; std::vector<std::vector<Copy>> copies; };
static std::vector<Thread> threads;
static ucontext_t scheduler;
static const std::function<void()>* body;
static std::string fault;  // why the launch was stopped
static unsigned turn;  // 0 if the last thread runs first; else all bits of a thread's number
static Thread& self() { return threads[threadIdx.x]; }
static void wait_at(Place place) {
    self().at = place;
    swapcontext(&self().context, &scheduler);
}
static void __syncthreads() { wait_at(BARRIER); }
template <class T> static T handed_by(T x, unsigned lane) {
    unsigned long long own = 0;
    std::memcpy(&own, &x, sizeof x);
    self().handed = own;
    wait_at(SHUFFLE);
    std::memcpy(&x, &threads[(threadIdx.x & ~31u) | (lane & 31)].handed, sizeof x);
    wait_at(SHUFFLE);  // until all have read it
    return x;
}
// The types there are shuffles for; others are converted to one, as on the device.
#define SHUFFLES(T) \
    static T __shfl_xor_sync(unsigned, T x, int mask) { return handed_by(x, threadIdx.x ^ mask); } \
    static T __shfl_sync(unsigned, T x, int lane) { return handed_by(x, lane); }
SHUFFLES(int) SHUFFLES(unsigned) SHUFFLES(long long) SHUFFLES(unsigned long long) SHUFFLES(float) SHUFFLES(double)
static void run_thread() {
    (*body)();
    self().at = DONE;
    swapcontext(&self().context, &scheduler);
}
static const size_t stack = 1 << 20;
static void run_together(int count) {
    static char* stacks =
        (char*)mmap(nullptr, 1024 * stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    threads.assign(count, Thread{});
    for (int t = 0; t < count; ++t) {
        getcontext(&threads[t].context);
        threads[t].context.uc_stack = {stacks + t * stack, 0, stack};
        makecontext(&threads[t].context, run_thread, 0);
    }
    for (int running = count; running > 0;) {
        for (int warp = count / 32; warp-- > 0;) {
            Place at = SHUFFLE;
            while (at == SHUFFLE) {
                for (unsigned lane = 32; lane-- > 0;) {
                    threadIdx = {(warp * 32 + lane) ^ turn, 0, 0};
                    swapcontext(&scheduler, &self().context);
                    if (lane < 31 && self().at != at) fault = "the lanes of a warp wait at different places";
                    at = self().at;
                    if (!fault.empty()) return;
                }
            }
            if (at == DONE) running -= 32;
        }
        if (running > 0 && running < count) { fault = "not all warps come to a barrier"; return; }
    }
}
// --- copies to shared memory: they land as late as they may, and what was there is lost when they begin
static void mt_async_copy(void* to, const void* from, int size, bool wanted) {
    Copy copy = {to, {}, size};
    if (wanted) std::memcpy(copy.bytes, from, size);
    if ((size_t)to % size || (size_t)from % size) fault = "a copy is not aligned";
    std::memset(to, 0xAB, size);
    if (self().copies.empty()) self().copies.emplace_back();
    self().copies.back().push_back(copy);
}
#define COPIES(n) \
    static void mt_async_copy_##n(void* to, const void* from) { mt_async_copy(to, from, n, true); } \
    static void mt_async_copy_##n##_if(bool wanted, void* to, const void* from) { mt_async_copy(to, from, n, wanted); }
COPIES(4) COPIES(8) COPIES(16)
static void mt_async_commit() {
    if (self().copies.empty()) self().copies.emplace_back();
    self().copies.emplace_back();
}
static void mt_async_wait(size_t pending) {
    auto& groups = self().copies;
    for (; groups.size() > pending + 1; groups.erase(groups.begin()))
        for (auto& copy : groups[0]) std::memcpy(copy.to, copy.bytes, copy.size);
}
#define WAITS(n) static void mt_async_wait_##n() { mt_async_wait(n); }
WAITS(0) WAITS(1) WAITS(2) WAITS(3) WAITS(4) WAITS(5) WAITS(6) WAITS(7)
// --- what assertions and prints call
static void __assertfail(const char* message, const char* file, unsigned line, const char*, size_t) {
    fault = std::string(file) + ":" + std::to_string(line) + ": thread " + std::to_string(threadIdx.x) +
            ": assertion failed: " + message;
    wait_at(DONE);
}
// --- cache hints
#define LOADS(name) template <class T> static T name(const T* from) { return *from; }
#define STORES(name) template <class T, class V> static void name(T* to, V x) { *to = x; }
LOADS(__ldca) LOADS(__ldcg) LOADS(__ldcs) LOADS(__ldcv) STORES(__stwb) STORES(__stcg) STORES(__stcs) STORES(__stwt)
// --- atomic operations: nothing comes between, since threads take turns only where they wait
#define FENCE(name) static void name() {}
FENCE(__threadfence) FENCE(__threadfence_block) FENCE(__threadfence_system)
template <class T> static T wrapping_sum(T x, T y) {
    T sum;
    __builtin_add_overflow(x, y, &sum);
    return sum;
}
static float wrapping_sum(float x, float y) { return x + y; }
static double wrapping_sum(double x, double y) { return x + y; }
template <class T> struct Same { typedef T type; };
#define ATOMIC(name, made) \
    template <class T> static T name(T* p, typename Same<T>::type x) { T old = *p; *p = made; return old; } \
    template <class T> static T name##_system(T* p, typename Same<T>::type x) { return name(p, x); }
ATOMIC(atomicAdd, wrapping_sum(old, x)) ATOMIC(atomicMax, (old > x ? old : x)) ATOMIC(atomicMin, (old < x ? old : x))
ATOMIC(atomicExch, x) ATOMIC(atomicAnd, old & x) ATOMIC(atomicOr, old | x) ATOMIC(atomicXor, old ^ x)
template <class T> static T atomicCAS(T* p, typename Same<T>::type expected, typename Same<T>::type x) {
    T old = *p;
    if (old == expected) *p = x;
    return old;
}
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
template <class To, class From> static To bits(From x) { To y; std::memcpy(&y, &x, sizeof y); return y; }
static float __int_as_float(unsigned x) { return bits<float>(x); }
static float __uint_as_float(unsigned x) { return bits<float>(x); }
static unsigned __float_as_uint(float x) { return bits<unsigned>(x); }
static double __longlong_as_double(unsigned long long x) { return bits<double>(x); }
static int __float_as_int(float x) { return bits<int>(x); }
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
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
// What is stored is rounded, and fused with nothing.
#define UNFUSED(name, T, op) static T name(T x, T y) { volatile T z = x op y; return z; }
UNFUSED(__fadd_rn, float, +) UNFUSED(__dadd_rn, double, +) UNFUSED(__fmul_rn, float, *) UNFUSED(__dmul_rn, double, *)
#define EXTREMES(T) \
    static T max(T x, T y) { return x > y ? x : y; } \
    static T min(T x, T y) { return x < y ? x : y; }
EXTREMES(int) EXTREMES(unsigned) EXTREMES(long long) EXTREMES(unsigned long long)
static float mt_f16_to_f32(unsigned short h) { return (float)bits<_Float16>(h); }
static unsigned short mt_f32_to_f16(float x) { return bits<unsigned short>((_Float16)x); }
static unsigned short mt_atomic_add_f16(unsigned short* p, unsigned short x) {
    unsigned short old = *p;
    *p = bits<unsigned short>((_Float16)(bits<_Float16>(old) + bits<_Float16>(x)));
    return old;
}
static unsigned short mt_f32_to_bf16(float x) {
    unsigned word = bits<unsigned>(x);
    return x != x ? 0x7fff : (word + 0x7fff + ((word >> 16) & 1)) >> 16;
}
// --- tensor cores; addresses of shared memory are distances from where the kernel's begins
static unsigned own_lane() { return threadIdx.x & 31; }
static void hand(const void* p) { self().handed = (unsigned long long)p; wait_at(SHUFFLE); }
static const void* handed(unsigned lane) { return (const void*)threads[(threadIdx.x & ~31u) | lane].handed; }
static void all_have_read() { wait_at(SHUFFLE); }
static char* origin;
static size_t __cvta_generic_to_shared(const void* p) { return (char*)p - origin; }
TENSOR_CORES
#define LDMATRIX(count) \
    static void mt_ldmatrix_x##count(unsigned* to, unsigned at) { ldmatrix(to, origin + (int)at, count, 0); } \
    static void mt_ldmatrix_x##count##_trans(unsigned* to, unsigned at) { ldmatrix(to, origin + (int)at, count, 1); }
LDMATRIX(1) LDMATRIX(2) LDMATRIX(4)
#define MMA(name, Word, Sum) \
    static void mt_mma_##name(Sum* sum, const Word* lhs, const Word* rhs) { mma_##name(sum, lhs, rhs); }
MMA(f16, unsigned, float) MMA(bf16, unsigned, float) MMA(f32, unsigned, float)
MMA(i8, unsigned, int) MMA(u8, unsigned, int) MMA(f64, double, double) MMA(f64_large, double, double)
static void mt_mma_f32_thrice(float* sum, const unsigned* lhs, const unsigned* rhs) { mma_f32_thrice(sum, lhs, rhs); }
static unsigned mt_f32_to_tf32(float x) { return to_tf32(x); }
static unsigned own_thread() { return threadIdx.x; }
static unsigned distance(unsigned address) { return address; }
WARPGROUPS
// --- launches
static const char* launch(const std::function<void()>& kernel, Index grid, int count, bool together, bool upwards) {
    turn = upwards ? count - 1 : 0;
    fault.clear();
    gridDim = grid;
    body = &kernel;
    for (unsigned z = 0; z < grid.z; ++z) for (unsigned y = 0; y < grid.y; ++y) for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        if (together) run_together(count);
        else for (unsigned t = count; t-- > 0;) { threadIdx = {t ^ turn, 0, 0}; kernel(); }
        if (fault.empty() && !all_finished()) fault = "a product is not waited for";
        if (!fault.empty()) return fault.c_str();
    }
    std::fflush(stdout);
    return "";
}
""".replace("TENSOR_CORES", TENSOR_CORES).replace("WARPGROUPS", WARPGROUPS)

#: The helpers that hold PTX instructions; the shim has its own of the same names.
_ASSEMBLY = re.compile(
    r"__device__ [\w ]+ (\w+)\([\w *,]*\) \{\n(?:(?!\}).*\n)*?\s*asm(?: volatile)?\((?:.*\n)*?\}(?:\n|$)"
)
#: As much as a program may ask for on any chip.
_MOST_SHARED = 227 << 10
_DYNAMIC = re.compile(r"extern (__shared__ __align__\(\d+\) unsigned char mt_shared\[)\];")
_SHARED = re.compile(r"__shared__ __align__\(\d+\) unsigned char mt_shared\[\d+\];")
_CHECKS = "signed-integer-overflow,integer-divide-by-zero,shift,float-cast-overflow,bool"
_SIGNATURE = re.compile(r"^(?:void )?(\w+)\((.*)\) \{$", re.MULTILINE)


class Stopped(Exception):
    """The launch was stopped; the message says why."""


@dataclass(frozen=True)
class Library:
    """The compiled kernels, by their number in the list they were built from."""

    handle: ctypes.CDLL

    def run(
        self,
        number: int,
        grid: tuple[int, int, int],
        args: Sequence[Any],
        types: Sequence[Any],
        upwards: bool = False,
    ) -> None:
        """Launch a kernel on NumPy arrays (in place) and scalars; `types` are NumPy types, None for an array. Threads
        run with the last one first, or `upwards`. Raises `Stopped` where an assertion fails or threads do not meet."""
        holders = [
            np.array(a.ctypes.data, np.uint64) if t is None else np.array(a, t)
            for a, t in zip(args, types, strict=True)
        ]
        pointers = (ctypes.c_void_p * len(holders))(*[h.ctypes.data for h in holders])
        launch = self.handle[f"run_{number}"]
        launch.restype = ctypes.c_char_p
        if fault := launch(pointers, *grid, upwards):
            raise Stopped(fault.decode())


def _without_assembly(text: str) -> str:
    names = "|".join(found[1] for found in _ASSEMBLY.finditer(text))
    return re.sub(rf"^__device__ [\w ]+ ({names})\(.*\);\n", "", _ASSEMBLY.sub("", text), flags=re.MULTILINE)


def build(kernels: Sequence[tuple[str, int]], folder: Path) -> Library:
    """Compile kernels, each given as its text and its number of threads."""
    parts = [_SHIM]
    for number, (text, threads) in enumerate(kernels):
        text = _SHARED.sub(r"\g<0> ::origin = (char*)mt_shared;", _DYNAMIC.sub(rf"\g<1>{_MOST_SHARED}];", text))
        text = stand_ins(text) + in_cpp(_without_assembly(text)).replace('extern "C" ', "")
        found = list(_SIGNATURE.finditer(text))[-1]
        types = [p.strip().rsplit(" ", 1)[0] for p in found[2].split(",") if p.strip()]
        arguments = ", ".join(f"*({t}*)args[{i}]" for i, t in enumerate(types))
        together = "true" if re.search("__syncthreads|__shfl|__assertfail", text) else "false"
        parts.append(f"namespace k{number} {{\n{text}\n}}")
        parts.append(
            f'extern "C" const char* run_{number}(void** args, unsigned x, unsigned y, unsigned z, bool up) {{\n'
            f"    auto kernel = [=] {{ k{number}::{found[1]}({arguments}); }};\n"
            f"    return launch(kernel, {{x, y, z}}, {threads}, {together}, up);\n}}"
        )
    source, target = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text("\n".join(parts))
    command = ["g++", "-std=c++20", "-O0", "-ffp-contract=off", f"-fsanitize={_CHECKS}", "-shared", "-fPIC", "-w"]
    done = subprocess.run([*command, "-o", target, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return Library(ctypes.CDLL(str(target)))
