//! The coherence directory: who holds which bytes of a data source (rules COH-1 to COH-24, docs/spec/coherence.md).
//!
//! Pure: no device, no lock, no I/O. The runtime asks what must move, moves it, and says what has happened.
//!
//! **Model.** A data source is a row of bytes with a *home*. A *location* is an accelerator_view or the host; locations on
//! one device share one *memory*. The [`Directory`] maps each byte to the set of locations that hold it valid:
//!
//! - A set without home is the protocol's *dirty*; a set with more than one member is *shared*; a set of one is exclusive.
//! - The empty set says that the contents are worthless (discarded, or never written): valid everywhere, since nothing
//!   that is there need be moved.
//! - An empty set may also say that the contents are *lost*: the only holder was to have them from work that never ran, or
//!   cannot be reached any more. Whoever reads them is to be told, until they are written or discarded.
//!
//! A read adds the reader to the sets of its bytes, a write leaves the writer alone in them. The states that the posts give
//! to views follow: a view is valid where all its bytes are. So all four invariants (COH-6 to COH-9) hold by construction,
//! and no more moves than the bytes that are missing (COH-2, finer than COH-12 and COH-21).
//!
//! **Where bytes come from.** From a location in the same memory nothing moves. Otherwise from the holder with the fewest
//! hops: host to device and back is one hop; device to device passes the host, and lands at home if home is the host, which
//! makes home valid too (COH-19).
//!
//! **Cost.** Neighbouring bytes in one state are one segment. An operation on a region costs its contiguous runs times the
//! logarithm of the segments, unless all segments under the region's hull agree, which is one look. A view over a column of
//! a matrix has a run for each row; views remember the [`Directory::epoch`] at which they were last found valid, so that an
//! unchanged source costs one compare.

pub mod directory;
mod intervals;
pub mod locations;
pub mod selection;

pub use directory::{Directory, Move};
pub use locations::{Location, LocationSet, LossId, MemoryId};
