//! Encodes the kernels of a translation unit as the image that the object file contains.

use crate::lower::CompiledKernel;
use revamp_image::{Checks, Kernel, WithImages};

/// Encodes the image of these kernels.
pub fn encode(kernels: &[CompiledKernel]) -> Vec<u8> {
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let modules = |kernel: &CompiledKernel| (bytes(&kernel.spirv), kernel.rolled.as_deref().map(revamp_image::pack));
    type Modules = (Vec<u8>, Option<Vec<u8>>);
    let modules: Vec<(Modules, Modules)> = kernels
        .iter()
        .map(|kernel| (modules(kernel), kernel.with_images.as_deref().map(modules).unwrap_or_default()))
        .collect();
    let kernels: Vec<Kernel<'_>> = kernels
        .iter()
        .zip(&modules)
        .map(|(kernel, ((spirv, rolled), (image_spirv, rolled_images)))| Kernel {
            name: &kernel.name,
            location: &kernel.location,
            block_size: kernel.block_size,
            block_align: kernel.block_align,
            captures: kernel.captures.clone(),
            spirv,
            checks: kernel.checks.as_ref().map(|sites| Checks { sites: sites.iter().map(String::as_str).collect() }),
            with_images: kernel.with_images.as_ref().map(|form| WithImages {
                captures: form.captures.clone(),
                spirv: image_spirv,
                images: form.images.clone(),
                rolled: rolled_images.as_deref(),
            }),
            rolled: rolled.as_deref(),
        })
        .collect();
    revamp_image::encode(&kernels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_little_endian() {
        let kernel = CompiledKernel {
            name: "k".into(),
            spirv: vec![0x0723_0203, 1],
            block_size: 16,
            block_align: 8,
            captures: Vec::new(),
            checks: None,
            images: Vec::new(),
            with_images: None,
            rolled: Some(vec![0x0723_0203, 2]),
            location: "a.c:3".into(),
        };
        let image = encode(&[kernel.clone(), kernel]);
        let decoded = revamp_image::decode(&image).unwrap();
        assert_eq!(decoded.len(), 2);
        assert_eq!((decoded[0].name, decoded[0].location), ("k", "a.c:3"));
        assert_eq!(decoded[1].spirv, b"\x03\x02\x23\x07\x01\0\0\0");
        assert_eq!(revamp_image::unpack(decoded[1].rolled.unwrap()).unwrap(), b"\x03\x02\x23\x07\x02\0\0\0");
    }
}
