"""The SASS listing: functions in the order a reader wants, linked through PTX, without padding."""

from __future__ import annotations

from mytriton.backends.nvidia.control import control_code
from mytriton.backends.nvidia.disasm import sass_lines
from mytriton.source import Span
from mytriton.stage import Line

LISTING = """\
\t.target\tsm_90
.text.__cuda_slowpath:
        .type           __cuda_slowpath,@function
__cuda_slowpath:
        //## File "a.nv_debug_ptx_txt", line 2
        /*0000*/                   MUFU.RCP R7, R4 ;
        /*0010*/                   RET.REL.NODEC R2 `(k) ;
.L_x_9:
        /*0020*/                   NOP;
\t.section\t.text.k,"ax",@progbits
        .global         k
k:
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        //## File "a.nv_debug_ptx_txt", line 1
.L_x_1:
        /*0010*/              @!P0 LDG.E R4, desc[UR4][R2.64] ;         /* 0x0000000402048981 */
                                                                        /* 0x0022a8000c1e1900 */
        /*0020*/                   BRA `(.L_x_1);
.L_x_8:
        /*0030*/                   NOP;
"""


def test_the_kernel_comes_first_and_every_function_has_its_name() -> None:
    span = Span(3, 1, 3, 9)
    ptx = [Line("ld.global.f32 %f1, [%rd1];", span, ("%1",)), Line("div.rn.f32 %f2, %f1, %f3;")]
    lines = sass_lines(LISTING, ptx)
    assert [line.text for line in lines] == [
        "k:",
        "/*0000*/ LDC R1, c[0x0][0x28] ;",
        ".L_x_1:",
        "/*0010*/ [-1---- r1 w2 - s04] @!P0 LDG.E R4, desc[UR4][R2.64] ;",
        "/*0020*/ BRA `(.L_x_1);",
        "__cuda_slowpath:",
        "/*0000*/ MUFU.RCP R7, R4 ;",
        "/*0010*/ RET.REL.NODEC R2 `(k) ;",
    ]
    assert [line.span for line in lines] == [None, None, None, span, span, None, None, None]
    assert lines[3].values == ("%1",)


def test_a_control_code_is_taken_apart() -> None:
    bits = 0b1010_000011_010_111_0_0101  # reuse, waits for 0 and 1, read barrier 2, write barrier none, yield, stall
    assert control_code(bits << 41 | 0x1FF) == "[01---- r2 w- y s05]"
    assert control_code(0x000E220000000800) == "[------ r- w0 - s01]"  # LDC R1, c[0x0][0x28] of a cubin for sm_90


PRODUCTS = """\
\t.section\t.text.k,"ax",@progbits
        .global         k
k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        //## File ".nv_debug_ptx_txt", line 5
        /*0010*/                   CALL.REL.NOINC `(slow);
        //## File ".nv_debug_ptx_txt", line 1
        /*0020*/                   WARPGROUP.ARRIVE ;
        //## File ".nv_debug_ptx_txt", line 5
        /*0030*/                   HGMMA.64x64x16.F32 R24, gdesc[UR4], R24 ;
        /*0040*/                   HGMMA.64x64x16.F32 R24, gdesc[UR8], R24 ;
        //## File ".nv_debug_ptx_txt", line 6
        /*0050*/                   ULDC.64 UR6, c[0x0][0x208] ;
        //## File ".nv_debug_ptx_txt", line 5
        /*0060*/                   STG.E desc[UR6][R2.64], R5 ;
slow:
        /*0000*/                   MUFU.RCP R7, R4 ;
"""


def test_what_the_table_of_lines_lacks_follows_from_the_code() -> None:
    one, two, rest = (Span(n, 1, n, 2) for n in (1, 2, 3))
    products = [Line("wgmma.mma_async.sync {%r1}, %rd1, %rd2;", span) for span in (one, two)]
    ptx = [Line("wgmma.fence.sync.aligned;", one), *products, Line(""), Line("st.global [%rd1], %r1;", rest), Line("{")]
    lines = {line.text.partition("*/ ")[2]: line for line in sass_lines(PRODUCTS, ptx)}
    assert [line.span for text, line in lines.items() if text.startswith("HGMMA")] == [one, two]  # in the PTX's order
    assert lines["ULDC.64 UR6, c[0x0][0x208] ;"].span == rest  # there for the store, which uses it
    assert lines["MUFU.RCP R7, R4 ;"].span == rest  # in a function called there
    made = lines["LDC R1, c[0x0][0x28] ;"]
    assert (made.span, made.made_by) == (None, "the assembler")
