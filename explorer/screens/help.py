"""The help screen: what the pane in focus is, how to read the screen, and every key, from the table of actions."""

from __future__ import annotations

from textwrap import wrap

from explorer.actions import ACTIONS, MOVES, shown_keys

PANES = {
    "source": "The file, editable. Every edit is compiled; E and W in the margin mark findings, > what is linked. "
    "Tab and shift+tab indent, ctrl+z and ctrl+y undo and redo, ctrl+x, ctrl+c and ctrl+v cut, copy and paste; "
    "esc leaves it.",
    "tree": "Statements and expression trees, as the frontend reads the kernel.",
    "ssa": "The typed SSA before optimization, after each pass, and laid out over threads: [ and ] choose.",
    "cuda": "The CUDA C++ that NVRTC compiles.",
    "mlir": "MLIR as emitted and after each named stage: [ and ] choose. With backend cpu: that backend's.",
    "asm": "What comes out: LLVM IR, PTX, SASS, or host assembly: [ and ] choose. SASS is made when it is looked at; "
    "[01---- r2 w3 y s05] waits for barriers 0 and 1, sets 2 when operands are read and 3 when the result is there, "
    "yields to another warp, and stalls 5 cycles.",
    "stages": "Every stage with status, time and cause. Enter opens a stage in its pane.",
    "problems": "Errors and warnings with their source lines. Enter goes to the place.",
    "run": "The last run: where it ran, and how each output compares with its reference.",
}


def help_lines(pane: str, width: int = 1000) -> list[str]:
    """The lines of the help screen, folded to `width` columns."""

    def rows(text: str, hanging: int = 2) -> list[str]:
        return wrap(text, width, subsequent_indent=" " * hanging)

    lines = [f"This pane: {pane}", *rows(f"  {PANES.get(pane, '')}"), ""]
    lines += rows(
        "The line under the cursor is followed through all panes: > in the margin marks what came from it. Beside it = "
        "and \u00b7 mark where the value is made and used that f follows."
    )
    lines += rows(
        "Text that is not what the source says any more is dimmed and called stale, until the kernel compiles again."
    )
    lines += [*rows("Letters act where nothing is being typed; esc leaves the editor, 1 goes back to it."), ""]
    for group in dict.fromkeys(action.group for action in (*ACTIONS, *MOVES)):
        lines.append(group)
        for action in (*ACTIONS, *MOVES):
            if action.group == group:
                lines += rows(f"  {shown_keys(action) or 'in ctrl+p':<17} {action.help}", 20)
        lines.append("")
    lines.append("Panes:")
    for number, (name, text) in enumerate(PANES.items(), start=1):
        lines += rows(f"  {number} {name:<10} {text}", 15)
    return [*lines, "", "ctrl+p opens the list of everything that can be done."]
