"""What is remembered from one session to the next: theme and layout. Losing it costs nothing but a choice made anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from explorer.model.files import write_atomically

#: Changes when what is written could be misread by an older or a newer explorer; a file of another version is ignored.
VERSION = 1


class State:
    """Values by name, in a JSON file. `notice` says why what was there cannot be used, if it cannot."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_state_path("mytriton-explore") / "state.json"
        self.notice = ""
        self._values = self._read()

    def _read(self) -> dict[str, Any]:
        self.notice = ""
        try:
            data = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self.notice = f"{self.path} cannot be read ({error}): theme and layout are those of a first start."
            return {}
        if not isinstance(data, dict) or data.get("version") != VERSION:
            self.notice = f"{self.path} is of another version: theme and layout are those of a first start."
            return {}
        return {name: value for name, value in data.items() if name != "version"}

    def get(self, name: str) -> Any:
        """A value as JSON has it, whoever wrote it: it may be anything. None if there is none."""
        return self._values.get(name)

    def set(self, name: str, value: Any) -> None:
        """Remember a value, or forget it (None); raises OSError. What another explorer remembered meanwhile stays."""
        values = self._read()
        values[name] = value
        self._values = values = {key: kept for key, kept in values.items() if kept is not None}
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self.path, json.dumps({"version": VERSION, **values}, indent=1).encode(), 0o600)
