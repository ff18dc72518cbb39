"""The threads of a GPU program on the host, as coroutines: what they wait for is exact, and their order chosen."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.backends.tensor_cores import TENSOR_CORES
from tests.backends.warpgroups import WARPGROUPS

_SOURCE = r"""
#include <ucontext.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <array>
#include <functional>
#include <string>
#include <vector>
enum State { READY, AT_BARRIER, AT_SHUFFLE, DONE, FAILED };
struct Copy {
    char *to, bytes[16];
    int size;
};
struct Thread {
    ucontext_t context;
    std::vector<char> stack;
    std::vector<void*> args;
    State state;
    int64_t index;
    uint64_t value;
    int from;  // the thread whose value a shuffle reads
    std::vector<std::vector<Copy>> copies;  // under way, in groups
    char operands[128];  // of an instruction of tensor cores; what is there is its result then
};
static std::vector<Thread> threads;
static ucontext_t scheduler;
static int current;
static void (*kernel)(void**);

static void leave(State state) {
    threads[current].state = state;
    swapcontext(&threads[current].context, &scheduler);
}
static void start() {
    kernel(threads[current].args.data());
    leave(DONE);
}
extern "C" void mt_barrier() { leave(AT_BARRIER); }
extern "C" void mt_check(bool holds) { if (!holds) leave(FAILED); }
extern "C" uint64_t mt_shuffle(uint64_t value, int lane, int relative) {
    Thread& self = threads[current];
    self.value = value;
    self.from = relative ? current ^ lane : (current & ~31) | lane;
    leave(AT_SHUFFLE);
    return self.value;
}
// --- copies to shared memory: they land as late as they may, and what was there is lost when they begin
extern "C" void mt_copy(char* to, const char* from, int size, int wanted) {
    Copy copy = {to, {}, size};
    if (wanted) memcpy(copy.bytes, from, wanted);
    if ((size_t)to % size || (size_t)from % size) leave(FAILED);
    memset(to, 0xAB, size);
    threads[current].copies.back().push_back(copy);
}
extern "C" void mt_commit() { threads[current].copies.emplace_back(); }
extern "C" void mt_wait(int pending) {
    auto& groups = threads[current].copies;
    for (; (int)groups.size() > pending + 1; groups.erase(groups.begin()))
        for (Copy& copy : groups[0]) memcpy(copy.to, copy.bytes, copy.size);
}
// --- tensor cores
static std::string fault;
static unsigned own_lane() { return current & 31; }
static void hand(const void* p) {
    threads[current].value = (uint64_t)p;
    threads[current].from = current;
    leave(AT_SHUFFLE);
}
static const void* handed(unsigned lane) { return (const void*)threads[(current & ~31) | lane].value; }
static void all_have_read() { leave(AT_SHUFFLE); }
TENSOR_CORES
extern "C" void* mt_operands() { return threads[current].operands; }
extern "C" void mt_ldmatrix(const char* from, int count, int transposed) {
    ldmatrix(threads[current].operands, from, count, transposed);
    if (!fault.empty()) leave(FAILED);
}
// The sums come first, the first factor after 32 bytes, the second after 64.
extern "C" void mt_mma(int which) {
    char* at = threads[current].operands;
    typedef void (*F)(void*, const void*, const void*);
    static const F functions[] = {(F)mma_f16, (F)mma_bf16, (F)mma_f32, (F)mma_i8, (F)mma_u8, (F)mma_f64};
    functions[which](at, at + 32, at + 64);
}
extern "C" unsigned mt_tf32(float x) { return to_tf32(x); }
// --- warpgroups
static char* origin;
static unsigned own_thread() { return current; }
static unsigned distance(unsigned address) { return (address - (unsigned)(uint64_t)origin) & 0x3ffff; }
WARPGROUPS
extern "C" void mt_begin(void* sums, uint64_t lhs, uint64_t rhs, int what) {
    typedef void (*Floats)(float*, unsigned long long, unsigned long long, int, bool, bool);
    typedef void (*F)(void*, unsigned long long, unsigned long long, int, bool, bool);
    static const F functions[] = {(F)(Floats)begin_f16, (F)(Floats)begin_bf16, (F)begin_f32, (F)begin_i8, (F)begin_u8};
    functions[what >> 10 & 7](sums, lhs, rhs, what & 1023, what >> 13 & 1, what >> 14 & 1);
}
extern "C" void mt_held(float* sums, const void* lhs, uint64_t rhs, int what) {
    if (what >> 10 & 7) begin_bf16(sums, lhs, rhs, what & 1023, false, what >> 14 & 1);
    else begin_f16(sums, lhs, rhs, what & 1023, false, what >> 14 & 1);
}
extern "C" void mt_finish() { finish_products(); }
static bool all(int from, int to, State state) {
    for (int t = from; t < to; ++t) if (threads[t].state != state) return false;
    return true;
}
// Lets every warp and the program go on that can; false if none can.
static bool release() {
    const int count = threads.size();
    bool any = false;
    for (int warp = 0; warp < count; warp += 32) {
        if (!all(warp, warp + 32, AT_SHUFFLE)) continue;
        uint64_t values[32];
        for (int t = 0; t < 32; ++t) values[t] = threads[threads[warp + t].from].value;
        for (int t = 0; t < 32; ++t) threads[warp + t].value = values[t], threads[warp + t].state = READY;
        any = true;
    }
    if (!any && all(0, count, AT_BARRIER)) for (Thread& t : threads) any = true, t.state = READY;
    return any;
}
// 0: all threads came to their end; 1: some wait for others that do not come; 2: an assertion failed; 3: a product was
// never finished.
extern "C" int mt_run(void (*function)(void**), void** args, int number, int index_at, int count, void* shared) {
    origin = (char*)shared;
    kernel = function;
    threads.resize(count);
    for (int t = 0; t < count; ++t) {
        Thread& self = threads[t];
        self.args.assign(args, args + number);
        self.index = t;
        if (index_at >= 0) self.args[index_at] = &self.index;
        self.stack.resize(1 << 18);
        self.state = READY;
        self.copies.assign(1, {});
        getcontext(&self.context);
        self.context.uc_stack.ss_sp = self.stack.data();
        self.context.uc_stack.ss_size = self.stack.size();
        makecontext(&self.context, start, 0);
    }
    bool backwards = false;
    do {
        backwards = !backwards;  // one order, then the other: shows what was only hoped for
        for (int t = 0; t < count; ++t) {
            current = backwards ? count - 1 - t : t;
            if (threads[current].state != READY) continue;
            swapcontext(&scheduler, &threads[current].context);
            if (threads[current].state == FAILED) return 2;
        }
    } while (release());
    return !all(0, count, DONE) ? 1 : all_finished() ? 0 : 3;
}
""".replace("TENSOR_CORES", TENSOR_CORES).replace("WARPGROUPS", WARPGROUPS)


@functools.cache
def library() -> ctypes.CDLL:
    """The compiled scheduler."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    folder = Path(tempfile.mkdtemp())
    source, target = folder / "threads.cpp", folder / "threads.so"
    source.write_text(_SOURCE)
    subprocess.run([compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-o", target, source], check=True)
    loaded = ctypes.CDLL(str(target))
    shutil.rmtree(folder)
    return loaded


def address(name: str) -> int:
    """The address of a function of the library, for emitted code to call."""
    return ctypes.cast(library()[name], ctypes.c_void_p).value or 0
