"""The base class of the generated kernels. A kernel has buffers, captures, and a body in the common subset of C++ AMP, CUDA and plain C++.

The body has marks where these languages differ. backends.py replaces the marks:
  @sqrt.f(  @sqrt.d(  @sin.q(   a function of float or double; .q: float with less precision (fast_math, CUDA's __sinf)
  @add(&b[0], 1u)               an atomic operation: add, max, min, xor
  a{y|x}                        an element of a buffer of rank 2
  SHARED T a[N];                a tile_static array
  PRIVATE T v = e;              a variable of a thread that is live across barriers; %v is a use of v
  BARRIER                       a tile barrier
  BARRIER.tile                  a tile barrier with a fence of tile_static memory
  BARRIER.all                   a tile barrier with a fence of all memory
  UNIFORM for (...) {           the beginning of a loop that contains barriers
  UNIFORM }                     the end of such a loop
"""

import random

SIZES = {"float": 4, "int": 4, "unsigned": 4, "double": 8}
WORDS = {"float": "f", "int": "i", "unsigned": "i", "double": "d"}


class Type:
    """An element type: a number, a short vector or a struct. Its fields are (suffix, type)."""

    def __init__(self, name, fields, align=0):
        self.name, self.fields = name, fields
        self.align = max([align] + [SIZES[t] for _, t in fields])

    def words(self):
        """A letter for each field, in the order of memory; _ is 4 bytes of padding."""
        text, at = "", 0
        for _, field in self.fields:
            while at % SIZES[field]:
                text, at = text + "_", at + 4
            text, at = text + WORDS[field], at + SIZES[field]
        return text + "_" * (-at % self.align // 4)


class Buffer:
    def __init__(self, name, of, role, per=1, divide=1, fixed=0, fill="even", low=-1, high=1, capture="view", restrict=False,
                 offset=0, rank=1):
        self.name, self.type, self.role = name, of, role  # role: in, out (may be read too)
        self.per, self.divide, self.fixed = per, divide, fixed  # n * per / divide elements, or a fixed number
        self.fill, self.low, self.high = fill, low, high
        self.capture, self.restrict, self.offset, self.rank = capture, restrict, offset, rank


class Kernel:
    """Base of all kernels: random choices, names, buffers and expressions."""

    def __init__(self, seed, number, only=""):
        self.r = random.Random(f"{seed}/{number}/{only}")
        self.name, self.number = f"k{number:03}", number
        self.tags, self.buffers, self.scalars, self.structs, self.helpers = [], [], [], [], []
        self.tile, self.rank, self.body, self.count = 0, 1, [], 0
        self.scalar, self.tolerance, self.uses_fast_maths = "float", 0, False

    # Choices and names.
    def choose(self, *of):
        return self.r.choice(of)

    def chance(self, percent):
        return self.r.randrange(100) < percent

    def tag(self, *names):
        self.tags += [n for n in names if n not in self.tags]

    def unique_name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, *lines):
        self.body += lines

    # Numbers.
    def real(self):
        return self.scalar != "unsigned"

    def number_text(self, low=0.1, high=1.0):
        if not self.real():
            return f"{self.r.randrange(1, 4096)}u"
        return f"{self.r.uniform(low, high):.3f}" + ("f" if self.scalar == "float" else "")

    def literal(self, value):
        return f"{value}f" if self.scalar == "float" else f"{value}"

    def number_of(self, value):
        """A small whole number as a literal of type self.scalar."""
        return f"{value}" + {"float": ".0f", "double": ".0", "unsigned": "u"}[self.scalar]

    def by_value(self, kind, low, high):
        """Adds a captured scalar and returns its name. No compiler knows the scalar's value."""
        name = self.unique_name("s")
        value = f"{self.r.uniform(low, high):.3f}" + ("f" if kind == "float" else "") if kind in ("float", "double") \
            else str(self.r.randrange(low, high))
        self.scalars.append((kind, name, value))
        return name

    # Types and buffers.
    def plain(self, name=None):
        name = name or self.scalar
        return Type(name, [("", name)])

    def vector(self):
        base, width = ("int" if not self.real() else self.scalar), self.choose(2, 2, 3, 4, 4)
        if base == "double":
            width = 2  # the alignment of double4 differs between versions of CUDA
        return Type(f"{base}{width}", [("." + "xyzw"[j], base) for j in range(width)])

    def struct(self, least=2):
        fields = [("." + "abcdefgh"[j], self.scalar if j == 0 or self.chance(80) else self.choose("int", "float", "unsigned"))
                  for j in range(self.r.randrange(least, 9))]
        align = self.choose(0, 0, 0, 16)
        made = Type(f"S{self.number}_{len(self.structs)}", fields, align)
        self.structs.append(made)
        self.tag("struct")
        return made

    def element(self):
        pick = self.r.randrange(100)
        return self.plain() if pick < 50 else self.vector() if pick < 72 else self.struct()

    def buffer(self, name, of=None, role="in", **how):
        of = of or self.plain()
        if role == "in" and "capture" not in how:
            how["capture"] = self.choose("const view", "const view", "view", "array")
            how["restrict"] = how["capture"] == "const view" and self.chance(50)
        elif "capture" not in how:
            how["capture"] = self.choose("view", "view", "array")
        if not self.real() and of.fields[0][1] in ("int", "unsigned"):
            how.setdefault("high", 1 << 20), how.setdefault("low", 0)
        if "fixed" not in how and "offset" not in how and how.get("capture") != "array" and self.chance(10):
            how["offset"] = self.choose(1, 2, 4)
            self.tag("section")
        made = Buffer(self.unique_name(name), of, role, **how)
        self.buffers.append(made)
        self.tag("captures: " + made.capture)
        return made

    def integers(self, name, end, **how):
        return self.buffer(name, self.plain("int"), low=0, high=end, **how)

    def field(self, text, of):
        """A number of self.scalar from a field of the element `text`."""
        suffix, kind = self.r.choice([f for f in of.fields if f[1] == self.scalar] or of.fields)
        if kind == self.scalar:
            return text + suffix
        if not self.real():
            return f"(unsigned){text}{suffix}"
        return f"({self.scalar}){text}{suffix}" + ("" if kind in ("float", "double") else f" * {self.literal(0.001)}")

    def at(self, buffer, index):
        return self.field(f"{buffer.name}[{index}]", buffer.type)

    def index(self, loop=None):
        """An index below n: of this thread's element or of another element."""
        c, odd = self.r.randrange(1, 1024), self.r.randrange(3, 100) | 1
        if self.chance(15):
            gather = self.integers("at", 4096)
            self.tag("gather")
            return f"({gather.name}[{f'(i + {loop}) & (n - 1)' if loop else 'i'}] + i) & (n - 1)"
        if not loop:
            return self.choose("i", "i", "i", f"(i + {c}) & (n - 1)", f"(i * {odd}) & (n - 1)", "n - 1 - i", f"i ^ {c}", f"i / {self.choose(2, 4, 32)}")
        if self.chance(12):
            return f"({loop} * {self.by_value('int', 256, 4096)} + i) & (n - 1)"
        return self.choose(f"(i + {loop} * {c}) & (n - 1)", f"(i + {loop}) & (n - 1)", f"(i ^ {loop}) & (n - 1)", f"(i * {odd} + {loop}) & (n - 1)",
                        f"(i / 32 * 32 + {loop}) & (n - 1)", loop, "i")

    # Expressions. The absolute value of a floating-point expression stays below about 2 if the absolute values of its leaves do.
    def function(self, a, b):
        """A call of a maths function with a bounded result."""
        kind = self.scalar[0]
        one, quarter = self.literal(1.0), self.literal(0.25)
        small = f"@fabs.{kind}({a})"
        forms = {"sin": a, "cos": a, "exp": f"-{small}", "log": f"{small} + {one}", "sqrt": f"{small} + {quarter}", "tanh": a, "atan": a,
                 "pow": f"{small} + {quarter}, {self.literal(0.75)}", "rsqrt": f"{a} * {a} + {self.literal(0.5)}", "fmin": f"{a}, {b}",
                 "fmax": f"{a}, {b}", "fabs": a, "exp2": f"-{small}", "erf": a, "cbrt": f"{small} + {quarter}", "fma": f"{a}, {quarter}, {b} * {quarter}"}
        name = self.r.choice(list(forms))
        if name in ("sin", "cos", "exp", "log", "pow") and kind == "f" and self.chance(35):
            kind, self.uses_fast_maths = "q", True
        self.tag("maths: " + name + {"f": " float", "d": " double", "q": " fast"}[kind])
        return f"@{name}.{kind}({forms[name]})"

    def expression(self, leaves, depth=2, maths=25):
        """A random expression that uses the last of the leaves."""
        while True:
            text = self.any_expression(leaves, depth, maths)
            if leaves[-1] in text:
                return text

    def any_expression(self, leaves, depth, maths):
        if depth == 0 or self.chance(10):
            return self.r.choice(leaves) if self.chance(80) else self.number_text()
        a, b = (self.any_expression(leaves, depth - 1, maths) for _ in "ab")
        if not self.real():
            c = self.r.randrange(1, 16)
            return self.choose(f"({a} + {b})", f"({a} ^ {b})", f"({a} * {self.r.randrange(3, 99)}u + {b})", f"({a} >> {c})",
                            f"({a} << {c} | {a} >> {32 - c})", f"({a} < {b} ? {a} : {b})", f"({a} > {b} ? {a} - {b} : {b})",
                            f"({a} & {b})", f"({a} % {self.r.randrange(3, 999)}u)", f"({a} / ({b} % 64u + 1u))")
        if self.chance(maths):
            return self.function(a, b)
        half = self.literal(0.5)
        return self.choose(f"({a} + {b}) * {half}", f"({a} - {b}) * {half}", f"{a} * {b} * {half}", f"({a} * {self.number_text(0.1, 0.5)} + {b} * {half})",
                        f"({a} > {self.number_text()} ? {half} : {self.literal(0.75)}) * {b}" if a in leaves and a.startswith("v") else f"{half} * {b}",
                        f"(u & {1 << self.r.randrange(8)}u ? {a} : {b})" if "u" in self.known else f"-{a}")

    def mix(self, variable, leaves, depth=2, maths=25):
        """A statement that changes a variable by an expression and keeps it bounded."""
        value = self.expression([variable, *leaves], depth, maths)
        if self.real():
            return f"{variable} = {variable} * {self.literal(0.5)} + {self.literal(0.125)} * ({value});"
        return f"{variable} = {variable} * 1664525u + ({value});"

    known = ("u",)

    def condition(self, bits=8):
        """A condition whose value differs between threads."""
        return f"(u & {self.r.randrange(1, 1 << bits)}u) {self.choose('==', '!=')} 0"
