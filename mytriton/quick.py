"""The short ways of a kernel's launches, by the form of the call: see `binding/binder.py`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mytriton.frontend.kernel import Kernel
from mytriton.frontend.read import LiveKernel
from mytriton.launched import LaunchResult
from mytriton.repeat import CallShape

if TYPE_CHECKING:
    from mytriton.binding.binder import Binder, Long
    from mytriton.binding.rules import Repeatable

#: What a call's form is.
Form = tuple[Any, ...]

#: A form whose kernel takes something from outside that changes this often goes the long way: code for it takes longer
#: to make than it saves.
_CHANGES = 8


class Quick:
    """`latest` launches (grid, then the call's arguments) the quick way if the call is of the form that came
    last. Forms that have none go the `long` way. `kernel` gets `latest`, too, which is what its subscripts bind."""

    def __init__(self, live: LiveKernel, long: Long, kernel: Any) -> None:
        self._live, self._long, self._kernel = live, long, kernel
        self._binders: dict[Form, Binder | None] = {}
        self._changes: dict[Form, int] = {}
        self._lock = threading.Lock()  # another thread quickens
        self._publish(self.launch)

    def _publish(self, latest: Callable[..., LaunchResult]) -> None:
        self.latest = self._kernel._latest = latest

    def clear(self) -> None:
        """Forget everything."""
        for binder in self._binders.values():
            if binder is not None:
                binder.forget()  # whoever holds its launch
        self._binders.clear()
        self._changes.clear()
        self._publish(self.launch)

    def launch(self, grid: Any, /, *args: Any, **keywords: Any) -> LaunchResult:
        """A launch of any form."""
        if self.latest != self.launch:  # a launcher that was made before anything was learnt
            return self.latest(grid, *args, **keywords)
        return self._other(grid, args, keywords)

    def learn(
        self,
        kernel: Kernel,
        shape: CallShape,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        launcher: Repeatable,
        runtime: Sequence[Any],
        result: LaunchResult,
    ) -> None:
        """A launch of `kernel` went well the long way: its like may go the short one. `runtime` are its parameters."""
        from mytriton.binding import native  # which a first launch does without, as the next

        form = _form(args, keywords)
        binder = self._binders.get(form)
        if binder is None or not binder.fresh:
            if self._changes.get(form, 0) > _CHANGES:
                return
            self._changes[form] = self._changes.get(form, 0) + 1
            binder = self._binders[form] = self._made(kernel, shape, args, keywords, launcher)
            if binder is None:
                self._changes[form] = _CHANGES + 1  # there will never be one
                return
            native.use(self)
        with self._lock:
            self._publish(binder.launch)
        binder.learn(args, keywords, launcher, runtime, result)

    def quicken(self, module: ModuleType) -> None:
        """Launch by the code in C from now on."""
        kind = type(self._kernel)
        kind.__getitem__ = module.subscript_of(kind)
        for binder in filter(None, list(self._binders.values())):
            with self._lock:
                latest = self.latest == binder.launch
                binder.quicken(module)
                if latest:
                    self._publish(binder.launch)

    def _other(self, grid: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> LaunchResult:
        """A launch of another form than the latest."""
        binder = self._binders.get(_form(args, keywords))
        if binder is None:
            return self._long(grid, args, keywords)
        self._publish(binder.launch)  # the next may well be of this form, too
        return binder.launch(grid, *args, **keywords)

    def _made(
        self, kernel: Kernel, shape: CallShape, args: tuple[Any, ...], keywords: dict[str, Any], launcher: Repeatable
    ) -> Binder | None:
        from mytriton.binding.binder import Binder

        watched = self._live.watched()
        way = launcher.way
        if watched is None or way is None or self._live.kernel is not kernel:  # it has changed since the launch began
            return None
        try:
            return Binder(shape, args, keywords, watched, way, self._long, self._other)
        except LookupError:
            return None


def _form(args: tuple[Any, ...], keywords: dict[str, Any]) -> Form:
    """The types of the arguments, those of the keywords, and the keywords."""
    return (*map(type, args), *map(type, keywords.values()), *keywords)
