#!/usr/bin/env python3
"""Reads a trace with Perfetto's own definition of its format (the package perfetto of PyPI, which scripts/setup installs) and checks it: each
field is defined, each end of a slice has a begin on its track, tracks and texts are described before events use them, and each arrow
begins at an event. Prints the number of packets. usage: reader.py FILE [--cut]; --cut: the file ends within a packet."""
import sys

from google.protobuf.internal.decoder import _DecodeVarint
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent

# The key of the field Trace.packet: field number 1, length-delimited.
PACKET = 1 << 3 | 2
BEGIN, END, INSTANT = TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END, TrackEvent.TYPE_INSTANT
# Events of these categories have the id of their first arrow.
FIRST_ARROW = {"call", "launch"}


def packets(data):
    """Yields the whole packets of a trace, and then the number of bytes that are left."""
    at = 0
    while at < len(data):
        assert data[at] == PACKET, f"the byte {data[at]} at {at} begins no packet"
        try:
            length, begin = _DecodeVarint(data, at + 1)
        except IndexError:
            break
        if begin + length > len(data):
            break
        yield TracePacket.FromString(data[begin:begin + length])
        at = begin + length
    yield len(data) - at


def check_fields(message):
    unknown = [field.field_number for field in UnknownFieldSet(message)]
    assert not unknown, f"Perfetto does not define the fields {unknown} of {message.DESCRIPTOR.full_name}: {message}"
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for part in [value] if isinstance(value, Message) else value:
                check_fields(part)


class Reader:
    def __init__(self):
        self.tracks = set()
        self.texts = {name: {} for name in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values")}
        self.open = {}  # the begins of the open slices of each track
        self.begun, self.ended = set(), set()  # arrows
        self.sequences = set()
        self.categories = set()

    def text(self, kind, iid):
        assert iid in self.texts[kind], f"text {iid} of {kind} is not defined"
        return self.texts[kind][iid]

    def add(self, packet):
        check_fields(packet)
        if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            self.sequences.add(packet.trusted_packet_sequence_id)
            for texts in self.texts.values():
                texts.clear()
        assert packet.trusted_packet_sequence_id in self.sequences, packet
        for kind, texts in self.texts.items():
            for new in getattr(packet.interned_data, kind):
                text = new.str if kind == "debug_annotation_string_values" else new.name
                assert texts.setdefault(new.iid, text) == text, f"text {new.iid} of {kind} is defined twice"
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert not track.HasField("parent_uuid") or track.parent_uuid in self.tracks, track
            assert track.name or track.process.process_name, track
            self.tracks.add(track.uuid)
        if packet.HasField("track_event"):
            self.event(packet.track_event, packet.timestamp)

    def event(self, event, time):
        track = event.track_uuid
        assert track in self.tracks, f"track {track} is not described"
        if event.type == END:
            assert self.open.get(track), f"a slice of track {track} ends, but none is open"
            assert self.open[track].pop() <= time, f"a slice of track {track} ends before it begins"
            return
        assert event.type in (BEGIN, INSTANT), event
        if event.type == BEGIN:
            self.open.setdefault(track, []).append(time)
        self.text("event_names", event.name_iid)
        category = self.text("event_categories", event.category_iids[0])
        self.categories.add(category)
        values = {}
        for annotation in event.debug_annotations:
            key = self.text("debug_annotation_names", annotation.name_iid)
            if annotation.HasField("string_value_iid"):
                self.text("debug_annotation_string_values", annotation.string_value_iid)
            values[key] = annotation.uint_value
        own = event.flow_ids[0] if category in FIRST_ARROW else values.get("id")
        for arrow in event.flow_ids:
            (self.begun if arrow == own else self.ended).add(arrow)


def main(path, cut=None):
    with open(path, "rb") as file:
        data = file.read()
    *whole, left = packets(data)
    reader = Reader()
    for packet in whole:
        reader.add(packet)
    if cut:
        assert left > 0, "the file ends with a whole packet"
    else:
        assert left == 0, f"{left} bytes are left"
        assert not any(reader.open.values()), f"open slices: {reader.open}"
        # A trace has a call after the transfers that the call causes, so a cut trace may lack the begins of arrows.
        assert reader.ended <= reader.begun, f"arrows without begin: {sorted(reader.ended - reader.begun)}"
    assert reader.categories, "no events"
    print(len(whole))


main(*sys.argv[1:])
