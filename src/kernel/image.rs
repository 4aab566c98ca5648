//! The image of compiled kernels as the library reads it: errors of `revamp-image` become the library's.

use crate::error::{Error, Result};
pub use revamp_image::{ANY_OFFSET, Capture, HEADER_BYTES, IMAGE_SET, ImageUse, Kernel, SamplerUse, bare_name};
use revamp_image::{DecodeError, decode, decode_size};

/// The size of a whole image, from its header.
pub fn size(header: &[u8; HEADER_BYTES]) -> Result<usize> {
    decode_size(header).map_err(error)
}

/// The kernels of a whole image.
pub fn read(image: &[u8]) -> Result<Vec<Kernel<'_>>> {
    decode(image).map_err(error)
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
