"""How values read: the name of a variable, an element of a per-thread array, or the expression that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mytriton.analysis.ranges import no_overflow
from mytriton.backends.cuda.expressions import Constant, Expressions, without_parentheses
from mytriton.backends.cuda.facts import VIEWS, Facts
from mytriton.backends.cuda.literals import c_type, literal
from mytriton.backends.cuda.names import mangle, variable_names
from mytriton.backends.cuda.positions import bits
from mytriton.backends.cuda.prelude import Prelude
from mytriton.backends.cuda.variables import Variable, Variables
from mytriton.backends.cuda.writer import Writer
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.layout.routes import BitMap, broadcast_registers, number
from mytriton.types import PointerType, ScalarType, element_of


class Values:
    """The texts of one kernel's values; each value that is asked for counts as mentioned on the lines that follow."""

    def __init__(self, facts: Facts, writer: Writer) -> None:
        self._facts = facts
        self._writer = writer
        self._definitions = facts.definitions
        self.prelude = Prelude(facts.target)
        self.expressions = Expressions(self.prelude, lambda op: no_overflow(op, facts.ranges))
        self.variables = Variables(facts)
        self._names = variable_names(facts.func, self.variables.all(), use_hints=facts.target.form == "tuned")
        self._taken = {*self._names.values(), *(mangle(p.id) for p in facts.func.params)}
        self._own_names: dict[tuple[str, Variable | None], Value] = {}
        self._declared: set[Variable] = set()
        self._saved: dict[Variable, str] = {}
        self._registers: BitMap = ()

    # --- variables ----------------------------------------------------------------------------------------------------

    def name(self, value: Value) -> str:
        """The name of a value's variable."""
        variable = self.variables.get(value)
        return mangle(value.id) if variable is None else self._names[variable]

    def own_name(self, value: Value, what: str) -> str:
        """A name for something that belongs to a value: `total_parts`; `v3_parts` where that means something else."""
        variable = self.variables.get(value)
        name = f"{self.name(value)}_{what}"
        owner = self._own_names.setdefault((name, variable), value)
        if owner is not value or name in self._taken:
            return f"v{value.id.removeprefix('%')}_{what}"
        return name

    def declare_array(self, value: Value) -> None:
        """Declare the array a value lives in, if it lives in one that is not there yet."""
        variable = self.variables.get(value)
        if value in self._facts.arrays and variable is not None and variable not in self._declared:
            self._declared.add(variable)
            self._writer.line(f"{c_type(value.type)} {self.name(value)}[{self._facts.arrays[value]}];")

    def declare(self, value: Value) -> None:
        """Declare the variable of a value without giving it one, unless it is there."""
        variable = self.variables.get(value)
        assert variable is not None
        self.declare_array(value)
        if variable not in self._declared:
            self._declared.add(variable)
            self._writer.line(f"{c_type(value.type)} {self.name(value)};")

    def declared(self, value: Value) -> None:
        """The variable of a value is declared elsewhere: in the head of a loop."""
        if (variable := self.variables.get(value)) is not None:
            self._declared.add(variable)

    def target(self, value: Value) -> str:
        """What stands left of the `=` that makes a value: a declaration the first time."""
        variable = self.variables.get(value)
        assert variable is not None
        if variable in self._declared:
            return self._variable(value, self._registers)
        self._declared.add(variable)
        return f"{c_type(value.type)} {self.name(value)}"

    def save(self, value: Value) -> None:
        """Put what a variable holds aside: until `forget`, the value reads as the copy."""
        variable = self.variables.get(value)
        assert variable is not None
        name = self.own_name(value, "old")
        self._writer.line(f"{c_type(value.type)} {name} = {self._variable(value, self._registers)};")
        self._saved[variable] = name

    def forget(self) -> None:
        """What was saved is needed no more."""
        self._saved.clear()

    # --- registers ----------------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, registers: int, step: int = 1) -> Iterator[None]:
        """A loop over registers, in which values read as those of register `r`."""
        before = self._registers
        self._registers = tuple(1 << i for i in range(registers.bit_length() - 1)) if registers > step else ()
        with self._writer.loop(registers, step):
            yield
        self._registers = before

    def reference(self, value: Value, registers: BitMap | None = None) -> str:
        """The element of a value in the register at work, or the one that a bit map makes of its number."""
        variable = self.variables.get(value)
        if variable in self._saved:
            return self._saved[variable]
        return self._variable(value, self._registers if registers is None else registers)

    def _variable(self, value: Value, registers: BitMap) -> str:
        return self.element(value, bits("r", registers))

    def element(self, value: Value, index: str) -> str:
        """The element of a value at an index of its array; of a value that is in none its variable."""
        value = self._facts.named(value)
        self._writer.mention(value)
        if value not in self._facts.arrays:
            return self.name(value)
        return f"{self.name(value)}[{without_parentheses(index)}]"

    def chunk(self, value: Value) -> str:
        """The part of a value's array that a wide access moves."""
        value = self._facts.named(value)
        self._writer.mention(value)
        return self.name(value) + (" + r" if self._registers else "")

    # --- expressions --------------------------------------------------------------------------------------------------

    def __call__(self, value: Value, registers: BitMap | None = None) -> str:
        """A value as an operand."""
        self._writer.mention(value)
        op = self._definitions.get(value)
        if op is None or self._facts.is_printed(op):
            return self.reference(value, registers)
        return self.inline(value, registers)

    def inline(self, value: Value, registers: BitMap | None = None) -> str:
        """The expression of a constant, cast, splat or view, with those it goes through."""
        casts: list[tuple[ScalarType, ScalarType]] = []
        registers = self._registers if registers is None else registers
        layouts = self._facts.laid_out.layouts
        op = self._definitions.get(value)
        while isinstance(op, (ops.Cast, ops.Splat, *VIEWS)):
            if isinstance(op, ops.Cast):
                source = element_of(op.source.type)
                assert not isinstance(source, PointerType)
                casts.append((source, op.to))
            elif isinstance(op, ops.Broadcast):
                source_of = broadcast_registers(layouts[op.source], layouts[value])
                registers = tuple(number(source_of, mask) for mask in registers)
            value = op.source
            self._writer.mention(value)
            op = self._definitions.get(value)
            if op is not None and self._facts.is_printed(op):
                break
        text = literal(op.value, op.type) if isinstance(op, ops.Constant) else self.reference(value, registers)
        for source, to in reversed(casts):
            text = self.expressions.cast(text, source, to)
        return text

    def constant(self, value: Value) -> Constant:
        """The number that all elements of a value are, if it is a constant."""
        op = self._definitions.get(value)
        while isinstance(op, (ops.Splat, *VIEWS)):
            op = self._definitions.get(op.source)
        return op.value if isinstance(op, ops.Constant) else None

    def combine(self, op: Op, operands: list[Value]) -> str:
        """The expression of an elementwise operation."""
        # A comparison's operands differ in type from its result, a selection's first from the others.
        element = element_of(operands[-1].type)
        return self.expressions(op, element, [self(v) for v in operands], [self.constant(v) for v in operands])
