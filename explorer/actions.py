"""The one table of what a user can do. Bindings, key bar, palette, help and the README's key table are made from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from explorer.model.keys import SIGNS, rebound
from mytriton.records import dataclass

#: Where the letter keys of an action work: in every pane that is not being typed in, or in a listing. The keys of the
#: editor's actions are the editor's own.
Scope = Literal["pane", "listing", "editor"]


@dataclass(frozen=True, slots=True)
class Action:
    """`name` is the method `action_<name>` (with arguments) of the main screen.

    `letters` act where nothing is being typed; `keys` everywhere. `label` is for the key bar (empty: not shown there),
    `help` a sentence for the palette and the help screen.
    """

    name: str
    letters: tuple[str, ...]
    keys: tuple[str, ...]
    label: str
    help: str
    group: str
    scope: Scope = "pane"

    @property
    def id(self) -> str:
        """Its name in the config file."""
        name, _, arguments = self.name.replace("_", "-").rstrip(")").partition("(")
        step = {"1": f"next-{name}", "-1": f"previous-{name}"}
        return (
            _IDS.get(self.name) or step.get(arguments) or re.sub(r"\W+", "-", f"{name} {arguments}").strip("-").lower()
        )


#: Names of actions whose methods have arguments.
_IDS = {
    "pane(1)": "pane-1",
    "run(True)": "run-every-stage",
    "find_next(1)": "next-occurrence",
    "find_next(-1)": "previous-occurrence",
    "copy(False)": "copy-line",
    "copy(True)": "copy-listing",
    "move_lines(-1)": "move-lines-up",
    "move_lines(1)": "move-lines-down",
    "resize(1, 0)": "wider",
    "resize(-1, 0)": "narrower",
    "resize(0, 1)": "higher",
    "resize(0, -1)": "lower",
    "cycle(1)": "next-pane",
    "cycle(-1)": "previous-pane",
}


ACTIONS: tuple[Action, ...] = (
    Action("help", ("question_mark",), ("f1",), "help", "Show all keys and what the pane in focus is", "Explorer"),
    Action(
        "run", ("r",), ("f8",), "run", "Run the example and check it, on the GPU, else on the CPU; end a run", "Kernel"
    ),
    Action(
        "run(True)",
        ("v",),
        ("ctrl+n",),
        "",
        "Run it after every stage: which one breaks the numbers",
        "Kernel",
    ),
    Action("bench", ("B",), (), "", "Bench the example: median, spread, how close to the device's limits", "Kernel"),
    Action("bench(True)", (), (), "", "Bench all examples of the kernel: a table over sizes", "Kernel"),
    Action("tune", (), (), "", "Time all configs of an autotuned kernel: a table, and the fastest", "Kernel"),
    Action("past_runs", ("H",), (), "", "The runs and benches of this session, with deltas", "Kernel"),
    Action("backend", ("b",), ("f2",), "backend", "Next backend: cuda, mlir, cpu, interp", "Kernel"),
    Action("pin", ("p",), ("ctrl+l",), "", "Pin the present build as A, to compare with; take the pin away", "Kernel"),
    Action(
        "compare",
        ("m",),
        ("ctrl+o",),
        "",
        "The table of A and B; choose A: a commit, backend, chip, constexpr",
        "Kernel",
    ),
    Action("stage(-1)", ("left_square_bracket",), ("f6",), "", "Previous stage in the listing", "Panes"),
    Action("stage(1)", ("right_square_bracket",), ("f7",), "stage", "Next stage in the listing", "Panes"),
    Action("choose", ("e",), ("f4",), "kernel", "Choose the kernel and the example", "Kernel"),
    Action("signature", ("a",), ("ctrl+t",), "", "Form: types, constexprs, sizes, chip, warps, options", "Kernel"),
    Action("passes", ("P",), (), "", "The MLIR passes as a list: add, switch off, move, undo; a schedule", "Kernel"),
    Action("mlir_opt", ("M",), (), "", "Copy the line that has mlir-opt run the same passes", "Kernel"),
    Action("query", (), (), "", "Look for operations of MLIR: reductions, transposes, broadcasts, casts", "Kernel"),
    Action("complete", (), ("ctrl+@",), "", "Show what can be written here, and what a call takes", "Editor", "editor"),
    Action("problem(1)", (), ("alt+n",), "", "Go to the next error or warning of the file", "Editor"),
    Action("problem(-1)", (), ("alt+p",), "", "Go to the previous error or warning of the file", "Editor"),
    Action("replace", (), ("ctrl+f",), "", "Find and replace in the editor; in a listing, find", "Editor"),
    Action(
        "comment", (), ("ctrl+underscore",), "", "Make the selected lines comments, or code again", "Editor", "editor"
    ),
    Action("move_lines(-1)", (), ("alt+up",), "", "Move the selected lines up", "Editor", "editor"),
    Action("move_lines(1)", (), ("alt+down",), "", "Move the selected lines down", "Editor", "editor"),
    Action("duplicate", (), ("alt+d",), "", "Duplicate the selected lines", "Editor", "editor"),
    Action("zoom", ("z",), ("f9",), "zoom", "Give the pane the whole screen, and back", "Panes"),
    Action("find_everywhere", ("F",), (), "", "Search all panes and stages; enter goes to a line", "Panes"),
    Action("arrange", ("W",), (), "", "Arrange the panes: layouts, swap, share a place, hide, show", "Panes"),
    Action("resize(1, 0)", ("greater_than_sign",), (), "", "Make the pane wider", "Panes"),
    Action("resize(-1, 0)", ("less_than_sign",), (), "", "Make the pane narrower", "Panes"),
    Action("resize(0, 1)", ("plus",), (), "", "Make the pane higher", "Panes"),
    Action("resize(0, -1)", ("minus",), (), "", "Make the pane lower", "Panes"),
    Action("sizes", ("0",), (), "", "Give the panes the sizes they had at first", "Panes"),
    Action("find", ("slash",), (), "find", "Find text in the listing", "Listing", "listing"),
    Action(
        "story",
        ("d",),
        (),
        "diff",
        "Show the stage as text, as a diff, as the log of its changes, or against A",
        "Listing",
        "listing",
    ),
    Action(
        "changed_stage(-1)",
        ("left_curly_bracket",),
        (),
        "",
        "Previous stage that changed something",
        "Listing",
        "listing",
    ),
    Action(
        "changed_stage(1)", ("right_curly_bracket",), (), "", "Next stage that changed something", "Listing", "listing"
    ),
    Action("whole", ("o",), (), "", "Fold or unfold idle stages, or long findings", "Listing", "listing"),
    Action("linked(1)", ("asterisk",), (), "", "Next line that is linked", "Links", "listing"),
    Action("linked(-1)", (), (), "", "Previous line that is linked", "Links", "listing"),
    Action("lock", ("L",), (), "", "Keep what is lit while the cursor moves, or follow it again", "Links"),
    Action("value", ("f",), (), "", "Follow the value of the line through all listings; next use", "Links", "listing"),
    Action("choose_value", (), (), "", "Choose which value of the line to follow", "Links", "listing"),
    Action("value_story", (), (), "", "What became of the followed value, pass by pass", "Links"),
    Action("counts", (), (), "", "Show or hide beside the source how many lines each line became", "Links"),
    Action("became", (), (), "", "Go to what the line became, in the next pane that has it", "Links"),
    Action("history(-1)", ("u",), (), "", "Jump back to where one was", "Links"),
    Action("history(1)", ("U",), (), "", "Jump forward again", "Links"),
    Action("reproduce", ("R",), ("ctrl+r",), "", "Write a folder that runs the failing stage alone", "Kernel"),
    Action("find_next(1)", ("n",), (), "", "Next occurrence", "Listing", "listing"),
    Action("find_next(-1)", ("N",), (), "", "Previous occurrence", "Listing", "listing"),
    Action("copy(False)", ("y",), (), "copy", "Copy the line, or what the mouse selected", "Listing", "listing"),
    Action("copy(True)", ("Y",), (), "", "Copy the whole listing", "Listing", "listing"),
    Action("write", ("w",), (), "", "Write the listing to a file", "Listing", "listing"),
    Action("share", ("O",), (), "", "Share: copy, or write a report, a picture or a bundle", "File"),
    Action("save", ("s",), ("ctrl+s",), "save", "Save the file", "File"),
    Action("open", ("E",), (), "", "Show another file: an open one, one of the folder, or any", "File"),
    Action("save_as", ("S",), (), "", "Save under another name, and go on with that file", "File"),
    Action("goto", ("colon",), ("alt+g",), "", "Go to a line, or line:column, of the pane in focus", "Panes"),
    Action("follow", ("enter",), (), "", "Go to the source of the line, or open the stage", "Listing", "listing"),
    Action("jump", ("t",), ("f3",), "pane", "Choose a pane from a list", "Panes"),
    Action("compile", ("c",), ("f5",), "compile", "Compile now, even if nothing changed", "Kernel"),
    Action("cancel", ("x",), ("ctrl+g",), "", "End what is compiling, running or importing now", "Kernel"),
    Action("info", ("i",), ("f12",), "", "Versions, device, skipped stages and the children's output", "Explorer"),
    Action("theme", ("T",), (), "", "Choose the colours; each is shown while you choose", "Explorer"),
    Action("reload", (), (), "", "Read the file from disk again", "File"),
    Action("quit", ("q",), ("ctrl+q", "f10"), "quit", "Quit; asks first if there are unsaved edits", "File"),
    Action("back", ("escape",), (), "", "Back: leave the search, the followed value, the zoom or the editor", "Panes"),
    Action("cycle(1)", (), ("tab",), "", "Next pane", "Panes"),
    Action("cycle(-1)", (), ("shift+tab",), "", "Previous pane", "Panes"),
    *(
        Action(f"pane({number})", (str(number),), (), "", f"Go to the {title} pane", "Panes")
        for number, title in enumerate(
            ("source", "tree", "SSA", "CUDA", "MLIR", "PTX / SASS", "stages", "problems", "run"), start=1
        )
    ),
)

#: Keys that move in a listing, handled by the listing itself.
MOVES = (
    Action("move(1)", ("j",), ("down",), "", "Next line", "Moving"),
    Action("move(-1)", ("k",), ("up",), "", "Previous line", "Moving"),
    Action("page(1)", ("space",), ("pagedown",), "", "Next page", "Moving"),
    Action("page(-1)", (), ("pageup",), "", "Previous page", "Moving"),
    Action("edge(False)", ("g",), ("home",), "", "First line", "Moving"),
    Action("edge(True)", ("G",), ("end",), "", "Last line", "Moving"),
    Action("shift(-8)", ("h",), ("left",), "", "Scroll left", "Moving"),
    Action("shift(8)", ("l",), ("right",), "", "Scroll right", "Moving"),
)


def rebind(wanted: Mapping[str, Sequence[str]]) -> list[str]:
    """Give actions other keys, by their names in the config file; returns what is wrong. To be called before any screen
    is imported: bindings are made from the table when their classes are."""
    global ACTIONS
    ACTIONS, problems = rebound(ACTIONS, wanted, [key for move in MOVES for key in (*move.letters, *move.keys)])
    return problems


_SHOWN = {
    **SIGNS,
    "ctrl+underscore": "ctrl+/",
    "ctrl+@": "ctrl+space",
    "escape": "esc",
    "pagedown": "page down",
    "pageup": "page up",
}


def shown_key(key: str) -> str:
    """A Textual key name as a person reads it."""
    if key in _SHOWN:
        return _SHOWN[key]
    return key.upper() if len(key) in (2, 3) and key[0] == "f" and key[1:].isdigit() else key


def shown_keys(action: Action) -> str:
    """All keys of an action, for tables."""
    return ", ".join(shown_key(key) for key in (*action.letters, *action.keys))


def key_bar(typing: bool, width: int) -> list[tuple[str, str, str]]:
    """`(action, key, label)` of the key bar: keys that work in the editor, or the letters of a pane. Those that come
    first in the table are shown as far as there is room; how to quit is always."""
    entries = [("back", "esc", "panes")] if typing else []
    for action in ACTIONS:
        if action.label and (keys := action.keys if typing else action.letters or action.keys):
            entries.append((action.name, shown_key(keys[0]), action.label))
    last = next(entry for entry in entries if entry[0] == "quit")
    room = width - bar_width(last)
    fitting: list[tuple[str, str, str]] = []
    for entry in entries:
        room -= bar_width(entry)
        if room >= 0 and entry is not last:
            fitting.append(entry)
    return [*fitting, last]


def bar_width(entry: tuple[str, str, str]) -> int:
    """Columns that an entry of the key bar takes."""
    return len(entry[1]) + len(entry[2]) + 3


def key_table() -> str:
    """The Markdown table of the README."""
    rows = ["| in a pane | anywhere | what it does |", "|---|---|---|"]
    for action in (*ACTIONS, *MOVES):
        if not action.letters and not action.keys:
            continue
        letters, keys = (" ".join(f"`{shown_key(key)}`" for key in keys) for keys in (action.letters, action.keys))
        rows.append(f"| {letters} | {keys} | {action.help} |")
    return "\n".join(rows)
