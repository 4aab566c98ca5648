//! Reads images of compiled kernels with the crate `revamp-image`, and converts the errors of this crate to errors of the library.

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

/// The bytes of a packed SPIR-V module.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    revamp_image::unpack(packed).map_err(error)
}

/// The images in the bytes of a program, library or object file, in order. [`read`] refuses some of them: images that are cut off, and
/// images of another version.
pub fn in_program(program: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = program;
    std::iter::from_fn(move || {
        loop {
            rest = rest.get(find_magic(rest)?..)?;
            if !begins_image(rest) {
                rest = rest.get(1..)?;
                continue;
            }
            let size = rest.first_chunk().and_then(|header| decode_size(header).ok()).unwrap_or(HEADER_BYTES);
            let (image, after) = rest.split_at(size.max(HEADER_BYTES).min(rest.len()));
            rest = after;
            return Some(image);
        }
    })
}

/// True if a plausible version follows the magic bytes. False for the bare magic constant in librevamp and the kernel compiler,
/// which is followed by other data.
fn begins_image(bytes: &[u8]) -> bool {
    bytes.get(MAGIC.len()..).and_then(|rest| rest.first_chunk()).is_some_and(|v| u32::from_le_bytes(*v) < 1 << 16)
}

fn find_magic(bytes: &[u8]) -> Option<usize> {
    bytes.windows(MAGIC.len()).position(|window| window == MAGIC)
}

fn error(error: DecodeError) -> Error {
    match error {
        DecodeError::OutOfMemory(_) => {
            Error::out_of_memory(format!("the compiled kernels of the program cannot be read: {error}"))
        }
        DecodeError::Damaged(_) | DecodeError::Version(_) => Error::runtime(format!(
            "the compiled kernels of the program are damaged ({error}), or were compiled by another version of revamp; \
             rebuild the program"
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
            rolled: None,
            spirv: b"code",
        };
        let (one, two) =
            (revamp_image::encode(&[kernel("one"), kernel("two")]), revamp_image::encode(&[kernel("three")]));
        let mut program = b"RVMPKERN, and no image; RVMPKERN ".to_vec();
        program.extend(&one);
        program.extend(b"between");
        program.extend(&two);
        let whole: Vec<_> = in_program(&program).collect();
        assert_eq!(whole, [&one[..], &two[..]]);
        assert_eq!(read(whole[0]).unwrap()[1].name, "two");
        // An image that is cut off or of another version is an error; it is not skipped.
        program.extend(&one[..one.len() - 1]);
        assert!(read(in_program(&program).nth(2).unwrap()).is_err());
        let last = program.len() - one.len() + 1;
        program[last + MAGIC.len()] = 200;
        let newer = in_program(&program).nth(2).unwrap();
        assert!(read(newer).unwrap_err().to_string().contains("version 200"));
        assert_eq!(in_program(b"").count(), 0);
    }

    #[test]
    fn errors_say_what_to_do() {
        let text = read(b"RVMPKERN\x06\0\0\0").unwrap_err().to_string();
        assert!(
            text.contains("the kernel image has version 6, but this library reads only versions 1 to 5")
                && text.contains("rebuild the program"),
            "{text}"
        );
        let text = size(&[0; HEADER_BYTES]).unwrap_err().to_string();
        assert!(text.contains("damaged (the kernel image does not begin with RVMPKERN)"), "{text}");
        assert_eq!(error(DecodeError::OutOfMemory(8)).kind, ErrorKind::OutOfMemory);
    }
}
