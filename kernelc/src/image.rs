//! The kernels of a translation unit as the bytes that its object file carries. Read by the library, `src/kernel/image.rs`,
//! which says how they lie.

use crate::lower::CompiledKernel;

const VERSION: u32 = 1;
/// Bytes of the head.
const HEAD: usize = 24;

/// The image of these kernels.
pub fn write(kernels: &[CompiledKernel]) -> Vec<u8> {
    let mut tail = Vec::new();
    for k in kernels {
        sized(&mut tail, k.name.as_bytes());
        sized(&mut tail, k.location.as_bytes());
        tail.extend(k.block_size.to_le_bytes());
        tail.extend(k.block_align.to_le_bytes());
        tail.extend((k.captures.len() as u32).to_le_bytes());
        for c in &k.captures {
            let used = u32::from(c.reads) | u32::from(c.writes) << 1 | u32::from(c.depth > 0) << 2;
            tail.extend(c.offset.to_le_bytes());
            tail.extend(used.to_le_bytes());
        }
        let words: Vec<u8> = k.spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
        sized(&mut tail, &words);
    }
    let mut image = b"RVMPKERN".to_vec();
    image.extend(VERSION.to_le_bytes());
    image.extend((kernels.len() as u32).to_le_bytes());
    image.extend(((HEAD + tail.len()) as u64).to_le_bytes());
    image.extend(tail);
    image
}

/// Bytes behind their length.
fn sized(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u32).to_le_bytes());
    to.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::Capture;

    #[test]
    fn the_bytes_that_the_library_reads() {
        let captures = vec![
            Capture { offset: 8, depth: 1, reads: true, writes: false },
            Capture { offset: Capture::UNKNOWN, depth: 0, reads: true, writes: true },
        ];
        let kernel = CompiledKernel {
            name: "k".into(),
            spirv: vec![0x0723_0203],
            block_size: 16,
            block_align: 8,
            captures,
            location: "a.c:3".into(),
        };
        // The same as in the tests of src/kernel/image.rs.
        let tail = b"\x01\0\0\0k\x05\0\0\0a.c:3\x10\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0\x08\0\0\0\x05\0\0\0\
                     \xff\xff\xff\xff\x03\0\0\0\x04\0\0\0\x03\x02\x23\x07";
        let image = write(&[kernel]);
        assert_eq!(&image[..16], b"RVMPKERN\x01\0\0\0\x01\0\0\0");
        assert_eq!(image[16..24], (image.len() as u64).to_le_bytes());
        assert_eq!(&image[24..], tail);
    }
}
