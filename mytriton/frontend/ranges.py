"""What a `for` loop runs over: the bounds and step of `range`, `tl.range` and `tl.static_range`."""

from __future__ import annotations

import builtins
import functools

from mytriton import language as tl
from mytriton.frontend import tree as t
from mytriton.frontend.evaluate import Evaluator
from mytriton.frontend.registry import LOOPS
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Known, Mistake, Operand, is_poison, number_type
from mytriton.ir.core import Value
from mytriton.records import dataclass
from mytriton.types import ScalarType, i1, i32, i64, is_bool, is_integer, is_unsigned, promote, shape_of

#: What `tl.range` takes besides bounds: advice on how to compile the loop, which changes no result.
_HINTS = ("num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm")


@dataclass(frozen=True, slots=True)
class Bounds:
    """`start` to `end` by `step`; `unrolled` if the loop is one for the compiler. The variable has the type `type`, and
    the loop counts in `counted`, which may be wider. `num_stages` is 0 if nothing is said of them."""

    start: Operand
    end: Operand
    step: Operand
    unrolled: bool
    type: ScalarType = i32
    counted: ScalarType = i32
    num_stages: int = 0

    def values(self, semantics: Semantics) -> range:
        """The values of an unrolled loop's variable."""
        return range(*(semantics.known_int(o, "a bound of `tl.static_range`") for o in self._all))

    def operands(self, semantics: Semantics) -> list[Value]:
        """The bounds and the step as run-time values of the type the loop counts in."""
        return [semantics.value(operand, self.counted) for operand in self._all]

    @property
    def _all(self) -> tuple[Operand, Operand, Operand]:
        return self.start, self.end, self.step


def loop_bounds(evaluator: Evaluator, call: t.Expr) -> Bounds | None:
    """The bounds of a loop over `call`; None if a mistake in them was reported. Raises `Mistake`."""
    semantics = evaluator.semantics
    function = evaluator.evaluate(call.function) if isinstance(call, t.Call) else None
    if function is not None and is_poison(function):
        return None
    loop = function.item.value if function is not None and isinstance(function.item, Known) else None
    if not isinstance(call, t.Call) or not any(loop is one for one in LOOPS):
        message = "a `for` loop in a kernel runs over range(...), tl.range(...) or tl.static_range(...)"
        raise Mistake("MT143", message, call.span, "for a tuple, write: for i in tl.static_range(len(t)), and t[i]")
    args = [evaluator.evaluate(x) for x in call.args]
    named = {name: evaluator.evaluate(x) for name, x in call.keywords}
    if is_poison(*args, *named.values()):
        return None
    stages = 0
    for name in _HINTS if loop is tl.range else ():
        if name in named:
            advice = semantics.known(named.pop(name), f"`{name}`")
            if name == "num_stages" and advice is not None:
                if type(advice) is not int or advice < 0:
                    span = next(x.span for keyword, x in call.keywords if keyword == name)
                    raise Mistake("MT143", f"`num_stages` is a number of buffers, got {advice!r}", span, "write 1 to 8")
                stages = advice
    names = ("start", "end", "step")[: len(args)] if len(args) > 1 else ("end",)[: len(args)]
    given = {**dict(zip(names, args, strict=False)), **named}
    text = semantics.text(call.function.span)
    python = loop is builtins.range and bool(call.keywords)
    if len(args) > 3 or "end" not in given or set(given) - {"start", "end", "step"} or python:
        extra = next(iter(set(given) - {"start", "end", "step"}), None)
        hint = f"leave `{extra}` away" if extra is not None else f"write {text}(end), or {text}(start, end)"
        hint = "only tl.range and tl.static_range take `step=`" if python else hint
        raise Mistake("MT120", f"`{text}` takes (end), (start, end) or (start, end, step)", call.span, hint)
    start = given.get("start", Operand(Known(0), call))
    step = given.get("step", Operand(Known(1), call))
    if isinstance(step.item, Known) and semantics.known_int(step, "the step of a loop") == 0:
        raise Mistake("MT144", "the step of a loop must not be 0", step.span, "leave it out to count by 1")
    bounds = Bounds(start, given["end"], step, loop is tl.static_range, num_stages=stages)
    if bounds.unrolled:
        _check_known(semantics, bounds)
        return bounds
    return _typed(semantics, bounds)


def _check_known(semantics: Semantics, bounds: Bounds) -> None:
    for operand in (bounds.start, bounds.end, bounds.step):
        if isinstance(operand.item, Value):
            message = f"a bound of `tl.static_range` must be a constexpr, but {semantics.describe(operand)} is not"
            raise Mistake("MT210", message, operand.span, "use `range`, which makes a loop at run time")


def _typed(semantics: Semantics, bounds: Bounds) -> Bounds:
    """The bounds with the type of the loop's variable: that of all three, promoted as by `+`."""
    operands = (bounds.start, bounds.end, bounds.step)
    type_ = functools.reduce(promote, (_type_of(semantics, operand) for operand in operands))
    counted = type_
    # An unsigned type holds no negative bound or step: the loop then counts in a wider one, or it would never start.
    negative = any(_may_be_negative(operand) for operand in operands)
    if is_unsigned(type_) and negative:
        counted = i64
        if type_.bits == 64:
            counted = type_
            wrong = next((o for o in operands if isinstance(o.item, Known) and o.item.value < 0), None)
            wrong = bounds.step if _may_be_negative(bounds.step) else wrong
            if wrong is not None:
                message = f"a loop that counts in uint64 cannot use {semantics.describe(wrong)}, which may be negative"
                raise Mistake("MT144", message, wrong.span, "convert the unsigned bounds with .to(tl.int64)")
    return Bounds(*operands, False, type_, counted, bounds.num_stages)


def _may_be_negative(operand: Operand) -> bool:
    item = operand.item
    if isinstance(item, Known):
        return bool(item.value < 0)
    return isinstance(item, Value) and not is_unsigned(item.type)


def _type_of(semantics: Semantics, operand: Operand) -> ScalarType:
    item = operand.item
    if not isinstance(item, Value):
        semantics.known_int(operand, "a loop bound")
        assert isinstance(item, Known)
        return number_type(item)
    if shape_of(item.type) or not (is_integer(item.type) or is_bool(item.type)):
        message = f"a loop bound must be an integer, got {semantics.describe(operand)}"
        hint = "convert it with .to(tl.int32)" if not shape_of(item.type) else "bounds are scalars"
        raise Mistake("MT211", message, operand.span, hint)
    assert isinstance(item.type, ScalarType)
    return i32 if item.type == i1 else item.type
