//! The encodings of sources: UTF-8, with or without a byte order mark, UTF-16 and Windows-1252.

/// The encoding of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, little endian.
    Utf16Le,
    /// UTF-16, big endian.
    Utf16Be,
    /// Windows-1252, with one byte per character.
    Windows1252,
}

impl Encoding {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le | Encoding::Utf16Be => "UTF-16",
            Encoding::Windows1252 => "Windows-1252",
        }
    }
}

/// The characters 0x80 to 0x9F of Windows-1252. The five unused codes are read as control characters.
const WINDOWS_1252_80_TO_9F: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2C6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}',
    '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}',
    '\u{17E}', '\u{178}',
];

/// The text of a source, including its byte order mark, and its encoding. A source that is not valid UTF-8 is read as Windows-1252.
pub fn decode(bytes: &[u8]) -> (String, Encoding) {
    let from_utf_16 = |convert: fn([u8; 2]) -> u16| {
        let pairs: Vec<u16> = bytes.chunks_exact(2).map(|pair| convert([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&pairs)
    };
    match bytes {
        [0xFF, 0xFE, ..] => (from_utf_16(u16::from_le_bytes), Encoding::Utf16Le),
        [0xFE, 0xFF, ..] => (from_utf_16(u16::from_be_bytes), Encoding::Utf16Be),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), Encoding::Utf8),
            Err(_) => (bytes.iter().map(|&byte| char_of_byte(byte)).collect(), Encoding::Windows1252),
        },
    }
}

/// The bytes of a text; `None` if the encoding lacks one of its characters.
pub fn encode(text: &str, encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Utf8 => Some(text.as_bytes().to_vec()),
        Encoding::Utf16Le => Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf16Be => Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        Encoding::Windows1252 => text.chars().map(byte_of_char).collect(),
    }
}

fn char_of_byte(byte: u8) -> char {
    if (0x80..0xA0).contains(&byte) { WINDOWS_1252_80_TO_9F[usize::from(byte - 0x80)] } else { char::from(byte) }
}

fn byte_of_char(c: char) -> Option<u8> {
    match WINDOWS_1252_80_TO_9F.iter().position(|&upper| upper == c) {
        Some(at) => u8::try_from(0x80 + at).ok(),
        None => u8::try_from(u32::from(c)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_and_encoding_keep_the_bytes() {
        let utf_16 = |convert: fn(u16) -> [u8; 2]| {
            "\u{FEFF}int \u{e4} = L'\u{1F600}';".encode_utf16().flat_map(convert).collect()
        };
        let cases: [(Vec<u8>, Encoding); 5] = [
            ("int \u{e4};\r\n".into(), Encoding::Utf8),
            ("\u{FEFF}int a;".into(), Encoding::Utf8),
            (utf_16(u16::to_le_bytes), Encoding::Utf16Le),
            (utf_16(u16::to_be_bytes), Encoding::Utf16Be),
            ((0..=255).collect(), Encoding::Windows1252),
        ];
        for (bytes, expected) in cases {
            let (text, encoding) = decode(&bytes);
            assert_eq!(encoding, expected);
            assert_eq!(encode(&text, encoding).unwrap(), bytes);
        }
        assert_eq!(decode(b"na\xefve \x80").0, "na\u{ef}ve \u{20ac}");
        assert_eq!(encode("\u{4e2d}", Encoding::Windows1252), None);
    }
}
