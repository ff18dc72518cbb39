"""Keys as people write them and as Textual names them, and giving actions other keys than they have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.actions import Action

#: Named as in Textual, where Unicode's name is too long.
_SHORT = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
_NAMED = re.compile(
    r"f([1-9]|1\d|2[0-4])|space|enter|escape|tab|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right"
)
_MODIFIED = re.compile(r"((?:(?:ctrl|alt|shift|super)\+)+)(\w+|[^\w\s])")
#: Keys that a terminal sends as another, by what it sends.
SENT_AS = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+j": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+c": "an interrupt: it copies",
    "ctrl+z": "undo: it is the editor's",
}
#: Keys by what terminals send for them.
_SENT = {"ctrl+slash": "ctrl+underscore", "ctrl+space": "ctrl+@", "ctrl+at": "ctrl+@"}
#: Written differently by different people.
_OTHERWISE = {"esc": "escape", "return": "enter", "page up": "pageup", "page down": "pagedown", "pgup": "pageup"}


def named(key: str) -> str | None:
    """Textual's name of a key that is written as itself (`?`), by a name (`f8`) or with modifiers (`ctrl+n`); None if
    there is no such key."""
    if len(key) == 1:
        if key.isalnum():
            return key
        name = "space" if key == " " else unicodedata.name(key, "").lower().replace("-", "_").replace(" ", "_")
        return _SHORT.get(name, name) or None
    key = _OTHERWISE.get(key.lower(), key)
    if _NAMED.fullmatch(key.lower()):
        return key.lower()
    if modified := _MODIFIED.fullmatch(key):
        last = named(modified[2])
        whole = None if last is None else f"{modified[1]}{last if len(last) > 1 else last.lower()}"
        return _SENT.get(whole, whole) if whole is not None else None
    return key if key in SIGNS else None


#: What is on a keyboard besides letters and digits, by Textual's names.
SIGNS = {str(named(sign)): sign for sign in map(chr, range(0x21, 0x7F)) if not sign.isalnum()}


def everywhere(key: str) -> bool:
    """Whether a key can mean something also where text is typed."""
    return "+" in key or bool(re.fullmatch(r"f\d+", key)) or key == "tab"


def rebound(
    actions: Sequence[Action], wanted: Mapping[str, Sequence[str]], taken: Sequence[str] = ()
) -> tuple[tuple[Action, ...], list[str]]:
    """The actions with the keys that are wanted for some of them, by name, and what could not be done. A key is taken
    from an action that has it by default; those `taken` cannot be had."""
    problems: list[str] = []
    given: dict[str, tuple[str, ...]] = {}
    owner: dict[str, str] = {}
    for name, keys in wanted.items():
        names = []
        for key in keys:
            found = named(key)
            if found is None:
                problems.append(f"keys.{name}: there is no key {key!r}; write it as r, ?, f8 or ctrl+n")
            elif found in SENT_AS:
                problems.append(f"keys.{name}: terminals send {key} as {SENT_AS[found]}")
            elif found in taken:
                problems.append(f"keys.{name}: {key} moves in listings")
            elif found in owner:
                problems.append(f"keys.{name}: {key} is given to {owner[found]} already")
            else:
                owner[found] = name
                names.append(found)
        if names or not keys:
            given[name] = tuple(names)
    changed = []
    for action in actions:
        keys = given.get(action.id, tuple(k for k in (*action.letters, *action.keys) if k not in owner))
        letters = tuple(key for key in keys if not everywhere(key))
        changed.append(replace(action, letters=letters, keys=tuple(key for key in keys if everywhere(key))))
    return tuple(changed), problems
