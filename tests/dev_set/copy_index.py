"""T1 ModelTC/lightllm `_fwd_kernel_copy_kv_index_to_req`: three scalar loads and one scalar store a program."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def copy_index_kernel(table, requests, lengths, slots, stride_request, stride_position):
    pid = tl.program_id(0)
    request = tl.load(requests + pid)
    length = tl.load(lengths + pid)
    slot = tl.load(slots + pid)
    tl.store(table + request * stride_request + (length - 1) * stride_position, slot)


@copy_index_kernel.example(count=5)
@copy_index_kernel.example(count=0)
def copy_index(count):
    rng = np.random.default_rng(0)
    table = np.zeros((8, 16), np.int32)
    requests = rng.permutation(8)[:count].astype(np.int32)
    lengths, slots = rng.integers(1, 17, count, dtype=np.int32), rng.integers(1, 999, count, dtype=np.int32)
    expected = table.copy()
    expected[requests, lengths - 1] = slots
    args = {"table": table, "requests": requests, "lengths": lengths, "slots": slots}
    return triton.Example(
        args={**args, "stride_request": 16, "stride_position": 1}, grid=count, expected={"table": expected}
    )
