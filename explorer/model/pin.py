"""Build A, which the present one (B) is compared with: the same at another time, or the same but for one thing."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from explorer.model.session import Session
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Variant:
    """How A differs from the present build; what is not said is as it is in B. With a `text` of its own A stays as it
    is, without one it follows the edits. One that is `recorded` is all there: nothing of it is compiled or run."""

    label: str
    text: str | None = None
    backend: str = ""
    chip: str = ""
    defines: dict[str, Any] = field(default_factory=dict)
    recorded: bool = False

    def of(self, present: Session) -> Session:
        """A, of which nothing is compiled yet."""
        settings = present.settings
        settings = replace(settings, chip=self.chip or settings.chip, defines={**settings.defines, **self.defines})
        made = Session(settings, self.text if self.text is not None else present.text)
        made.label = self.label
        made.past_runs = present.past_runs
        made.opened(0)
        made.backend = self.backend or present.backend
        made.kernel, made.chosen_example, made.module = present.kernel, present.example, present.module
        return made

    def followed(self, pinned: Session, present: Session) -> bool:
        """Bring A up to what B is now; whether that changes it."""
        if self.text is not None:
            return False
        new = self.of(present)
        wanted = (new.text, new.settings, new.kernel, new.example, new.backend)
        if wanted == (pinned.text, pinned.settings, pinned.kernel, pinned.example, pinned.backend):
            return False
        pinned.text, pinned.settings, pinned.kernel, pinned.chosen_example, pinned.backend = wanted
        return True


def as_it_is(present: Session, label: str) -> tuple[Variant, Session]:
    """The present build as A, with the listings and the run that there are."""
    variant = Variant(label, present.text, present.backend)
    pinned = variant.of(present)
    for name, result in present.results.items():
        pinned.results[name] = replace(
            result, stages=dict(result.stages), before=dict(result.before), good=dict(result.good)
        )
    pinned.take_run(present)
    return variant, pinned
