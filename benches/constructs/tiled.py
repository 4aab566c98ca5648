"""Generates kernels whose threads share tile_static memory. Each kernel is a known algorithm that contains a random expression."""

from kernel import Kernel


class Tiled(Kernel):
    known = ()

    def describe(self, row):
        self.scalar = self.choose("float", "float", "float", "double", "unsigned")
        self.tile = self.choose(64, 128, 256, 256, 512)
        kinds = [self.pairs, self.reduction, self.scan, self.histogram, self.transpose, self.halo, self.halo_2d, self.product, self.sort, self.relax, self.pairs, self.reduction]
        made = self.constants if row == "tile constants" else kinds[self.number // 4 % len(kinds)]
        self.tag("tiles", self.scalar, "tile: " + made.__name__)
        made()

    def barrier(self):
        kind = self.choose("", "", "", ".tile", ".all")
        self.tag("barrier" + kind)
        return "BARRIER" + kind

    def shared(self, count, of=None, name="near"):
        name = self.unique_name(name)
        self.emit(f"SHARED {of or self.scalar} {name}{count if isinstance(count, str) else f'[{count}]'};")
        return name

    def out(self, index, value, **how):
        self.emit(f"{self.buffer('out', role='out', **how).name}[{index}] = {value};")

    def pairs(self):
        of = self.element()
        source = self.buffer("in", of, capture=self.choose("view", "const view", "array"))
        near = self.shared(self.tile, of.name)
        end = self.by_value("int", 1, 9)
        self.emit(f"PRIVATE {self.scalar} me = {self.at(source, 'i')};", f"PRIVATE {self.scalar} sum = {self.number_of(0)};",
                 f"UNIFORM for (int first = 0; first < {end} * {max(self.tile, 256)}; first += {self.tile}) {{", f"{near}[l] = {source.name}[first + l];", self.barrier(),
                 f"for (int j = 0; j < {self.tile}; j++) {{", f"const {self.scalar} other = {self.at_shared(near, of, 'j')};")
        if self.chance(30):
            self.tag("several latches")
            self.emit(f"if ((j + l & {self.choose(1, 3, 7)}) == 0) continue;")
        if self.real() and self.chance(60):
            kind = self.scalar[0]
            self.emit(f"const {self.scalar} d = other - %me, q = d * d + {self.literal(0.25)};",
                     self.choose(f"%sum += d * @rsqrt.{kind}(q);", f"%sum += @exp.{kind}(-q);", f"%sum += @fmin.{kind}(q, {self.number_of(1)});", "%sum += d / q;"))
        else:
            self.emit(f"%sum += {self.expression(['%me', 'other', 'other'], 3)};")
        self.emit("}", self.barrier(), "UNIFORM }")
        self.out("i", "%sum + %me")

    def at_shared(self, name, of, index):
        return self.field(f"{name}[{index}]", of)

    def reduction(self):
        per = self.choose(1, 4, 8, 16)
        source = self.buffer("in", per=per)
        part = self.shared(self.tile)
        place = self.choose("k * n + i", f"(i - l) * {per} + k * {self.tile} + l", f"i * {per} + k")
        combine = self.choose("sum", "sum", "max")
        self.emit(f"{self.scalar} sum = {self.number_of(0)};", f"for (int k = 0; k < {per}; k++) {{", f"const {self.scalar} v = {source.name}[{place}];",
                 f"sum += {self.expression(['v'], 2)};", "}", f"{part}[l] = sum;", self.barrier())
        step = self.choose("down", "down", "up")
        if step == "down":
            self.emit(f"UNIFORM for (int half = {self.tile // 2}; half > 0; half /= 2) {{", "if (l < half) {")
            other = f"{part}[l + half]"
        else:
            self.emit(f"UNIFORM for (int half = 1; half < {self.tile}; half *= 2) {{", "if (l % (2 * half) == 0) {")
            other = f"{part}[l + half]"
        self.emit(f"{part}[l] += {other};" if combine == "sum" else f"{part}[l] = {part}[l] > {other} ? {part}[l] : {other};", "}", self.barrier(), "UNIFORM }")
        if not self.real() and self.chance(50):
            total = self.buffer("total", role="out", fixed=self.choose(1, 8), capture="view", offset=0)
            self.tag("atomics")
            self.emit("if (l == 0) {", f"@add(&{total.name}[g & {total.fixed - 1}], {part}[0]);", "}")
        else:
            self.emit("if (l == 0) {")
            self.out("g", f"{part}[0]", divide=self.tile)
            self.emit("}")

    def scan(self):
        source = self.buffer("in")
        a, b = self.shared(self.tile), self.shared(self.tile)
        self.emit(f"const {self.scalar} v = {source.name}[i];", f"{a}[l] = {self.expression(['v'], 2)};", self.barrier(),
                 f"UNIFORM for (int step = 1; step < {self.tile}; step *= 2) {{", f"{b}[l] = l >= step ? {a}[l] + {a}[l - step] : {a}[l];", self.barrier(),
                 f"{a}[l] = {b}[l];", self.barrier(), "UNIFORM }")
        self.out("i", f"{a}[l]" + self.choose("", f" - {source.name}[i]"))

    def histogram(self):
        self.scalar = "unsigned"
        bins, per = self.choose(16, 64, 256, 1024), self.choose(4, 16, 32)
        self.tag("atomics", f"atomics on {bins}")
        source = self.buffer("in", per=per, low=0, high=self.choose(1 << 20, 1 << 30), offset=0)
        counts = self.shared(bins)
        target = self.buffer("bins", role="out", fixed=bins, offset=0)
        skew = self.choose("v", "v", "(v & v >> 9)", "(v >> 3 & 7u)")
        self.emit(f"for (int j = l; j < {bins}; j += {self.tile}) {counts}[j] = 0u;", self.barrier(), f"for (int k = 0; k < {per}; k++) {{",
                 f"const unsigned v = {source.name}[k * n + i];", f"@add(&{counts}[{skew} & {bins - 1}u], {self.choose('1u', 'v & 3u')});", "}", self.barrier(),
                 f"for (int j = l; j < {bins}; j += {self.tile}) {{", f"if ({counts}[j] != 0u) @add(&{target.name}[j], {counts}[j]);", "}")

    def square(self):
        self.rank, self.tile = 2, 256
        self.tag("rank 2")

    def transpose(self):
        self.square()
        of = self.element()
        source, near = self.buffer("in", of, offset=0), self.shared(self.choose("[16][16]", "[16][17]"), of.name)
        target = self.buffer("out", of, "out", offset=0)
        self.emit(f"{near}[ly][lx] = {source.name}[y * w_ + x_];", self.barrier(), f"const int row = gx * 16 + ly, column = gy * 16 + lx;",
                 f"{target.name}[row * h_ + column] = {near}[lx][ly];")

    def halo(self):
        radius = self.choose(1, 2, 3, 4, 8)
        size = self.tile + 2 * radius
        source, near = self.buffer("in", offset=0), self.shared(size)
        weights = self.buffer("weights", fixed=2 * radius + 1, capture=self.choose("const view", "view"))
        self.emit(f"for (int j = l; j < {size}; j += {self.tile}) {{", f"int at = g * {self.tile} + j - {radius};", "at = at < 0 ? 0 : at >= n ? n - 1 : at;",
                 f"{near}[j] = {source.name}[at];", "}", self.barrier(), f"{self.scalar} sum = {self.number_of(0)};",
                 f"for (int k = 0; k <= {2 * radius}; k++) {{", f"sum += {near}[l + k] * {weights.name}[k];", "}", f"const {self.scalar} c = {near}[l + {radius}];")
        self.out("i", f"sum + {self.expression(['c'], 2)}")

    def halo_2d(self):
        """The threads fill the tile_static array by a linear index, which they divide into row and column."""
        self.square()
        radius = self.choose(1, 2, 3)
        side = 16 + 2 * radius
        source, near = self.buffer("in", offset=0), self.shared(f"[{side * side}]")
        self.emit(f"for (int j = l; j < {side * side}; j += 256) {{", f"int q = gy * 16 + j / {side} - {radius}, p = gx * 16 + j % {side} - {radius};",
                 "q = q < 0 ? 0 : q >= h_ ? h_ - 1 : q;", "p = p < 0 ? 0 : p >= w_ ? w_ - 1 : p;", f"{near}[j] = {source.name}[q * w_ + p];", "}", self.barrier(),
                 f"{self.scalar} sum = {self.number_of(0)};", f"for (int dy = 0; dy <= {2 * radius}; dy++) {{", f"for (int dx = 0; dx <= {2 * radius}; dx++) {{")
        if self.chance(40):
            self.tag("several latches")
            self.emit(f"if (dx == {radius} && dy == {radius}) continue;")
        self.emit(f"const {self.scalar} v = {near}[(ly + dy) * {side} + lx + dx];", f"sum += {self.expression(['v'], self.choose(0, 1, 2))};", "}", "}")
        self.out("y * w_ + x_", "sum", offset=0)

    def product(self):
        self.square()
        a, b = self.buffer("in", offset=0), self.buffer("in", fixed=256 * 256, offset=0)
        left, right = self.shared("[16][16]"), self.shared("[16][16]")
        self.emit(f"PRIVATE {self.scalar} sum = {self.number_of(0)};", "UNIFORM for (int first = 0; first < w_; first += 16) {", f"{left}[ly][lx] = {a.name}[y * w_ + first + lx];",
                 f"{right}[ly][lx] = {b.name}[(first + ly) * w_ + x_];", self.barrier(), "for (int k = 0; k < 16; k++) {", f"%sum += {left}[ly][k] * {right}[k][lx];", "}", self.barrier(), "UNIFORM }")
        self.out("y * w_ + x_", "%sum", offset=0)

    def sort(self):
        self.scalar = "unsigned" if self.chance(60) else "float"
        source, near = self.buffer("in"), self.shared(self.tile)
        self.emit(f"{near}[l] = {source.name}[i];", self.barrier(), f"UNIFORM for (int size = 2; size <= {self.tile}; size *= 2) {{",
                 "UNIFORM for (int half = size / 2; half > 0; half /= 2) {", "const int other = l ^ half;", "if (other > l) {",
                 f"const {self.scalar} p = {near}[l], q = {near}[other];", "if ((l & size) == 0 ? p > q : p < q) {", f"{near}[l] = q;", f"{near}[other] = p;", "}", "}",
                 self.barrier(), "UNIFORM }", "UNIFORM }")
        self.out("i", f"{near}[l]")

    def relax(self):
        """Iterates within a tile, with a barrier between reading and writing."""
        source, near = self.buffer("in"), self.shared(self.tile)
        steps = self.by_value("int", 8, 40) if self.chance(50) else self.choose("8", "16", "32")
        half = self.literal(0.5) if self.real() else "3u"
        self.emit(f"{near}[l] = {source.name}[i];", f"PRIVATE {self.scalar} v = {self.number_of(0)};", self.barrier(), f"UNIFORM for (int step = 0; step < {steps}; step++) {{",
                 f"%v = ({near}[l > 0 ? l - 1 : 0] + {near}[l < {self.tile - 1} ? l + 1 : l]) * {half};", self.barrier())
        self.emit("if ((l + step & 1) == 0) {", f"{near}[l] = %v;", "}") if self.chance(40) else self.emit(f"{near}[l] = {near}[l] * {half} + %v * {half};" if self.real() else f"{near}[l] ^= %v;")
        self.emit(self.barrier(), "UNIFORM }")
        self.out("i", f"{near}[l]")

    def constants(self):
        """Loads of tile_static memory at addresses that become constant when a loop is unrolled."""
        self.tag("constant tile_static addresses")
        count = self.choose(8, 12, 16, 24, 32)
        of = self.plain() if self.chance(60) else self.vector()
        table, near = self.buffer("table", of, fixed=count), self.shared(count, of.name)
        source = self.buffer("in")
        self.emit(f"if (l < {count}) {near}[l] = {table.name}[l];", self.barrier(), f"const {self.scalar} v = {source.name}[i];",
                 f"{self.scalar} x = v, sum = {self.number_of(0)};")
        if self.chance(60):
            self.emit(f"for (int k = 0; k < {self.by_value('int', 4, 24)}; k++) {{", self.mix("x", ["v"], 1))
        else:
            self.emit("{")
        self.emit(f"for (int j = 0; j < {count}; j++) {{", f"const {self.scalar} c = {self.at_shared(near, of, 'j')};",
                 self.choose("sum += c * x;", f"sum = sum * {self.number_text(0.3, 0.7)} + c;", f"sum += {self.expression(['c', 'x', 'v'], 2)};",
                          f"sum += (c - x) * (c - x);"), "}", "}")
        self.out("i", "sum + x")
