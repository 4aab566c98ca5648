//! The part of Perfetto's trace format that revamp writes and `revamp-trace` reads. `perfetto_trace.proto` defines and
//! documents the names and numbers.
//!
//! A trace is a sequence of packets, so a writer can append packets to a file. If a file ends within a packet, readers
//! get all earlier packets.

#![allow(missing_docs)]

use prost::Message;
pub use prost::Message as _;

/// The packets of a trace.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// `SequenceFlags`: readers forget the data that was interned before this packet.
pub const SEQ_INCREMENTAL_STATE_CLEARED: u32 = 1;
/// `SequenceFlags`: the packet needs data that was interned before it.
pub const SEQ_NEEDS_INCREMENTAL_STATE: u32 = 2;

/// `TrackEvent.Type`.
pub const TYPE_SLICE_BEGIN: i32 = 1;
/// `TrackEvent.Type`.
pub const TYPE_SLICE_END: i32 = 2;
/// `TrackEvent.Type`.
pub const TYPE_INSTANT: i32 = 3;

/// The id of the track of the process.
pub const PROCESS_TRACK: u64 = 1;

/// The id of a thread's track. Small numbers take few bytes.
pub fn thread_track(thread: u64) -> u64 {
    2 * thread
}

/// The id of a queue's track.
pub fn queue_track(queue: u64) -> u64 {
    2 * queue + PROCESS_TRACK
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
    #[prost(uint64, optional, tag = "17")]
    pub string_value_iid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct InternedData {
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<InternedName>,
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<InternedString>,
}

/// `EventCategory`, `EventName` and `DebugAnnotationName`.
#[derive(Clone, PartialEq, Message)]
pub struct InternedName {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct InternedString {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub str: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// The key of the field `Trace.packet`: field number 1, length-delimited.
const PACKET: u8 = 1 << 3 | 2;

/// Appends a packet to the bytes of a trace.
pub fn append(packet: &TracePacket, bytes: &mut Vec<u8>) {
    prost::encoding::message::encode(1, packet, bytes);
}

/// Encodes packets with events field by field, without building messages, because traces have many events. Parameters have
/// the names of the fields of [`TracePacket`], [`TrackEvent`] and [`DebugAnnotation`].
pub mod fields {
    use super::PACKET;
    use prost::encoding::{WireType, encode_varint, encoded_len_varint};

    /// Begins a [`TrackEvent`](super::TrackEvent) message.
    pub fn event(kind: i32, track_uuid: u64, event: &mut Vec<u8>) {
        number(9, kind as u64, event);
        number(11, track_uuid, event);
    }

    /// Adds the category and the name of the event.
    pub fn named(category_iid: u64, name_iid: u64, event: &mut Vec<u8>) {
        number(3, category_iid, event);
        number(10, name_iid, event);
    }

    /// Adds a flow arrow with 8 bytes for its id, which [`set`] fills in later. Returns the offset of these bytes.
    pub fn arrow(event: &mut Vec<u8>) -> usize {
        key(47, WireType::SixtyFourBit, event);
        event.extend_from_slice(&[0; 8]);
        event.len() - 8
    }

    /// Adds an annotation with [`FIXED`] bytes for a number, which [`set`] fills in later. Returns the offset of these
    /// bytes.
    pub fn open_annotation(name_iid: u64, event: &mut Vec<u8>) -> usize {
        key(4, WireType::LengthDelimited, event);
        encode_varint(length_of(1, name_iid) + 1 + FIXED as u64, event);
        number(1, name_iid, event);
        key(3, WireType::Varint, event);
        event.extend_from_slice(&[0; FIXED]);
        event.len() - FIXED
    }

    /// Adds an annotation with a number.
    pub fn number_annotation(name_iid: u64, value: u64, event: &mut Vec<u8>) {
        annotation(name_iid, 3, value, event);
    }

    /// Adds an annotation with an interned text.
    pub fn text_annotation(name_iid: u64, string_value_iid: u64, event: &mut Vec<u8>) {
        annotation(name_iid, 17, string_value_iid, event);
    }

    /// Adds an annotation with a text that is not interned, because few annotations have the same text.
    pub fn inline_text_annotation(name_iid: u64, string_value: &str, event: &mut Vec<u8>) {
        let length = string_value.len() as u64;
        key(4, WireType::LengthDelimited, event);
        encode_varint(length_of(1, name_iid) + 1 + encoded_len_varint(length) as u64 + length, event);
        number(1, name_iid, event);
        key(6, WireType::LengthDelimited, event);
        encode_varint(length, event);
        event.extend_from_slice(string_value.as_bytes());
    }

    fn annotation(name_iid: u64, tag: u32, value: u64, event: &mut Vec<u8>) {
        key(4, WireType::LengthDelimited, event);
        encode_varint(length_of(1, name_iid) + length_of(tag, value), event);
        number(1, name_iid, event);
        number(tag, value, event);
    }

    /// Adds a packet to a trace, with the event as its last field and [`FIXED`] bytes for the time, which [`set`] fills in
    /// later. Returns the offset of these bytes.
    pub fn packet(sequence: u32, flags: u32, event: &[u8], trace: &mut Vec<u8>) -> usize {
        let (sequence, flags, length) = (u64::from(sequence), u64::from(flags), event.len() as u64);
        let event_length = 1 + encoded_len_varint(length) as u64 + length;
        let time_length = 1 + FIXED as u64;
        trace.push(PACKET);
        encode_varint(time_length + length_of(10, sequence) + event_length + length_of(13, flags), trace);
        key(8, WireType::Varint, trace);
        let at = trace.len();
        trace.extend_from_slice(&[0; FIXED]);
        number(10, sequence, trace);
        number(13, flags, trace);
        key(11, WireType::LengthDelimited, trace);
        encode_varint(length, trace);
        trace.extend_from_slice(event);
        at
    }

    /// The number of bytes reserved for a number that [`set`] fills in later. A shorter varint is padded to this length.
    pub const FIXED: usize = 9;

    /// Encodes a number as a varint of [`FIXED`] bytes.
    #[inline]
    pub fn padded_varint(value: u64) -> [u8; FIXED] {
        // Spread the low 56 bits over 8 bytes, with 7 bits in each byte.
        let mut bits = value & ((1 << 56) - 1);
        bits = bits & 0xfff_ffff | (bits & 0xff_ffff_f000_0000) << 4;
        bits = bits & 0x3fff_0000_3fff | (bits & 0xfff_c000_0fff_c000) << 2;
        bits = bits & 0x7f_007f_007f_007f | (bits & 0x3f80_3f80_3f80_3f80) << 1;
        let mut bytes = [(value >> 56) as u8 & 0x7f; FIXED];
        bytes[..8].copy_from_slice(&(bits | 0x8080_8080_8080_8080).to_le_bytes());
        bytes
    }

    /// Fills in bytes that [`arrow`], [`open_annotation`] or [`packet`] reserved at `at`.
    #[inline]
    pub fn set<const N: usize>(at: usize, value: &[u8; N], trace: &mut [u8]) {
        trace[at..at + N].copy_from_slice(value);
    }

    fn number(tag: u32, value: u64, to: &mut Vec<u8>) {
        key(tag, WireType::Varint, to);
        encode_varint(value, to);
    }

    fn length_of(tag: u32, value: u64) -> u64 {
        (encoded_len_varint(u64::from(tag << 3)) + encoded_len_varint(value)) as u64
    }

    fn key(tag: u32, kind: WireType, to: &mut Vec<u8>) {
        encode_varint(u64::from(tag << 3 | kind as u32), to);
    }
}

/// The packets of a trace, up to the first failure. An incomplete packet at the end is omitted.
pub fn packets(mut bytes: &[u8]) -> impl Iterator<Item = Result<TracePacket, String>> {
    std::iter::from_fn(move || {
        let (&first, mut rest) = bytes.split_first()?;
        if first != PACKET {
            bytes = &[];
            return Some(Err("this is not a trace of Perfetto: it has a field that is not a packet".to_owned()));
        }
        let length = prost::encoding::decode_varint(&mut rest).ok()?;
        let (packet, remaining) = usize::try_from(length).ok().and_then(|n| rest.split_at_checked(n))?;
        bytes = remaining;
        Some(TracePacket::decode(packet).map_err(|e| e.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<TracePacket>, String> {
        packets(bytes).collect()
    }

    fn sample(name: &str) -> TracePacket {
        let descriptor = TrackDescriptor { uuid: Some(7), name: Some(name.to_owned()), ..Default::default() };
        TracePacket { timestamp: Some(1 << 40), track_descriptor: Some(descriptor), ..Default::default() }
    }

    #[test]
    fn packets_are_read_as_they_were_written() {
        let written = [sample("a"), sample(&"b".repeat(300))];
        let mut bytes = Vec::new();
        written.iter().for_each(|packet| append(packet, &mut bytes));
        assert_eq!(all(&bytes).ok().as_deref(), Some(&written[..]));
        assert_eq!(Trace::decode(&bytes[..]).map(|t| t.packet).ok().as_deref(), Some(&written[..]));
    }

    #[test]
    fn packets_encoded_by_field_decode_as_messages() {
        let annotation = |name_iid, uint_value, string_value_iid| DebugAnnotation {
            name_iid,
            uint_value,
            string_value_iid,
            string_value: None,
        };
        let text = DebugAnnotation { name_iid: Some(5), string_value: Some("b".repeat(200)), ..Default::default() };
        let track_event = Some(TrackEvent {
            category_iids: vec![2],
            debug_annotations: vec![
                annotation(Some(3), Some(1 << 40), None),
                annotation(Some(4), None, Some(300)),
                text,
                annotation(Some(300), Some(1 << 60), None),
            ],
            r#type: Some(TYPE_SLICE_BEGIN),
            name_iid: Some(300),
            track_uuid: Some(1 << 33),
            flow_ids: vec![5],
        });
        let (timestamp, trusted_packet_sequence_id, sequence_flags) = (Some(1 << 50), Some(1), Some(2));
        let expected = TracePacket {
            timestamp,
            trusted_packet_sequence_id,
            track_event,
            interned_data: None,
            sequence_flags,
            track_descriptor: None,
        };
        let (mut event, mut bytes) = (Vec::new(), Vec::new());
        fields::event(TYPE_SLICE_BEGIN, 1 << 33, &mut event);
        fields::named(2, 300, &mut event);
        fields::number_annotation(3, 1 << 40, &mut event);
        fields::text_annotation(4, 300, &mut event);
        fields::inline_text_annotation(5, &"b".repeat(200), &mut event);
        let open = fields::open_annotation(300, &mut event);
        fields::set(open, &fields::padded_varint(1 << 60), &mut event);
        let arrow = fields::arrow(&mut event);
        fields::set(arrow, &5_u64.to_le_bytes(), &mut event);
        let at = fields::packet(1, 2, &event, &mut bytes);
        for time in [0, 1, (1 << 63) - 1, 0x0123_4567_89ab_cdef, 1 << 50] {
            fields::set(at, &fields::padded_varint(time), &mut bytes);
            assert_eq!(all(&bytes).map(|all| all[0].timestamp), Ok(Some(time)));
        }
        assert_eq!(all(&bytes), Ok(vec![expected]));
    }

    #[test]
    fn a_truncated_trace_yields_its_complete_packets() {
        let mut bytes = Vec::new();
        append(&sample("a"), &mut bytes);
        let whole = bytes.len();
        append(&sample("b"), &mut bytes);
        for end in whole..bytes.len() {
            assert_eq!(all(&bytes[..end]).map(|all| all.len()).ok(), Some(1), "{end}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(all(b"not a trace").is_err());
    }
}
