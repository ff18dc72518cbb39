"""A kernel's possible configurations, and which of them are worth timing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mytriton.diagnostics import LaunchError

Hook = Callable[..., Any]


class Config:
    """One way to launch a kernel, for `autotune` to choose from.

    kwargs      values of parameters, constexprs as a rule
    num_warps   warps that share a program
    num_stages  buffers into which loops load ahead what they multiply; given to a parameter of that name, too
    num_ctas, maxnreg  recorded; they change nothing either
    pre_hook    called with the arguments by name (`num_warps` and so on among them) before each launch

    What Triton takes beyond that (`ir_override`) would replace the kernel's code, and is refused.
    """

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Hook | None = None,
        ir_override: str | None = None,
    ) -> None:
        if ir_override is not None:
            raise LaunchError("Config(ir_override=...) is not supported: a kernel's code is made from its source alone")
        if not isinstance(kwargs, Mapping):
            raise TypeError(
                f"a Config begins with a dict of the parameters' values, which may be empty, not {kwargs!r}"
            )
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self) -> dict[str, Any]:
        """The values of parameters and the options, as hooks and performance models get them."""
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages}
        return {**self.kwargs, **options, **({} if self.maxnreg is None else {"maxnreg": self.maxnreg})}

    def arguments(self, names: Sequence[str]) -> dict[str, Any]:
        """What it gives the parameters of these names."""
        staged = {"num_stages": self.num_stages} if "num_stages" in names else {}
        return {**staged, **self.kwargs}

    def __str__(self) -> str:
        options = {name: value for name, value in self.all_kwargs().items() if (name, value) != ("num_ctas", 1)}
        return ", ".join(f"{name}: {value}" for name, value in options.items())

    def __repr__(self) -> str:
        return f"<Config {self}>"

    def _key(self) -> tuple[Any, ...]:
        return (*self.all_kwargs().items(), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class Pruning:
    """Which configs are timed: `early_config_prune(configs, named_args, **keywords)` returns some of them, of which the
    `top_k` (a number, or a fraction up to 1.0) are kept that `perf_model(**arguments)` expects to be fastest."""

    def __init__(self, prune_configs_by: Mapping[str, Any] | None) -> None:
        given = dict(prune_configs_by or {})
        self._early = given.pop("early_config_prune", None)
        self._model = given.pop("perf_model", None)
        self._top_k: float | int = given.pop("top_k", 1.0)
        if given:
            known = "early_config_prune, perf_model and top_k"
            raise ValueError(f"prune_configs_by has no field {next(iter(given))!r}; its fields are {known}")
        fraction = isinstance(self._top_k, float) and 0 < self._top_k <= 1.0
        count = isinstance(self._top_k, int) and not isinstance(self._top_k, bool) and self._top_k >= 1
        if not (fraction or count):
            raise TypeError(f"top_k is a fraction of the configs up to 1.0, or a number of them, not {self._top_k!r}")

    def __call__(
        self, configs: Sequence[Config], named: Mapping[str, Any], keywords: Mapping[str, Any]
    ) -> list[Config]:
        """Those of `configs` that are to be timed for a call's positional arguments by name, and its keywords."""
        kept = list(configs)
        if self._early is not None:
            kept = list(self._early(kept, dict(named), **keywords))
            if not kept:
                raise LaunchError("early_config_prune left no config; it must return at least one")
        if self._model is None:
            return kept
        count = self._top_k if isinstance(self._top_k, int) else max(1, int(len(kept) * self._top_k))
        if len(kept) > count:
            expected = [self._model(**{**named, **keywords, **config.all_kwargs()}) for config in kept]
            kept = [kept[i] for i in sorted(range(len(kept)), key=lambda i: expected[i])[:count]]
        return kept
