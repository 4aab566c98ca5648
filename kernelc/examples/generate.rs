//! Generates a C++ AMP program with random kernels, for tests that compare compilers:
//! `cargo run -p revamp-kernelc --example generate SEED COUNT [textures] [INGREDIENT...] > kernels.cpp`.
//!
//! Each kernel reads the views `a` (int), `u` (unsigned) and `f` (float). It writes `ints` and `floats`, where each thread has
//! its own element, and changes `sums` only by atomic operations. Therefore threads do not race. Without ingredients, kernels have
//! no undefined behaviour: shifts are masked, divisors are not zero, signed numbers do not overflow. The program includes
//! "compare.hpp", whose `compare_over` runs a kernel on two accelerators and compares the results. With `textures`, kernels also
//! read, sample and write the textures of "compare_textures.hpp".
//!
//! Each ingredient adds something to the program:
//!
//! | word | adds |
//! | --- | --- |
//! | `outside` | reads and writes outside of array_views; compile with `-famp-bounds=zero` |
//! | `fixed` | loops of 7 to 20 iterations around barriers, and tiles of 4 x 4 |
//! | `long` | loops of up to 600,000 iterations; if llvmpipe ends a long loop early, the launch must fail |
//! | `deep` | 20 to 100 nested branches, which llvmpipe may refuse |
//! | `compensated` | sums with their rounding errors, and rounding by large constants |
//! | `special` | infinities, NaN and negative zeros |
//! | `trips` | integers converted to floating-point numbers and back |
//! | `zero` | integer division by zero, and division of the least integer by -1 |
//! | `contract` | products fused into sums where Clang's default allows it; compile without `-ffp-contract=off` |
//! | `statics` | a run of the first kernel before main |
//! | `library` | a function `run_SEED` instead of main; libraries with other seeds have kernels of the same names |
//! | `mix` | all ingredients of this table except `library` |

use std::collections::HashSet;
use std::fmt::Write;

/// The ingredients that `mix` selects.
const INGREDIENTS: [&str; 10] =
    ["outside", "fixed", "long", "deep", "compensated", "special", "trips", "zero", "contract", "statics"];

struct Generator {
    state: u64,
    out: String,
    depth: usize,
    /// Names of unsigned variables in scope; those that begin with `v` may be assigned.
    unsigned: Vec<String>,
    floats: Vec<String>,
    /// Names and lengths of arrays in scope.
    arrays: Vec<(String, u32)>,
    /// The number in the last generated name.
    last_number: usize,
    /// Names that have the same value in all threads of a tile.
    uniform: Vec<String>,
    /// The number of enclosing loops to which `break` and `continue` may apply here.
    breakable_loops: usize,
    /// True if some threads may return here while others go on.
    returns: bool,
    /// The number of threads of a tile; 0 without tiles.
    threads: u32,
    /// The number of statements after which only simple statements follow.
    budget: i32,
    /// True if the kernel uses floating-point division and square roots.
    inexact: bool,
    use_floats: bool,
    textures: bool,
    /// The ingredients that the command line names.
    ingredients: HashSet<String>,
    /// True if this kernel gets no more long loops and deep branches. llvmpipe may refuse a kernel that has them, and the kernel
    /// then runs only on host threads. Also, many branches take long to compile.
    limited: bool,
}

impl Generator {
    fn random(&mut self, below: u64) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    }
    fn pick(&mut self, list: &[String]) -> Option<String> {
        if list.is_empty() { None } else { Some(list[self.random(list.len() as u64) as usize].clone()) }
    }
    fn line(&mut self, text: &str) {
        for _ in 0..=self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
    fn name(&mut self, prefix: &str) -> String {
        self.last_number += 1;
        format!("{prefix}{}", self.last_number)
    }

    fn has(&self, ingredient: &str) -> bool {
        self.ingredients.contains(ingredient)
    }

    /// With a probability of 1/6, returns one of the ingredients in `of` that the command line names.
    fn ingredient(&mut self, of: &[&'static str]) -> Option<&'static str> {
        let wanted: Vec<&'static str> = of.iter().copied().filter(|word| self.has(word)).collect();
        if wanted.is_empty() || self.random(6) != 0 {
            return None;
        }
        Some(wanted[self.random(wanted.len() as u64) as usize])
    }

    /// An unsigned expression that contains the ingredient.
    fn special_number(&mut self, ingredient: &str, a: &str, b: &str) -> String {
        match (ingredient, self.random(4)) {
            ("outside", 0) => format!("u[int({a} & 255u) - 60]"),
            ("outside", 1) => format!("unsigned(a[int(t) + int({a} & 3u) * 112])"),
            ("outside", _) => format!("u[int({a})]"),
            ("trips", 0) => format!("unsigned(int(float(int({a} & 0x3fffffffu))))"),
            ("trips", 1) => format!("unsigned(float({a} & 0x7fffffffu))"),
            ("trips", 2) => format!("unsigned(int(float(int({a}) >> 2)))"),
            ("trips", _) => format!("unsigned(int(float(short({a}))) + int(float({b} & 0xffffffu)))"),
            // `given` is unknown at compile time, so Clang does not fold an undefined division before revamp defines its result.
            (_, 0) => format!("({a} / (({b} ^ given) & 1u))"),
            (_, 1) => format!("({a} % (({b} ^ given) & 1u))"),
            (_, 2) => format!("unsigned(int({a}) / int(({b} ^ given) & 3u))"),
            _ => format!("unsigned(int({a} | 0x80000000u) % (int(({b} ^ given) & 1u) - 1))"),
        }
    }

    /// Writes a statement that contains the ingredient.
    fn special_statement(&mut self, ingredient: &str) {
        match ingredient {
            "outside" => {
                let (at, value) = (self.number(1), self.number(1));
                self.line(&format!("sums[32 + int({at} & 255u)] = int({value});"));
            }
            "long" if self.breakable_loops == 0 => {
                self.limited = true;
                let (name, rounds) = (self.name("v"), [9_000, 40_000, 70_000, 600_000][self.random(4) as usize]);
                let start = self.number(1);
                self.line(&format!("unsigned {name} = {start};"));
                self.line(&format!(
                    "for (unsigned k = 0; k < {rounds}u + (given & 7u); ++k) {name} = ({name} ^ {name} >> 7) * 77u + k;"
                ));
                self.unsigned.push(name);
            }
            "deep" => {
                self.limited = true;
                self.deep();
            }
            _ => self.assign(),
        }
    }

    /// Writes nested branches. A thread's values decide how many branches the thread enters.
    fn deep(&mut self) {
        let levels = 20 + self.random(81);
        let (value, name, x) = (self.number(1), self.name("v"), self.name("x"));
        self.line(&format!("unsigned {name} = 0, {x} = ({value} ^ t) & 127u;"));
        for level in 0..levels {
            self.line(&format!("if ({x} > {level}u) {{ {name} = {name} * 3u + {level}u; ints[int(t)] = int({name});"));
        }
        self.line(&"}".repeat(levels as usize));
        self.unsigned.push(name);
    }

    /// Writes a variable whose floating-point value contains the ingredient.
    fn special_real(&mut self, ingredient: &str) {
        let (a, b, c) = (self.real(1), self.real(1), self.real(1));
        let name = self.name("d");
        let [x, y, z] = ["x", "y", "z"].map(|prefix| self.name(prefix));
        self.line(&format!("const float {x} = bounded({a}), {y} = bounded({b}), {z} = bounded({c});"));
        let value = match (ingredient, self.random(4)) {
            ("compensated", 0) => format!("({x} - (({x} + {y}) - (({x} + {y}) - {x}))) + ({y} - (({x} + {y}) - {x}))"),
            ("compensated", 1) => format!("(({x} + {y}) - {x}) - {y}"),
            ("compensated", 2) => format!("({x} + 12582912.0f) - 12582912.0f"),
            ("compensated", _) => {
                let [s, bb] = ["s", "bb"].map(|prefix| self.name(prefix));
                self.line(&format!("const float {s} = {x} + {y}, {bb} = {s} - {x};"));
                format!("({x} - ({s} - {bb})) + ({y} - {bb})")
            }
            ("special", 0) => format!("({x} < 5.0f ? {x} * endless : {y})"),
            ("special", 1) => format!("(1.0f / (endless * ({y} < 0.0f ? -1.0f : 1.0f)) + ({z} < 1.0f ? -0.0f : {x}))"),
            ("special", 2) => format!("(({x} < {y} ? endless : {x}) - ({z} < {y} ? endless : {y}))"),
            ("special", _) => format!("(1.0f / (-0.0f + ({x} < {y} ? 0.0f : -0.0f)) > 0.0f ? {x} : {y})"),
            // The sum may be rounded once (fused) or twice; `legal` gives the same value in both cases.
            (_, 0) => format!("legal({x} * {y} + {z}, {x}, {y}, {z})"),
            (_, 1) => format!("legal({z} + {x} * {y}, {x}, {y}, {z})"),
            (_, 2) => format!("legal({x} * {y} - {z}, {x}, {y}, -{z})"),
            _ => format!("legal({z} - {x} * {y}, -{x}, {y}, {z})"),
        };
        self.line(&format!("float {name} = bounded({value});"));
        self.floats.push(name);
    }

    /// An unsigned expression.
    fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random(6) {
                0 => format!("{}u", self.random(1 << 20)),
                1 => format!("{}u", self.random(16)),
                2 => {
                    let at = self.random(97);
                    format!("u[wrap(t + {at}u)]")
                }
                _ => {
                    let names = self.unsigned.clone();
                    self.pick(&names).unwrap_or_else(|| "t".into())
                }
            };
        }
        let a = self.number(depth - 1);
        let b = self.number(depth - 1);
        if self.textures && self.random(4) == 0 {
            return self.texel(&a, &b);
        }
        if let Some(ingredient) = self.ingredient(&["outside", "trips", "zero"]) {
            return self.special_number(ingredient, &a, &b);
        }
        match self.random(22) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("({a} * {b})"),
            4 => format!("({a} / ({b} | 1u))"),
            5 => format!("({a} % ({b} | 1u))"),
            6 => format!("({a} & {b})"),
            7 => format!("({a} | {b})"),
            8 => format!("({a} ^ {b})"),
            9 => format!("({a} << ({b} & 31u))"),
            10 => format!("({a} >> ({b} & 31u))"),
            11 => format!("unsigned(int({a}) >> ({b} & 31u))"),
            12 => format!("unsigned((int({a}) >> 1) / (int({b} & 255u) + 1))"),
            13 => format!("unsigned((int({a}) >> 1) % (int({b} & 255u) - 300))"),
            14 => format!("({} ? {a} : {b})", self.condition(1)),
            15 => format!("unsigned(static_cast<long long>(int({a})) * int({b}) >> 17)"),
            16 => format!("unsigned(((unsigned long long)({a}) << 20 | {b}) / (({b} & 1023u) + 1ull))"),
            17 => format!("unsigned(int((short)({a})) * 3 + (signed char)({b}))"),
            18 => format!("unsigned((unsigned char)({a}) * (unsigned short)({b}))"),
            19 => format!("mixed({a}, {b})"),
            20 => match self.arrays.last().cloned() {
                Some((array, size)) => format!("{array}[{a} & {}u]", size - 1),
                None => format!("(~{a})"),
            },
            _ => format!("pair_of({a}, {b}).sum()"),
        }
    }

    fn real(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random(4) {
                0 => format!("{}.{}f", self.random(100), self.random(10)),
                1 => {
                    let at = self.random(97);
                    format!("f[wrap(t + {at}u)]")
                }
                _ => {
                    let names = self.floats.clone();
                    self.pick(&names).unwrap_or_else(|| "1.5f".into())
                }
            };
        }
        let a = self.real(depth - 1);
        let b = self.real(depth - 1);
        let kinds = if self.inexact { 10 } else { 8 };
        match self.random(kinds) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            // `times` and `product` are functions, so Clang does not fuse their products into this expression. The result must be the
            // same on processors with and without FMA instructions.
            3 if self.has("contract") => format!("times({a}, {b})"),
            3 => format!("({a} * {b} * 0.03125f)"),
            4 => format!("({} ? {a} : {b})", self.condition(1)),
            5 => format!("float(int({}) >> 12)", self.number(1)),
            6 => format!("({a} < {b} ? {a} : -{b})"),
            7 => format!("bounded({a})"),
            8 if self.has("contract") => format!("({a} / (product({b}, {b}) + 1.0f))"),
            8 => format!("({a} / ({b} * {b} + 1.0f))"),
            _ if self.has("contract") => format!("precise_math::sqrt(product({a}, {a}) + 2.0f)"),
            _ => format!("precise_math::sqrt({a} * {a} + 2.0f)"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let a = self.number(depth);
        let b = self.number(depth);
        match self.random(8) {
            0 => format!("({a} < {b})"),
            1 => format!("(int({a}) < int({b}))"),
            2 => format!("({a} == {b})"),
            3 => format!("(({a} & 7u) != 3u)"),
            4 => format!("((({a}) & 3u) == 1u || int({b}) > 77)"),
            5 => format!("(({a} >> 3 & 1u) && !(({b}) & 4u))"),
            6 if self.use_floats => {
                let (x, y) = (self.real(1), self.real(1));
                format!("({x} < {y})")
            }
            _ => format!("(int({a}) >= int({b}))"),
        }
    }

    fn block(&mut self, count: u64) {
        self.scope(count, Self::statement);
    }

    /// Writes `count` statements; the names that they declare end with the scope.
    fn scope(&mut self, count: u64, statement: fn(&mut Self)) {
        let (u, f, a) = (self.unsigned.len(), self.floats.len(), self.arrays.len());
        let uniform = self.uniform.len();
        self.depth += 1;
        for _ in 0..count {
            statement(self);
        }
        self.depth -= 1;
        self.unsigned.truncate(u);
        self.floats.truncate(f);
        self.arrays.truncate(a);
        self.uniform.truncate(uniform);
    }

    fn assign(&mut self) {
        if self.use_floats && self.random(3) == 0 {
            let names = self.floats.clone();
            if let Some(name) = self.pick(&names) {
                let value = self.real(2);
                self.line(&format!("{name} = bounded({value});"));
                return;
            }
        }
        let names: Vec<String> = self.unsigned.iter().filter(|n| n.starts_with('v')).cloned().collect();
        if let Some(name) = self.pick(&names) {
            let value = self.number(2);
            let op = ["=", "+=", "^=", "-=", "*="][self.random(5) as usize];
            self.line(&format!("{name} {op} {value};"));
        }
    }

    fn statement(&mut self) {
        self.budget -= 1;
        if self.budget < 0 || self.depth > 6 {
            return self.assign();
        }
        if self.textures && self.random(8) == 0 {
            return self.set_texel();
        }
        if let Some(ingredient) =
            self.ingredient(if self.limited { &["outside"] } else { &["outside", "long", "deep"] })
        {
            return self.special_statement(ingredient);
        }
        if self.use_floats {
            if let Some(ingredient) = self.ingredient(&["compensated", "special", "contract"]) {
                return self.special_real(ingredient);
            }
        }
        match self.random(20) {
            0..=3 => self.assign(),
            4 | 5 => {
                let name = self.name("v");
                let value = self.number(2);
                self.line(&format!("unsigned {name} = {value};"));
                self.unsigned.push(name);
            }
            6 if self.use_floats => {
                let name = self.name("d");
                let value = self.real(2);
                self.line(&format!("float {name} = bounded({value});"));
                self.floats.push(name);
            }
            7 | 8 => self.if_else(),
            9..=11 => self.for_loop(),
            12 => self.while_loop(),
            13 | 14 => self.switch(),
            15 if self.breakable_loops > 0 => {
                let condition = self.condition(1);
                let word = if self.random(2) == 0 { "break" } else { "continue" };
                self.line(&format!("if {condition} {word};"));
            }
            16 if self.depth < 3 => self.array(),
            17 => match self.arrays.last().cloned() {
                Some((array, size)) => {
                    let (at, value) = (self.number(1), self.number(2));
                    self.line(&format!("{array}[({at}) & {}u] ^= {value};", size - 1));
                }
                None => self.assign(),
            },
            18 => self.pair(),
            19 if self.breakable_loops == 0 && self.returns && self.random(3) == 0 => {
                let condition = self.condition(1);
                let value = self.number(1);
                self.line(&format!("if {condition} {{ out(t, {value}); return; }}"));
            }
            _ => self.assign(),
        }
    }

    fn if_else(&mut self) {
        let condition = self.condition(1);
        self.line(&format!("if {condition} {{"));
        let count = 1 + self.random(3);
        self.block(count);
        if self.random(2) == 0 {
            self.line("} else {");
            let count = 1 + self.random(3);
            self.block(count);
        }
        self.line("}");
    }

    fn for_loop(&mut self) {
        let name = self.name("k");
        let bound = match self.random(4) {
            0 => format!("{}u", 1 + self.random(9)),
            // `given` is the same for all threads and unknown at compile time.
            1 => format!("(given % {}u)", 2 + self.random(12)),
            _ => format!("(({}) & 7u)", self.number(1)),
        };
        self.line(&format!("for (unsigned {name} = 0; {name} < {bound}; ++{name}) {{"));
        self.unsigned.push(name);
        self.breakable_loops += 1;
        let count = 1 + self.random(3);
        self.block(count);
        self.breakable_loops -= 1;
        self.unsigned.pop();
        self.line("}");
    }

    fn while_loop(&mut self) {
        let name = self.name("w");
        let condition = self.condition(1);
        self.line(&format!("unsigned {name} = 0;"));
        if self.random(2) == 0 {
            self.line(&format!("while ({condition} && {name} < 9u) {{"));
            self.depth += 1;
            self.line(&format!("++{name};"));
            self.depth -= 1;
            self.breakable_loops += 1;
            let count = 1 + self.random(3);
            self.block(count);
            self.breakable_loops -= 1;
            self.line("}");
        } else {
            self.line("do {");
            self.breakable_loops += 1;
            let count = 1 + self.random(2);
            self.block(count);
            self.breakable_loops -= 1;
            self.line(&format!("}} while (++{name} < 6u && {condition});"));
        }
    }

    fn switch(&mut self) {
        let value = self.number(2);
        self.line(&format!("switch ({value} & 7u) {{"));
        let cases = 2 + self.random(4);
        for case in 0..cases {
            self.line(&format!("case {case}u: {{"));
            self.block(1);
            // Some cases fall through.
            let end = if self.random(3) != 0 { "} break;" } else { "} [[fallthrough]];" };
            self.line(end);
        }
        self.line("default: {");
        self.block(1);
        self.line("}");
        self.line("}");
    }

    fn array(&mut self) {
        let name = self.name("r");
        let size = [4, 8, 16][self.random(3) as usize];
        self.line(&format!("unsigned {name}[{size}];"));
        let value = self.number(1);
        self.line(&format!("for (unsigned q = 0; q < {size}u; ++q) {name}[q] = ({value}) + q * 17u;"));
        self.arrays.push((name, size));
    }

    fn pair(&mut self) {
        let name = self.name("s");
        let (x, y) = (self.number(1), self.number(1));
        self.line(&format!("both {name} = pair_of({x}, {y});"));
        let condition = self.condition(1);
        self.line(&format!("if {condition} {name}.second += {name}.first >> 1;"));
        let v = self.name("v");
        self.line(&format!("unsigned {v} = {name}.sum();"));
        self.unsigned.push(v);
    }

    /// An expression with the same value in all threads of a tile.
    fn uniform_number(&mut self) -> String {
        let names = self.uniform.clone();
        let name = self.pick(&names).unwrap_or_else(|| "g".into());
        match self.random(4) {
            0 => format!("({name} * {}u + {}u)", 1 + self.random(9), self.random(50)),
            1 => format!("(u[wrap({name})] >> {})", self.random(9)),
            2 => format!("({name} ^ given)"),
            _ => name,
        }
    }

    fn uniform_condition(&mut self) -> String {
        let (a, b) = (self.uniform_number(), self.uniform_number());
        match self.random(3) {
            0 => format!("({a} < {b})"),
            1 => format!("(({a} & 3u) != {}u)", self.random(4)),
            _ => format!("(({a} & 1u) == 1u || ({b} & 5u) == 4u)"),
        }
    }

    /// Writes a statement that all threads of a tile reach together, so the statement may contain barriers.
    fn uniform_statement(&mut self) {
        self.budget -= 1;
        if self.budget < 0 || self.depth > 5 {
            return self.exchange();
        }
        match self.random(16) {
            14 | 15 => self.partial_exchange(),
            0..=2 => self.exchange(),
            3 => self.tally(),
            4 => self.shared_number(),
            5 | 6 => self.uniform_loop(),
            7 => {
                let condition = self.uniform_condition();
                self.line(&format!("if {condition} {{"));
                let count = 1 + self.random(2);
                self.scope(count, Self::uniform_statement);
                if self.random(2) == 0 {
                    self.line("} else {");
                    self.scope(1, Self::uniform_statement);
                }
                self.line("}");
            }
            8 if self.random(3) == 0 => {
                let (condition, value) = (self.uniform_condition(), self.number(1));
                self.line(&format!("if {condition} {{ out(t, {value}); return; }}"));
            }
            9 => {
                let value = self.uniform_number();
                self.line(&format!("switch ({value} & 3u) {{"));
                for case in 0..2 + self.random(2) {
                    self.line(&format!("case {case}u: {{"));
                    self.scope(1, Self::uniform_statement);
                    let end = if self.random(3) != 0 { "} break;" } else { "} [[fallthrough]];" };
                    self.line(end);
                }
                self.line("default: {");
                self.scope(1, Self::uniform_statement);
                self.line("}");
                self.line("}");
            }
            _ => {
                // Threads may diverge in this statement, so it contains no barriers.
                let (breakable_loops, returns) = (self.breakable_loops, self.returns);
                self.breakable_loops = 0;
                self.returns = false;
                self.statement();
                self.breakable_loops = breakable_loops;
                self.returns = returns;
            }
        }
    }

    fn uniform_loop(&mut self) {
        let name = self.name("k");
        let bound = if self.random(2) == 0 {
            format!("{}u", 1 + self.random(3))
        } else {
            format!("({} & 3u)", self.uniform_number())
        };
        let bound = if self.has("fixed") && self.random(2) == 0 { format!("{}u", 7 + self.random(14)) } else { bound };
        let do_while = self.random(4) == 0;
        if do_while {
            self.line(&format!("unsigned {name} = 0;"));
            self.line("do {");
        } else {
            self.line(&format!("for (unsigned {name} = 0; {name} < {bound}; ++{name}) {{"));
        }
        let uniform = self.uniform.len();
        self.uniform.push(name.clone());
        self.unsigned.push(name.clone());
        let count = 1 + self.random(2);
        self.scope(count, Self::uniform_statement);
        if self.random(3) == 0 {
            let condition = self.uniform_condition();
            let word = if self.random(2) == 0 { "break" } else { "continue" };
            self.line(&format!("    if {condition} {word};"));
            self.scope(1, Self::uniform_statement);
        }
        self.unsigned.pop();
        self.uniform.truncate(uniform);
        self.line(&if do_while { format!("}} while (++{name} < {bound});") } else { "}".into() });
    }

    /// Writes statements by which each thread reads the value of another thread.
    fn exchange(&mut self) {
        let threads = self.threads;
        let value = self.number(2);
        let (step, at) = (1 + 2 * self.random(20), self.random(40));
        let v = self.name("v");
        if self.random(3) == 0 {
            let other = self.number(1);
            self.line(&format!("pairs[l] = pair_of({value}, {other});"));
            self.line("idx.barrier.wait();");
            self.line(&format!("unsigned {v} = pairs[(l * {step}u + {at}u) % {threads}u].sum();"));
        } else {
            self.line(&format!("shared[l] = {value};"));
            self.line("idx.barrier.wait_with_tile_static_memory_fence();");
            self.line(&format!("unsigned {v} = shared[(l * {step}u + {at}u) % {threads}u];"));
        }
        self.line("idx.barrier.wait();");
        self.unsigned.push(v);
    }

    /// Writes statements by which some of the threads change shared counters atomically.
    fn tally(&mut self) {
        let what = ["add", "xor", "max", "or"][self.random(4) as usize];
        let (at, value, read) = (self.number(1), self.number(1), self.number(1));
        let condition = self.condition(1);
        let v = self.name("v");
        self.line("if (l == 0u) for (int q = 0; q < 8; ++q) tallies[q] = q;");
        self.line("idx.barrier.wait();");
        self.line(&format!("if {condition} atomic_fetch_{what}(&tallies[({at}) & 7u], int(({value}) & 1023u));"));
        self.line("idx.barrier.wait();");
        self.line(&format!("unsigned {v} = unsigned(tallies[({read}) & 7u]);"));
        self.line("idx.barrier.wait();");
        self.unsigned.push(v);
    }

    /// Writes a statement that only some threads of a tile execute: those of a reduction step, or those that satisfy a
    /// comparison.
    fn partial_exchange(&mut self) {
        let (threads, value, other) = (self.threads, self.number(1), self.number(2));
        self.line(&format!("shared[l] = {value};"));
        self.line("idx.barrier.wait();");
        if self.random(3) == 0 {
            self.line(&format!("for (unsigned k = {}u; k > 0u; k /= 2u) {{", threads / 2));
            self.line("    if (l < k) shared[l] += shared[l + k];");
            self.line("    idx.barrier.wait();");
            self.line("}");
        } else {
            let bound = match self.random(3) {
                0 => format!("(int({} & 31u) - 9)", self.uniform_number()),
                1 => format!("{}", self.random(20)),
                _ => "int(given % 13u)".into(),
            };
            let thread_index = ["int(x)", "int(l)"][self.random(2) as usize];
            let compare = ["<", "<=", ">", ">=", "==", "!="][self.random(6) as usize];
            self.line(&format!("if ({thread_index} {compare} {bound}) {{"));
            let (breakable_loops, returns) = (self.breakable_loops, self.returns);
            (self.breakable_loops, self.returns) = (0, false);
            self.scope(1, Self::statement);
            (self.breakable_loops, self.returns) = (breakable_loops, returns);
            self.line(&format!("    shared[l] ^= {other};"));
            self.line("}");
            self.line("idx.barrier.wait();");
        }
        let v = self.name("v");
        self.line(&format!("unsigned {v} = shared[(l * 3u) % {threads}u];"));
        self.line("idx.barrier.wait();");
        self.unsigned.push(v);
    }

    /// Declares a number that all threads read from the same element.
    fn shared_number(&mut self) {
        let (value, at) = (self.number(1), self.uniform_number());
        let threads = self.threads;
        let q = self.name("q");
        self.line(&format!("shared[l] = {value};"));
        self.line("idx.barrier.wait();");
        self.line(&format!("const unsigned {q} = shared[({at}) % {threads}u];"));
        self.line("idx.barrier.wait();");
        self.unsigned.push(q.clone());
        self.uniform.push(q);
    }

    /// Writes the start of a kernel: its domain of 112 threads, and its first variables.
    fn begin_kernel(&mut self, n: u64, tiled: bool) {
        const UNTILED: [(&str, &str, &str); 4] = [
            ("extent<1>(112)", "index<1>", "idx[0]"),
            ("extent<1>(112)", "index<1>", "idx[0]"),
            ("extent<2>(8, 14)", "index<2>", "idx[0] * 14 + idx[1]"),
            ("extent<3>(4, 2, 14)", "index<3>", "(idx[0] * 2 + idx[1]) * 14 + idx[2]"),
        ];
        const TILED: [(&str, &str, u32, &str, &str, &str); 6] = [
            ("extent<1>(112).tile<16>()", "16", 16, "idx.global[0]", "idx.local[0]", "idx.tile[0]"),
            ("extent<1>(112).tile<56>()", "56", 56, "idx.global[0]", "idx.local[0]", "idx.tile[0]"),
            ("extent<1>(112).tile<7>()", "7", 7, "idx.global[0]", "idx.local[0]", "idx.tile[0]"),
            ("extent<1>(112).tile<1>()", "1", 1, "idx.global[0]", "idx.local[0]", "idx.tile[0]"),
            (
                "extent<2>(8, 14).tile<4, 7>()",
                "4, 7",
                28,
                "idx.global[0] * 14 + idx.global[1]",
                "idx.local[0] * 7 + idx.local[1]",
                "idx.tile[0] * 2 + idx.tile[1]",
            ),
            (
                "extent<3>(4, 2, 14).tile<2, 2, 7>()",
                "2, 2, 7",
                28,
                "(idx.global[0] * 2 + idx.global[1]) * 14 + idx.global[2]",
                "(idx.local[0] * 2 + idx.local[1]) * 7 + idx.local[2]",
                "idx.tile[0] * 2 + idx.tile[2]",
            ),
        ];
        const SQUARE: (&str, &str, u32, &str, &str, &str) = (
            "extent<2>(28, 4).tile<4, 4>()",
            "4, 4",
            16,
            "idx.global[0] * 4 + idx.global[1]",
            "idx.local[0] * 4 + idx.local[1]",
            "idx.tile[0]",
        );
        if tiled {
            let (domain, tile, threads, t, l, g) = match self.has("fixed") && self.random(3) == 0 {
                true => SQUARE,
                false => TILED[self.random(6) as usize],
            };
            self.begin(n, domain, &format!("tiled_index<{tile}>"));
            self.threads = threads;
            self.line(&format!("tile_static unsigned shared[{threads}];"));
            self.line(&format!("tile_static both pairs[{threads}];"));
            self.line("tile_static int tallies[8];");
            self.line(&format!("const unsigned t = unsigned({t}), l = unsigned({l}), g = unsigned({g});"));
            self.line("const unsigned x = unsigned(idx.local[idx.rank - 1]);");
            self.unsigned.extend(["l".into(), "g".into(), "x".into()]);
            self.uniform.extend(["g".into(), "given".into()]);
        } else {
            let (domain, index, t) = UNTILED[self.random(4) as usize];
            self.begin(n, domain, index);
            self.line(&format!("const unsigned t = unsigned({t});"));
        }
        self.line("auto out = [=](unsigned at, unsigned value) restrict(amp, cpu) { ints[int(at)] = int(value); };");
        self.line("unsigned v0 = a[int(t)] < 0 ? u[int(t)] : t * 7u;");
        self.unsigned.push("v0".into());
        if self.use_floats {
            self.line("float d0 = f[int(t)];");
            self.floats.push("d0".into());
        }
    }

    fn begin(&mut self, n: u64, domain: &str, index: &str) {
        let inexact = self.inexact;
        let _ = if self.textures {
            writeln!(
                self.out,
                "    compare_textures({n}, {inexact}, {domain}, [=](textures &on) {{\n        REVAMP_COMPARE_TEXTURES;\n        \
                 return [=]({index} idx) restrict(amp) {{"
            )
        } else {
            writeln!(self.out, "    compare_over({n}, {inexact}, {domain}, [=]({index} idx) restrict(amp) {{")
        };
    }

    fn kernel(&mut self, n: u64) {
        self.unsigned = vec!["t".into()];
        self.uniform.clear();
        self.floats.clear();
        self.arrays.clear();
        self.breakable_loops = 0;
        self.limited = (self.has("long") || self.has("deep")) && self.random(2) == 0;
        self.depth = 1;
        self.budget = 12 + self.random(25) as i32;
        self.use_floats = n % 3 == 1;
        self.inexact = self.use_floats && self.random(3) == 0;
        let atomic = n % 5 == 2;
        let _ = writeln!(self.out, "    // Kernel {n}.");
        let tiled = n % 2 == 1;
        self.begin_kernel(n, tiled);
        if tiled {
            // All threads must reach each barrier, so threads return individually only after the last barrier.
            for _ in 0..3 + self.random(4) {
                self.uniform_statement();
            }
        }
        self.returns = true;
        let count = 4 + self.random(5);
        for _ in 0..count {
            self.statement();
        }
        if atomic {
            let value = self.number(1);
            self.line(&format!("atomic_fetch_add(&sums[int(v0 & 15u)], int(({value}) & 1023u));"));
            self.line("atomic_fetch_max(&sums[16 + int(t & 7u)], int(v0 >> 2));");
            self.line("atomic_fetch_xor(&sums[24], int(v0));");
        }
        if self.use_floats {
            let names = self.floats.clone();
            let value = names.join(" + ");
            self.line(&format!("floats[int(t)] = {value};"));
        }
        let names: Vec<String> = self.unsigned.clone();
        let value = names.iter().map(|n| format!("{n} * {}u", 1 + self.random(99))).collect::<Vec<_>>().join(" ^ ");
        self.line(&format!("out(t, {value});"));
        self.out.push_str(if self.textures { "        };\n    });\n" } else { "    });\n" });
    }

    /// An expression that reads a texture, at coordinates inside or outside the texture.
    fn texel(&mut self, a: &str, b: &str) -> String {
        let channel = ["x", "y", "z", "w"][self.random(4) as usize];
        let level = ["0", "1", "2", "9", "v0 & 3u"][self.random(5) as usize];
        let detail = ["0.0f", "1.0f", "0.5f", "float(int(t & 1u))"][self.random(4) as usize];
        match self.random(14) {
            0 => format!("line[int({a} & 127u) - 20]"),
            1 => format!("line(int({a}))"),
            2 => format!("plane.get(index<2>(int({a} & 31u) - 3, int({b} & 15u))).{channel}"),
            3 => format!("texel(plane, {a}, {b})"),
            4 => format!("unsigned(block.get(index<3>(int({a} & 7u), int({b} & 7u), int(t & 7u)), {level}).y)"),
            5 => format!("steps(colours.get(index<2>(int({a} & 15u), int({b} & 31u) - 5), {level}).{channel})"),
            6 => format!("steps(small_colours(int({a} & 15u) - 2, int({b} & 7u)).{channel})"),
            // The texture is selected at run time.
            7 => format!("({} ? line : other_line)[int({b} & 63u)]", self.condition(1)),
            8 => format!(
                "units(numbers.sample(nearest, float_2(float(int({a} & 31u)) * 0.0625f + 0.03125f, 0.28125f)).{channel})"
            ),
            9 => format!("units(held.at({a}, {b}, {detail}))"),
            10 => format!("units(bordered.at({a}, {b}, {detail}))"),
            11 => {
                let sampler = ["wrapping, ", "nearest, ", "held.by, ", ""][self.random(4) as usize];
                let of = ["red", "green", "blue", "alpha"][self.random(4) as usize];
                format!(
                    "units(numbers.gather_{of}({sampler}float_2(float(int({a} & 15u)) * 0.0625f + 0.015625f, float(int({b} & 15u)) * 0.0625f + 0.046875f)).{channel})"
                )
            }
            12 => format!(
                "units(numbers.sample<filter_linear, address_mirror>(float_2(float(int({a} & 127u) - 32) * 0.015625f, 0.140625f), {detail}).{channel})"
            ),
            _ => format!("(0u + counted[int({a} & 0u) + int(t)])"),
        }
    }

    /// Writes a statement with which each thread writes its own texels.
    fn set_texel(&mut self) {
        let (a, b) = (self.number(1), self.number(1));
        let line = match self.random(5) {
            0 => format!("written.set(index<2>(int(t / 14u), int(t % 14u)), uint_4({a}, {b} & 511u, t, 7u));"),
            1 => format!("shades.set(index<1>(int(t)), unorm_2(shade({a}), shade({b})));"),
            2 => format!(
                "halves.set(index<1>(int(t)), float_2(float(int({a} & 4095u)) * 0.125f, -float(int({b} & 1023u))));"
            ),
            // A write outside the texture is dropped.
            3 => format!(
                "if ({a} > 77u) written.set(index<2>(int(t / 14u) + 8 * int({b} & 1u), int(t % 14u)), uint_4({a}));"
            ),
            _ => format!("counted.set(index<1>(int(t)), int(unsigned(counted(int(t))) * 3u + {a}));"),
        };
        self.line(&line);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(seed), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: generate SEED COUNT [textures] [INGREDIENT...]".into());
    };
    let mut words: HashSet<String> = arguments.collect();
    if words.remove("mix") {
        words.extend(INGREDIENTS.map(String::from));
    }
    let textures = words.remove("textures");
    let library = words.remove("library");
    if let Some(word) = words.iter().find(|word| !INGREDIENTS.contains(&word.as_str())) {
        return Err(format!("there is no ingredient {word}").into());
    }
    let mut generator = Generator {
        state: seed.parse()?,
        out: String::new(),
        depth: 0,
        unsigned: Vec::new(),
        floats: Vec::new(),
        arrays: Vec::new(),
        uniform: Vec::new(),
        last_number: 0,
        breakable_loops: 0,
        returns: true,
        threads: 0,
        budget: 0,
        inexact: false,
        use_floats: false,
        textures,
        ingredients: words,
        limited: false,
    };
    let count: u64 = count.parse()?;
    let header = if generator.textures { "compare_textures.hpp" } else { "compare.hpp" };
    // On host threads, only native kernels check accesses and define division by zero. Kernels in coroutines run the program's own code.
    let native = if generator.has("zero") || generator.has("outside") { "#define COMPARE_NATIVE_ONLY\n" } else { "" };
    print!("// Made by kernelc/examples/generate.rs, seed {seed}.\n{native}#include \"{header}\"\n\n");
    // Each kernel gets its own function, because large functions take long to compile.
    for n in 0..count {
        let linkage = if library { "" } else { "static " };
        let _ = write!(generator.out, "{linkage}void kernel_{n}() {{\n    REVAMP_COMPARE_VIEWS;\n");
        generator.kernel(n);
        generator.out.push_str("}\n\n");
    }
    if generator.has("statics") {
        generator.out.push_str("static const bool before_main = (kernel_0(), true);\n\n");
    }
    if library {
        let _ = writeln!(generator.out, "extern \"C\" __attribute__((visibility(\"default\"))) int run_{seed}() {{");
    } else {
        generator.out.push_str("int main() {\n");
    }
    for n in 0..count {
        let _ = writeln!(generator.out, "    kernel_{n}();");
    }
    generator.out.push_str(if library { "    return failures();\n}\n" } else { "    return finish();\n}\n" });
    print!("{}", generator.out);
    Ok(())
}
