//! Packed SPIR-V modules: each word as a LEB128 number. Most words are small numbers, so a packed module has about a third of the bytes.

use crate::DecodeError;

const LOW_BITS: u32 = 7;
const MORE: u8 = 1 << LOW_BITS;
const DAMAGED: DecodeError = DecodeError::Damaged("a packed module is damaged");

/// Packs the words of a module.
pub fn pack(words: &[u32]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(words.len() * 2);
    for &word in words {
        let mut rest = word;
        while rest >= u32::from(MORE) {
            packed.push(rest as u8 | MORE);
            rest >>= LOW_BITS;
        }
        packed.push(rest as u8);
    }
    packed
}

/// The bytes of a module in little-endian order, from the packed words.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let words = packed.iter().filter(|&&byte| byte < MORE).count();
    let mut module = Vec::new();
    let bytes = words * size_of::<u32>();
    module.try_reserve_exact(bytes).map_err(|_| DecodeError::OutOfMemory(bytes))?;
    let (mut word, mut shift) = (0_u64, 0);
    for &byte in packed {
        word |= u64::from(byte & !MORE) << shift;
        shift += LOW_BITS;
        let whole = u32::try_from(word).map_err(|_| DAMAGED)?;
        if byte < MORE {
            module.extend(whole.to_le_bytes());
            (word, shift) = (0, 0);
        } else if shift >= u32::BITS {
            return Err(DAMAGED);
        }
    }
    if shift == 0 { Ok(module) } else { Err(DAMAGED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Existing programs contain these bytes, so they must remain readable.
    #[test]
    fn the_format_is_stable() {
        let words = [0x0723_0203, 0, 127, 128, u32::MAX];
        let packed = b"\x83\x84\x8c\x39\0\x7f\x80\x01\xff\xff\xff\xff\x0f";
        assert_eq!(pack(&words), packed);
        assert_eq!(unpack(packed).unwrap(), bytes(&words));
    }

    #[test]
    fn damage_is_refused() {
        for damaged in [&b"\x80"[..], b"\0\xff", b"\xff\xff\xff\xff\x10", b"\x80\x80\x80\x80\x80\0"] {
            assert_eq!(unpack(damaged), Err(DAMAGED), "{damaged:?}");
        }
    }

    proptest! {
        #[test]
        fn unpacking_gives_the_packed_words(words in prop::collection::vec(any::<u32>(), 0..40)) {
            prop_assert_eq!(unpack(&pack(&words)).unwrap(), bytes(&words));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(packed in prop::collection::vec(any::<u8>(), 0..40)) {
            _ = unpack(&packed);
        }
    }
}
