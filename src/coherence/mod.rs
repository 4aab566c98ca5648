//! The coherence directory: which locations hold which bytes of a data source (rules COH-1 to COH-24, docs/spec/coherence.md).
//!
//! This module is pure: it uses no device, no lock and no I/O. The runtime asks which bytes must move, moves them, and records the result.
//!
//! **Model.** A data source is a row of bytes with a *home*. A *location* is an accelerator_view or the host; locations on
//! one device share one *memory*. The [`Directory`] maps each byte to the set of locations that hold it valid:
//!
//! - A set without home is *dirty* in the terms of Microsoft's published protocol; a set with several members is *shared*, a
//!   set with one member is exclusive.
//! - An empty set means that the contents are worthless (discarded, or never written). Worthless contents count as valid
//!   everywhere, since nothing need be moved.
//! - An empty set may also mean that the contents are *lost*: the work that was to write them never ran, or their only
//!   holder cannot be reached any more. Reading lost contents is an error until they are written or discarded.
//!
//! A read adds the reader to the sets of the bytes that it reads. A write leaves only the writer in the sets of the bytes
//! that it writes. The states of views in the published protocol follow: a view is valid where all its bytes are valid.
//! Thus all four invariants (COH-6 to COH-9) hold by construction, and only missing bytes move (COH-2, finer than COH-12
//! and COH-21).
//!
//! **Where bytes come from.** If a location in the same memory holds the bytes, nothing moves. Otherwise they come from the
//! holder with the fewest hops: one between host and device, two between devices. Bytes that move between two accelerators
//! that are not home pass through home, and home is valid afterwards, too (COH-19).
//!
//! **Cost.** Neighbouring bytes in the same state form one segment. The cost of an operation on a region is its number of
//! contiguous runs times the logarithm of the number of segments. If all segments under the region's hull agree, one check
//! is enough. A view over a column of a matrix has a run for each row. Views remember the [`Directory::epoch`] at which they
//! were last found valid, so that an unchanged source costs one comparison.

pub mod directory;
mod intervals;
pub mod locations;
pub mod selection;

pub use directory::{Directory, Move};
pub use locations::{Location, LocationSet, LossId, MemoryId};
