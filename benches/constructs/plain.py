"""Generates kernels whose threads share no memory. The body is a sequence of blocks of statements. Each block changes the variable x, adds to
the variable total, or uses the random bits in the variable u."""

from kernel import Kernel

ROWS = ["stores", "latches", "local arrays", "aliasing", "double rsqrt", "double division", "fmin and fmax", "large", "differences"]


class Plain(Kernel):
    def describe(self, row):
        pick = self.r.randrange(100)
        self.scalar = "float" if pick < 55 else "double" if pick < 72 else "unsigned"
        if row.startswith("double"):
            self.scalar = "double"
        if row in ("fmin and fmax", "differences") and not self.real():
            self.scalar = "float"
        if row in ("fmin and fmax", "differences") and self.chance(70):
            self.scalar = "float"
        self.rank = 2 if self.chance(20) else 1
        self.tag("rank 2" if self.rank == 2 else "rank 1", self.scalar)
        self.inputs = [self.buffer("in", self.element()) for _ in range(self.r.randrange(1, 4))]
        self.begin()
        blocks = [self.loop] + self.r.sample([self.loop, self.branch, self.table, self.functions, self.neighbours, self.helper,
                                              self.atomics, self.integers_block, self.search], self.r.randrange(0, 3))
        self.r.shuffle(blocks)
        row_block = {"stores": self.stores, "latches": self.latches, "local arrays": self.local_array, "aliasing": self.aliasing,
               "double rsqrt": self.roots, "double division": self.divisions, "fmin and fmax": self.extremes, "large": self.large,
               "differences": self.differences}.get(row)
        if row_block:
            blocks[0:1] = [row_block]
        for block in blocks:
            block()
        self.end()

    # How a kernel begins and ends.
    def begin(self):
        self.u_from = self.choose("i", "i", "load")
        if self.u_from == "load":
            # main.cpp makes values of 24 random bits. With a larger limit, the lowest bits would be 0.
            bits = self.integers("bits", 1 << 24)
            self.emit(f"unsigned u = (unsigned){bits.name}[i] * 2654435761u;")
        else:
            self.emit("unsigned u = (unsigned)i * 2654435761u ^ (unsigned)i >> 7;")
        first = self.inputs[0]
        whole = first.type.fields[0][0] and self.chance(50)
        if whole:
            self.emit(f"const {first.type.name} e = {first.name}[i];")
        self.leaves = []
        for text in [self.field("e", first.type) if whole else self.at(first, "i")] + [self.at(b, self.index()) for b in self.inputs[1:]]:
            self.leaves.append(self.unique_name("v"))
            self.emit(f"const {self.scalar} {self.leaves[-1]} = {text};")
        if self.real() and self.chance(60):
            self.leaves.append(self.by_value(self.scalar, 0.1, 1))
        if self.chance(25):
            kind = {"float": "float", "double": "double", "unsigned": "unsigned"}[self.scalar]
            name = self.unique_name("p")
            self.scalars.append((f"Parameters{self.number}", name, ", ".join([self.number_text() for _ in range(3)] + ["3"])))
            self.parameters = [(kind, "abc"[j]) for j in range(3)] + [("int", "mask")]
            self.leaves += [f"{name}.a", f"{name}.b"]
            self.emit(f"u += (unsigned){name}.mask;")
            self.tag("struct by value")
        self.emit(f"{self.scalar} x = {self.leaves[0]}, total = {self.number_of(0)};")
        if self.chance(12):
            self.tag("early return")
            self.emit(f"if ({self.condition(4)} && {self.condition(4)}) return;")

    def end(self):
        of = self.element()
        if "stores" in self.tags or self.chance(20):
            of = self.vector() if self.chance(40) else self.struct(3)
        out = self.buffer("out", of, "out")
        if self.rank == 2 and not of.fields[0][0]:
            out.capture, out.rank, out.offset = "view", 2, 0
            self.emit(f"{out.name}{{y|x_}} = x + total;")
        else:
            self.store(out, "i", ["x", "total", "x + total"] + self.leaves)

    def store(self, buffer, index, values):
        """Stores an element field by field, or builds it in a variable and stores it as a whole."""
        if not buffer.type.fields[0][0]:
            self.emit(f"{buffer.name}[{index}] = {values[0]}" + (f" + {values[1]};" if len(values) > 1 else ";"))
            return
        whole = self.chance(50)
        name = self.unique_name("e") if whole else f"{buffer.name}[{index}]"
        if whole:
            self.emit(f"{buffer.type.name} {name};")
        for j, (suffix, kind) in enumerate(buffer.type.fields):
            value = values[j % len(values)] if kind == self.scalar else f"(int)(u >> {8 + j})" if kind == "int" else \
                f"u + {j}u" if kind == "unsigned" else f"({kind})({values[j % len(values)]})"
            self.emit(f"{name}{suffix} = {value};")
        if whole:
            self.emit(f"{buffer.name}[{index}] = {name};")
        self.tag("element stored whole" if whole else "element stored by fields")

    # Loops.
    def header(self, variable="k", most=48):
        """The lines that begin a loop. The trip count is a constant, a captured scalar, or different in each thread."""
        trips = self.choose(4, 8, 16, 24, 32, most)
        kind = self.r.randrange(6)
        self.tag(["known trips", "unknown trips", "trips of each thread", "counts down", "strided trips", "unknown trips, while"][kind])
        if kind == 0:
            return [f"for (int {variable} = 0; {variable} < {trips}; {variable}++) {{"]
        if kind == 1:
            return [f"for (int {variable} = 0; {variable} < {self.by_value('int', trips // 2, trips + 1)}; {variable}++) {{"]
        if kind == 2:
            lengths = self.integers("lengths", trips)
            return [f"for (int {variable} = 0; {variable} < {lengths.name}[i]; {variable}++) {{"]
        if kind == 3:
            return [f"for (int {variable} = {trips - 1}; {variable} >= 0; {variable}--) {{"]
        if kind == 4:
            return [f"for (int {variable} = (int)(u & 3u); {variable} < {trips * 2}; {variable} += 4) {{"]
        last = self.by_value("int", trips // 2, trips + 1)
        return [f"int {variable} = -1;", f"while (++{variable} < {last}) {{"]

    def work(self, loop, statements=2, maths=15):
        """The statements of a loop's body."""
        lines, leaves = [], list(self.leaves)
        loaded = [self.unique_name("v") for _ in range(self.r.randrange(1, 3))]
        for name in loaded:
            lines.append(f"const {self.scalar} {name} = {self.at(self.r.choice(self.inputs), self.index(loop))};")
            leaves.append(name)
        for _ in range(self.r.randrange(1, statements + 1)):
            if self.chance(50):
                lines.append(self.mix("x", leaves, 2, maths))
            else:
                lines.append(f"total += {self.expression(['x', *leaves], 2, maths)};")
        unused = [name for name in loaded if not any(name in line for line in lines[len(loaded):])]
        return lines + [f"total += {name};" for name in unused]

    def exits(self, loop):
        lines = []
        for _ in range(self.choose(0, 0, 0, 1, 1, 2)):
            self.tag("break")
            probe = self.integers("probe", 4096)
            lines.append(f"if ({probe.name}[(i + {loop}) & (n - 1)] < {self.r.randrange(8, 120)}) break;")
        return lines

    def loop(self):
        v = self.unique_name("k")
        self.emit(*self.header(v))
        self.emit(*(self.work(v) + self.exits(v) if self.chance(50) else self.exits(v) + self.work(v)))
        if self.chance(25):
            inner = self.unique_name("k")
            self.tag("nested loop")
            self.emit(*self.header(inner, 16), *self.work(inner), *self.exits(inner), "}")
        self.emit("}")

    def latches(self):
        v = self.unique_name("k")
        self.emit(*self.header(v, 64))
        self.tag("several latches")
        probe = self.integers("probe", 4096)
        self.emit(f"const int w = {probe.name}[{self.choose('(i + ' + v + ') & (n - 1)', '(i * 7 + ' + v + ' * 64) & (n - 1)')}];")
        for bound in sorted(self.r.sample(range(200, 3500, 50), self.r.randrange(1, 4))):
            self.emit(f"if (w {self.choose('<', '<', '>=')} {bound} && (w & {self.choose(1, 2, 4, 6)}) == 0) {{", *self.work(v, 1), "continue;", "}")
        if self.chance(40):
            inner = self.unique_name("k")
            self.emit(*self.header(inner, 8), f"if ((w >> ({inner} & 7) & 1) != 0) continue;", *self.work(inner, 1), "}")
        self.emit(*self.work(v), *self.exits(v), "}")

    def search(self):
        """A binary search in a sorted table. The trip count depends on the data."""
        self.tag("search")
        count = self.choose(64, 1000, 4096)
        table = self.integers("sorted", 1 << 20, fixed=count, fill="sorted")
        v = self.unique_name("k")
        self.emit(f"for (int {v} = 0; {v} < {self.choose(2, 4, 8)}; {v}++) {{", f"int low = 0, high = {count};", f"const int key = (int)((u * ({v} + 1u)) >> 12);",
                 "while (low < high) {", "const int middle = (low + high) / 2;",
                 *self.choose([f"if ({table.name}[middle] < key) low = middle + 1;", "else high = middle;"],
                           [f"const int there = {table.name}[middle];", "if (there == key) break;", "if (there < key) { low = middle + 1; continue; }", "high = middle;"]),
                 "}", f"total += ({self.scalar})low;" if not self.real() else f"total += ({self.scalar})low * {self.literal(0.001)};", "}")

    # The constructs of ROWS, and others.
    def stores(self):
        self.tag("stores")
        for _ in range(self.r.randrange(1, 3)):
            of = self.vector() if self.chance(40) else self.struct(3)
            source = self.buffer("in", of)
            target = self.buffer("out", of, "out")
            self.emit(f"{self.scalar} f{self.count} = {self.at(source, 'i')};")
            f = f"f{self.count}"
            v = self.unique_name("k")
            self.emit(f"for (int {v} = 0; {v} < {self.choose(2, 4, 8)}; {v}++) {{", self.mix(f, self.leaves), "}")
            self.store(target, "i", [f, f"{f} + x", "x", *self.leaves])

    def aliasing(self):
        """Loads interleaved with stores through other captures."""
        self.tag("interleaved loads and stores")
        trips = self.choose(4, 8, 16)
        known = self.chance(50)
        end = str(trips) if known else self.by_value("int", trips, trips + 1)
        v = self.unique_name("k")
        place = self.choose(f"{v} * n + i", f"{v} * n + i", f"i * {trips} + {v}")
        targets = [self.buffer("log", self.element(), "out", per=trips) for _ in range(self.r.randrange(1, 3))]
        fixed = self.r.choice(self.inputs)
        table = self.buffer("table", fixed=256)
        self.emit(f"for (int {v} = 0; {v} < {end}; {v}++) {{")
        for target in targets:
            self.emit(f"x = x * {self.number_text(0.1, 0.5)} + {self.at(fixed, 'i') if self.chance(50) else self.at(table, v)} * {self.number_text(0.1, 0.5)};")
            if self.chance(40) and not target.type.fields[0][0]:
                self.emit(f"{target.name}[{place}] = {target.name}[{place}] * {self.number_text(0.1, 0.4)} + x;")
            else:
                self.store(target, place, ["x", self.at(table, f"({v} * 3 + 1) & 255")])
        self.emit(*self.work(v, 1), "}")

    def local_array(self):
        self.tag("local arrays")
        count, v = self.choose(8, 16, 24, 32, 48), self.unique_name("k")
        a, S = self.unique_name("a"), self.scalar
        kind = self.choose("stack", "sort", "ring", "counts", "table", "two", "grid")
        self.tag("local array: " + kind)
        self.emit(f"{S} {a}[{count}];")
        fill = f"for (int j = 0; j < {count}; j++) {a}[j] = {self.at(self.inputs[0], f'(i + j * {self.choose(1, 32, 256)}) & (n - 1)')};"
        if kind == "stack":
            self.emit("int top = 0;", f"{a}[top++] = x;", *self.header(v), f"u = u * 1664525u + 1013904223u;",
                     f"if ((u >> 16 & {self.choose(1, 3)}u) != 0 && top < {count}) {{", f"{a}[top++] = {self.expression(self.leaves, 1)};",
                     "} else if (top > 0) {", f"total += {a}[--top];", "}", "}")
        elif kind == "sort":
            self.emit(fill, f"for (int j = 1; j < {count}; j++) {{", f"const {S} key = {a}[j];", "int q = j - 1;", f"while (q >= 0 && {a}[q] > key) {{",
                     f"{a}[q + 1] = {a}[q];", "q--;", "}", f"{a}[q + 1] = key;", "}", f"total += {a}[{count // 2}] + {a}[u & 7u];")
        elif kind == "ring":
            self.emit(fill, *self.header(v), f"const {S} old = {a}[{v} % {count}];", f"{a}[{v} % {count}] = {self.expression(self.leaves + ['old'], 2)};",
                     f"total += old;", "}")
        elif kind == "counts":
            self.emit(f"for (int j = 0; j < {count}; j++) {a}[j] = {self.number_of(0)};", *self.header(v), f"u = u * 1664525u + 1013904223u;",
                     f"{a}[(u >> 20) % {count}u] += {self.at(self.inputs[0], self.index(v))};", "}",
                     f"for (int j = 0; j < {count}; j++) total += {a}[j] * {self.number_of(2)};")
        elif kind == "table":
            self.emit(fill, *self.header(v), "u = u * 1664525u + 1013904223u;", f"x = {self.choose('x', self.leaves[0])} * {self.number_text(0.1, 0.5)} + {a}[(u >> 24) % {count}u] * {self.number_text(0.1, 0.5)};",
                     "total += x;", "}")
        elif kind == "two":
            # With a known trip count, nvcc 13 unrolls the loop and does not finish within minutes.
            self.tag("unknown trips")
            self.emit(f"int link[{count}];", fill, f"for (int j = 0; j < {count}; j++) link[j] = (int)((u + j * 7u) % {count}u);", "int q = 0;",
                     f"for (int {v} = 0; {v} < {self.by_value('int', 12, 49)}; {v}++) {{",
                     f"total += {a}[q];", "q = link[q];", f"link[q] = (q + {v}) % {count};", "}")
        else:
            self.emit(f"{S} grid[4][{count // 4}];", fill, f"for (int j = 0; j < {count}; j++) grid[j & 3][j >> 2] = {a}[j];",
                     *self.header(v), f"total += grid[{v} & 3][({v} + (int)(u & 3u)) % {count // 4}] * {a}[{v} % {count}];", "}")

    def table(self):
        """An array whose indices are all constant after unrolling."""
        count, a = self.choose(4, 8, 16), self.unique_name("a")
        self.tag("constant-index array")
        self.emit(f"{self.scalar} {a}[{count}];", f"for (int j = 0; j < {count}; j++) {a}[j] = {self.at(self.inputs[-1], f'(i + j) & (n - 1)')};",
                 f"for (int j = 0; j < {count - 1}; j++) {a}[j + 1] = {a}[j + 1] * {self.number_text(0.1, 0.4)} + {a}[j] * {self.number_text(0.1, 0.4)};",
                 f"for (int j = 0; j < {count}; j++) total += {a}[j];")

    def roots(self):
        self.tag("double rsqrt")
        v = self.unique_name("k")
        self.emit(*self.header(v), *self.work(v, 1), f"const double q = x * x + {self.leaves[0]} * {self.leaves[-1]} + 4.5;",
                 self.choose("total += @rsqrt.d(q);", "const double w = @rsqrt.d(q);\ntotal += x * w * w * w;", "total += @rsqrt.d(q) * @exp.d(-@rsqrt.d(q + 1.0));"), "}")

    def divisions(self):
        self.tag("double division")
        v = self.unique_name("k")
        self.emit(*self.header(v), *self.work(v, 1), f"const double q = x * x + 0.25 + {self.leaves[0]} * {self.leaves[0]};",
                 self.choose("total += 1 / @sqrt.d(q);", "total += x / q;", "total += (x - 0.5) / @sqrt.d(q);", "x = x * 0.5 + 0.125 / q;\ntotal += x / (q + 1.0);"), "}")

    def extremes(self):
        self.tag("fmin and fmax")
        kind, v = self.scalar[0], self.unique_name("k")
        low, high = self.unique_name("low"), self.unique_name("high")
        self.emit(f"{self.scalar} {low} = x, {high} = x;", *self.header(v), *self.work(v, 1))
        load = self.at(self.inputs[-1], self.index(v))
        self.emit(f"const {self.scalar} w = {load};", f"{low} = @fmin.{kind}({low}, w);", f"{high} = @fmax.{kind}({high}, w * {self.number_text()});")
        if self.chance(50):
            self.emit(f"x = @fmax.{kind}(@fmin.{kind}(x + w, {self.number_of(1)}), {self.number_of(0)});")
        self.emit("}", f"total += {high} - {low};")

    def large(self):
        self.tag("large after unrolling")
        v = self.unique_name("k")
        self.emit(f"for (int {v} = 0; {v} < 8; {v}++) {{")
        for _ in range(self.r.randrange(5, 9)):
            self.emit(*self.work(v, 3, 45))
        if self.chance(60):
            inner = self.unique_name("k")
            self.emit(f"for (int {inner} = 0; {inner} < {self.choose(4, 8)}; {inner}++) {{", *self.work(inner, 3, 40), *self.work(inner, 3, 40), "}")
        self.emit("}")

    def differences(self):
        """Differences of converted integers."""
        self.tag("differences of converted integers")
        a, b = (self.integers(name, 256, fixed=0) for name in ("left", "right"))
        S, v = self.scalar, self.unique_name("k")
        kind = S[0]
        self.emit(*self.header(v, 64), f"const int q = {a.name}[{self.index(v)}], w = {b.name}[{self.index(v)}];",
                 self.choose(f"total += @fabs.{kind}(({S})q - ({S})w);", f"const {S} d = ({S})q - ({S})w;\ntotal += d * d * {self.literal(0.01)};",
                          f"total += (({S})q - ({S})w) * ({S})(q & 7);"), "}")

    def branch(self):
        self.tag("divergence")
        if self.chance(60):
            self.emit(f"if ({self.condition()}) {{")
            self.choose(self.functions, self.table, self.loop)()
            self.emit("} else {", self.mix("x", self.leaves, 3), "}")
        else:
            cases = self.choose(3, 4, 6, 8)
            self.tag("switch")
            self.emit(f"switch (u >> 5 & {cases if cases == 3 else cases - 1 if cases != 6 else 7}u) {{")
            for c in range(cases):
                self.emit(f"case {c}:", self.mix("x", self.leaves, 2), self.choose("break;", "break;", f"total += x;\nbreak;"))
            self.emit("default:", f"total += {self.leaves[0]};", "}")

    def functions(self):
        for _ in range(self.r.randrange(2, 6)):
            self.emit(self.mix("x", self.leaves, 3, 60))

    def neighbours(self):
        self.tag("neighbours")
        source = self.buffer("field")
        if self.rank == 2:
            source.capture, source.rank, source.offset = self.choose("view", "const view"), 2, 0
            at = [f"{source.name}{{{dy}|{dx}}}" for dy, dx in (("y", "left"), ("y", "right"), ("up", "x_"), ("down", "x_"), ("y", "x_"))]
            self.emit("const int left = x_ > 0 ? x_ - 1 : 0, right = x_ < w_ - 1 ? x_ + 1 : x_;", "const int up = y > 0 ? y - 1 : 0, down = y < h_ - 1 ? y + 1 : y;")
        else:
            at = [f"{source.name}[{p}]" for p in (self.r.sample(["i > 0 ? i - 1 : 0", "i < n - 1 ? i + 1 : i", "i", "(i + 256) & (n - 1)", "(i - 256) & (n - 1)"], 4))]
        self.emit("total += " + " + ".join(f"{text} * {self.number_text()}" for text in at) + ";")

    def helper(self):
        """A function that takes and returns a struct."""
        self.tag("function of structs")
        name, made, S = f"mix{self.number}", f"Pair{self.number}", self.scalar
        if not any(h[1] == name for h in self.helpers):
            self.pair = made
            self.helpers.append((made, name, f"{made} left, {made} right, int turn",
                                 ["if (turn & 1) return {left.b, right.a};" if self.chance(50) else f"left.a = left.a * {self.number_text(0.1, 0.5)};",
                                  f"return {{left.a * {self.number_text(0.1, 0.5)} + right.b * {self.number_text(0.1, 0.5)}, left.b * {self.number_text(0.1, 0.5)} - right.a * {self.number_text(0.1, 0.5)}}};"]))
        p, v = self.unique_name("pair"), self.unique_name("k")
        self.emit(f"{made} {p} = {{x, {self.leaves[0]}}};", *self.header(v), f"{p} = {name}({p}, {{x, total * {self.number_of(0)}}}, {v});", "}", f"total += {p}.a + {p}.b;")

    def integers_block(self):
        self.tag("integer division and bits")
        s, v = self.by_value("int", 5, 900), self.unique_name("k")
        self.emit(*self.header(v), f"u = u * 1664525u + 1013904223u;", self.choose(f"u ^= u / (unsigned){s} + u % (unsigned){s};", f"u += (unsigned)((i + {v}) / {s} * 3 + (i + {v}) % {s});",
                 f"u ^= u << 13;\nu ^= u >> 17;\nu ^= u << 5;"), "}", f"total += ({self.scalar})(u & 255u);" )
        if self.chance(40):
            self.tag("collatz")
            self.emit("unsigned c = (u & 1023u) + 2u;", "int steps = 0;", "while (c != 1u && steps < 60) {", "c = (c & 1u) != 0u ? 3u * c + 1u : c >> 1;", "steps++;", "}", f"total += ({self.scalar})steps;")

    def atomics(self):
        bins = self.choose(1, 4, 16, 256, 4096)
        self.tag("atomics", f"atomics on {bins}")
        target = self.buffer("bins", self.plain("unsigned"), "out", fixed=bins, low=0, high=1000, capture=self.choose("view", "array"))
        name = self.choose("add", "add", "add", "max", "min", "xor")
        value = {"add": f"{self.choose('1u', 'u & 7u')}", "max": "u >> 2", "min": "u >> 2", "xor": "u"}[name]
        line = f"@{name}(&{target.name}[u >> 8 & {bins - 1}u], {value});"
        self.emit(*([line] if self.chance(60) else [f"if ({self.condition(3)}) {{", line, "}"]))
