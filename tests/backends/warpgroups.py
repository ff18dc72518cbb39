"""Stand-ins for the instructions of warpgroups in emitted CUDA C++ that runs on the host.

A product is computed as late as may be, when it is waited for, so that what comes too early shows: a sum that is read,
or shared memory that is written again. Where the elements of a matrix stand follows from its descriptor as the PTX ISA
has it ("Asynchronous Warpgroup Level Matrix Shared Memory Layout").
"""

from __future__ import annotations

import re

#: Needs what `emulate.py` has for tensor cores.
SHIM = r"""
static std::vector<std::vector<std::function<void()>>> begun(1024);
template <class T, bool TURNED> static T of_matrix(unsigned long long descriptor, unsigned other, unsigned k) {
    const unsigned row = 256 >> (descriptor >> 62), stride = (descriptor >> 32 & 0x3fff) << 4;
    const unsigned leading = (descriptor >> 16 & 0x3fff) << 4, start = (descriptor & 0x3fff) << 4;
    const unsigned counted = TURNED ? k : other, byte = (TURNED ? other : k) * sizeof(T);
    unsigned place = start + counted % 8 * row + counted / 8 * stride + byte % row + byte / row * leading;
    place ^= place >> 3 & (row - 16);
    if (descriptor >> 62 == 0 || start % 32) fault = "a descriptor is not one that is expected";
    return *(const T*)(origin + place);
}
template <class T, class Sum, Sum (*number)(T), int COLUMNS, bool LHS_TURNED, bool RHS_TURNED>
static void wgmma(Sum* sum, unsigned long long lhs, unsigned long long rhs) {
    begun[threadIdx.x].push_back([=] {
        const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5 & 3, depth = 32 / sizeof(T);
        for (unsigned i = 0; i < COLUMNS / 2; ++i) {
            const unsigned row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            for (unsigned k = 0; k < depth; ++k) {
                const T left = of_matrix<T, LHS_TURNED>(lhs, row, k), right = of_matrix<T, RHS_TURNED>(rhs, column, k);
                sum[i] += number(left) * number(right);
            }
        }
    });
}
static void finish() {
    for (auto& product : begun[threadIdx.x]) product();
    begun[threadIdx.x].clear();
}
static bool all_finished() {
    for (auto& products : begun) if (!products.empty()) return false;
    return true;
}
static void mt_fence_async() {}
"""
_ELEMENTS = {"f16": "unsigned short, float", "bf16": "unsigned short, float"}


def stand_ins(text: str) -> str:
    """Those for what the text of a kernel declares."""
    found = []
    for element, columns, turned in re.findall(r"^__device__.* mt_wgmma_(\w+)_n(\d+)((?:_[mn])*)\(", text, re.M):
        flags = ", ".join("true" if letter in turned else "false" for letter in ("_m", "_n"))
        function = f"wgmma<{_ELEMENTS[element]}, from_{element}, {columns}, {flags}>"
        found.append(f"static auto mt_wgmma_{element}_n{columns}{turned} = {function};")
    for what, rest, type_ in re.findall(r"^__device__.* mt_wgmma_(begin|end)_(\w+)\((\w+)", text, re.M):
        body = "finish();" if what == "end" else ""
        found.append(f"static void mt_wgmma_{what}_{rest}({type_}*) {{ {body} }}")
    return "\n".join(dict.fromkeys(found))
