"""Stand-ins for the instructions of warpgroups in emitted code that runs on the host.

A product is computed as late as may be, when it is waited for, so that what comes too early shows: a sum that is read,
or shared memory that is written again. Where the elements of a matrix stand follows from its descriptor as the PTX ISA
has it ("Asynchronous Warpgroup Level Matrix Shared Memory Layout").
"""

from __future__ import annotations

import re
from itertools import count

#: What includes it has `own_thread`, a number; `origin`, where shared memory begins; `distance`, how far from there an
#: address is of which the descriptor has the last 18 bits; and `fault` and what is in `tensor_cores.py`.
WARPGROUPS = r"""
static std::vector<std::vector<std::function<void()>>> begun(1024);
template <class T> static T of_matrix(unsigned long long descriptor, bool turned, unsigned other, unsigned k) {
    const unsigned row = 256 >> (descriptor >> 62), stride = (descriptor >> 32 & 0x3fff) << 4;
    const unsigned leading = (descriptor >> 16 & 0x3fff) << 4, start = distance((descriptor & 0x3fff) << 4);
    const unsigned counted = turned ? k : other, byte = (turned ? other : k) * sizeof(T);
    unsigned place = start + counted % 8 * row + counted / 8 * stride + byte % row + byte / row * leading;
    place ^= place >> 3 & (row - 16);
    if (descriptor >> 62 == 0 || start % 32) fault = "a descriptor is not one that is expected";
    return *(const T*)(origin + place);
}
template <class T, class Sum, class Number>
static void begin_product(Sum* sum, unsigned long long lhs, unsigned long long rhs, int columns, bool lhs_turned,
                          bool rhs_turned, Number number) {
    begun[own_thread()].push_back([=] {
        const unsigned lane = own_thread() & 31, warp = own_thread() >> 5 & 3, depth = 32 / sizeof(T);
        for (unsigned i = 0; i < columns / 2; ++i) {
            const unsigned row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            for (unsigned k = 0; k < depth; ++k) {
                const T left = of_matrix<T>(lhs, lhs_turned, row, k), right = of_matrix<T>(rhs, rhs_turned, column, k);
                sum[i] += number(left) * number(right);
            }
        }
    });
}
static void begin_f16(float* sum, unsigned long long a, unsigned long long b, int columns, bool m, bool n) {
    begin_product<unsigned short>(sum, a, b, columns, m, n, from_f16);
}
static void begin_bf16(float* sum, unsigned long long a, unsigned long long b, int columns, bool m, bool n) {
    begin_product<unsigned short>(sum, a, b, columns, m, n, from_bf16);
}
static void begin_f32(float* sum, unsigned long long a, unsigned long long b, int columns, bool m, bool n) {
    begin_product<unsigned>(sum, a, b, columns, m, n, [](unsigned x) { return as<float>(x & 0xffffe000u); });
}
static void begin_i8(int* sum, unsigned long long a, unsigned long long b, int columns, bool m, bool n) {
    begin_product<signed char>(sum, a, b, columns, m, n, [](int x) { return x; });
}
static void begin_u8(int* sum, unsigned long long a, unsigned long long b, int columns, bool m, bool n) {
    begin_product<unsigned char>(sum, a, b, columns, m, n, [](int x) { return x; });
}
// The first factor is in registers, as four lanes hold eight columns of a row together.
template <class T, class Sum, class Number>
static void begin_held(Sum* sum, const void* words, unsigned long long rhs, int columns, bool turned, Number number) {
    std::array<unsigned, 16> held;
    hand(words);
    for (unsigned i = 0; i < 4; ++i) std::memcpy(&held[4 * i], handed((own_lane() & ~3) | i), 16);
    all_have_read();
    begun[own_thread()].push_back([=] {
        const unsigned lane = own_thread() & 31;
        for (unsigned i = 0; i < columns / 2; ++i) {
            const unsigned below = i / 2 % 2, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            for (unsigned k = 0; k < 16; ++k) {
                const T left = held[k % 8 / 2 * 4 + k / 8 * 2 + below] >> 16 * (k % 2);
                sum[i] += number(left) * number(of_matrix<T>(rhs, turned, column, k));
            }
        }
    });
}
static void begin_f16(float* sum, const void* a, unsigned long long b, int columns, bool, bool n) {
    begin_held<unsigned short>(sum, a, b, columns, n, from_f16);
}
static void begin_bf16(float* sum, const void* a, unsigned long long b, int columns, bool, bool n) {
    begin_held<unsigned short>(sum, a, b, columns, n, from_bf16);
}
static void finish_products() {
    for (auto& product : begun[own_thread()]) product();
    begun[own_thread()].clear();
}
static bool all_finished() {
    for (auto& products : begun) if (!products.empty()) return false;
    return true;
}
"""
_ELEMENTS = ("f16", "bf16", "f32", "i8", "u8")


def stand_ins(text: str) -> str:
    """C++ functions in place of those that the text of a kernel declares."""
    found = ["static void mt_fence_async() {}", "static void mt_wgmma_commit() {}"]
    multiplied = re.findall(r"^__device__.* (mt_wgmma_(\w+)_n(\d+)((?:_[mnr])*))\((\w+)", text, re.MULTILINE)
    for name, element, columns, turned, type_ in multiplied:
        flags = ", ".join("true" if letter in turned else "false" for letter in ("_m", "_n"))
        lhs = "const void*" if "_r" in turned else "unsigned long long"
        params = f"{type_}* sum, {lhs} lhs, unsigned long long rhs"
        found.append(f"static void {name}({params}) {{ begin_{element}(sum, lhs, rhs, {columns}, {flags}); }}")
    for name, what, type_ in re.findall(r"^__device__.* (mt_wgmma_(fence|wait)_\w+)\((\w+)", text, re.MULTILINE):
        found.append(f"static void {name}({type_}*) {{ {'finish_products();' if what == 'wait' else ''} }}")
    held = re.findall(r"^__device__.* (mt_wgmma_hold_\w+)\(", text, re.MULTILINE)
    found += [f"static void {name}(unsigned*) {{}}" for name in held]
    return "\n".join(dict.fromkeys(found))


def in_mlir(text: str) -> str:
    """Emitted MLIR with calls of `mt_begin`, `mt_held` and `mt_finish`, whose addresses are `%begin` and so on."""
    number = count()

    def begin(found: re.Match[str]) -> str:
        element, columns, turned, operands = found.groups()
        what = int(columns) | _ELEMENTS.index(element) << 10 | ("_m" in turned) << 13 | ("_n" in turned) << 14
        name = f"%product{next(number)}"
        called, lhs = ("%held", "!llvm.ptr") if "_r" in turned else ("%begin", "i64")
        call = f"llvm.call {called}({operands}, {name}) : !llvm.ptr, (!llvm.ptr, {lhs}, i64, i32) -> ()\n"
        return f"{name} = arith.constant {what} : i32\n{call}"

    text = re.sub(r"llvm\.call @mt_wgmma_(\w+)_n(\d+)((?:_[mnr])*)\((.*)\) : .*\n", begin, text)
    text = re.sub(r"llvm\.call @mt_wgmma_wait_.*\n", "llvm.call %finish() : !llvm.ptr, () -> ()\n", text)
    return re.sub(r'llvm\.call @mt_wgmma_(fence|hold)_.*\n|llvm\.inline_asm .* "(wgmma|fence\.proxy)\..*\n', "", text)
