"""What each pane shows and how it is written, for the help screen."""

from __future__ import annotations

Signs = tuple[tuple[str, str], ...]

PANES = {
    "source": "The file, editable. Every edit is compiled; opening and saving execute the file once, in a child. "
    "Tab and shift+tab indent, ctrl+z and ctrl+y undo and redo, ctrl+x, ctrl+c and ctrl+v cut, copy and paste; "
    "esc leaves it.",
    "tree": "Statements and expression trees, as the frontend reads the kernel.",
    "ssa": "The typed SSA before optimization, after each pass, and laid out over threads: [ and ] choose.",
    "cuda": "The CUDA C++ that NVRTC compiles.",
    "mlir": "MLIR as emitted and after each named stage: [ and ] choose. With backend cpu: that backend's.",
    "asm": "What comes out: LLVM IR, PTX, SASS, or host assembly: [ and ] choose. SASS is made when it is looked at.",
    "stages": "Every stage with status, time and cause. Enter opens a stage in its pane.",
    "problems": "Errors and warnings with their source lines. Enter goes to the place.",
    "run": "The last run: where it ran, and how each output compares with its reference.",
}

#: A change log and a diff, in every pane that shows stages.
_STORY: Signs = (
    (
        "d: as a diff",
        "+ came, - went, > moved here, < moved away; names of values do not count; words that differ are reversed",
    ),
    ("d: as a log", "`before` -> `after` (or dropped), why, and (pass/rule); enter goes to the source line"),
    ("! in the margin", "the operation that the stage failed at, in what it was given"),
)

NOTATION: dict[str, Signs] = {
    "source": (
        ("E W in the margin", "an error, a warning; alt+n and alt+p go from one to the next"),
        ("> in the margin", "the line that the cursor of another pane is on came from here"),
    ),
    "tree": (
        ("pid =", "an assignment; what is assigned hangs below it"),
        ("tl.load()", "a call, with its arguments below it; `mask: x` is a keyword argument"),
        ("* + <", "an operator, with its operands below it in order"),
    ),
    "ssa": (
        ("%3 = add %1, %2 : T", "value 3, made once, of type T; passes never give a value another name"),
        ("vector<256 x i32>", "a block of 256 elements; without vector<> a scalar, one for the whole program"),
        ("f32(%0), 256, 0.0", "casts, constants and broadcasts stand inside their user"),
        ("{axis=0}", "attributes of an operation, fixed at compile time"),
        ("load p, mask, other", "elements of the addresses p where mask is true, else other"),
        ("store p, value, mask", "writes; it gives no value"),
        ("addptr x, %3", "addresses: x plus %3 elements"),
        ("for %4 = a to b step c", "a loop; `with %5 = v` is carried from trip to trip, yield gives its next value"),
        *_STORY,
    ),
    "cuda": (
        ("v1, %1", "v1 holds the SSA value %1; names of the author are kept"),
        ("float v6[8]", "what one thread holds of a block, in registers"),
        ("__shfl_xor_sync", "a reduction or a conversion across the lanes of a warp"),
        *_STORY,
    ),
    "mlir": (
        ("%3 = arith.addi %1, %2", "an operation of the dialect arith; its type follows the colon"),
        ("gpu. nvvm. llvm. scf.", "dialects: the GPU's, NVIDIA's, LLVM's, structured control flow"),
        ("{...} after an operation", "attributes; braces at the end of a line open a region"),
        *_STORY,
    ),
    "asm": (
        ("PTX, SASS", "their words are explained above, those of the line under the cursor first, while one is shown"),
        ("llvm", "LLVM IR: %3 is a value, made once; @f a function; !dbg the line that it came from"),
        ("asm", "host assembly: the destination comes last (AT&T), %zmm0 holds 16 f32, k1 a mask, $ is a number"),
        *_STORY,
    ),
    "stages": (
        ("ok  no change  cached", "it worked; it changed nothing; its result was there from an earlier compilation"),
        ("FAILED  CRASHED", "it refused its input; it ended its process"),
        ("-  skipped  running", "made when its pane shows it; cannot be made here; under way"),
        ("-3 ops", "how many operations fewer than before"),
    ),
    "problems": (
        ("error[MT101]", "a finding and its code"),
        ("^^^", "the columns that it is about"),
        ("help:", "what to do about it"),
    ),
    "run": (
        ("PASS  FAIL  NOT RUN", "all outputs agree with their reference; one differs; it could not be run, and why"),
        ("max abs, rel, ulp", "largest difference: absolute, relative, in units in the last place"),
        ("first at [7]: 1.0, ...", "the first element that differs: what came, and what was expected"),
    ),
}  # fmt: skip

#: What is the same everywhere.
GENERAL: Signs = (
    ("> in the margin", "this line came from the line under the cursor, in whichever pane that is"),
    ("lines in PTX", "the number beside each line of the source is how many lines it became there"),
    ("= \u00b7 in the margin", "where the value that f follows is made, and used"),
    ("stale, dimmed", "not what the source says any more, until the kernel compiles again"),
    ("3/8 beside a title", "the third of eight stages that this pane can show"),
)
