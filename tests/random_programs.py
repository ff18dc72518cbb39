"""Random kernels over the whole language: run-time loops and branches with carried values, early returns, helpers,
blocks of several shapes and reductions. `tests/random_kernels.py` has their arguments, and the rule of agreement.
"""

from __future__ import annotations

import random

from tests.random_expressions import FLOATS, INTEGERS, Expr
from tests.random_features import FeatureWriter
from tests.random_kernels import Case


class ProgramWriter(FeatureWriter):
    """Writes one random kernel."""

    def __init__(self, source: random.Random, portable: bool = False) -> None:
        super().__init__(source, portable)
        self.loops = 0
        self.scalars |= {"t": source.randint(0, 3), "step": source.choice((1, 2, 5))}

    def like(self, value: Expr, type_: str, block: bool) -> str:
        """A value as another type, and as a block if that is wanted."""
        text = value.text if value.type == type_ else self.converted(value, type_).text
        return f"tl.where({self.mask_name}, {text}, {text})" if block and not value.block else text

    def assign(self, target: Expr) -> None:
        """Another value of the same type for a name, which a loop may carry and branches may merge."""
        value = self.expr(2) if self.chance(0.7) else target
        if value.block and not target.block:
            value = self.any(block=False)
        self.emit(f"{target.text} = {self.like(value, target.type, target.block)}")

    def names(self) -> list[Expr]:
        """The variables that may be assigned to."""
        return [e for e in self.pool if e.text[0] == "v"]

    def condition(self) -> str:
        """A scalar bool."""
        a, b = self.any(*INTEGERS, block=False), self.any(*INTEGERS, block=False)
        simple = [f"{a.text} {op} {n}" for op in ("<", ">=", "==", "!=") for n in (0, 1, 7)]
        simple += ["pid == 0", "pid > 0", "t > 1", f"{a.text} % 2 == 0"]
        if not self.portable and self.chance(0.1):  # whether there is an array: there is
            array, type_ = self.pick(list(self.arrays.items()))
            nothing = f"({array}.to(tl.int64) - {array}.to(tl.int64)).to(tl.pointer_type(tl.{type_}))"
            both = (f"{array} and n > 3", f"{nothing} or {array}")
            return self.pick((array, f"not {array}", nothing, f"{array} + t", *both))
        if self.chance(0.3):
            simple = [f"{self.reduced(self.any(*INTEGERS, block=True), '').text} > {self.pick((0, 100))}"]
        text = self.pick(simple)
        if self.chance(0.3):
            text = self.pick((f"({text}) & (n > 3)", f"not ({text})", f"{text} and n > 3", f"t == 1 or {text}",
                              f"{b.text} != 0 and {text}"))  # fmt: skip
        return text

    def statement(self, depth: int) -> None:
        chance = self.random.random()
        if chance < 0.12 and len(self.shapes) > 1:
            self.switch()
        elif chance < 0.22:
            self.reduce()
        elif chance < 0.34 and depth:
            self.pick(
                (self.runtime_branch, self.runtime_branch, self.runtime_loop, self.runtime_loop, self.while_loop)
            )(depth)
        elif chance < 0.44 and self.names():
            self.assign(self.pick(self.names()[-6:]))
        elif chance < 0.49:
            self.ternary()
        elif chance < 0.55:
            self.helper()
        elif chance < 0.57 and not self.loops:
            self.leave()
        elif chance < 0.61:
            self.built_in()
        elif chance < 0.65:
            self.exchange()
        elif chance < 0.69:
            self.order()
        elif chance < 0.78 and not self.portable:
            self.feature()
        else:
            super().statement(depth)

    def load(self, array: str) -> None:
        if array in self.read_only or self.ordered or self.home.get(array) == self.shape:
            super().load(array)

    def store(self) -> None:
        here = [a for a in self.stored if self.ordered or self.home.get(a) == self.shape]
        if here:
            stored, self.stored = self.stored, here
            super().store()
            self.stored = stored

    def transcendental(self) -> None:
        if self.home.setdefault("near", self.shape) == self.shape:
            super().transcendental()

    def nested(self, depth: int, count: int) -> None:
        shape, others = self.shape, {s: list(e) for s, e in self.others.items()}
        super().nested(depth, count)
        self.others = others
        self.named(shape)

    def body(self, depth: int) -> None:
        """A nested block that assigns to names of outside."""
        outside, margin = self.names(), self.margin
        self.nested(depth, self.random.randint(0, 2))
        self.margin += "    "
        for target in self.random.sample(outside, min(len(outside), self.random.randint(0, 2))):
            self.assign(target)
        self.margin = margin

    def runtime_branch(self, depth: int) -> None:
        self.emit(f"if {self.condition()}:")
        self.body(depth)
        merged = self.any()
        merging = self.chance(0.4)
        self.number += 1
        name = f"v{self.number}"
        if merging:
            self.emit(f"    {name} = {self.like(self.any(block=merged.block), merged.type, merged.block)}")
        if self.chance(0.3) and not merging:
            self.emit(f"elif {self.condition()}:")
            self.body(depth)
        if merging or self.chance(0.4):
            self.emit("else:")
            self.body(depth)
        if merging:
            self.emit(f"    {name} = {merged.text}")
            self.pool.append(Expr(name, merged.type, merged.block))

    def runtime_loop(self, depth: int) -> None:
        bounds = ("t", "1, t + 1", "t, 0, -1", "0, 7, step", "pid, 4, step", "t - 1, -1, -1", "3", "n % 4")
        self.number += 1
        variable, pointer, array = f"j{self.number}", f"p{self.number}", self.pick(self.read_only or [""])
        moves = bool(array) and self.chance(0.4)
        if moves:
            self.emit(f"{pointer} = {array} + {self.offs}")
        self.emit(f"for {variable} in {self.pick(('range', 'tl.range'))}({self.pick(bounds)}):")
        self.loops += 1
        # In Triton's interpreter the variable is a Python number.
        count = f"i{self.number}" if self.portable else variable
        if self.portable:
            self.emit(f"    {count} = t * 0 + {variable}")
        before, self.pool = self.pool, [*self.pool, Expr(count, "int32", False)]
        if moves:
            found = f"tl.load({pointer}, mask={self.mask_name}, other=0)"
            as_is = self.arrays[array] != "int1" or not self.portable
            loaded = Expr(f"u{self.number}", self.arrays[array])
            self.emit(f"    {loaded.text} = {found if as_is else f'({found} != 0)'}")
            self.emit(f"    {pointer} += {self.pick((0, 1))}")
            self.pool.append(loaded)
        self.body(depth)
        self.loops, self.pool = self.loops - 1, before

    def loop(self, depth: int) -> None:
        self.loops += 1
        super().loop(depth)
        self.loops -= 1

    def while_loop(self, depth: int) -> None:
        self.number += 1
        count = f"w{self.number}"
        self.emit(f"{count} = 0")
        extra = f" and ({self.condition()})" if self.chance(0.4) else ""
        self.emit(f"while {count} < t{extra}:")
        self.loops += 1
        self.body(depth)
        self.emit(f"    {count} += 1")
        self.loops -= 1

    def ternary(self) -> None:
        a = self.any()
        b = self.any(a.type, block=a.block) if any(e.block == a.block for e in self.pool) else a
        self.fresh(Expr(f"{a.text} if {self.condition()} else {self.like(b, a.type, a.block)}", a.type, a.block))

    def exchange(self) -> None:
        """Lanes read what others have stored, ordered by barriers or reductions."""
        value = self.any("int32", "float32", "int8", block=True)
        array = f"shared_{value.type}"
        self.arrays[array] = value.type
        moved = self.pick((f"({self.lanes} ^ {self.block // 2})", f"({self.block - 1} - {self.lanes})",
                           f"({self.lanes} + 1 & {self.block - 1})"))  # fmt: skip
        self.emit(f"tl.store({array} + {self.offs}, {value.text})")
        loaded = f"tl.load({array} + pid * BLOCK + {moved})"
        if value.type == "int32" and self.chance(0.5):
            # Of what no pass finds to be a constant: a reduction that is not there orders nothing.
            total = self.fresh(self.reduced(Expr(f"({value.text} + {self.lanes})", "int32"), ""))
            loaded = f"({loaded} + {total.text})"
        else:
            self.emit("tl.debug_barrier()")
        self.fresh(Expr(loaded, value.type))
        self.emit("tl.debug_barrier()")

    def built_in(self) -> None:
        """Bit casts, and what Python's own functions and `tl.cdiv` make of scalars."""
        value = self.any("int32", "float32", "int64", "float64", "int16", "float16")
        same = {"int32": "float32", "float32": "int32", "int64": "float64", "float64": "int64", "int16": "float16",
                "float16": "int16"}  # fmt: skip
        if value.type in same and self.chance(0.5):
            to = same[value.type]
            # The payload of a NaN is free, and its bits must not be seen.
            text = f"tl.where({value.text} == {value.text}, {value.text}, 0.0)" if value.type in FLOATS else value.text
            self.fresh(Expr(f"{text}.to(tl.{to}, bitcast=True)", to, value.block))
            return
        a, b = self.any("int32", block=False), self.any("int32", block=False)
        a, b = (self.like(e, "int32", False) for e in (a, b))
        self.fresh(Expr(self.pick((f"min({a}, {b})", f"max({a}, {b})", f"tl.cdiv({a} & 1023, ({b} & 15) + 1)",
                                   f"{'tl.' if self.portable else ''}abs({a})")), "int32", False))  # fmt: skip

    def leave(self) -> None:
        self.emit(f"if {self.condition()}:")
        margin, self.margin = self.margin, self.margin + "    "
        self.store()
        self.emit("return")
        self.margin = margin

    def helper(self) -> None:
        """A function of one or two values, and a call of it."""
        given = [self.any() for _ in range(self.pick((1, 2)))]
        kept = self.pool, self.lines, self.margin, self.mask_name
        names = [f"a{i}" for i in range(len(given))]
        self.pool = [Expr(name, e.type, e.block) for name, e in zip(names, given, strict=True)]
        self.lines, self.margin = [], "    "
        for _ in range(self.random.randint(1, 3)):
            self.fresh(self.expr(2))
        results = [self.any() for _ in range(self.pick((1, 1, 2)))]
        if self.chance(0.3) and len(results) == 1:
            scalar = [e for e in self.pool if not e.block and e.type in INTEGERS]
            if scalar:
                self.emit(f"if {scalar[0].text} > 3:")
                self.emit(f"    return {results[0].text}")
        self.emit(f"return {', '.join(r.text for r in results)}")
        name, body = f"h{len(self.helpers)}", self.lines
        self.pool, self.lines, self.margin, self.mask_name = kept
        constants = "C: tl.constexpr, F: tl.constexpr, BLOCK: tl.constexpr"
        self.helpers.append("\n".join(["@triton.jit", f"def {name}({', '.join(names)}, {constants}):", *body, "", ""]))
        targets = []
        for result in results:
            self.number += 1
            targets.append(Expr(f"v{self.number}", result.type, result.block))
        arguments = ", ".join([e.text for e in given] + self.pick((["C", "F", "BLOCK"], ["BLOCK=BLOCK", "F=F", "C=C"])))
        self.emit(f"{', '.join(t.text for t in targets)} = {name}({arguments})")
        self.pool += targets

    def write(self) -> None:
        self.emit("pid = tl.program_id(0)")
        self.place()
        self.named(self.shape)
        self.pool += [*self.others[self.shape], Expr("pid", "int32", False)]
        self.add_scalars()
        for array in self.arrays:
            if array not in self.outputs:
                self.turn_to(self.home[array])
                self.load(array)
        for _ in range(self.random.randint(3, 16)):
            self.statement(2)
        for array in self.outputs:
            self.turn_to(self.home[array])
            value = self.kept(self.expr(2), array)
            self.emit(f"tl.store({array} + {self.offs}, {value.text}, mask={self.mask_name})")
        self.turn_to(self.home.setdefault("near", self.shape))
        self.transcendental()


def program(seed: int, portable: bool = False) -> Case:
    """The random kernel of a seed."""
    return program_of(random.Random(seed), portable)


def program_of(source: random.Random, portable: bool = False) -> Case:
    """The random kernel of a source of chance, such as hypothesis has."""
    writer = ProgramWriter(source, portable)
    writer.write()
    return writer.case()
