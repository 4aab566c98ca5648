//! Tests of [`super::Module`] on modules that the tests compile with glslc and spirv-as.

mod by_address;
mod float_modes;
pub(crate) mod fuzz;
mod nesting;
mod overrun;
mod parse;
mod reflect;
mod renumber;
pub(crate) mod slow;
mod split;
mod strip;
mod variant;
mod workgroup_size;

use super::{Binding, Module};
use crate::error::Error;
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a tool with `input` on its standard input, and returns its output.
pub(crate) fn tool(name: &str, args: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new(name)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{name} does not start ({e}): install glslc and spirv-tools"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A tool that fails may stop reading, so a write error is ignored.
    let _ = writer.join().unwrap();
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout)))
    }
}

/// Compiles a compute shader with additional arguments for glslc.
fn glsl_with(source: &str, args: &[&str]) -> Vec<u8> {
    let all = [&["-fshader-stage=compute", "-o", "-"], args, &["-"]].concat();
    let source = format!("#version 460\n{source}");
    tool("glslc", &all, source.as_bytes()).unwrap_or_else(|e| panic!("glslc: {e}\n{source}"))
}

/// Compiles a compute shader for Vulkan 1.2 (SPIR-V 1.5).
fn glsl(source: &str) -> Vec<u8> {
    glsl_with(source, &["--target-env=vulkan1.2"])
}

/// Assembles SPIR-V text.
fn assemble(env: &str, text: &str) -> Vec<u8> {
    tool("spirv-as", &["--target-env", env, "--preserve-numeric-ids", "-o", "-", "-"], text.as_bytes())
        .unwrap_or_else(|e| panic!("spirv-as: {e}\n{text}"))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The text of a module.
fn disassemble(words: &[u32]) -> String {
    String::from_utf8(tool("spirv-dis", &["--no-color", "--raw-id", "-"], &bytes(words)).unwrap()).unwrap()
}

/// Fails with the module's text if spirv-val finds an error.
fn validate(words: &[u32]) {
    let env = if words[1] > 0x1_0500 { "vulkan1.3" } else { "vulkan1.2" };
    let args = ["--target-env", env, "--scalar-block-layout", "-"];
    if let Err(e) = tool("spirv-val", &args, &bytes(words)) {
        panic!("spirv-val: {e}\n{}", disassemble(words));
    }
}

fn module(bytes: &[u8]) -> Module {
    Module::new(bytes, None).unwrap()
}

fn failure(bytes: &[u8], entry: Option<&str>) -> Error {
    Module::new(bytes, entry).unwrap_err()
}

/// Fails unless the error's text contains all `parts`.
fn assert_contains(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is not in: {text}");
    }
}

fn binding(module: &Module, set: u32, binding: u32) -> &Binding {
    module.bindings().iter().find(|b| (b.set, b.binding) == (set, binding)).unwrap()
}

/// The first lines of a shader text for spirv-as.
const HEAD: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n";
