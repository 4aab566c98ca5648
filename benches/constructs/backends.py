"""Prints a kernel, which kernel.py describes, as source code in C++ AMP, CUDA and C++ with OpenMP."""

import re

ATOMICS = {"add": "Add", "max": "Max", "min": "Min", "xor": "Xor"}


def indented(lines, depth):
    lines = list(lines)
    if not lines:
        return
    for line in "\n".join(lines).split("\n"):
        opens, closes = line.count("{") > line.count("}"), line.startswith("}")
        depth -= closes
        yield "    " * depth + line
        depth += opens or closes and line.endswith("{")


class Backend:
    """Code that all languages share. It replaces the marks in a kernel's body (see kernel.py) with text that a subclass gives for its language."""

    def __init__(self, kernel):
        self.k = kernel

    def text(self, line):
        k = self.k
        line = re.sub(r"(\w+)\{([^|{}]*)\|([^|{}]*)\}", lambda m: self.rank_2(*m.groups()), line)
        line = re.sub(r"@(\w+)\.([fdq])\(", lambda m: self.maths(*m.groups()) + "(", line)
        line = re.sub(r"@(\w+)\(&(\w+)", lambda m: f"{self.atomic(m[1], m[2])}(&{m[2]}", line)
        line = re.sub(r"^PRIVATE ", "", line)
        line = re.sub(r"^UNIFORM ", "", line)
        line = re.sub(r"%([a-z]\w*)", r"\1", line)
        line = re.sub(r"\b(float|double|int)([234])\b", self.vector, line)
        return line

    vector = r"\1\2"

    def lines(self):
        for line in "\n".join(self.k.body).split("\n"):
            yield self.barrier(line) if line.startswith("BARRIER") else self.shared(line) if line.startswith("SHARED") else self.text(line)

    def rank_2(self, name, row, column):
        return f"{name}[({row}) * w_ + {column}]"

    def structs(self):
        k = self.k
        for s in k.structs:
            align = "alignas(16) " if s.align == 16 else ""
            yield f"struct {align}{s.name} {{ " + " ".join(f"{t} {f[1:]};" for f, t in s.fields) + " };"
        for kind, _, _ in k.scalars:
            if kind.startswith("Parameters"):
                yield f"struct {kind} {{ " + " ".join(f"{t} {f};" for t, f in k.parameters) + " };"
        for result, name, parameters, body in k.helpers:
            yield f"struct {result} {{ {k.scalar} a, b; }};"
            yield self.helper(f"{result} {name}({parameters})") + " {"
            yield from indented([self.text(line) for line in body], 1)
            yield "}"

    def by_value(self):
        """Declares the captured scalars. `nothing` is a volatile variable with the value 0, so that no compiler knows the values of the scalars."""
        k = self.k
        if k.rank == 2:
            yield "const int w_ = 256 + nothing, h_ = n / w_;"
        for kind, name, value in k.scalars:
            if kind.startswith("Parameters"):
                value = "{" + ", ".join(f"{v} + nothing" for v in value.split(", ")) + "}"
                yield f"const {kind} {name} = {value};"
            else:
                yield f"const {kind} {name} = {value} + nothing;"

    def parameters(self):
        k = self.k
        for b in k.buffers:
            const = "const " if b.role == "in" and b.capture != "view" else ""
            restrict = "__restrict__ " if b.restrict else ""
            yield f"{const}{self.text(b.type.name)} *{restrict}{b.name}"
        yield "int n"
        if k.rank == 2:
            yield from ["int w_", "int h_"]
        for kind, name, _ in k.scalars:
            yield f"{kind} {name}"

    def arguments(self):
        k = self.k
        for j, b in enumerate(k.buffers):
            yield f"static_cast<{self.text(b.type.name)} *>(buffers[{j}])" + (f" + {b.offset}" if b.offset else "")
        yield "n"
        if k.rank == 2:
            yield from ["w_", "h_"]
        for _, name, _ in k.scalars:
            yield name


class Amp(Backend):
    vector = r"graphics::\1_\2"

    def maths(self, name, kind):
        return f"{'fast' if kind == 'q' else 'precise'}_math::{name}"

    def atomic(self, name, _):
        return f"atomic_fetch_{name}"

    def rank_2(self, name, row, column):
        return f"{name}({row}, {column})"

    def barrier(self, line):
        fence = {"": "", "tile": "_with_tile_static_memory_fence", "all": "_with_all_memory_fence"}[line[8:]]
        return f"t.barrier.wait{fence}();"

    def shared(self, line):
        return self.text(line.replace("SHARED", "tile_static"))

    def helper(self, head):
        return f"inline {head} restrict(amp, cpu)"

    def buffer(self, j, b):
        made, name = self.text(b.type.name), b.name
        const = "const " if b.role == "in" and b.capture != "view" else ""
        if b.capture == "array":
            return f"{const}array<{made}> &{name} = d.get<{made}>({j});"
        view = f"array_view<{const}{made}>(d.get<{made}>({j}))"
        if b.rank == 2:
            return f"const array_view<{const}{made}, 2> {name} = {view}.view_as(extent<2>(h_, w_));"
        return f"const array_view<{const}{made}> {name} = {view}" + (f".section(index<1>({b.offset}))" if b.offset else "") + ";"

    def print(self):
        k = self.k
        yield from self.structs()
        yield f"void {k.name}(Device &d, int n) {{"
        yield from indented(self.by_value(), 1)
        yield from indented([self.buffer(j, b) for j, b in enumerate(k.buffers)], 1)
        captured = "".join(f", &{b.name}" for b in k.buffers if b.capture == "array")
        if k.tile and k.rank == 2:
            domain, parameter = "extent<2>(h_, w_).tile<16, 16>()", "tiled_index<16, 16> t"
            start = ["const int ly = t.local[0], lx = t.local[1], gy = t.tile[0], gx = t.tile[1], y = t.global[0], x_ = t.global[1];", "const int l = ly * 16 + lx;"]
        elif k.tile:
            domain, parameter = f"extent<1>(n).tile<{k.tile}>()", f"tiled_index<{k.tile}> t"
            start = ["const int l = t.local[0], g = t.tile[0], i = t.global[0];"]
        elif k.rank == 2:
            domain, parameter = "extent<2>(h_, w_)", "index<2> at_"
            start = ["const int y = at_[0], x_ = at_[1], i = y * w_ + x_;"]
        else:
            domain, parameter, start = "extent<1>(n)", "index<1> at_", ["const int i = at_[0];"]
        yield f"    parallel_for_each(d.view, {domain}, [={captured}]({parameter}) restrict(amp) {{"
        yield from indented(start + list(self.lines()), 2)
        yield "    });"
        yield "}"

    def case(self):
        """The kernel's line in the program's table of cases."""
        k = self.k
        buffers = ", ".join(f'{{"{b.type.words()}", {b.per}, {b.divide}, {b.fixed}, {b.offset}, "{b.fill}", {b.low}, {b.high}, {str(b.role == "out").lower()}}}' for b in k.buffers)
        return f'all.push_back({{"{k.name}", "{"; ".join(k.tags)}", {{{buffers}}}, {k.tolerance}, {k.name}}});'


class Cuda(Backend):
    def maths(self, name, kind):
        return {"f": name + "f", "d": name, "q": f"__{name}f"}[kind]

    def atomic(self, name, _):
        return "atomic" + ATOMICS[name]

    def barrier(self, _):
        return "__syncthreads();"

    def shared(self, line):
        return self.text(line.replace("SHARED", "__shared__"))

    def helper(self, head):
        return f"__device__ {head}"

    def print(self):
        k = self.k
        yield from self.structs()
        yield f"__global__ void {k.name}_kernel({', '.join(self.parameters())}) {{"
        grid = None
        if k.tile and k.rank == 2:
            start = ["const int ly = threadIdx.y, lx = threadIdx.x, gy = blockIdx.y, gx = blockIdx.x, y = gy * 16 + ly, x_ = gx * 16 + lx;", "const int l = ly * 16 + lx;"]
            grid = "dim3(w_ / 16, h_ / 16), dim3(16, 16)"
        elif k.tile:
            start = [f"const int l = threadIdx.x, g = blockIdx.x, i = g * {k.tile} + l;"]
            grid = f"n / {k.tile}, {k.tile}"
        elif k.rank == 2:
            start = ["const int x_ = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;", "if (x_ >= w_ || y >= h_) return;", "const int i = y * w_ + x_;"]
            grid = "dim3(w_ / 32, h_ / 8), dim3(32, 8)"
        else:
            start = ["const int i = blockIdx.x * blockDim.x + threadIdx.x;", "if (i >= n) return;"]
            grid = "(n + 255) / 256, 256"
        yield from indented(start + list(self.lines()), 1)
        yield "}"
        yield f"void {k.name}(void *const *buffers, int n) {{"
        yield from indented(self.by_value(), 1)
        yield f"    {k.name}_kernel<<<{grid}>>>({', '.join(self.arguments())});"
        yield "}"
        yield f'const Registered {k.name}_registered("{k.name}", {k.name});'


class Openmp(Backend):
    """Prints a kernel without tiles as a loop over the threads. Prints a kernel with tiles as a loop over the tiles. For each part of the kernel
    between two barriers, the body of this loop has an inner loop over the threads of the tile."""

    def maths(self, name, kind):
        return {"rsqrt": "1 / std::sqrt"}.get(name, f"std::{name}")

    def atomic(self, name, array):
        return f"{'plain' if any(array in line for line in self.k.body if line.startswith('SHARED')) else 'atomic'}_{name}"

    def helper(self, head):
        return f"static inline {head}"

    def loop(self):
        if self.k.rank == 2:
            return ["for (int ly = 0; ly < 16; ly++) for (int lx = 0; lx < 16; lx++) {", "const int l = ly * 16 + lx, y = gy * 16 + ly, x_ = gx * 16 + lx;"]
        return [f"for (int l = 0; l < {self.k.tile}; l++) {{", f"const int i = g * {self.k.tile} + l;"]

    def lines(self):
        k = self.k
        if not k.tile:
            yield from (self.text(line) for line in "\n".join(k.body).split("\n"))
            return
        body = "\n".join(k.body).split("\n")
        for line in body:
            if line.startswith("SHARED"):
                yield self.text(line[7:])
            elif line.startswith("PRIVATE"):
                yield re.sub(r"PRIVATE (\w+) (\w+) =.*", rf"\1 \2[{k.tile}];", line)
        part = []
        for line in body + ["BARRIER"]:
            each = re.sub(r"%([a-z]\w*)", r"\1[l]", line)
            if line.startswith(("BARRIER", "UNIFORM")):
                if part:
                    yield from [*self.loop(), *part, "}"]
                part = []
                if line.startswith("UNIFORM"):
                    yield self.text(each)
            elif line.startswith("PRIVATE"):
                part.append(self.text(re.sub(r"PRIVATE \w+ (\w+) =", r"\1[l] =", each)))
            elif not line.startswith("SHARED"):
                part.append(self.text(each))

    def print(self):
        k = self.k
        yield from self.structs()
        names = {(1, 0): ["int i"], (2, 0): ["int y", "int x_"], (1, 1): ["int g"], (2, 1): ["int gy", "int gx"]}[k.rank, bool(k.tile)]
        yield f"static inline void {k.name}_body({', '.join(names + list(self.parameters()))}) {{"
        yield from indented((["const int i = y * w_ + x_;"] if k.rank == 2 and not k.tile else []) + list(self.lines()), 1)
        yield "}"
        yield f"void {k.name}(void *const *buffers, int n) {{"
        yield from indented(self.by_value(), 1)
        for j, (b, argument) in enumerate(zip(k.buffers, self.arguments())):
            yield f"    {self.text(b.type.name)} *const {b.name} = {argument};"
        arguments = ", ".join([name.split()[1] for name in names] + [b.name for b in k.buffers] + list(self.arguments())[len(k.buffers):])
        ends = {(1, 0): ["n"], (2, 0): ["h_", "w_"], (1, 1): [f"n / {k.tile}" if k.tile else ""], (2, 1): ["h_ / 16", "w_ / 16"]}[k.rank, bool(k.tile)]
        yield "#pragma omp parallel for" + (" collapse(2)" if k.tile and k.rank == 2 else "")
        for depth, (name, end) in enumerate(zip(names, ends)):
            variable = name.split()[1]
            yield "    " * (depth + 1) + f"for (int {variable} = 0; {variable} < {end}; {variable}++)"
        yield "    " * (len(names) + 1) + f"{k.name}_body({arguments});"
        yield "}"
        yield f'const Registered {k.name}_registered("{k.name}", {k.name});'
