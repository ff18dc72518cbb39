"""The help screen: the pane in focus, how to read what it shows, its keys; then the screen, and every other key."""

from __future__ import annotations

from textwrap import wrap

from explorer.actions import ACTIONS, MOVES, Action, shown_keys
from explorer.model.panes import TITLES
from explorer.screens.notation import GENERAL, NOTATION, PANES
from explorer.screens.words import KINDS, WORDS, of_line


def help_lines(pane: str, width: int = 1000, stage: str = "", line: str = "") -> list[str]:
    """The lines of the help screen, folded to `width` columns: of a `stage` whose words are explained first those of
    `line`, where the cursor is."""

    def rows(text: str, hanging: int = 2) -> list[str]:
        return wrap(text, max(20, width), subsequent_indent=" " * hanging)

    def signs(table: tuple[tuple[str, str], ...]) -> list[str]:
        lines = []
        for sign, meaning in table:
            if len(sign) > 24:
                lines += [f"  {sign}"[:width], *rows(f"      {meaning}", 6)]
            else:
                lines += rows(f"  {sign:<24}  {meaning}", 28 if width > 60 else 6)
        return lines

    def keys(actions: list[Action]) -> list[str]:
        return [row for a in actions for row in rows(f"  {shown_keys(a) or 'in ctrl+p':<17} {a.help}", 20)]

    lines = [f"This pane: {TITLES.get(pane, pane)}", *rows(f"  {PANES.get(pane, '')}"), ""]
    here_now = of_line(stage, line)
    if here_now:
        lines += ["In the line under the cursor", *signs(tuple((w.words, w.meaning) for w in here_now)), ""]
    if stage in WORDS:
        lines += [f"The words of {KINDS[stage]}", *signs(tuple((w.words, w.meaning) for w in WORDS[stage])), ""]
    if pane in NOTATION:
        lines += ["How to read it", *signs(NOTATION[pane]), ""]
    here = [a for a in ACTIONS if a.scope == ("editor" if pane == "source" else "listing")]
    lines += ["Keys of this pane", *keys(here), *(keys(list(MOVES)) if pane != "source" else []), ""]
    lines += ["The screen", *signs(GENERAL)]
    lines += [*rows("  Letters act where nothing is being typed; esc leaves the editor, 1 goes back to it."), ""]
    others = [a for a in (*ACTIONS, *MOVES) if a not in here and (pane == "source" or a not in MOVES)]
    for group in dict.fromkeys(action.group for action in others):
        lines += [group, *keys([action for action in others if action.group == group]), ""]
    lines.append("Panes")
    for number, (name, text) in enumerate(PANES.items(), start=1):
        lines += rows(f"  {number} {name:<10} {text}", 15)
    return [*lines, "", "ctrl+p opens the list of everything that can be done."]
