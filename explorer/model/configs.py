"""The configs that a kernel's `autotune` chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from explorer.model.literals import plain_text
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class ConfigView:
    """A `Config`: what it gives parameters, as plain values, and its options."""

    values: dict[str, Any] = field(default_factory=dict)
    num_warps: int = 4
    num_stages: int = 3

    @property
    def text(self) -> str:
        """What it says, in a line."""
        said = {**{name: plain_text(value) for name, value in self.values.items()}, "num_warps": self.num_warps}
        return ", ".join(f"{name}: {value}" for name, value in {**said, "num_stages": self.num_stages}.items())


def numbered(configs: Sequence[ConfigView]) -> list[str]:
    """Each with the number that `--config` takes."""
    return [f"{number} ({config.text})" for number, config in enumerate(configs)]
