//! Tests of the nesting depth of kernels, as a driver with a limit counts it.

use super::*;
use crate::kernel::Depth;

/// The depths of a kernel, compiled first without and then with optimization.
fn depths(body: &str) -> [Depth; 2] {
    let source = format!(
        "layout(local_size_x = 8) in;\nlayout(set = 0, binding = 0) buffer B {{ uint b[]; }};
        uint x = b[gl_GlobalInvocationID.x];\n{body}"
    );
    ["-O0", "-O"].map(|mode| module(&glsl_with(&source, &["--target-env=vulkan1.2", mode])).depth().unwrap())
}

/// Checks that both depths have `conditions` to `conditions + 2` conditions, and exactly `loops` loops.
fn check_depth(body: &str, conditions: u32, loops: u32) {
    for depth in depths(body) {
        assert!((conditions..=conditions + 2).contains(&depth.conditions), "{depth:?}\n{body}");
        assert_eq!(depth.loops, loops, "{body}");
    }
}

fn repeated(count: u32, each: &str) -> String {
    (0..count).map(|k| each.replace('#', &format!("{k}u"))).collect()
}

#[test]
fn nested_branches_and_loops() {
    check_depth("void main() { b[0] = x; }", 0, 0);
    let ifs = repeated(30, "if (x > #) { b[#] = x;");
    check_depth(&format!("void main() {{ {ifs} {} }}", "}".repeat(30)), 30, 0);
    let loops = repeated(20, "for (uint i = 0; i < b[#]; i++) { b[i] += 1;");
    check_depth(&format!("void main() {{ {loops} {} }}", "}".repeat(20)), 0, 20);
    let both = repeated(10, "for (uint i = 0; i < b[#]; i++) { if (b[i] > x) { b[i] += 1;");
    check_depth(&format!("void main() {{ {both} {} }}", "}}".repeat(10)), 10, 10);
}

#[test]
fn code_after_early_exits_is_deeper() {
    check_depth(&format!("void main() {{ {} }}", repeated(40, "if (x == #) return; b[#] += x;")), 40, 0);
    let continues = repeated(40, "if (b[#] == x) continue; b[#] += x;");
    check_depth(&format!("void main() {{ for (uint i = 0; i < x; i++) {{ {continues} }} }}"), 40, 1);
    let nested = repeated(40, "if (b[#] > 3) { b[#]++; if (b[#] == x) return; b[#]--; }");
    check_depth(&format!("void main() {{ {nested} }}"), 41, 0);
    let loops = repeated(40, "for (uint i = 0; i < x; i++) { if (b[i] == #) return; b[i] += x; }");
    check_depth(&format!("void main() {{ {loops} }}"), 40, 1);
    let switched = repeated(40, "if (b[#] == x) break; b[#] += x;");
    check_depth(&format!("void main() {{ switch (x) {{ case 0u: {switched} break; default: b[1] = 2; }} }}"), 40, 0);
}

#[test]
fn sequential_constructs_are_not_deeper() {
    check_depth(&format!("void main() {{ {} }}", repeated(90, "if (x == #) b[#] = 1; else b[#] = 2;")), 1, 0);
    let cases = repeated(90, "case #: b[#] += x; return;");
    check_depth(&format!("void main() {{ switch (x) {{ {cases} default: b[7] = x; }} b[x] = 3; }}"), 1, 0);
    let breaks = repeated(90, "if (b[#] == x) break; b[#] += x;");
    check_depth(&format!("void main() {{ for (uint i = 0; i < x; i++) {{ {breaks} }} }}"), 0, 1);
}

#[test]
fn calls_are_inlined() {
    let f = format!("void f(uint y) {{ {} {} }}", repeated(10, "if (y > #) { b[#] = y;"), "}".repeat(10));
    let g = format!("void g(uint y) {{ {} f(y); {} }}", repeated(10, "if (y > #) { b[#] = y;"), "}".repeat(10));
    check_depth(&format!("{f}\n{g}\nvoid main() {{ g(x); if (x > 3) {{ f(x); g(x + 1); }} }}"), 21, 0);
}

#[test]
fn long_chains_of_calls_are_inlined() {
    let deepest = format!("void f0(uint y) {{ {} {} }}", repeated(80, "if (y > #) { b[#] = y;"), "}".repeat(80));
    let chain: String = (1..400).map(|k| format!("void f{k}(uint y) {{ f{}(y); }}\n", k - 1)).collect();
    check_depth(&format!("{deepest}\n{chain}void main() {{ f399(x); }}"), 80, 0);
}
