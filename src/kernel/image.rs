//! The image of compiled kernels as the library reads it: errors of `revamp-image` become the library's.

use crate::error::{Error, Result};
pub use revamp_image::{ANY_OFFSET, Capture, HEADER_BYTES, IMAGE_SET, ImageUse, Kernel, SamplerUse, bare_name};
use revamp_image::{DecodeError, MAGIC, decode, decode_size};

/// The size of a whole image, from its header.
pub fn size(header: &[u8; HEADER_BYTES]) -> Result<usize> {
    decode_size(header).map_err(error)
}

/// The kernels of a whole image.
pub fn read(image: &[u8]) -> Result<Vec<Kernel<'_>>> {
    decode(image).map_err(error)
}

/// The images in the bytes of a program, library or object file, in order.
pub fn in_program(program: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = program;
    std::iter::from_fn(move || {
        loop {
            rest = rest.get(find_magic(rest)?..)?;
            // The library's own code has the magic bytes too, with no image behind them.
            let size = rest
                .first_chunk()
                .and_then(|header| decode_size(header).ok())
                .filter(|size| (HEADER_BYTES..=rest.len()).contains(size));
            let (image, behind) = rest.split_at(size.unwrap_or(1));
            rest = behind;
            if size.is_some() {
                return Some(image);
            }
        }
    })
}

fn find_magic(bytes: &[u8]) -> Option<usize> {
    bytes.windows(MAGIC.len()).position(|window| window == MAGIC)
}

fn error(error: DecodeError) -> Error {
    match error {
        DecodeError::OutOfMemory(_) => Error::out_of_memory(format!("the compiled kernels of the program: {error}")),
        DecodeError::Damaged(_) | DecodeError::Version(_) => Error::runtime(format!(
            "the compiled kernels of the program are damaged ({error}), or of another version of revamp; build it again"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn images_are_found_in_programs() {
        let kernel = |name| Kernel {
            name,
            location: "a.cpp:1",
            block_size: 8,
            block_align: 8,
            captures: Vec::new(),
            checks: None,
            with_images: None,
            spirv: b"code",
        };
        let (one, two) =
            (revamp_image::encode(&[kernel("one"), kernel("two")]), revamp_image::encode(&[kernel("three")]));
        let mut program = b"RVMPKERN, and no image; RVMPKERN".to_vec();
        program.extend(&one);
        program.extend(b"between");
        program.extend(&two);
        // Cut off.
        program.extend(&one[..one.len() - 1]);
        let found: Vec<_> = in_program(&program).collect();
        assert_eq!(found, [&one[..], &two[..]]);
        assert_eq!(read(found[0]).unwrap()[1].name, "two");
        assert_eq!(in_program(b"").count(), 0);
    }

    #[test]
    fn errors_say_what_to_do() {
        let text = read(b"RVMPKERN\x04\0\0\0").unwrap_err().to_string();
        assert!(
            text.contains("it is of version 4, this library reads 1 to 3") && text.contains("build it again"),
            "{text}"
        );
        let text = size(&[0; HEADER_BYTES]).unwrap_err().to_string();
        assert!(text.contains("damaged (it does not begin with RVMPKERN)"), "{text}");
        assert_eq!(error(DecodeError::OutOfMemory(8)).kind, ErrorKind::OutOfMemory);
    }
}
