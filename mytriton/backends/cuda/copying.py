"""The helper functions that copy to shared memory asynchronously (PTX ISA, "cp.async").

They say that they touch memory, so the compiler moves no access across them: what was written before must be there
when a copy begins, and what was copied is there after the wait.
"""

from __future__ import annotations

from mytriton.layout.staging import COPY_BYTES

#: The most groups that a wait leaves on their way.
MOST_PENDING = 7

# Past the first level of the cache where the instruction can: what is copied is not read there again.
_COPY = """\
__device__ void mt_async_copy_{0}(void* to, const void* from) {{
    unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.{1}.shared.global [%0], [%1], {0};" :: "r"(place), "l"(from) : "memory");
}}"""
# Where nothing is wanted no byte is read, and zeros arrive.
_COPY_IF = """\
__device__ void mt_async_copy_{0}_if(bool wanted, void* to, const void* from) {{
    unsigned place = (unsigned)__cvta_generic_to_shared(to);
    int bytes = wanted ? {0} : 0;
    asm volatile("cp.async.{1}.shared.global [%0], [%1], {0}, %2;" :: "r"(place), "l"(from), "r"(bytes) : "memory");
}}"""
_COMMIT = """\
__device__ void mt_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}"""
_WAIT = """\
__device__ void mt_async_wait_{0}() {{
    asm volatile("cp.async.wait_group {0};" ::: "memory");
}}"""


def texts() -> dict[str, str]:
    """The definitions, by name."""
    found = {"mt_async_commit": _COMMIT}
    for size in COPY_BYTES:
        cache = "cg" if size == 16 else "ca"
        found[f"mt_async_copy_{size}"] = _COPY.format(size, cache)
        found[f"mt_async_copy_{size}_if"] = _COPY_IF.format(size, cache)
    return found | {f"mt_async_wait_{pending}": _WAIT.format(pending) for pending in range(MOST_PENDING + 1)}
