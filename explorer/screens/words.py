"""The words of the listings that are nearest to the machine: the laid-out program, PTX and SASS."""

from __future__ import annotations

import re
from functools import cache

from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """Words as they are written, what they mean, and how to find them in a line where not as they are written."""

    words: str
    meaning: str
    pattern: str = ""

    def stands_in(self, line: str) -> bool:
        """Whether a line has one of them; of an instruction, the beginning of its name is enough."""
        return _pattern(self.words, self.pattern).search(line) is not None


@cache
def _pattern(words: str, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern or rf"(?<![\w.%])(?:{'|'.join(map(re.escape, words.split()))})(?!\w)")


LAYOUT = (
    Word("#b256 = layout<...>",
         "which register, lane and warp holds which element of a block: entry i of each list is the bit of the "
         "element's number that bit i of theirs sets; 0: a copy", r"#b\d"),
    Word("for each of 2 registers",
         "what is below is done for every register of a thread that the layout has; `keeping`: these values are used "
         "later", r"for each of|keeping"),
    Word("scalars, in every thread", "one for the whole program, computed by each thread alike", r"scalars, in"),
    Word("convert",
         "the same block in another layout: through the registers of each thread, shuffles in each warp, or shared "
         "memory"),
    Word("across", "a step of a reduction: elements that registers of a thread, lanes of a warp, or warps hold"),
    Word("barrier", "all threads of the program wait for each other: what they wrote to shared memory can be read"),
    Word("// bytes 0 to 8191 in 2 rounds",
         "the part of shared memory that an exchange goes through, several times if it is larger", r"// bytes"),
    Word("swizzled",
         "pieces of 16 bytes stand in other places of their line of up to 128 bytes, by the line's number, so that "
         "threads which access one of each line find them in different banks"),
    Word("ring",
         "a row of equal buffers in shared memory, filled trips ahead of the loop and used in turn; `#0 of 3` is "
         "number 0, of three buffers (num_stages)"),
    Word("slot",
         "the bits of an element's place in its buffer that each bit of its number flips; two bits: swizzled"),
    Word("async_copy", "begin to copy elements to a buffer of a ring, `width` at a time; nobody waits for them"),
    Word("async_commit", "what this thread has begun to copy since the last one is a group"),
    Word("async_wait", "wait until at most `pending` groups of this thread are on their way, then for all threads"),
    Word("staged",
         "the block in a buffer of a ring, where products read it; of `dot`, the factors that are there (lhs, rhs, "
         "both)"),
    Word("instruction",
         "the tensor cores' one that multiplies, by rows, columns and depth: m16n8k16 by a warp, m64n.. by a "
         "warpgroup"),
    Word("begun", "the product is only begun: tensor cores work while threads go on, until `finish`"),
    Word("finish", "wait for the product that was begun: its sums can be used now"),
    Word("held", "the first factor comes from registers, not from shared memory"),
)  # fmt: skip

PTX = (
    Word("%r1 %rd1 %rs1 %f1 %fd1 %p1",
         "virtual registers of 32, 64 and 16 bits, for f32 and f64, and predicates (true or false); ptxas gives them "
         "the machine's", r"%[a-z]+\d"),
    Word("@%p1 @!%p1",
         "the instruction is carried out only by threads whose predicate is true (or, with !, false)", r"@!?%p"),
    Word("%tid %ctaid %ntid %laneid",
         "number of the thread in its block, of the block, size of a block, lane of a warp",
         r"%(?:tid|ctaid|ntid|laneid|warpid)\b"),
    Word("ld.param", "read a parameter of the kernel"),
    Word("ld.global st.global", "read and write global memory; v2, v4: so many neighbours at once"),
    Word("ld.shared st.shared", "read and write shared memory, which the threads of a block have in common"),
    Word("cvta", "turn an address of one memory into one that can be in any, or back"),
    Word("setp", "compare, into a predicate"),
    Word("selp", "choose one of two values by a predicate"),
    Word("fma mad", "multiply and add; fma rounds once"),
    Word(".rn .rz .rm .rp .rna",
         "rounded to nearest even, toward zero, down, up, to nearest with ties away from zero",
         r"\.r(?:ni?|zi?|mi?|pi?|na)(?![\w])"),
    Word(".ftz .approx .sat",
         "subnormal numbers count as 0; a fast approximation; limited to 0..1 or the type's range",
         r"\.(?:ftz|approx|sat|satfinite)\b"),
    Word("cvt", "convert: the type of the result comes first"),
    Word("ex2 lg2 rcp sqrt rsqrt sin cos tanh", "2 to the power, base-2 logarithm, reciprocal, ..."),
    Word("shfl.sync",
         "read a register of another lane: bfly at number xor mask, idx at a number, up and down by a distance"),
    Word("bar.sync barrier.sync", "all threads of the block wait for each other"),
    Word("mma.sync",
         "a warp multiplies small matrices that its registers hold: m16n8k16 is 16 x 8 sums over a depth of 16"),
    Word("ldmatrix",
         "a warp loads 8 x 8 matrices from shared memory as mma.sync takes them; x4: four, trans: transposed"),
    Word("cp.async", "copy from global to shared memory meanwhile, without registers; cg: past the L1 cache"),
    Word("cp.async.commit_group", "what this thread has begun to copy is a group"),
    Word("cp.async.wait_group", "wait until at most so many groups are on their way"),
    Word("wgmma.mma_async",
         "a warpgroup (four warps) multiplies matrices in shared memory, named by descriptors: 64-bit numbers with "
         "address, distances of rows and swizzle; it only begins to"),
    Word("wgmma.fence", "registers that wgmma adds to may be used by it from here on"),
    Word("wgmma.commit_group", "the wgmma begun since the last one are a group"),
    Word("wgmma.wait_group", "wait until at most so many groups of wgmma are under way"),
    Word("fence.proxy", "what threads wrote to shared memory is seen by wgmma and copies"),
    Word("atom red", "change memory in one step; atom gives what was there, red does not"),
    Word("membar fence", "memory that was written before is seen before what is written after"),
    Word("prmt bfi bfe lop3 shf", "choose bytes, insert and take out bits, any logic of three, shift two registers"),
    Word("bra ret", "go to a label (uni: all threads do), leave"),
    Word(".loc .file", "which line of which file the instructions below came from", r"^\s*\.(?:loc|file)\b"),
    Word(".reqntid .maxntid .minnctapersm",
         "threads of a block, and blocks that are to fit a multiprocessor", r"\.(?:reqntid|maxntid|minnctapersm)"),
)  # fmt: skip

SASS = (
    Word("[01---- r2 w3 y s05]",
         "control code: waits for barriers 0 and 1; sets barrier 2 when its operands are read, 3 when its result is "
         "there; y: another warp may go first; the next instruction comes 5 cycles later", r"\[[-0-9]{6} r"),
    Word("@P0 @!P0",
         "a predicate: only threads in which it is true (or, with !, false) carry the instruction out",
         r"@!?U?P[0-9T]"),
    Word("R0 RZ", "a register of 32 bits in each thread; RZ is always 0", r"(?<!\w)R(?:Z|\d)"),
    Word("R2.64", "R2 and R3 as one of 64 bits; loads of .128 take four", r"\.64\b|\.128\b"),
    Word("UR4 URZ",
         "a uniform register: one for the whole warp; instructions whose names begin with U compute it",
         r"(?<!\w)UR(?:Z|\d)"),
    Word("P0 PT UP0", "predicates; PT is always true", r"(?<![\w@!])U?P(?:T|\d)\b"),
    Word(".reuse", "the operand is kept for the next instruction", r"\.reuse"),
    Word("c[0x0][0x210]",
         "constant memory: the kernel's parameters, from 0x210 on (0x160 before Hopper)", r"(?<!\w)c\["),
    Word("desc[UR4][R2.64]",
         "an address in global memory, with a descriptor in uniform registers that says how to access it",
         r"(?:g?desc)\["),
    Word("LDG STG", "load from and store to global memory; .E 64-bit addresses, .128 sixteen bytes"),
    Word("LDS STS", "load from and store to shared memory"),
    Word("LDSM",
         "a warp loads 8 x 8 matrices from shared memory as HMMA takes them (ldmatrix); .M88.4 four, .MT88 transposed",
         ),
    Word("LDGSTS", "copy from global to shared memory meanwhile (cp.async); .BYPASS past the L1 cache"),
    Word("LDGDEPBAR DEPBAR",
         "a group of such copies ends; wait until few enough are on their way (or for a barrier)"),
    Word("LDL STL", "local memory: registers that did not fit, or arrays that are indexed"),
    Word("LDC ULDC", "read constant memory"),
    Word("HMMA IMMA DMMA QMMA",
         "a warp multiplies small matrices in its registers: 16-bit floats, int8, f64, 8-bit floats; .16816 is 16 x 8 "
         "over a depth of 16; .F32 adds up in f32, .TF32 multiplies those"),
    Word("HGMMA IGMMA QGMMA",
         "a warpgroup (four warps) begins to multiply matrices in shared memory, which gdesc[UR..] describes "
         "(address, distances, swizzle); .64x128x16 are rows, columns, depth; tnspB: the second is transposed"),
    Word("gsb0", "the barrier of begun products: WARPGROUP.DEPBAR waits for it"),
    Word("WARPGROUP",
         "four warps: .ARRIVE before they begin to multiply, .DEPBAR.LE gsb0 waits until few enough are begun",
         r"(?<!\w)WARPGROUP"),
    Word("BAR", "all threads of the block wait for each other"),
    Word("FENCE", "what threads wrote to shared memory is seen by HGMMA and copies"),
    Word("MEMBAR ERRBAR CGAERRBAR CCTL", "memory that was written before is seen before what comes after"),
    Word("SHFL", "read a register of another lane: .BFLY at number xor mask, .IDX at a number"),
    Word("REDUX VOTE MATCH", "a reduction or a vote over the lanes of a warp"),
    Word("ATOMG ATOMS RED REDG", "change memory in one step; ATOM gives what was there"),
    Word("FADD FMUL FFMA", "add, multiply, multiply and add in f32; D in f64, H two of 16 bits (HFMA2)"),
    Word("FMNMX FSETP FSEL FSET", "smaller or larger one, compare into a predicate, choose, in f32"),
    Word("MUFU",
         "the special functions' unit: .EX2 2 to the power, .LG2, .RCP 1/x, .RSQ 1/sqrt(x), .SQRT, .SIN, .COS, .TANH",
         ),
    Word("FCHK", "whether a division needs the slow way, a CALL"),
    Word("IADD3 IMAD LEA VIADD",
         "add three integers; multiply and add (also moves: IMAD.MOV); shift and add; add two"),
    Word("IMAD.WIDE", "a product of 32 bits each into 64 bits, in two registers"),
    Word("ISETP SEL PLOP3 IMNMX VIMNMX IABS",
         "compare integers into a predicate, choose by one, logic of three predicates, smaller or larger one"),
    Word("LOP3 SHF PRMT BREV POPC FLO",
         "any logic of three (.LUT says which), shift two registers, choose bytes, count bits"),
    Word("F2F F2I I2F I2FP F2FP FRND",
         "convert: between floats, to and from integers, two floats into one register, round"),
    Word("HFMA2 HADD2 HMUL2 HMNMX2", "two numbers of 16 bits at once"),
    Word("S2R S2UR CS2R",
         "read a special register: SR_TID the thread's number, SR_CTAID the block's; CS2R with SRZ: zeros"),
    Word("MOV UMOV", "copy a register, or set it to a number"),
    Word("P2R R2P", "all predicates into a register, or back"),
    Word("BSSY BSYNC", "threads that part ways between them meet again at BSYNC"),
    Word("BRA BRX CALL RET EXIT", "go to a label, call and leave a function, end"),
    Word("NOP", "nothing: fills up"),
)  # fmt: skip

#: What those stages are called.
KINDS = {"layout": "the laid-out program", "ptx": "PTX", "sass": "SASS"}
WORDS: dict[str, tuple[Word, ...]] = {"layout": LAYOUT, "ptx": PTX, "sass": SASS}


def of_line(stage: str, line: str) -> tuple[Word, ...]:
    """What there is to say of a line of a stage."""
    return tuple(word for word in WORDS.get(stage, ()) if word.stands_in(line))
