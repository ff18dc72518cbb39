"""Random kernels' products, scans by functions, functions of elements, blocks put together, taken apart and looked up,
atomic operations and block pointers; written so that no result depends on an order that is free."""

from __future__ import annotations

from math import prod

from tests.random_expressions import BITS, DTYPES, FLOATS, Expr
from tests.random_shapes import ShapeWriter

#: The types of factors, and in what their products are added up.
TOTALS = {"float32": "float32", "float16": "float32", "bfloat16": "float32", "float64": "float64", "int8": "int32"}
ATOMIC = ("int32", "int64", "uint32", "uint64")


class FeatureWriter(ShapeWriter):
    """Writes statements of these kinds; everything that they make has the shape at hand."""

    def feature(self) -> None:
        """One of them."""
        kinds = [self.product, self.product, self.halves, self.lookup, self.map, self.scan, self.window, self.pointer]
        self.pick(kinds if self.ordered else [*kinds, self.update])()

    # --- products -----------------------------------------------------------------------------------------------------

    def factor(self, type_: str) -> str:
        """A block of whole numbers that are so small that no order of their products' sum rounds."""
        value = self.any(block=True)
        if value.type in BITS:
            return f"({value.text}.to(tl.int32) & {self.pick((1, 3, 7))}).to(tl.{type_})"
        text = f"tl.where(tl.abs({value.text}) < 8, tl.floor({value.text}), 1.0)"
        return f"({text}{' + 0.0' if type_ == 'int8' else ''}).to(tl.{type_})"

    def product(self) -> None:
        """The block at hand as a matrix, times a small one: of a formula, or of the block times itself."""
        size, type_ = prod(self.shape), self.pick(tuple(TOTALS))
        inner = self.pick([n for n in (1, 2, 4, 8, 16, 32) if n <= size])
        outer, total = size // inner, TOTALS[type_]
        left = f"tl.reshape({self.factor(type_)}, ({outer}, {inner}))"
        i, j = f"tl.arange(0, {inner})[:, None]", f"tl.arange(0, {inner})[None, :]"
        small = self.pick((f"(({i} * 3 + {j}) % 5)", f"({i} == {inner - 1} - {j})", f"(({i} + {j}) % 2 - 1)"))
        small = f"{small}.to(tl.{type_})"
        if outer <= 256 and self.chance(0.4):
            small = f"(tl.dot({left}, {left}.T)).to(tl.{type_})" if outer == inner else small
        start = f"tl.reshape({self.factor(total if total in FLOATS else 'int32')}, ({outer}, {inner}))"
        if self.chance(0.5):
            text = f"tl.dot({left}, {small}{', ' + start if self.chance(0.5) else ''})"
        else:
            turned = f"tl.trans({start}){self.pick(('', ' + 1'))}"
            text = f"tl.trans(tl.dot({small}, tl.trans({left}){', ' + turned if self.chance(0.5) else ''}))"
        self.fresh(Expr(f"tl.reshape({text}, {self.shape})", total))

    # --- orders -------------------------------------------------------------------------------------------------------

    def halves(self) -> None:
        """Every other element, and both halves together again."""
        size = prod(self.shape)
        value = self.any(block=True)
        self.number += 1
        a, b = f"a{self.number}", f"b{self.number}"
        if size == 1:
            self.emit(f"{a}, {b} = tl.split(tl.join({value.text}, {self.like_type(value)}))")
            self.fresh(Expr(self.pick((a, b)), value.type))
            return
        self.emit(f"{a}, {b} = tl.split(tl.reshape({value.text}, ({size // 2}, 2)))")
        self.emit(f"{a} = {self.pick((a, b, f'tl.flip({a})'))}")
        together = (f"tl.interleave({b}, {a})", f"tl.join({b}, {a})", f"tl.cat({a}, {b}, can_reorder=True)")
        self.fresh(Expr(f"tl.reshape({self.pick(together)}, {self.shape})", value.type))

    def like_type(self, value: Expr) -> str:
        """Another block of the type, if there is one."""
        others = [e for e in self.pool if e.block and e.type == value.type]
        return str(self.pick(others or [value]).text)

    def lookup(self) -> None:
        """Elements where others say; or how often each number occurs, for as many numbers as there are elements."""
        value, size = self.any(block=True), prod(self.shape)
        if self.chance(0.7):
            at, axis = self.any(*BITS, block=True), self.random.randrange(len(self.shape))
            self.fresh(Expr(f"tl.gather({value.text}, {at.text}, {axis})", value.type))
            return
        numbers = f"tl.ravel(({self.any(*BITS[1:], block=True).text}).to(tl.{self.pick(('int32', 'uint32'))}))"
        mask = f", mask=tl.ravel({self.mask_name})" if self.chance(0.5) else ""
        numbers = f"({numbers} & {size - 1})" if self.chance(0.7) else numbers
        self.fresh(Expr(f"tl.reshape(tl.histogram({numbers}, {size}{mask}), {self.shape})", "int32"))

    def map(self) -> None:
        """A function of single elements, which go different ways: through branches that may return, and loops."""
        first, second = self.any(*BITS[1:], block=True), self.any(block=True)
        name, number = f"m{len(self.helpers)}", self.pick("0135")
        condition = self.pick((f"a > {number}", f"(a & 3) == {number}", "b > 0", f"n > 2 and a != {number}"))
        body = ["r = a", f"if {condition}:", f"    r = (r * 3 + {number}).to(a.dtype)"]
        body += self.pick(([], ["    return r, b"], ["    b = (b + 1).to(b.dtype)"]))
        body += self.pick(([], ["else:", "    r = (a ^ 5).to(a.dtype)"]))
        bounds = self.pick(
            ("(a & 3).to(tl.int32)", "n % 3", "(a % 3).to(tl.int32), n % 4", "3, (a & 7).to(tl.int32), -2")
        )
        loop = [f"for j in range({bounds}):", "    r = (r - j * a).to(a.dtype)", "    if r > 9:", "        r = a"]
        steps = ["k = (a & 7).to(tl.int32)", "while k > 0 and r != 1:", "    k -= 1", "    r = (r + k).to(a.dtype)"]
        body += self.pick((loop, steps, [*steps, *loop], []))
        lines = ["@triton.jit", f"def {name}(a, b, n):", *(f"    {line}" for line in [*body, "return r, b"]), "", ""]
        self.helpers.append("\n".join(lines))
        self.number += 1
        a, b = f"a{self.number}", f"b{self.number}"
        self.emit(f"{a}, {b} = tl.map_elementwise({name}, {first.text}, {second.text}, n)")
        self.pool += [Expr(a, first.type), Expr(b, second.type)]

    def scan(self) -> None:
        """A scan or reduction of two blocks at once, by a function that is neither commutative nor associative: steps
        are the same everywhere."""
        first, second = self.any(*BITS[1:], block=True), self.any(block=True)
        axis, name = self.random.randrange(len(self.shape)), f"c{len(self.helpers)}"
        third = self.pick(("a * 2 + c", "a - c", "a ^ c", "c"))
        chosen = self.pick(("tl.where(c > a, b, d)", "d", "tl.where((a & 1) == 0, d, b)"))
        body = f"    return ({third}).to(a.dtype), ({chosen}).to(b.dtype)"
        self.helpers.append("\n".join(["@triton.jit", f"def {name}(a, b, c, d):", body, "", ""]))
        self.number += 1
        a, b = f"a{self.number}", f"b{self.number}"
        pair = f"({first.text}, {second.text})"
        if self.chance(0.6):
            backwards = self.pick(("", ", reverse=True"))
            self.emit(f"{a}, {b} = tl.associative_scan({pair}, {axis}, {name}{backwards})")
        else:
            self.emit(f"{a}, {b} = tl.reduce({pair}, {axis}, {name}, keep_dims=True)")
            self.emit(f"{a}, {b} = tl.broadcast_to({a}, {self.shape}), tl.broadcast_to({b}, {self.shape})")
        self.pool += [Expr(a, first.type), Expr(b, second.type)]

    # --- memory -------------------------------------------------------------------------------------------------------

    def update(self) -> None:
        """Atomic operations: of one kind on elements that all share; or whatever they give, on each lane's own."""
        type_ = self.pick(ATOMIC)
        value = self.converted(self.any(*BITS, block=True), type_).text
        mask = f", mask={self.mask_name}" if self.chance(0.6) else ""
        if self.chance(0.5):
            kind = self.pick(("add", "max", "min", "and", "or", "xor"))
            array = f"all_{kind}_{type_}"
            self.arrays[array] = type_
            places = f"(({self.any('int32', 'uint32', block=True).text}) & {self.pick((0, 3, self.size - 1))})"
            if self.chance(0.3):
                scalar = f"({self.any('int32', block=False).text}).to(tl.{type_})"
                self.emit(f"tl.atomic_{kind}({array} + {self.pick((0, self.size - 1))}, {scalar})")
            else:
                self.emit(f"tl.atomic_{kind}({array} + {places}, {value}{mask})")
            return
        self.number += 1
        array = f"own{self.number}"
        self.arrays[array] = type_
        kind = self.pick(("add", "max", "min", "and", "or", "xor", "xchg", "cas"))
        if kind == "cas" and self.chance(0.5):  # the one operation that there is of 16 bits
            self.arrays[array] = type_ = self.pick(("int16", "uint16"))
            value = self.converted(self.any(*BITS, block=True), type_).text
        if kind == "cas":
            call = f"tl.atomic_cas({array} + {self.offs}, ({self.lanes} & 1).to(tl.{type_}), {value})"
        else:
            call = f"tl.atomic_{kind}({array} + {self.offs}, {value}{mask})"
        self.fresh(Expr(call, type_))

    def pointer(self) -> None:
        """Addresses as numbers: how far they are apart, made into pointers again, and whether there are any."""
        array = self.pick([a for a, t in self.arrays.items() if t != "int1"])
        type_, start = self.arrays[array], f"{array}.to(tl.{self.pick(('int64', 'uint64'))})"
        size = DTYPES[type_].itemsize
        kind = self.pick(("far", "chosen", "made") if array in self.read_only else ("far", "chosen"))
        if kind == "far":
            self.fresh(Expr(f"({self.address(array, self.offs)}).to(tl.int64) - ({start}).to(tl.int64)", "int64"))
        elif kind == "chosen":
            value = self.any(block=True)
            where = self.pick((f"{array} + {self.offs}", f"({start} - {start}).to(tl.pointer_type(tl.{type_}))"))
            self.fresh(Expr(f"tl.where(({where}).to(tl.int1), {value.text}, {self.like_type(value)})", value.type))
        else:
            at = self.pick((self.offs, f"(({self.any('int32', 'uint32', block=True).text}) & {self.size - 1})"))
            made = f"({start} + {size} * ({at}).to({start}.dtype)).to(tl.pointer_type(tl.{type_}))"
            here = self.pick((self.mask_name, f"{self.mask_name} & ({made}).to(tl.int1)"))
            self.fresh(Expr(f"tl.load({made}, mask={here}, other=0)", type_))

    def window(self) -> None:
        """Loads through a block pointer or a descriptor that lies partly outside, perhaps carried by a loop."""
        if not self.read_only:
            return
        array, rank = self.pick(self.read_only), len(self.shape)
        type_ = self.arrays[array]
        extents = [max(1, n - self.random.randrange(3)) for n in self.shape]
        strides = [prod(extents[a + 1 :]) for a in range(rank)]
        offsets = [self.pick(("0", "-1", "1", "pid", f"({self.any('int32', block=False).text}) % 4")) for _ in extents]
        self.number += 1
        name, text = f"w{self.number}", "{}, " * (rank - 1) + "{}" + "," * (rank == 1)
        shape, steps, start = (f"({text.format(*parts)})" for parts in (extents, strides, offsets))
        if rank <= 5 and self.chance(0.3):
            padding = ', padding_option="nan"' if type_ in FLOATS and self.chance(0.5) else ""
            self.emit(f"{name} = tl.make_tensor_descriptor({array}, {shape}, {steps}, {self.shape}{padding})")
            self.fresh(Expr(f"{name}.load({start})", type_))
            return
        order = tuple(reversed(range(rank)))
        self.emit(f"{name} = tl.make_block_ptr({array}, {shape}, {steps}, {start}, {self.shape}, {order})")
        checked = f"boundary_check={tuple(range(rank))}"
        if type_ in FLOATS and self.chance(0.5):
            checked += ', padding_option="nan"'
        loaded = self.fresh(Expr(f"tl.load({name}, {checked})", type_))
        by = [self.pick((0, 1, -1)) for _ in extents]
        moved = f"{name} = tl.advance({name}, ({text.format(*by)}))"
        if self.chance(0.4):
            self.emit(f"for k{self.number} in range(t):")
            self.emit(f"    {loaded.text} = tl.load({name}, {checked})")
            self.emit(f"    {moved}")
        elif self.chance(0.5):
            self.emit("if pid == 0:")
            self.emit(f"    {moved}")
        self.fresh(Expr(f"tl.load({name}, {checked})", type_))
