"""Kernels whose threads share nothing: blocks of statements, one after the other, over x (changed), total (added to) and u (bits)."""

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
        own = {"stores": self.stores, "latches": self.latches, "local arrays": self.local_array, "aliasing": self.aliasing,
               "double rsqrt": self.roots, "double division": self.divisions, "fmin and fmax": self.extremes, "large": self.large,
               "differences": self.differences}.get(row)
        if own:
            blocks[0:1] = [own]
        for block in blocks:
            block()
        self.end()

    # How a kernel begins and ends.
    def begin(self):
        self.u_from = self.one("i", "i", "load")
        if self.u_from == "load":
            bits = self.integers("bits", 1 << 30)
            self.say(f"unsigned u = (unsigned){bits.name}[i] * 2654435761u;")
        else:
            self.say("unsigned u = (unsigned)i * 2654435761u ^ (unsigned)i >> 7;")
        first = self.inputs[0]
        whole = first.type.fields[0][0] and self.chance(50)
        if whole:
            self.say(f"const {first.type.name} e = {first.name}[i];")
        self.leaves = []
        for text in [self.field("e", first.type) if whole else self.at(first, "i")] + [self.at(b, self.index()) for b in self.inputs[1:]]:
            self.leaves.append(self.fresh("v"))
            self.say(f"const {self.scalar} {self.leaves[-1]} = {text};")
        if self.real() and self.chance(60):
            self.leaves.append(self.by_value(self.scalar, 0.1, 1))
        if self.chance(25):
            kind = {"float": "float", "double": "double", "unsigned": "unsigned"}[self.scalar]
            name = self.fresh("p")
            self.scalars.append((f"Parameters{self.number}", name, ", ".join([self.number_text() for _ in range(3)] + ["3"])))
            self.parameters = [(kind, "abc"[j]) for j in range(3)] + [("int", "mask")]
            self.leaves += [f"{name}.a", f"{name}.b"]
            self.say(f"u += (unsigned){name}.mask;")
            self.tag("struct by value")
        self.say(f"{self.scalar} x = {self.leaves[0]}, total = {self.number_of(0)};")
        if self.chance(12):
            self.tag("early return")
            self.say(f"if ({self.condition(4)} && {self.condition(4)}) return;")

    def end(self):
        of = self.element()
        if "stores" in self.tags or self.chance(20):
            of = self.vector() if self.chance(40) else self.struct(3)
        out = self.buffer("out", of, "out")
        if self.rank == 2 and not of.fields[0][0]:
            out.capture, out.rank, out.offset = "view", 2, 0
            self.say(f"{out.name}{{y|x_}} = x + total;")
        else:
            self.store(out, "i", ["x", "total", "x + total"] + self.leaves)

    def store(self, buffer, index, values):
        """All words of an element: one by one, or a whole element built before."""
        if not buffer.type.fields[0][0]:
            self.say(f"{buffer.name}[{index}] = {values[0]}" + (f" + {values[1]};" if len(values) > 1 else ";"))
            return
        whole = self.chance(50)
        name = self.fresh("e") if whole else f"{buffer.name}[{index}]"
        if whole:
            self.say(f"{buffer.type.name} {name};")
        for j, (suffix, kind) in enumerate(buffer.type.fields):
            value = values[j % len(values)] if kind == self.scalar else f"(int)(u >> {8 + j})" if kind == "int" else \
                f"u + {j}u" if kind == "unsigned" else f"({kind})({values[j % len(values)]})"
            self.say(f"{name}{suffix} = {value};")
        if whole:
            self.say(f"{buffer.name}[{index}] = {name};")
        self.tag("element stored whole" if whole else "element stored by fields")

    # Loops.
    def header(self, variable="k", most=48):
        """A loop's header and the trips it has at most; 0: not known when the kernel is written."""
        trips = self.one(4, 8, 16, 24, 32, most)
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
        """What a loop's body does."""
        lines, leaves = [], list(self.leaves)
        loaded = [self.fresh("v") for _ in range(self.r.randrange(1, 3))]
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
        for _ in range(self.one(0, 0, 0, 1, 1, 2)):
            self.tag("break")
            probe = self.integers("probe", 4096)
            lines.append(f"if ({probe.name}[(i + {loop}) & (n - 1)] < {self.r.randrange(8, 120)}) break;")
        return lines

    def loop(self):
        v = self.fresh("k")
        self.say(*self.header(v))
        self.say(*(self.work(v) + self.exits(v) if self.chance(50) else self.exits(v) + self.work(v)))
        if self.chance(25):
            inner = self.fresh("k")
            self.tag("nested loop")
            self.say(*self.header(inner, 16), *self.work(inner), *self.exits(inner), "}")
        self.say("}")

    def latches(self):
        v = self.fresh("k")
        self.say(*self.header(v, 64))
        self.tag("several latches")
        probe = self.integers("probe", 4096)
        self.say(f"const int w = {probe.name}[{self.one('(i + ' + v + ') & (n - 1)', '(i * 7 + ' + v + ' * 64) & (n - 1)')}];")
        for bound in sorted(self.r.sample(range(200, 3500, 50), self.r.randrange(1, 4))):
            self.say(f"if (w {self.one('<', '<', '>=')} {bound} && (w & {self.one(1, 2, 4, 6)}) == 0) {{", *self.work(v, 1), "continue;", "}")
        if self.chance(40):
            inner = self.fresh("k")
            self.say(*self.header(inner, 8), f"if ((w >> ({inner} & 7) & 1) != 0) continue;", *self.work(inner, 1), "}")
        self.say(*self.work(v), *self.exits(v), "}")

    def search(self):
        """In a sorted table: data decide how long."""
        self.tag("search")
        count = self.one(64, 1000, 4096)
        table = self.integers("sorted", 1 << 20, fixed=count, fill="sorted")
        v = self.fresh("k")
        self.say(f"for (int {v} = 0; {v} < {self.one(2, 4, 8)}; {v}++) {{", f"int low = 0, high = {count};", f"const int key = (int)((u * ({v} + 1u)) >> 12);",
                 "while (low < high) {", "const int middle = (low + high) / 2;",
                 *self.one([f"if ({table.name}[middle] < key) low = middle + 1;", "else high = middle;"],
                           [f"const int there = {table.name}[middle];", "if (there == key) break;", "if (there < key) { low = middle + 1; continue; }", "high = middle;"]),
                 "}", f"total += ({self.scalar})low;" if not self.real() else f"total += ({self.scalar})low * {self.literal(0.001)};", "}")

    # The rows of the issue, and more.
    def stores(self):
        self.tag("stores")
        for _ in range(self.r.randrange(1, 3)):
            of = self.vector() if self.chance(40) else self.struct(3)
            source = self.buffer("in", of)
            target = self.buffer("out", of, "out")
            self.say(f"{self.scalar} f{self.count} = {self.at(source, 'i')};")
            f = f"f{self.count}"
            v = self.fresh("k")
            self.say(f"for (int {v} = 0; {v} < {self.one(2, 4, 8)}; {v}++) {{", self.mix(f, self.leaves), "}")
            self.store(target, "i", [f, f"{f} + x", "x", *self.leaves])

    def aliasing(self):
        """Loads next to stores through other captures."""
        self.tag("interleaved loads and stores")
        trips = self.one(4, 8, 16)
        known = self.chance(50)
        end = str(trips) if known else self.by_value("int", trips, trips + 1)
        v = self.fresh("k")
        place = self.one(f"{v} * n + i", f"{v} * n + i", f"i * {trips} + {v}")
        targets = [self.buffer("log", self.element(), "out", per=trips) for _ in range(self.r.randrange(1, 3))]
        fixed = self.r.choice(self.inputs)
        table = self.buffer("table", fixed=256)
        self.say(f"for (int {v} = 0; {v} < {end}; {v}++) {{")
        for target in targets:
            self.say(f"x = x * {self.number_text(0.1, 0.5)} + {self.at(fixed, 'i') if self.chance(50) else self.at(table, v)} * {self.number_text(0.1, 0.5)};")
            if self.chance(40) and not target.type.fields[0][0]:
                self.say(f"{target.name}[{place}] = {target.name}[{place}] * {self.number_text(0.1, 0.4)} + x;")
            else:
                self.store(target, place, ["x", self.at(table, f"({v} * 3 + 1) & 255")])
        self.say(*self.work(v, 1), "}")

    def local_array(self):
        self.tag("local arrays")
        count, v = self.one(8, 16, 24, 32, 48), self.fresh("k")
        a, S = self.fresh("a"), self.scalar
        kind = self.one("stack", "sort", "ring", "counts", "table", "two", "grid")
        self.tag("local array: " + kind)
        self.say(f"{S} {a}[{count}];")
        fill = f"for (int j = 0; j < {count}; j++) {a}[j] = {self.at(self.inputs[0], f'(i + j * {self.one(1, 32, 256)}) & (n - 1)')};"
        if kind == "stack":
            self.say("int top = 0;", f"{a}[top++] = x;", *self.header(v), f"u = u * 1664525u + 1013904223u;",
                     f"if ((u >> 16 & {self.one(1, 3)}u) != 0 && top < {count}) {{", f"{a}[top++] = {self.expression(self.leaves, 1)};",
                     "} else if (top > 0) {", f"total += {a}[--top];", "}", "}")
        elif kind == "sort":
            self.say(fill, f"for (int j = 1; j < {count}; j++) {{", f"const {S} key = {a}[j];", "int q = j - 1;", f"while (q >= 0 && {a}[q] > key) {{",
                     f"{a}[q + 1] = {a}[q];", "q--;", "}", f"{a}[q + 1] = key;", "}", f"total += {a}[{count // 2}] + {a}[u & 7u];")
        elif kind == "ring":
            self.say(fill, *self.header(v), f"const {S} old = {a}[{v} % {count}];", f"{a}[{v} % {count}] = {self.expression(self.leaves + ['old'], 2)};",
                     f"total += old;", "}")
        elif kind == "counts":
            self.say(f"for (int j = 0; j < {count}; j++) {a}[j] = {self.number_of(0)};", *self.header(v), f"u = u * 1664525u + 1013904223u;",
                     f"{a}[(u >> 20) % {count}u] += {self.at(self.inputs[0], self.index(v))};", "}",
                     f"for (int j = 0; j < {count}; j++) total += {a}[j] * {self.number_of(2)};")
        elif kind == "table":
            self.say(fill, *self.header(v), "u = u * 1664525u + 1013904223u;", f"x = {self.one('x', self.leaves[0])} * {self.number_text(0.1, 0.5)} + {a}[(u >> 24) % {count}u] * {self.number_text(0.1, 0.5)};",
                     "total += x;", "}")
        elif kind == "two":
            # With a known number of trips nvcc 13 unrolls the loop and does not end within minutes.
            self.tag("unknown trips")
            self.say(f"int link[{count}];", fill, f"for (int j = 0; j < {count}; j++) link[j] = (int)((u + j * 7u) % {count}u);", "int q = 0;",
                     f"for (int {v} = 0; {v} < {self.by_value('int', 12, 49)}; {v}++) {{",
                     f"total += {a}[q];", "q = link[q];", f"link[q] = (q + {v}) % {count};", "}")
        else:
            self.say(f"{S} grid[4][{count // 4}];", fill, f"for (int j = 0; j < {count}; j++) grid[j & 3][j >> 2] = {a}[j];",
                     *self.header(v), f"total += grid[{v} & 3][({v} + (int)(u & 3u)) % {count // 4}] * {a}[{v} % {count}];", "}")

    def table(self):
        """An array whose indices are all constant after unrolling."""
        count, a = self.one(4, 8, 16), self.fresh("a")
        self.tag("constant-index array")
        self.say(f"{self.scalar} {a}[{count}];", f"for (int j = 0; j < {count}; j++) {a}[j] = {self.at(self.inputs[-1], f'(i + j) & (n - 1)')};",
                 f"for (int j = 0; j < {count - 1}; j++) {a}[j + 1] = {a}[j + 1] * {self.number_text(0.1, 0.4)} + {a}[j] * {self.number_text(0.1, 0.4)};",
                 f"for (int j = 0; j < {count}; j++) total += {a}[j];")

    def roots(self):
        self.tag("double rsqrt")
        v = self.fresh("k")
        self.say(*self.header(v), *self.work(v, 1), f"const double q = x * x + {self.leaves[0]} * {self.leaves[-1]} + 4.5;",
                 self.one("total += @rsqrt.d(q);", "const double w = @rsqrt.d(q);\ntotal += x * w * w * w;", "total += @rsqrt.d(q) * @exp.d(-@rsqrt.d(q + 1.0));"), "}")

    def divisions(self):
        self.tag("double division")
        v = self.fresh("k")
        self.say(*self.header(v), *self.work(v, 1), f"const double q = x * x + 0.25 + {self.leaves[0]} * {self.leaves[0]};",
                 self.one("total += 1 / @sqrt.d(q);", "total += x / q;", "total += (x - 0.5) / @sqrt.d(q);", "x = x * 0.5 + 0.125 / q;\ntotal += x / (q + 1.0);"), "}")

    def extremes(self):
        self.tag("fmin and fmax")
        kind, v = self.scalar[0], self.fresh("k")
        low, high = self.fresh("low"), self.fresh("high")
        self.say(f"{self.scalar} {low} = x, {high} = x;", *self.header(v), *self.work(v, 1))
        load = self.at(self.inputs[-1], self.index(v))
        self.say(f"const {self.scalar} w = {load};", f"{low} = @fmin.{kind}({low}, w);", f"{high} = @fmax.{kind}({high}, w * {self.number_text()});")
        if self.chance(50):
            self.say(f"x = @fmax.{kind}(@fmin.{kind}(x + w, {self.number_of(1)}), {self.number_of(0)});")
        self.say("}", f"total += {high} - {low};")

    def large(self):
        self.tag("large after unrolling")
        v = self.fresh("k")
        self.say(f"for (int {v} = 0; {v} < 8; {v}++) {{")
        for _ in range(self.r.randrange(5, 9)):
            self.say(*self.work(v, 3, 45))
        if self.chance(60):
            inner = self.fresh("k")
            self.say(f"for (int {inner} = 0; {inner} < {self.one(4, 8)}; {inner}++) {{", *self.work(inner, 3, 40), *self.work(inner, 3, 40), "}")
        self.say("}")

    def differences(self):
        """Of converted integers."""
        self.tag("differences of converted integers")
        a, b = (self.integers(name, 256, fixed=0) for name in ("left", "right"))
        S, v = self.scalar, self.fresh("k")
        kind = S[0]
        self.say(*self.header(v, 64), f"const int q = {a.name}[{self.index(v)}], w = {b.name}[{self.index(v)}];",
                 self.one(f"total += @fabs.{kind}(({S})q - ({S})w);", f"const {S} d = ({S})q - ({S})w;\ntotal += d * d * {self.literal(0.01)};",
                          f"total += (({S})q - ({S})w) * ({S})(q & 7);"), "}")

    def branch(self):
        self.tag("divergence")
        if self.chance(60):
            self.say(f"if ({self.condition()}) {{")
            self.one(self.functions, self.table, self.loop)()
            self.say("} else {", self.mix("x", self.leaves, 3), "}")
        else:
            cases = self.one(3, 4, 6, 8)
            self.tag("switch")
            self.say(f"switch (u >> 5 & {cases if cases == 3 else cases - 1 if cases != 6 else 7}u) {{")
            for c in range(cases):
                self.say(f"case {c}:", self.mix("x", self.leaves, 2), self.one("break;", "break;", f"total += x;\nbreak;"))
            self.say("default:", f"total += {self.leaves[0]};", "}")

    def functions(self):
        for _ in range(self.r.randrange(2, 6)):
            self.say(self.mix("x", self.leaves, 3, 60))

    def neighbours(self):
        self.tag("neighbours")
        source = self.buffer("field")
        if self.rank == 2:
            source.capture, source.rank, source.offset = self.one("view", "const view"), 2, 0
            at = [f"{source.name}{{{dy}|{dx}}}" for dy, dx in (("y", "left"), ("y", "right"), ("up", "x_"), ("down", "x_"), ("y", "x_"))]
            self.say("const int left = x_ > 0 ? x_ - 1 : 0, right = x_ < w_ - 1 ? x_ + 1 : x_;", "const int up = y > 0 ? y - 1 : 0, down = y < h_ - 1 ? y + 1 : y;")
        else:
            at = [f"{source.name}[{p}]" for p in (self.r.sample(["i > 0 ? i - 1 : 0", "i < n - 1 ? i + 1 : i", "i", "(i + 256) & (n - 1)", "(i - 256) & (n - 1)"], 4))]
        self.say("total += " + " + ".join(f"{text} * {self.number_text()}" for text in at) + ";")

    def helper(self):
        """A function that takes and returns a struct."""
        self.tag("function of structs")
        name, made, S = f"mix{self.number}", f"Pair{self.number}", self.scalar
        if not any(h[1] == name for h in self.helpers):
            self.pair = made
            self.helpers.append((made, name, f"{made} left, {made} right, int turn",
                                 ["if (turn & 1) return {left.b, right.a};" if self.chance(50) else f"left.a = left.a * {self.number_text(0.1, 0.5)};",
                                  f"return {{left.a * {self.number_text(0.1, 0.5)} + right.b * {self.number_text(0.1, 0.5)}, left.b * {self.number_text(0.1, 0.5)} - right.a * {self.number_text(0.1, 0.5)}}};"]))
        p, v = self.fresh("pair"), self.fresh("k")
        self.say(f"{made} {p} = {{x, {self.leaves[0]}}};", *self.header(v), f"{p} = {name}({p}, {{x, total * {self.number_of(0)}}}, {v});", "}", f"total += {p}.a + {p}.b;")

    def integers_block(self):
        self.tag("integer division and bits")
        s, v = self.by_value("int", 5, 900), self.fresh("k")
        self.say(*self.header(v), f"u = u * 1664525u + 1013904223u;", self.one(f"u ^= u / (unsigned){s} + u % (unsigned){s};", f"u += (unsigned)((i + {v}) / {s} * 3 + (i + {v}) % {s});",
                 f"u ^= u << 13;\nu ^= u >> 17;\nu ^= u << 5;"), "}", f"total += ({self.scalar})(u & 255u);" )
        if self.chance(40):
            self.tag("collatz")
            self.say("unsigned c = (u & 1023u) + 2u;", "int steps = 0;", "while (c != 1u && steps < 60) {", "c = (c & 1u) != 0u ? 3u * c + 1u : c >> 1;", "steps++;", "}", f"total += ({self.scalar})steps;")

    def atomics(self):
        bins = self.one(1, 4, 16, 256, 4096)
        self.tag("atomics", f"atomics on {bins}")
        target = self.buffer("bins", self.plain("unsigned"), "out", fixed=bins, low=0, high=1000, capture=self.one("view", "array"))
        name = self.one("add", "add", "add", "max", "min", "xor")
        value = {"add": f"{self.one('1u', 'u & 7u')}", "max": "u >> 2", "min": "u >> 2", "xor": "u"}[name]
        line = f"@{name}(&{target.name}[u >> 8 & {bins - 1}u], {value});"
        self.say(*([line] if self.chance(60) else [f"if ({self.condition(3)}) {{", line, "}"]))
