//! `cargo run -p revamp-kernelc --example lower in.ll out`: writes out.0.spv, out.1.spv, ... and says what each kernel is.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: lower in.ll out".into());
    };
    let module = revamp_kernelc::ir::read(&std::fs::read_to_string(input)?)?;
    match revamp_kernelc::lower::compile_module(&module, &Default::default()) {
        Ok(kernels) => {
            for (n, kernel) in kernels.iter().enumerate() {
                let bytes: Vec<u8> = kernel.spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
                std::fs::write(format!("{output}.{n}.spv"), bytes)?;
                println!("{n}: {} ({}) {:?}", kernel.name, kernel.location, kernel.captures);
            }
            Ok(())
        }
        Err(refusals) => {
            for refusal in refusals {
                println!("error: {}", refusal.message);
                for frame in refusal.frames {
                    println!("    {}:{}:{} in {}", frame.file, frame.line, frame.column, frame.function);
                }
            }
            Err("refused".into())
        }
    }
}
