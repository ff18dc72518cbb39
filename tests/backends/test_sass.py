"""The SASS listing: functions in the order a reader wants, linked through PTX, without padding."""

from __future__ import annotations

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
        /*0010*/              @!P0 LDG.E R4, desc[UR4][R2.64] ;
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
        "/*0010*/ @!P0 LDG.E R4, desc[UR4][R2.64] ;",
        "/*0020*/ BRA `(.L_x_1);",
        "__cuda_slowpath:",
        "/*0000*/ MUFU.RCP R7, R4 ;",
        "/*0010*/ RET.REL.NODEC R2 `(k) ;",
    ]
    assert [line.span for line in lines] == [None, None, None, span, span, None, None, None]
    assert lines[3].values == ("%1",)
